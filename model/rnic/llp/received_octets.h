// Octets of one received segment that were not taken yet: a record of the lists in which they wait.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/rnic/llp/slot_pool.h"

namespace rnic::llp {

struct ReceivedOctets {
  BufferRef buf;
  const std::uint8_t* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t seq = 0;  // of the first one
  std::uint32_t next = kNil;
  // Not 0: the octets are already in host memory, and `data` has that many octets of a header that represents all of
  // them.
  std::uint32_t header_bytes = 0;

  static constexpr const char* kMessage = "received_octets";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("seq", 32, m.seq);
    v("bytes", 16, m.bytes);
    v("header_bytes", 8, m.header_bytes);
  }

  std::uint32_t end() const { return seq + bytes; }
  // Octets of reassembly memory.
  std::uint32_t held() const { return header_bytes != 0 ? header_bytes : bytes; }
};

using ReceivedPool = SlotPool<ReceivedOctets>;

// The part from `seq` on.
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
// The cuts needed for a piece with only these octets.
inline unsigned cuts_around(const ReceivedOctets& piece, std::uint32_t seq, std::uint32_t bytes) {
  return (piece.seq != seq) + (piece.end() != seq + bytes);
}
// Makes these cuts. Returns the piece that has the octets.
std::uint32_t cut_out(ReceivedPool& pool, SlotList& list, std::uint32_t at, std::uint32_t seq, std::uint32_t bytes);
// The octets of a piece are in host memory: only this header stays and represents them.
void stand_for(ReceivedOctets& piece, BufferRef header, std::uint32_t header_bytes);

}  // namespace rnic::llp
