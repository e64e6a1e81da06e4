#include "model/capture/ddp_counts.h"

#include <fmt/format.h>

#include "model/capture/ddp_segment.h"

namespace rnic::capture {

std::string DdpCounts::take(ByteSpan ulpdu, std::size_t missing) {
  const auto segment = SegmentView::parse(ulpdu);
  if (!segment && missing != 0) return {};
  if (!segment) return fmt::format("ULPDU of {} octets is no DDP segment", ulpdu.size());
  const wire::Opcode op = segment->header.opcode;
  ++by_opcode[static_cast<unsigned>(op)];
  if (wire::is_tagged(op) || wire::is_send(op)) payload_bytes += segment->payload.size() + missing;
  if (op != wire::Opcode::kTerminate) return {};
  const auto terminate = wire::TerminateHeader::parse(segment->payload);
  if (!terminate && missing != 0) return {};
  if (!terminate) return "Terminate without its control word";
  terminates.push_back(terminate->cause);
  return {};
}

}  // namespace rnic::capture
