#include "model/rnic/llp/tcp/received_stream.h"

#include <cstring>

namespace rnic::tcp {

bool ReceivedStream::read(std::uint32_t bytes) {
  if (mode_ != Mode::kStreaming) return false;
  wanted_ = bytes;
  return true;
}

bool ReceivedStream::enter_rdma() {
  if (mode_ != Mode::kStreaming) return false;
  mode_ = Mode::kRdma;
  wanted_ = 0;
  return true;
}

bool ReceivedStream::discard(llp::ReceivedPool& pool, std::uint32_t& room) {
  if (mode_ == Mode::kRdma) return false;
  mode_ = Mode::kDiscard;
  wanted_ = 0;
  room = octets(pool);
  pieces_.clear(pool);
  return true;
}

void ReceivedStream::append(llp::ReceivedPool& pool, llp::ReceivedOctets&& octets) {
  const std::uint32_t slot = pool.take();
  pool[slot] = std::move(octets);
  pool[slot].next = llp::kNil;
  pieces_.append(pool, slot);
}

llp::ReceivedOctets ReceivedStream::take_front(llp::ReceivedPool& pool) {
  llp::ReceivedOctets front = std::move(pool[pieces_.head]);
  pieces_.drop_front(pool);
  return front;
}

bool ReceivedStream::replace(llp::ReceivedPool& pool, std::uint32_t seq, std::uint32_t bytes, BufferRef header,
                             std::uint32_t header_bytes) {
  const std::uint32_t at = llp::piece_with(pool, pieces_, seq, bytes);
  if (at == llp::kNil) return false;
  llp::stand_for(pool[llp::cut_out(pool, pieces_, at, seq, bytes)], std::move(header), header_bytes);
  return true;
}

void ReceivedStream::take(llp::ReceivedPool& pool, MutableByteSpan to) {
  for (std::size_t at = 0; at < to.size();) {
    llp::ReceivedOctets& piece = pool[pieces_.head];
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(piece.bytes, to.size() - at));
    std::memcpy(to.data() + at, piece.data, n);
    at += n;
    piece.data += n;
    piece.seq += n;
    piece.bytes -= n;
    if (piece.bytes == 0) pieces_.drop_front(pool);
  }
}

void ReceivedStream::release(llp::ReceivedPool& pool) {
  pieces_.clear(pool);
  const bool ends = awaits_end();
  *this = ReceivedStream();
  end_sent_ = ends;
  released_ = true;
}

// Octets go before a FIN, and a read that the FIN cuts short is answered with what there is. In RDMA mode they also go
// before an RST: they were acknowledged, and a Terminate may be among them.
ReceivedStream::Report ReceivedStream::next_report(const llp::ReceivedPool& pool, bool busy) {
  if (released_) {
    if (awaits_end()) return Report::kNothing;
    if (busy) return Report::kLater;
    released_ = false;
    return Report::kReleased;
  }
  if (reset_to_report_ && !rdma()) {
    reset_to_report_ = false;
    return Report::kReset;
  }
  if (wanted_ != 0 && !empty() && (finished_ || octets(pool) >= wanted_)) return Report::kOctets;
  if ((!fin_to_report_ && !reset_to_report_) || !empty()) return Report::kNothing;
  if (rdma() && !end_passed_) return end_sent_ ? Report::kNothing : Report::kSendEnd;
  if (fin_to_report_) {
    fin_to_report_ = false;
    return Report::kFin;
  }
  reset_to_report_ = false;
  return Report::kReset;
}

}  // namespace rnic::tcp
