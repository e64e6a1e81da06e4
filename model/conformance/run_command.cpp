#include "model/conformance/run_command.h"

#include <stdexcept>
#include <string>

#include "model/host/driver/verbs.h"

namespace rnic::conformance {

void run_command(FirmwareEnd& end, const abi::Command& command) {
  if (const auto status = end.command(command); status != abi::CommandStatus::kOk) {
    throw std::invalid_argument(std::string("the firmware refuses the command: ") + host::command_status_str(status));
  }
}

}  // namespace rnic::conformance
