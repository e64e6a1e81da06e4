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

// The piece of a list that has all octets [seq, seq + bytes); kNil if none has.
std::uint32_t piece_with(const ReceivedPool& pool, const SlotList& list, std::uint32_t seq, std::uint32_t bytes);
// How often it is cut if only they are to be in it.
inline unsigned cuts_around(const ReceivedOctets& piece, std::uint32_t seq, std::uint32_t bytes) {
  return (piece.seq != seq) + (piece.end() != seq + bytes);
}
// Cuts the piece so. Returns the one that has them.
std::uint32_t cut_out(ReceivedPool& pool, SlotList& list, std::uint32_t at, std::uint32_t seq, std::uint32_t bytes);
// The octets of a piece are in host memory: only this header stays, which stands for them.
void stand_for(ReceivedOctets& piece, BufferRef header, std::uint32_t header_bytes);

}  // namespace rnic::tcp
