#include "model/rnic/llp/tcp/sender.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {

using wire::seq_gt;
using wire::seq_lt;
using wire::TcpHeader;

SenderResources::SenderResources(const TcpConfig& config, std::uint64_t period, BufferPool& pool)
    : timer(config, period),
      initial_window(config.initial_window),
      path_mtu_min(config.path_mtu_min),
      period_ps(period),
      algorithm(make_congestion_control(config.congestion)),
      buffers(pool) {}

// ---- The life of a connection

void Sender::open(SenderResources& r, std::uint32_t iss, bool with_ack, const Agreed& agreed, std::uint32_t peer_window,
                  std::uint32_t peer_iss) {
  loss_.start(iss);
  window_.open(peer_iss, iss + 1, peer_window);
  agree(r, agreed, r.initial_window);
  QueuedSegment syn;
  syn.flags = TcpHeader::kSyn;
  if (agreed.ecn) syn.flags |= TcpHeader::kEce;
  if (with_ack) syn.flags |= TcpHeader::kAck;
  else if (agreed.ecn) syn.flags |= TcpHeader::kCwr;
  loss_.append(r.segments, std::move(syn));
}

LossRecovery::Acked Sender::establish(SenderResources& r, const Agreed& agreed, std::uint32_t ack,
                                      std::uint32_t peer_window, std::uint32_t peer_iss, Cycle now) {
  window_.open(peer_iss, ack, peer_window);
  // One segment when the SYN was lost (RFC 5681 section 3.1).
  agree(r, agreed, timer_.backed_off() ? 1 : r.initial_window);
  RxFeedback syn_ack;
  syn_ack.ack = ack;
  return acknowledge(r, syn_ack, now);
}

void Sender::agree(SenderResources& r, const Agreed& agreed, unsigned segments) {
  path_.open(agreed.emss);
  loss_.use_sack(agreed.sack);
  scaling_ = agreed.scaling;
  sack_ = agreed.sack;
  timestamps_ = agreed.timestamps;
  congestion_.open(*r.algorithm, agreed.emss, segments, loss_.snd_una(), agreed.ecn);
}

void Sender::enter_rdma() {
  rdma_ = true;
  window_.start_credit(loss_.snd_end());
}

void Sender::queue_fin(SenderResources& r) {
  QueuedSegment fin;
  fin.flags = TcpHeader::kFin | TcpHeader::kAck;
  loss_.append(r.segments, std::move(fin));
}

// ---- What to send

std::uint32_t Sender::queue_fpdu(SenderResources& r, QueuedSegment&& fpdu, std::uint32_t& cuts) {
  const bool fits = fpdu.payload_bytes <= path_.mss();
  const std::uint32_t slot = loss_.append(r.segments, std::move(fpdu));
  cuts = (fits ? 0 : loss_.fit_last_to(r.segments, path_.mss(), r.buffers)) + fit_to_window(r);
  return slot;
}

std::uint32_t Sender::queue_stream(SenderResources& r, const std::uint8_t* data, std::uint32_t bytes) {
  std::uint32_t segments = 0;
  for (std::uint32_t at = 0; at < bytes; ++segments) {
    QueuedSegment s;
    s.buf = r.buffers.take();
    s.payload_at = kFrameHeadroom;
    s.payload_bytes = static_cast<std::uint16_t>(std::min<std::uint32_t>(path_.mss(), bytes - at));
    std::memcpy(s.buf->bytes() + kFrameHeadroom, data + at, s.payload_bytes);
    at += s.payload_bytes;
    s.flags = TcpHeader::kAck;
    if (at == bytes) s.flags |= TcpHeader::kPsh;
    loss_.append(r.segments, std::move(s));
  }
  return segments;
}

Sender::Departure Sender::send(SenderResources& r, std::uint32_t slot, Cycle now) {
  Departure out;
  if (rdma_ && loss_.flight() == 0 && timer_.idle(r.timer, now)) {
    out.idle_restart = congestion_.on_idle(*r.algorithm, r.initial_window);
  }
  out.again = loss_.sent(r.segments, slot);
  if (out.again) out.resend = loss_.why_again();
  overdue_ = false;
  QueuedSegment& s = r.segments[slot];
  if (out.again) timer_.on_sent_again(timestamps_, now);
  else timer_.on_sent(loss_.snd_nxt(), now);
  if (out.again && s.buf.shared()) {  // the frame that was sent first is still being read
    BufferRef copy = r.buffers.take_like(s.buf.get());
    std::memcpy(copy->bytes() + kFrameHeadroom, s.buf->bytes() + s.payload_at, s.payload_bytes);
    s.buf = std::move(copy);
    s.payload_at = kFrameHeadroom;
  }
  if (s.buf && !out.again && congestion_.ecn()) {
    out.ect = true;
    out.cwr = congestion_.take_cwr();
  }
  return out;
}

// ---- Input from the peer and from routers

// RFC 9293 section 3.10.7.4, fifth.
Sender::AckOutcome Sender::on_ack(SenderResources& r, const RxFeedback& fb, Cycle now) {
  AckOutcome out;
  out.old = seq_lt(fb.ack, loss_.snd_una());
  if (out.old) return out;
  const bool was_short = window_short();
  const bool same_window = window_.update(fb.seq, fb.ack, fb.window);
  if (window_.advertised() >= path_.mss()) overdue_ = false;
  if (sack_ && fb.sack_blocks != 0) out.sacked = loss_.on_sack(r.segments, fb.ack, fb.sack.data(), fb.sack_blocks);
  const bool ece = congestion_.ecn() && (fb.flags & TcpHeader::kEce);
  if (seq_gt(fb.ack, loss_.snd_una())) {
    on_new_ack(r, fb, ece, now, out);
  } else {
    const bool bare = fb.payload == 0 && (fb.flags & (TcpHeader::kSyn | TcpHeader::kFin)) == 0;
    out.duplicate = sack_ ? out.sacked != 0 : bare && same_window && loss_.flight() != 0;
    if (out.duplicate && loss_.on_duplicate_ack(r.segments, path_.mss())) {
      out.loss = true;
      reduce(r);
    }
    if (window_.advertised() < path_.mss()) timer_.on_closed_window();
    if (loss_.flight() == 0 && (was_short || keeps_alive(r))) {
      timer_.on_answer(window_short());
      out.restart_timer = true;
    }
  }
  if (out.sacked != 0 && loss_.find_losses(r.segments, path_.mss())) {
    out.loss = true;
    reduce(r);
  }
  if (ece && !loss_.recovering()) {
    const bool smallest = congestion_.octets() <= path_.mss();
    out.echo = congestion_.on_echo(*r.algorithm, loss_.snd_una(), loss_.snd_nxt());
    if (out.echo && smallest) holds_back_ = out.restart_timer = true;
  }
  return out;
}

void Sender::on_new_ack(SenderResources& r, const RxFeedback& fb, bool ece, Cycle now, AckOutcome& out) {
  llp::AckedOctets octets;
  octets.bytes = fb.ack - loss_.snd_una();
  octets.flight = loss_.pipe();
  octets.ece = ece;
  out.acked = acknowledge(r, fb, now);
  out.restart_timer = true;
  octets.snd_una = loss_.snd_una();
  octets.snd_nxt = loss_.snd_nxt();
  octets.now_ns = now * r.period_ps / 1000;
  octets.srtt_ns = timer_.srtt() * r.period_ps / 1000;
  const bool may_grow = loss_.on_new_ack(r.segments, octets.bytes, path_.mss());
  congestion_.follow(loss_.snd_una());
  congestion_.on_ack(*r.algorithm, octets, rdma_ && may_grow);
}

LossRecovery::Acked Sender::acknowledge(SenderResources& r, const RxFeedback& fb, Cycle now) {
  const LossRecovery::Acked acked = loss_.acknowledge(r.segments, fb.ack);
  if (acked.syn) established_ = true;
  std::optional<std::uint32_t> echo;
  if (timestamps_ && fb.timestamps) echo = fb.stamps.echo_reply;
  timer_.measure(r.timer, fb.ack, echo, now);
  timer_.on_new_ack();
  return acked;
}

bool Sender::on_path_mtu(SenderResources& r, const RxFeedback& fb, std::uint32_t& cuts) {
  if (!path_.on_report(fb.path_mtu, loss_.in_flight(fb.seq), r.path_mtu_min, timestamps_)) return false;
  congestion_.set_mss(path_.mss());
  cuts = loss_.fit_to(r.segments, path_.mss(), r.buffers);
  timer_.forget();
  return true;
}

// ---- The timer

// RFC 6298 section 5.4 to 5.7: all unacknowledged data is retransmitted, as the congestion window grows from one
// segment.
Sender::Expiry Sender::on_timeout(SenderResources& r) {
  const bool held_back = holds_back_;
  holds_back_ = false;
  if (held_back && loss_.flight() == 0) return Expiry::kGoOn;
  const bool repeated = timer_.backed_off();
  if (!timer_.on_expiry(r.timer, established_)) return Expiry::kGaveUp;
  if (loss_.flight() == 0) {
    overdue_ = window_short();
    if (overdue_ && loss_.has_unsent() && window_.usable(loss_.snd_nxt()) != 0) return Expiry::kPiece;
    return overdue_ ? Expiry::kProbe : Expiry::kKeepalive;
  }
  // A retransmission was lost: the window that the recovery left is halved (RFC 5681 section 4.3).
  const std::uint32_t flight =
      loss_.recovering_fast() ? std::min(loss_.flight(), congestion_.octets()) : loss_.flight();
  congestion_.on_timeout(*r.algorithm, flight, loss_.snd_nxt(), repeated);
  loss_.on_timeout(r.segments);
  return Expiry::kResend;
}

}  // namespace rnic::tcp
