#include "model/rnic/llp/tcp/reassembly_queue.h"

#include <algorithm>
#include <utility>

namespace rnic::tcp {

using llp::kNil;
using wire::SackBlock;
using wire::seq_gt;
using wire::seq_le;

ReassemblyQueue::Kept ReassemblyQueue::keep(ReassemblyMemory& m, const BufferRef& buf, std::uint32_t seq,
                                            ByteSpan octets, bool fin) {
  Kept kept;
  const std::uint32_t first = seq;
  std::uint32_t before = kNil, at = list_.head;
  if (at != kNil && seq_le(m.pool[list_.tail].end(), seq)) {  // the usual case: after all others
    before = list_.tail;
    at = kNil;
  }
  while (!octets.empty()) {
    while (at != kNil && seq_le(m.pool[at].end(), seq)) {
      before = at;
      at = m.pool[at].next;
    }
    auto bytes = static_cast<std::uint32_t>(octets.size());
    if (at != kNil && seq_le(m.pool[at].seq, seq)) {
      bytes = std::min(bytes, m.pool[at].end() - seq);  // known
    } else {
      if (at != kNil) bytes = std::min(bytes, m.pool[at].seq - seq);
      if (!keep_part(m, before, buf, seq, octets.subspan(0, bytes))) {
        kept.dropped = true;
        kept.run = run_around(m, first);
        return kept;
      }
      kept.whole = seq == first && bytes == octets.size();
      before = before == kNil ? list_.head : m.pool[before].next;
      at = m.pool[before].next;
    }
    octets = octets.subspan(bytes);
    seq += bytes;
  }
  if (fin) {
    fin_ = true;
    fin_seq_ = seq;
  }
  kept.run = run_around(m, first);
  return kept;
}

bool ReassemblyQueue::keep_part(ReassemblyMemory& m, std::uint32_t before, const BufferRef& buf, std::uint32_t seq,
                                ByteSpan part) {
  const auto bytes = static_cast<std::uint32_t>(part.size());
  if (pieces_ == m.max_segments || m.bytes + bytes > m.max_bytes) return false;
  m.bytes += bytes;
  m.bytes_peak = std::max(m.bytes_peak, m.bytes);
  const std::uint32_t slot = m.pool.take();
  m.pool[slot] = llp::received_octets(buf, part, seq);
  if (before == list_.tail && (before == kNil || m.pool[before].end() != seq)) last_run_ = seq;
  list_.insert_after(m.pool, before, slot);
  ++pieces_;
  m.segments_peak = std::max<std::uint32_t>(m.segments_peak, pieces_);
  if (slot != list_.tail && seq + bytes == last_run_) last_run_ = run_around(m, seq).left;
  return true;
}

// Empty if the octet is not kept.
SackBlock ReassemblyQueue::run_around(const ReassemblyMemory& m, std::uint32_t seq) const {
  SackBlock run;
  if (!list_.empty() && seq_le(last_run_, seq)) {
    run = {last_run_, m.pool[list_.tail].end()};
    return seq_gt(run.right, seq) ? run : SackBlock{};
  }
  for (std::uint32_t at = list_.head; at != kNil; at = m.pool[at].next) {
    const llp::ReceivedOctets& piece = m.pool[at];
    if (run.left == run.right || run.right != piece.seq) {
      if (seq_gt(piece.seq, seq)) break;
      run.left = piece.seq;
    }
    run.right = piece.end();
  }
  return seq_gt(run.right, seq) ? run : SackBlock{};
}

llp::ReceivedOctets ReassemblyQueue::take_front(ReassemblyMemory& m) {
  llp::ReceivedOctets front = std::move(m.pool[list_.head]);
  m.bytes -= front.held();
  list_.drop_front(m.pool);
  --pieces_;
  return front;
}

bool ReassemblyQueue::replace(ReassemblyMemory& m, std::uint32_t seq, std::uint32_t bytes, BufferRef header,
                              std::uint32_t header_bytes) {
  std::uint32_t at = llp::piece_with(m.pool, list_, seq, bytes);
  if (at == kNil) return false;
  const unsigned cuts = llp::cuts_around(m.pool[at], seq, bytes);
  if (cuts != 0 && pieces_ + cuts > m.max_segments / 2) return false;
  at = llp::cut_out(m.pool, list_, at, seq, bytes);
  pieces_ += cuts;
  m.segments_peak = std::max<std::uint32_t>(m.segments_peak, pieces_);
  llp::ReceivedOctets& piece = m.pool[at];
  m.bytes -= piece.held();
  llp::stand_for(piece, std::move(header), header_bytes);
  m.bytes += piece.held();
  return true;
}

void ReassemblyQueue::give_back(ReassemblyMemory& m, std::uint32_t head) {
  for (std::uint32_t at = head; at != kNil; at = m.pool[at].next) m.bytes -= m.pool[at].held();
  m.pool.give_back_from(head);
}

void ReassemblyQueue::clear(ReassemblyMemory& m) {
  give_back(m, list_.head);
  list_ = {};
  pieces_ = 0;
  fin_ = false;
}

}  // namespace rnic::tcp
