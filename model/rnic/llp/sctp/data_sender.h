// The sending half of an association (RFC 9260 sections 6 and 7): which DATA chunks are sent next, how SACKs are
// processed, and when chunks are retransmitted. It has no octets of user data: a chunk names its message by the user's
// handle.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/cycle.h"
#include "model/rnic/llp/congestion_control.h"
#include "model/rnic/llp/rto.h"
#include "model/rnic/llp/sctp/ids.h"
#include "model/rnic/llp/sctp/sctp_config.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

// Shared by all associations of a chip.
struct SenderSettings {
  SenderSettings(const SctpConfig& config, const llp::CongestionControl& algorithm_, std::uint64_t period_ps_)
      : algorithm(algorithm_),
        rto(config, period_ps_),
        period_ps(period_ps_),
        send_chunks(config.send_chunks),
        max_retries(config.max_retries),
        max_burst(config.max_burst),
        initial_window(config.initial_window),
        path_mtu_min(config.path_mtu_min) {}

  const llp::CongestionControl& algorithm;
  llp::RtoLimits rto;
  std::uint64_t period_ps;
  unsigned send_chunks, max_retries, max_burst, initial_window, path_mtu_min;
};

// A message from the user: sent unordered, in the order of push(), and in one chunk if the path allows it.
struct Message {
  SentId handle;
  std::uint32_t ppid = 0;
  std::uint16_t bytes = 0;  // of user data, at least 1
  std::uint16_t stream = 0;
  bool immediate = false;  // requests an immediate SACK (I)
};

// A DATA chunk to be sent: `bytes` of the message from `offset` on.
struct DataChunk {
  std::uint32_t tsn = 0;
  SentId handle;
  std::uint32_t ppid = 0;
  std::uint16_t offset = 0, bytes = 0;
  std::uint16_t stream = 0;
  std::uint8_t flags = 0;  // of wire::SctpData
};

// The chunks of one packet, in ascending TSN. Its owner keeps it, so that its memory is allocated once.
struct DataPacket {
  std::vector<DataChunk> chunks;
  std::uint32_t octets = 0;      // with headers and pads
  Resend resend = Resend::kNo;   // why its first chunk is sent again; then all are
  bool beyond_path_mtu = false;  // one chunk, cut before the path MTU shrank: IP has to fragment it
};

// A message that the sender no longer holds.
struct ReleasedMessage {
  SentId handle;
  std::uint16_t stream = 0;
};

enum class SackVerdict : std::uint8_t {
  kTaken,
  kOld,       // dropped entirely
  kNeverSent  // it acknowledges a TSN that was never sent: ABORT with cause 13, nothing has changed
};
struct SackOutcome {
  SackVerdict verdict = SackVerdict::kTaken;
  bool fast_retransmit = false;  // next() has chunks to send regardless of the congestion window
  bool recovery = false;         // and fast recovery began with them
  std::uint32_t acked = 0;       // octets of newly acknowledged chunks
  std::uint32_t revoked = 0;     // chunks that the peer had reported and dropped
};

enum class TimerOutcome : std::uint8_t {
  kNone,    // it was not due
  kResend,  // next() has chunks to retransmit
  kProbe,   // next() has one chunk, which probes whether the peer's window is still closed
  kFailed   // too many in succession: the association is lost
};

class DataSender {
 public:
  // `settings` outlives it.
  explicit DataSender(const SenderSettings& settings);

  // A new association, also after a restart: queued messages are dropped. `a_rwnd` is that of INIT or INIT ACK,
  // `ip_mtu` that of the interface, over IPv4.
  void open(std::uint32_t initial_tsn, std::uint32_t a_rwnd, std::uint32_t ip_mtu, Cycle now);

  // No message can be queued.
  bool full() const { return unsent_tail_ - unsent_head_ == capacity(); }
  // False: the queue is full, and the message was not accepted.
  bool push(const Message& message, Cycle now);

  // The largest DATA chunk with its header that fits a packet.
  std::uint32_t pmdcs() const { return congestion_.mss; }
  // Octets of the first chunk of the packet that may be sent now, with header and pad; 0: there is none. If that is
  // more than the SACK leaves of the packet, the SACK goes alone.
  std::uint32_t next_octets() const;
  // The chunks to send now, in `room` octets; false if there are none. All of them count as sent.
  bool next(Cycle now, std::uint32_t room, DataPacket& packet);

  // If a SACK and the timer fall into one cycle, the SACK goes first: it may have stopped the timer.
  SackOutcome on_sack(const wire::SctpSackView& sack, Cycle now);
  // The cumulative TSN ack of a SHUTDOWN, which carries no gap blocks and no window.
  SackOutcome on_shutdown(std::uint32_t cumulative_tsn, Cycle now);

  // When on_timer() is due (T3-rtx, or the wait for a closed window); kNever: it is off.
  Cycle deadline() const { return deadline_; }
  TimerOutcome on_timer(Cycle now);

  // A router does not forward longer packets. True if chunks are shorter from now on; longer ones in flight are
  // retransmitted, which is no sign of congestion.
  bool on_path_mtu(std::uint32_t ip_mtu);

  // Messages whose last chunk the cumulative TSN ack has passed, in TSN order; after abandon(), all others. Taking them
  // here frees their entries.
  std::optional<ReleasedMessage> take_released();
  // The association is lost.
  void abandon();

  // Nothing is queued or unacknowledged: SHUTDOWN may be sent.
  bool idle() const { return una_ == nxt_ && unsent_head_ == unsent_tail_; }
  std::uint32_t cumulative_tsn() const { return una_ - 1; }
  std::uint32_t next_tsn() const { return nxt_; }
  std::uint32_t flight() const { return flight_; }
  std::uint32_t cwnd() const { return llp::CongestionControl::cwnd(congestion_); }
  std::uint32_t ssthresh() const { return congestion_.ssthresh; }
  std::uint32_t partial_bytes_acked() const { return congestion_.counted; }
  std::uint32_t peer_window() const { return rwnd_; }
  // Of the last SACK: that, and the octets of user data in flight.
  std::uint32_t advertised_window() const { return rwnd_ + flight_data_; }
  static constexpr std::size_t context_bytes(std::uint32_t send_chunks) {
    return sizeof(DataSender) + 2 * std::size_t{send_chunks} * sizeof(Entry);
  }
  bool recovering() const { return recovering_; }
  bool timed_out() const { return alone_; }  // and nothing was acknowledged since
  Cycle rto() const { return rtt_.rto(settings_->rto, backoff_); }
  Cycle srtt() const { return rtt_.srtt(); }

  // Consecutive timeouts. Unanswered HEARTBEATs count too.
  unsigned errors() const { return errors_; }
  // False: that exceeds the limit.
  bool count_error();
  // HEARTBEAT ACK: a round-trip sample, and the peer is alive. The set-up's round trip is a sample as well.
  void on_answer(Cycle rtt);

 private:
  enum class State : std::uint8_t { kInFlight, kMarked, kHeld };  // kHeld: acknowledged by a gap block
  // A chunk, or the part of an unsent message that has no chunk yet.
  struct Entry {
    SentId handle;
    std::uint32_t ppid = 0;
    std::uint16_t offset = 0, bytes = 0, stream = 0;
    std::uint8_t flags = 0;
    State state : 2;
    std::uint8_t misses : 2;
    bool fast : 1;         // retransmitted once after missing reports, or marked for it
    bool revoked : 1;      // by the present SACK
    std::uint8_t why : 2;  // kMarked: of Resend, less one
    Entry() : state(State::kInFlight), misses(0), fast(false), revoked(false), why(0) {}
    std::uint32_t octets() const;
  };
  static_assert(sizeof(Entry) == 16, "a chunk costs 16 octets of context");
  struct News {
    std::uint32_t octets = 0;
    std::uint32_t highest_new = 0, highest = 0;  // TSNs of gap blocks
    bool any_new = false, revoked = false;
  };

  DataSender(const SenderSettings& settings, std::vector<Entry>&& sent, std::vector<Entry>&& unsent);

  Entry& sent(std::uint32_t tsn) { return sent_[tsn & mask_]; }
  const Entry& sent(std::uint32_t tsn) const { return sent_[tsn & mask_]; }
  bool in_use() const { return una_ != nxt_; }
  bool may_send() const { return flight_ < cwnd() && burst_ != 0; }
  std::uint32_t capacity() const { return mask_ + 1; }
  // The largest chunk with pad.
  std::uint32_t limit() const { return pmdcs() / 4 * 4; }
  std::uint16_t piece(const Entry& message) const;
  bool window_holds(const Entry& message) const { return piece(message) <= rwnd_; }
  std::uint32_t lowest_marked() const;
  bool fits(std::uint32_t octets, std::uint32_t room, const DataPacket& packet) const;

  bool resend(Cycle now, std::uint32_t room, DataPacket& packet);
  bool send_new(Cycle now, std::uint32_t room, DataPacket& packet);
  void leave(std::uint32_t tsn, Entry& chunk, DataPacket& packet);
  void apply_idle(Cycle now);
  void refill_burst();

  bool known(const wire::SctpSackView& sack) const;
  std::uint32_t acknowledge(std::uint32_t cumulative, Cycle now);
  void measure(std::uint32_t tsn, Cycle now);
  void read_gaps(const wire::SctpSackView& sack, Cycle now, SackOutcome& out, News& news);
  void hold(std::uint32_t tsn, Cycle now, News& news);
  void reveal(std::uint32_t tsn, SackOutcome& out, News& news);
  bool count_misses(const News& news, bool all_reported);
  void finish(std::uint32_t flight_before, bool advanced, bool was_recovering, Cycle now, const SackOutcome& out);
  void start_recovery(SackOutcome& out);
  void answer_probe(const wire::SctpSackView& sack);
  void set_timer(bool advanced, Cycle now);
  void mark(std::uint32_t tsn, Resend why);
  void put_in_flight(Entry& chunk);
  void take_from_flight(const Entry& chunk);

  const SenderSettings* settings_;
  std::vector<Entry> sent_;    // TSNs from released_ to nxt_
  std::vector<Entry> unsent_;  // messages without TSN
  std::uint32_t mask_;
  std::uint32_t unsent_head_ = 0, unsent_tail_ = 0;
  std::uint32_t released_ = 0;           // below: released to the user
  std::uint32_t una_ = 0;                // the lowest that is not acknowledged
  std::uint32_t nxt_ = 0;                // the next TSN
  std::uint32_t marked_from_ = 0;        // none below is marked
  std::uint32_t marked_ = 0, held_ = 0;  // chunks
  std::uint32_t flight_ = 0;             // octets with headers and pads
  std::uint32_t flight_data_ = 0;        // octets of user data
  std::uint32_t rwnd_ = 0;               // the remaining window of the peer
  std::uint32_t advertised_ = 0;         // as last received
  std::uint32_t exit_ = 0;               // recovery ends when this is acknowledged
  std::uint32_t timed_tsn_ = 0;
  std::uint32_t burst_ = 0;  // packets that may be sent before the next event
  Cycle deadline_ = kNever;
  Cycle timed_at_ = 0, last_sent_ = 0;
  llp::RttEstimator rtt_;
  llp::CongestionState congestion_;
  std::uint8_t backoff_ = 0, errors_ = 0;
  bool timing_ = false;
  bool recovering_ = false;  // fast recovery
  bool urgent_ = false;      // the next packet is sent regardless of the congestion window
  bool alone_ = false;       // after a timeout one packet, until something is acknowledged
  bool answered_ = false;    // a SACK arrived since the timer expired
  bool probe_due_ = false;
  bool probing_ = false;  // the chunk in flight exceeded the peer's window
  bool lost_ = false;
};

static_assert(sizeof(DataSender) <= 216, "an association's sender without its chunks");

}  // namespace rnic::sctp
