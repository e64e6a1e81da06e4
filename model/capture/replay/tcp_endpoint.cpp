#include "model/capture/replay/tcp_endpoint.h"

#include <algorithm>
#include <utility>

#include "model/wire/ipv4.h"

namespace rnic::replay {

using wire::TcpHeader;

namespace {

constexpr std::uint8_t kWindowShift = 7;

}  // namespace

TcpEndpoint::TcpEndpoint(const Config& config, Emit emit, Deliver deliver)
    : config_(config), peer_port_(config.peer_port), emit_(std::move(emit)), deliver_(std::move(deliver)) {}

void TcpEndpoint::open() {
  state_ = State::kSynSent;
  put(TcpHeader::kSyn, config_.isn);
}

void TcpEndpoint::listen() { state_ = State::kListen; }
void TcpEndpoint::refuse() { state_ = State::kRefuse; }

void TcpEndpoint::send(ByteSpan octets) {
  queue_.insert(queue_.end(), octets.begin(), octets.end());
  cuts_.push_back(queue_.size());
}

void TcpEndpoint::close() { fin_queued_ = true; }

void TcpEndpoint::abort() {
  if (state_ == State::kEstablished || state_ == State::kSynReceived) put(TcpHeader::kRst, seq_at(sent_) + fin_sent_);
  state_ = State::kReset;
}

bool TcpEndpoint::packet(std::uint8_t protocol, ByteSpan octets, std::uint64_t now_ps) {
  const auto view = protocol == wire::kIpProtocolTcp ? wire::TcpView::parse(octets) : std::nullopt;
  if (!view || view->header.dst_port != config_.port) return false;
  segment(*view, now_ps);
  return true;
}

void TcpEndpoint::segment(const wire::TcpView& segment, std::uint64_t now_ps) {
  const TcpHeader& h = segment.header;
  if (state_ == State::kClosed || state_ == State::kReset) return;
  if (h.has(TcpHeader::kRst)) {
    refused_ = !established();
    state_ = State::kReset;
    return;
  }
  if (h.has(TcpHeader::kSyn)) return take_syn(h);
  if (state_ == State::kListen || state_ == State::kRefuse || state_ == State::kSynSent) return;
  take_ack(h, now_ps);
  take_payload(segment);
}

void TcpEndpoint::take_syn(const TcpHeader& syn) {
  const bool answer = syn.has(TcpHeader::kAck);
  if (state_ == State::kRefuse) {
    peer_port_ = syn.src_port;
    rcv_next_ = syn.seq + 1;
    put(TcpHeader::kRst, 0);
    state_ = State::kReset;
    return;
  }
  if (answer != (state_ == State::kSynSent)) return;
  peer_port_ = syn.src_port;
  rcv_next_ = syn.seq + 1;
  peer_mss_ = syn.options.mss.value_or(536);
  window_shift_ = syn.options.window_scale.value_or(0);
  window_ = syn.window;  // never scaled in a SYN
  state_ = answer ? State::kEstablished : State::kSynReceived;
  put(answer ? 0 : TcpHeader::kSyn, config_.isn + (answer ? 1 : 0));
}

void TcpEndpoint::take_ack(const TcpHeader& h, std::uint64_t now_ps) {
  if (!h.has(TcpHeader::kAck)) return;
  if (state_ == State::kSynReceived) state_ = State::kEstablished;
  window_ = std::uint32_t{h.window} << window_shift_;
  const std::int32_t ahead = wire::seq_diff(h.ack, seq_at(acked_));
  const std::size_t unacked = queue_.size() - acked_ + (fin_queued_ && !fin_acked_ ? 1 : 0);
  if (ahead <= 0 || static_cast<std::size_t>(ahead) > unacked) return;
  progress_ps_ = now_ps;
  const std::size_t octets = std::min(static_cast<std::size_t>(ahead), queue_.size() - acked_);
  acked_ += octets;
  sent_ = std::max(sent_, acked_);  // octets to be retransmitted may have arrived after all
  if (static_cast<std::size_t>(ahead) > octets) fin_sent_ = fin_acked_ = true;
}

// Takes octets in order only; otherwise the ACK tells the peer what is missing.
void TcpEndpoint::take_payload(const wire::TcpView& segment) {
  const bool fin = segment.header.has(TcpHeader::kFin);
  if (segment.payload.empty() && !fin) return;
  const std::int32_t known = wire::seq_diff(rcv_next_, segment.header.seq);
  const auto size = static_cast<std::int32_t>(segment.payload.size());
  if (known >= 0 && !fin_received_) {
    if (known < size) {
      rcv_next_ += static_cast<std::uint32_t>(size - known);
      deliver_(segment.payload.subspan(static_cast<std::size_t>(known)));
    }
    if (fin && known <= size) {
      ++rcv_next_;
      fin_received_ = true;
    }
  }
  put(0, seq_at(sent_) + fin_sent_);
}

void TcpEndpoint::advance(std::uint64_t now_ps) {
  if (state_ != State::kEstablished) return;
  const bool waiting = acked_ < sent_ || (fin_sent_ && !fin_acked_);
  if (!waiting) progress_ps_ = now_ps;
  if (waiting && now_ps - progress_ps_ >= kRetransmitPs) {
    sent_ = acked_;
    fin_sent_ = false;
    progress_ps_ = now_ps;
  }
  while (sent_ < queue_.size()) {
    while (!cuts_.empty() && cuts_.front() <= sent_) cuts_.pop_front();
    const std::size_t cut = cuts_.empty() ? queue_.size() : cuts_.front();
    const std::size_t n = std::min(cut - sent_, peer_mss_);
    if (sent_ + n - acked_ > window_) return;
    put(TcpHeader::kPsh, seq_at(sent_), ByteSpan(queue_).subspan(sent_, n));
    sent_ += n;
  }
  if (fin_queued_ && !fin_sent_) {
    put(TcpHeader::kFin, seq_at(sent_));
    fin_sent_ = true;
  }
}

void TcpEndpoint::put(std::uint8_t flags, std::uint32_t seq, ByteSpan payload) {
  TcpHeader h;
  h.src_port = config_.port;
  h.dst_port = peer_port_;
  h.seq = seq;
  h.flags = flags;
  if (state_ != State::kSynSent) {
    h.flags = static_cast<std::uint8_t>(h.flags | TcpHeader::kAck);
    h.ack = rcv_next_;
  }
  h.window = 0xffff;
  if (flags & TcpHeader::kSyn) {
    h.options.mss = config_.mss;
    h.options.window_scale = kWindowShift;
  }
  emit_(h, payload);
}

}  // namespace rnic::replay
