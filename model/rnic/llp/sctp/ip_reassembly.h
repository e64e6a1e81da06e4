// Reassembles fragmented IPv4 packets (RFC 791 section 3.2) for SCTP, as a chunk that was cut before its path MTU
// shrank cannot be cut again. A few packets at a time; a new one replaces the oldest.
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
  static constexpr std::size_t kUnit = 8;     // fragment offsets are multiples of it, in octets

  // Packets longer than a block are not reassembled.
  explicit IpReassembly(BufferPool& pool) : pool_(&pool) {}

  // The payload of the complete packet if this was its last missing piece; valid until the next call.
  std::optional<ByteSpan> put(const wire::Ipv4View& fragment);
  // Packets that never became complete, or whose pieces contradict each other.
  std::uint64_t given_up() const { return given_up_; }
  void reset() { packets_ = {}, next_ = 0; }

 private:
  struct Packet {
    std::uint32_t source = 0;
    std::uint16_t id = 0;
    std::uint32_t bytes = 0;  // 0: not known yet
    std::uint32_t top = 0;    // after the furthest piece
    BufferRef buf;            // none: free
    std::bitset<65536 / kUnit> units;
  };
  Packet& of(const wire::Ipv4Header& header);

  BufferPool* pool_;
  std::array<Packet, kPackets> packets_;
  std::size_t next_ = 0;  // the next to be replaced
  BufferRef whole_;
  std::uint64_t given_up_ = 0;
};

}  // namespace rnic::sctp
