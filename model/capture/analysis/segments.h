// Segments in the form in which the analysis takes them: sequence numbers are positions in a stream, and do not wrap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/capture/analysis/stamp.h"
#include "model/wire/tcp.h"

namespace rnic::capture {

// Whether a segment was sent after all that came before it, as far as its sender tells.
enum class SendOrder : std::uint8_t { kUnknown, kNewest, kOvertaken };

// One side's data. `end` counts the FIN.
struct DataSegment {
  std::int64_t begin = 0, end = 0;
  std::size_t payload_bytes = 0;
  Stamp stamp;
  SendOrder order = SendOrder::kUnknown;
  std::optional<std::uint16_t> ipv4_id;
};

// What the other side acknowledges.
struct AckSegment {
  struct Block {
    std::int64_t begin, end;
  };
  std::int64_t number = 0;  // below it all has come
  Stamp stamp;
  bool is_bare = false;  // no data, no change of the window: a duplicate, if it acknowledges nothing new
  std::array<Block, wire::TcpOptions::kMaxSackBlocks> sack{};
  std::size_t sack_blocks = 0;
};

// Positions of the sequence numbers of one stream; the first one seen, or begin(), has position 0.
class StreamPositions {
 public:
  bool is_known() const { return is_known_; }
  void begin(std::uint32_t first) {
    first_ = first;
    is_known_ = true;
  }
  // The one next to `near`.
  std::int64_t of(std::uint32_t number, std::int64_t near) {
    if (!is_known_) begin(number);
    return near + wire::seq_diff(number, first_ + static_cast<std::uint32_t>(near));
  }

 private:
  std::uint32_t first_ = 0;
  bool is_known_ = false;
};

}  // namespace rnic::capture
