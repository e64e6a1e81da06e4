// One timer per flow with three purposes: to retransmit unacknowledged data (RFC 6298), to probe a window that stays
// too small (RFC 9293 section 3.8.6.1), and to probe an idle peer (section 3.8.4). It decides how long to wait, and
// when to give up. A TimerWheel counts the cycles.
#pragma once

#include <cstdint>
#include <optional>

#include "model/abi/host_abi.h"
#include "model/rnic/llp/rto.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/llp/tcp/timestamp_clock.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

// Shared by all flows of a chip.
struct RetransmissionTimerSettings {
  RetransmissionTimerSettings(const TcpConfig& config, std::uint64_t period_ps)
      : rto(config, period_ps),
        keepalive(config.keepalive_us * 1'000'000 / period_ps),
        keepalive_if_asked(keepalive != 0 ? keepalive : 7200 * 1'000'000'000'000 / period_ps),
        clock(config.timestamp_ns, period_ps),
        max_retries(config.max_retries),
        syn_retries(config.syn_retries) {}

  llp::RtoLimits rto;
  Cycle keepalive;           // 0: idle peers are not probed
  Cycle keepalive_if_asked;  // for a connection with keep-alive turned on: two hours (RFC 9293 section 3.8.4), unless
                             // set
  TimestampClock clock;
  unsigned max_retries, syn_retries;
};

class RetransmissionTimer {
 public:
  enum class Awaits : std::uint8_t {
    kNothing,
    kAck,     // of what is in flight
    kWindow,  // nothing is in flight, and the waiting data does not fit
    kSign     // of life; only with keep-alive
  };
  RetransmissionTimer() : keep_alive_(abi::KeepAlive::kDevice), timing_(false) {}
  void set_limits(abi::TcpLimits limits) {
    max_retries_ = limits.max_retries;
    keep_alive_ = limits.keep_alive;
  }
  // 0: an idle peer is not probed.
  Cycle keepalive(const RetransmissionTimerSettings& s) const {
    switch (keep_alive_) {
      case abi::KeepAlive::kOn:
        return s.keepalive_if_asked;
      case abi::KeepAlive::kOff:
        return 0;
      case abi::KeepAlive::kDevice:
        break;
    }
    return s.keepalive;
  }

  // From now; kNever: the timer is off.
  Cycle length(const RetransmissionTimerSettings& s, Awaits awaits) const {
    switch (awaits) {
      case Awaits::kAck:
      case Awaits::kWindow:
        return rtt_.rto(s.rto, backoff_);
      case Awaits::kSign:
        return keepalive(s) != 0 ? keepalive(s) : kNever;
      case Awaits::kNothing:
        break;
    }
    return kNever;
  }

  // It expired. False: the peer did not answer often enough, and the flow is given up.
  bool on_expiry(const RetransmissionTimerSettings& s, bool established) {
    const unsigned allowed = max_retries_ != 0 ? max_retries_ : s.max_retries;
    if (retries_ >= (established ? allowed : s.syn_retries)) return false;
    ++retries_;
    if (backoff_ < 0xff) ++backoff_;
    timing_ = false;
    return true;
  }
  // It expired before, without an acknowledgement since.
  bool backed_off() const { return backoff_ != 0; }

  // An ACK of new octets.
  void on_new_ack() { backoff_ = retries_ = 0; }
  // A sign of life that acknowledges nothing. While the peer's window stays short, the intervals keep growing.
  void on_answer(bool window_short) {
    retries_ = 0;
    if (!window_short) backoff_ = 0;
  }
  // The window is closed, but the peer is alive.
  void on_closed_window() { retries_ = 0; }

  // ---- The round trip: one octet is timed at a time.

  void on_sent(std::uint32_t end, Cycle now) {
    last_sent_ = now;
    if (timing_) return;
    timing_ = true;
    timed_seq_ = end;
    timed_at_ = now;
  }
  // Without timestamps, an ACK does not show which of the two it answers (RFC 6298 section 3).
  void on_sent_again(bool timestamps, Cycle now) {
    last_sent_ = now;
    if (!timestamps) timing_ = false;
  }
  // The timed octet is retransmitted, in other segments.
  void forget() { timing_ = false; }
  // An echoed timestamp, if there is one, is correct even for a retransmitted segment (RFC 7323 section 4).
  void measure(const RetransmissionTimerSettings& s, std::uint32_t ack, std::optional<std::uint32_t> echo, Cycle now) {
    if (!timing_ || wire::seq_lt(ack, timed_seq_)) return;
    timing_ = false;
    rtt_.sample(echo ? s.clock.since(*echo, now) : now - timed_at_);
  }
  Cycle srtt() const { return rtt_.srtt(); }
  // Nothing was sent for an RTO.
  bool idle(const RetransmissionTimerSettings& s, Cycle now) const { return now - last_sent_ > rtt_.rto(s.rto, 0); }

  static constexpr const char* kMessage = "retransmission_timer";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("timed_at", 48, m.timed_at_);
    v("last_sent", 48, m.last_sent_);
    v("timed_seq", 32, m.timed_seq_);
    v("rtt", m.rtt_);
    v("backoff", 8, m.backoff_);
    v("retries", 8, m.retries_);
    v("max_retries", 8, m.max_retries_);
    visit_bits(v, "keep_alive", 2, abi::KeepAlive{m.keep_alive_}, m,
               [](auto& of, abi::KeepAlive value) { of.keep_alive_ = value; });
    visit_bits(v, "timing", 1, bool{m.timing_}, m, [](auto& of, bool value) { of.timing_ = value; });
  }

 private:
  Cycle timed_at_ = 0, last_sent_ = 0;
  std::uint32_t timed_seq_ = 0;  // timed until this is acknowledged
  llp::RttEstimator rtt_;
  std::uint8_t backoff_ = 0, retries_ = 0;
  std::uint8_t max_retries_ = 0;  // 0: the chip's
  abi::KeepAlive keep_alive_ : 2;
  bool timing_ : 1;
};

}  // namespace rnic::tcp
