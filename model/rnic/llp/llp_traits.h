// What the stages above the boundary know of a lower layer, beside its messages. See boundary.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/rnic/messages/per_llp.h"
#include "model/wire/fpdu.h"

namespace rnic {

struct LlpTraits {
  // The octets of credit that a segment takes at that place of the stream, which has markers or not.
  std::size_t (*segment_octets)(bool markers, wire::StreamPosition position, std::uint32_t ulpdu);
  // What is received after a gap is one whole segment; otherwise octets of a stream, which has to be searched for
  // FPDUs.
  bool keeps_messages;
  // A wrong CRC, a wrong marker or the loss of the connection reaches placement, which terminates the stream.
  bool reports_errors;
  const char* credit;     // its name in files,
  const char* window;     // and for people
  const char* memory;     // what keeps its octets until they are acknowledged, in files,
  const char* memory_is;  // and for people
  bool has_window;        // it has accounts of what limits its credit (AccountRole::kUnacknowledged, kCongested)
};

}  // namespace rnic
