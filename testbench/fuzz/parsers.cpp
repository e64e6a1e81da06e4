#include "testbench/fuzz/parsers.h"

namespace rnic::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"frame", frame},
      {"mpa", mpa},
      {"stream", stream},
      {"ddp", ddp},
      {"terminate", terminate},
      {"capture", capture},
      {"replay", replay},
      {"scenario", scenario},
      {"settings", settings},
      {"vectors", vectors},
      {"elf", elf},
      {"gdb", gdb},
      {"vhost", vhost},
      {"guest_clock", guest_clock},
      {"frame_port", frame_port},
      {"sctp_setup", sctp_setup},
  };
  return all;
}

}  // namespace rnic::fuzz
