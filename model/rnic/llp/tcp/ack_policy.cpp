#include "model/rnic/llp/tcp/ack_policy.h"

#include <algorithm>

#include "model/rnic/llp/tcp/receive_window.h"

namespace rnic::tcp {

using wire::seq_ge;
using wire::seq_le;
using wire::seq_max;
using wire::TcpHeader;

AckSettings::AckSettings(const TcpConfig& config, std::uint64_t period_ps)
    : every(config.ack_every),
      delay(std::max<Cycle>(1, config.ack_delay_ns * 1000 / period_ps)),
      challenges(config.challenge_acks),
      challenge_interval(config.challenge_interval_us * 1'000'000 / period_ps),
      window(config.window_bytes),
      scale(config.window_scale()),
      window_step(std::min<std::uint32_t>(2u * config.mss(), config.window_bytes / 2)),
      dctcp(config.congestion == CongestionAlgorithm::kDctcp),
      clock(config.timestamp_ns, period_ps) {}

void AckPolicy::agree(const Agreed& agreed) {
  scaling_ = agreed.scaling;
  sack_ = agreed.sack;
  timestamps_ = agreed.timestamps;
  ts_recent_ = agreed.ts_recent;
  ecn_ = agreed.ecn;
}

void AckPolicy::start(const AckSettings& s, std::uint32_t rcv_nxt, bool synchronized) {
  synchronized_ = synchronized;
  rcv_nxt_ = rcv_nxt;
  rcv_edge_ = rcv_nxt + largest_window(s.window, scaling_);
}

bool AckPolicy::on_feedback(const AckSettings& s, const RxFeedback& fb) {
  bool earlier = false;
  if (ecn_ && fb.acks && fb.payload != 0) {
    if (s.dctcp) earlier = marks_.on_segment_dctcp(fb.ce, unacknowledged_ != 0, rcv_nxt_);
    else marks_.on_segment(fb.ce, fb.flags & TcpHeader::kCwr);
  }
  const std::uint32_t end = fb.seq + fb.payload + ((fb.flags & TcpHeader::kFin) != 0);
  if (timestamps_ && fb.timestamps && seq_le(fb.seq, last_ack_) && seq_ge(end, last_ack_)) {
    ts_recent_ = fb.stamps.value;  // RFC 7323 section 4.3; tcp_rx drops older ones
  }
  if (synchronized_) {
    rcv_nxt_ = seq_max(rcv_nxt_, fb.rcv_nxt);
    rcv_edge_ = seq_max(rcv_edge_, fb.rcv_edge);
  }
  if (sack_ && (!kept_.empty() || fb.kept.left != fb.kept.right)) kept_.note(fb.kept, rcv_nxt_);
  return earlier;
}

bool AckPolicy::challenge(const AckSettings& s, Cycle now) {
  if (!challenges_.allow(now, s.challenge_interval, s.challenges)) return false;
  owe();
  return true;
}

bool AckPolicy::on_delay_over() {
  if (unacknowledged_ == 0) return false;
  owe();
  return true;
}

bool AckPolicy::write(const AckSettings& s, Cycle now, bool bare, SegmentFields& fields) {
  write_received(s, now, rcv_nxt_, marks_.echo(), fields);
  const bool room = bare && !(fields.flags & TcpHeader::kSyn);
  if (!kept_.empty() && !room) return false;
  if (!kept_.empty()) kept_.write(fields.options);
  acknowledged(rcv_nxt_);
  return true;
}

AckPolicy::Due AckPolicy::write_earlier(const AckSettings& s, Cycle now, SegmentFields& fields) {
  const MarkEcho::Earlier earlier = marks_.take_earlier();
  write_received(s, now, earlier.ack, earlier.echo, fields);
  if (!kept_.empty()) kept_.write(fields.options);
  acknowledged(earlier.ack);
  if (rcv_nxt_ == earlier.ack) return Due::kNothing;
  return on_segment(s, true);
}

void AckPolicy::write_received(const AckSettings& s, Cycle now, std::uint32_t ack, bool echo, SegmentFields& fields) {
  const bool syn = fields.flags & TcpHeader::kSyn, acks = fields.flags & TcpHeader::kAck;
  if (acks) fields.ack = ack;
  if (ecn_ && echo && !syn) fields.flags |= TcpHeader::kEce;
  fields.window = advertise(s, ack, syn);
  if (timestamps_) fields.options.timestamps = wire::TcpTimestamps{s.clock.at(now), acks ? ts_recent_ : 0};
}

// The window of a SYN is never scaled (RFC 7323 section 2.2).
std::uint16_t AckPolicy::advertise(const AckSettings& s, std::uint32_t ack, bool syn) {
  const std::uint8_t scale = scaling_ && !syn ? s.scale : std::uint8_t{0};
  const std::uint32_t units = std::min<std::uint32_t>(0xffff, (rcv_edge_ - ack) >> scale);
  rcv_adv_ = ack + (units << scale);
  return static_cast<std::uint16_t>(units);
}

void AckPolicy::acknowledged(std::uint32_t ack) {
  owed_ = false;
  unacknowledged_ = 0;
  last_ack_ = ack;
}

}  // namespace rnic::tcp
