// Retires send work requests in posting order: Sends and Writes when the peer's TCP or SCTP has acknowledged them,
// Reads when their data is placed (RFC 5040 section 5.5), atomics when their value is (RFC 7306 section 5.4). See
// sq_completion.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/common/ring.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/per_llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/stag_work.h"

namespace rnic {

struct SqCompletionCounters {
  std::uint64_t unsolicited = 0;
  template <class V>
  static void fields(V& v) {
    v("unsolicited", &SqCompletionCounters::unsolicited, "messages", "unsolicited Read Responses");
  }
};

class SqCompletion final : public Stage {
 public:
  PopPort<WqeIssued> issued{*this, "issued"};
  PerLlp<PopPort<WqesAcked>> acked{*this, "acked"};
  PopPort<ReadDone> read_done{*this, "read_done"};
  PopPort<AtomicDone> atomic_done{*this, "atomic_done"};
  PopPort<WqeLost> lost{*this, "lost"};
  PushPort<SinkEnd> sink{*this, "sink"};
  PopPort<SinkEnded> sink_ended{*this, "sink_ended"};
  PushPort<TxUnblock> unblock{*this, "unblock"};
  PushPort<CqeRequest> cqe{*this, "cqe"};
  PushPort<QpEvent> event{*this, "event"};

  SqCompletion(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk), contexts_(contexts), qps_(contexts.qps()) {}
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const SqCompletionCounters& counters() const { return counters_; }

  // What a request waits for after it was issued: an acknowledgement, its response, or nothing more.
  enum class Awaited : std::uint8_t { kNothing, kAck, kRead, kAtomic };

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct QpSq {
    std::uint32_t epoch = 0;
    PooledQueue outstanding;
    PooledQueue sinks;                        // of the Reads that wait for their response: WqeIssued::ends,
    PooledQueue outcomes;                     // and how the invalidation of those that have it went
    std::uint32_t sends = 0;                  // Sends and Writes in `outstanding`
    std::uint32_t lost = 0;                   // those of them that never left, which are the last ones
    std::uint32_t before_lost_value = kNone;  // atomics that arrived before one whose original value is lost
    bool responses_over = false;  // our Terminate was sent, or the peer has closed: no more responses will come
    bool flushing = false;        // the stream is over: nothing will be acknowledged any more
    bool listed = false;

    // How much of it came and has not retired a request yet.
    std::uint32_t& arrived(Awaited what) { return arrived_[static_cast<unsigned>(what) - 1]; }
    std::uint32_t arrived(Awaited what) const { return arrived_[static_cast<unsigned>(what) - 1]; }

   private:
    std::array<std::uint32_t, 3> arrived_{};
  };
  // The end of a Read that waits: for its sink's STag to end, or behind one of its queue pair that does.
  struct Ending {
    Qpn qpn;
    std::uint32_t epoch = 0;
    bool sink = false;
  };
  QpSq& qp(Qpn qpn);
  static bool never_left(const QpSq& q, const WqeIssued& w);
  static bool satisfied(const QpSq& q, const WqeIssued& w);
  bool retirable(const QpSq& q) const;
  void list(Qpn qpn);
  void take(const WqesAcked& a);
  bool take_read();
  void take(const AtomicDone& a);
  bool finish_ending();
  bool waits_behind(Qpn qpn, const QpSq& q) const;
  void end_read(Qpn qpn, abi::WcStatus status);
  void retire(Qpn qpn);
  void finish(QpSq& q, WqeIssued& w);

  const ContextStore& contexts_;
  std::vector<QpSq> qps_;
  NodePool<WqeIssued> pool_;
  NodePool<std::optional<Stag>> sink_pool_;
  NodePool<abi::WcStatus> outcome_pool_;
  Ring<Ending> endings_;  // in the order of the Reads' ends
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;
  SqCompletionCounters counters_;
};

}  // namespace rnic
