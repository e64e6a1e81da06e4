// Octets of one received segment that nobody has taken yet: a record of the lists in which they wait.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/rnic/llp/slot_pool.h"

namespace rnic::tcp {

struct ReceivedOctets {
  BufferRef buf;
  const std::uint8_t* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t seq = 0;  // of the first one
  std::uint32_t next = kNil;
  // Not 0: the octets are in host memory already, and `data` has so many of a header that stands for all of them.
  std::uint32_t header_bytes = 0;

  std::uint32_t end() const { return seq + bytes; }
  // Octets of reassembly memory.
  std::uint32_t held() const { return header_bytes != 0 ? header_bytes : bytes; }
};

using ReceivedPool = SlotPool<ReceivedOctets>;

// Of those from `seq` on.
inline ReceivedOctets received_octets(BufferRef buf, ByteSpan octets, std::uint32_t seq) {
  ReceivedOctets r;
  r.buf = std::move(buf);
  r.data = octets.data();
  r.bytes = static_cast<std::uint32_t>(octets.size());
  r.seq = seq;
  return r;
}

}  // namespace rnic::tcp
