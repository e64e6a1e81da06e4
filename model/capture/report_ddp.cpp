#include "model/capture/report_ddp.h"

#include <fmt/format.h>

#include "model/wire/rdmap.h"

namespace rnic::capture {

Json opcodes_json(const DdpCounts& counts) {
  Json opcodes = Json::object();
  for (const auto& [opcode, count] : counts.by_opcode) opcodes[std::to_string(opcode)] = count;
  return opcodes;
}

Json terminates_json(const DdpCounts& counts) {
  Json terminates = Json::array();
  for (const wire::TerminateCause& t : counts.terminates) {
    terminates.push_back({{"layer", static_cast<unsigned>(t.layer)}, {"etype", t.etype}, {"code", t.code}});
  }
  return terminates;
}

void print_ddp(const DdpCounts& counts, std::ostream& out) {
  for (const auto& [opcode, count] : counts.by_opcode) {
    out << fmt::format("    {:>8}  {}\n", count,
                       wire::is_assigned(static_cast<wire::Opcode>(opcode))
                           ? to_string(static_cast<wire::Opcode>(opcode))
                           : fmt::format("opcode {}, unassigned", opcode));
  }
  for (const wire::TerminateCause& t : counts.terminates) {
    out << fmt::format("    Terminate: layer {}, type {}, code {:#04x}\n", static_cast<unsigned>(t.layer), t.etype,
                       t.code);
  }
}

}  // namespace rnic::capture
