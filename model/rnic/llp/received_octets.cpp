#include "model/rnic/llp/received_octets.h"

#include <utility>

#include "model/wire/tcp.h"

namespace rnic::llp {

using wire::seq_gt;
using wire::seq_le;
using wire::seq_lt;

std::uint32_t piece_with(const ReceivedPool& pool, const SlotList& list, std::uint32_t seq, std::uint32_t bytes) {
  std::uint32_t at = list.head;
  while (at != kNil && seq_le(pool[at].end(), seq)) at = pool[at].next;
  const bool has_all = at != kNil && !seq_gt(pool[at].seq, seq) && !seq_lt(pool[at].end(), seq + bytes);
  return has_all ? at : kNil;
}

namespace {

// Returns the part from `seq` on.
std::uint32_t split(ReceivedPool& pool, SlotList& list, std::uint32_t at, std::uint32_t seq) {
  const std::uint32_t rest = pool.take();
  ReceivedOctets& front = pool[at];
  const std::uint32_t bytes = seq - front.seq;
  pool[rest] = received_octets(front.buf, {front.data + bytes, front.bytes - bytes}, seq);
  front.bytes = bytes;
  list.insert_after(pool, at, rest);
  return rest;
}

}  // namespace

std::uint32_t cut_out(ReceivedPool& pool, SlotList& list, std::uint32_t at, std::uint32_t seq, std::uint32_t bytes) {
  if (pool[at].seq != seq) at = split(pool, list, at, seq);
  if (pool[at].end() != seq + bytes) split(pool, list, at, seq + bytes);
  return at;
}

void stand_for(ReceivedOctets& piece, BufferRef header, std::uint32_t header_bytes) {
  piece.buf = std::move(header);
  piece.data = piece.buf->bytes();
  piece.header_bytes = header_bytes;
}

}  // namespace rnic::llp
