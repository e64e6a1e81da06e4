// TCP options: MSS (RFC 9293), window scale and timestamps (RFC 7323), SACK (RFC 2018).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

struct TcpTimestamps {
  std::uint32_t value = 0;
  std::uint32_t echo_reply = 0;
};

// Sequence numbers from `left` up to but not including `right`.
struct SackBlock {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

struct TcpOptions {
  static constexpr std::size_t kMaxBytes = 40;
  static constexpr std::size_t kMaxSackBlocks = 4;
  static constexpr std::size_t kTimestampsSpace = 12;  // with the NOPs in front

  std::optional<std::uint16_t> mss;
  std::optional<std::uint8_t> window_scale;
  bool sack_permitted = false;
  std::optional<TcpTimestamps> timestamps;
  std::array<SackBlock, kMaxSackBlocks> sack{};
  std::size_t sack_blocks = 0;

  // Unknown options are skipped; an invalid length ends the list, as receivers must survive anything.
  static TcpOptions parse(ByteSpan bytes);

  // Octets on the wire: a multiple of 4, aligned with NOPs as common stacks do.
  std::size_t bytes() const;
  // Returns the octets written: 0 without options, and if `out` is too small or the options exceed 40 octets.
  std::size_t emit(MutableByteSpan out) const;
};

}  // namespace rnic::wire
