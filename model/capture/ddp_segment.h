// The header of a DDP segment, tagged or untagged.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/rdmap.h"

namespace rnic::capture {

// The fields of a DDP header, including RDMAP's; for an untagged message `stag` is the STag to invalidate.
struct SegmentHeader {
  wire::Opcode opcode{};
  bool tagged = false, last = false;
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  std::uint32_t qn = 0, msn = 0, mo = 0;

  // T and the queue are those of the opcode.
  bool is_plausible() const;
};

struct SegmentView {
  SegmentHeader header;
  ByteSpan payload;

  static std::optional<SegmentView> parse(ByteSpan ulpdu);  // nullopt: too short for its header
};

}  // namespace rnic::capture
