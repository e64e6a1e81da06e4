// What a flow acknowledges to its peer, and when: delayed, immediate and challenge ACKs, window updates, SACK blocks,
// echoes of marks and timestamps (RFC 9293 sections 3.8.6.2 and 3.8.6.3, RFC 2018, 3168, 5961, 7323, 8257).
#pragma once

#include <cstdint>

#include "model/rnic/llp/tcp/challenge_limit.h"
#include "model/rnic/llp/tcp/mark_echo.h"
#include "model/rnic/llp/tcp/sack_list.h"
#include "model/rnic/llp/tcp/segment.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/llp/tcp/timestamp_clock.h"
#include "model/rnic/messages/llp.h"

namespace rnic::tcp {

// Shared by all flows of a chip.
struct AckSettings {
  AckSettings(const TcpConfig& config, std::uint64_t period_ps);

  unsigned every;  // segments that are acknowledged together
  Cycle delay;     // longest wait of an acknowledgement
  unsigned challenges;
  Cycle challenge_interval;
  std::uint32_t window;  // octets
  std::uint8_t scale;
  std::uint32_t window_step;  // the increase of a short window that warrants an update
  bool dctcp;
  TimestampClock clock;
};

// For one flow. Its owner runs the delayed-ACK timer and sends; owed() and owes_earlier() say what a pure ACK is for.
class AckPolicy {
 public:
  // kDelayed: when the delayed-ACK timer, which may already be running, expires.
  enum class Due : std::uint8_t { kNothing, kDelayed, kNow };

  AckPolicy() : synchronized_(false), scaling_(false), timestamps_(false), sack_(false), ecn_(false), owed_(false) {}

  void agree(const Agreed& agreed);
  // After agree(). Nothing is received yet. Until the flow is `synchronized`, the peer's sequence numbers are unknown.
  void start(const AckSettings& s, std::uint32_t rcv_nxt, bool synchronized);

  std::uint32_t rcv_nxt() const { return rcv_nxt_; }

  // A received segment, or a window that opened: the content of later ACKs. True if an ACK of what came before is owed
  // now.
  bool on_feedback(const AckSettings& s, const RxFeedback& fb);
  // A segment must be acknowledged: delayed if it `may_wait`, or at once.
  Due on_segment(const AckSettings& s, bool may_wait) {
    const bool now = !may_wait || ++unacknowledged_ >= s.every;
    if (now) owe();
    return now ? Due::kNow : Due::kDelayed;
  }
  // The peer knows a short window, which has opened since (RFC 9293 section 3.8.6.2.2).
  bool window_update_due(const AckSettings& s) const {
    return wire::seq_lt(rcv_adv_, rcv_nxt_ + s.window_step) && wire::seq_ge(rcv_edge_, rcv_adv_ + s.window_step);
  }
  // An ACK for a segment that may be forged: false if it is withheld.
  bool challenge(const AckSettings& s, Cycle now);
  void owe() { owed_ = true; }
  // The delayed-ACK timer expired. False if a segment has carried the acknowledgement meanwhile.
  bool on_delay_over();

  bool owed() const { return owed_; }
  bool owes_earlier() const { return marks_.owes_earlier(); }

  // Fills in the receiver's fields of a segment with `fields.flags`. `bare`: it has no payload, hence room for SACK
  // blocks. True if nothing is left to acknowledge, so the timer can stop. While runs are kept, the ACK of a segment
  // with payload is not enough: the peer waits for SACK, and counts duplicate ACKs.
  bool write(const AckSettings& s, Cycle now, bool bare, SegmentFields& fields);
  // The same for the ACK of what came before the mark changed. Returns how the rest is due.
  Due write_earlier(const AckSettings& s, Cycle now, SegmentFields& fields);

  static constexpr const char* kMessage = "ack_policy";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rcv_nxt", 32, m.rcv_nxt_);
    v("rcv_edge", 32, m.rcv_edge_);
    v("rcv_adv", 32, m.rcv_adv_);
    v("ts_recent", 32, m.ts_recent_);
    v("last_ack", 32, m.last_ack_);
    v("kept", m.kept_);
    v("unacknowledged", 8, m.unacknowledged_);
    visit_bits(v, "synchronized", 1, bool{m.synchronized_}, m, [](auto& of, bool value) { of.synchronized_ = value; });
    visit_bits(v, "scaling", 1, bool{m.scaling_}, m, [](auto& of, bool value) { of.scaling_ = value; });
    visit_bits(v, "timestamps", 1, bool{m.timestamps_}, m, [](auto& of, bool value) { of.timestamps_ = value; });
    visit_bits(v, "sack", 1, bool{m.sack_}, m, [](auto& of, bool value) { of.sack_ = value; });
    visit_bits(v, "ecn", 1, bool{m.ecn_}, m, [](auto& of, bool value) { of.ecn_ = value; });
    visit_bits(v, "owed", 1, bool{m.owed_}, m, [](auto& of, bool value) { of.owed_ = value; });
    v("marks", m.marks_);
    v("challenges", m.challenges_);
  }

 private:
  void write_received(const AckSettings& s, Cycle now, std::uint32_t ack, bool echo, SegmentFields& fields);
  std::uint16_t advertise(const AckSettings& s, std::uint32_t ack, bool syn);
  void acknowledged(std::uint32_t ack);

  std::uint32_t rcv_nxt_ = 0, rcv_edge_ = 0;
  std::uint32_t rcv_adv_ = 0;    // the right edge last advertised
  std::uint32_t ts_recent_ = 0;  // to echo
  std::uint32_t last_ack_ = 0;   // Last.ACK.sent (RFC 7323 section 4.3)
  SackList kept_;
  std::uint8_t unacknowledged_ = 0;  // segments since the last ACK
  bool synchronized_ : 1, scaling_ : 1, timestamps_ : 1, sack_ : 1, ecn_ : 1;
  bool owed_ : 1;
  MarkEcho marks_;
  ChallengeLimit challenges_;
};

}  // namespace rnic::tcp
