// Puts fragmented IPv4 packets together again (RFC 791 section 3.2): of SCTP, as a chunk that was cut before its path
// shrank cannot be cut again. A few packets at a time; the oldest makes room for another one.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/wire/ipv4.h"

namespace rnic::sctp {

class IpReassembly {
 public:
  static constexpr std::size_t kPackets = 4;  // at a time
  static constexpr std::size_t kUnit = 8;     // octets that fragments count in

  // Longer packets than a block are not put together.
  explicit IpReassembly(BufferPool& pool) : pool_(&pool) {}

  // The payload of the whole packet if this was its last missing piece; valid until the next call.
  std::optional<ByteSpan> put(const wire::Ipv4View& fragment);
  // Packets that never became whole, or whose pieces contradict each other.
  std::uint64_t given_up() const { return given_up_; }
  void reset() { packets_ = {}, next_ = 0; }

 private:
  struct Packet {
    std::uint32_t source = 0;
    std::uint16_t id = 0;
    std::uint32_t bytes = 0;  // 0: not known yet
    std::uint32_t top = 0;    // behind the furthest piece
    BufferRef buf;            // none: free
    std::bitset<65536 / kUnit> units;
  };
  Packet& of(const wire::Ipv4Header& header);

  BufferPool* pool_;
  std::array<Packet, kPackets> packets_;
  std::size_t next_ = 0;  // to make room
  BufferRef whole_;
  std::uint64_t given_up_ = 0;
};

}  // namespace rnic::sctp
