// Retires send work requests in posting order: Sends and Writes when the peer's TCP or SCTP has acknowledged them,
// Reads when their data is placed (RFC 5040 section 5.5), atomics when their value is (RFC 7306 section 5.4). See
// sq_completion.md.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "model/common/fifo.h"
#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/rnic/context/lost_qps.h"
#include "model/rnic/context/outstanding_requests.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/context/tables.h"
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

  SqCompletion(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts);
  // Where the segmenter has taken places for work requests; without one it has taken none.
  void bound_by(OutstandingRequests& outstanding) { outstanding_ = &outstanding; }
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const SqCompletionCounters& counters() const { return counters_; }

  // What a request waits for after it was issued: an acknowledgement, its response, or nothing more.
  enum class Awaited : std::uint8_t { kNothing, kAck, kRead, kAtomic };

 private:
  // The end of a Read that waits: for its sink's STag to end, or behind one of its queue pair that does.
  struct Ending {
    Qpn qpn;
    std::uint32_t epoch = 0;
    bool sink = false;
    static constexpr const char* kMessage = "ending_read";
    template <class V, class M>
    static void fields(V& v, M& m) {
      v("qpn", m.qpn);
      v("epoch", 32, m.epoch);
      v("sink", 1, m.sink);
    }
  };
  // Of the oldest one.
  struct EndOfRead {
    abi::WcStatus status = abi::WcStatus::kSuccess;
  };
  using Event = std::variant<WqeIssued, WqesAcked, WqeLost, ReadDone, AtomicDone, EndOfRead>;

  static constexpr unsigned kReadDone = 3;             // among the inputs beside `issued`,
  static constexpr unsigned kEnding = 5, kInputs = 6;  // the oldest ending behind them
  template <class F>
  auto input(unsigned n, F&& f);
  bool is_offered(unsigned n);
  bool offered();
  bool take_event();
  template <class T>
  void take(const T& of_qp);
  bool ending_is_over();
  void take_ending();
  bool execute();
  void execute(const SqcRow& row);
  void execute_lost();
  void lose(Qpn qpn, std::uint32_t epoch);
  void answer_drain(Qpn qpn, std::uint32_t epoch);
  void execute(Qpn qpn, const SqcContext&, QpSq& q, const WqeIssued& w);
  void execute(Qpn qpn, const SqcContext& ctx, QpSq& q, const WqesAcked& a);
  void execute(Qpn qpn, const SqcContext&, QpSq& q, const WqeLost&);
  void execute(Qpn qpn, const SqcContext&, QpSq& q, const ReadDone& r);
  void execute(Qpn qpn, const SqcContext&, QpSq& q, const AtomicDone& a);
  void execute(Qpn qpn, const SqcContext&, QpSq& q, const EndOfRead& e);
  QpSq& use(Qpn qpn, const SqcRow& row);

  static bool never_left(const QpSq& q, const WqeIssued& w);
  static bool satisfied(const QpSq& q, const WqeIssued& w);
  bool retirable(const QpSq& q) const;
  void list(Qpn qpn, const QpSq& q);
  bool waits_behind(Qpn qpn, const QpSq& q) const;
  void end_read(QpSq& q, abi::WcStatus status);
  bool end_sink();
  bool turn();
  void end_turn(Qpn qpn);
  void end_lost_turn(Qpn qpn, std::uint32_t epoch);
  void show(Qpn qpn, const QpSq& q);
  void give_back(Qpn qpn, unsigned requests);
  void drop(Qpn qpn, const WqeIssued& w);
  void retire(Qpn qpn, const SqcContext& ctx, QpSq& q);
  void finish(QpSq& q, WqeIssued& w);
  bool begin_turn();

  ContextTables& contexts_;
  RowEvents<SqcRow, Event> events_{*this, "sq_completion_event"};
  unsigned turn_of_inputs_ = 0;  // the input that is served first
  SqcTable::Reader turn_{*this, "sq_completion_turn", 0, RowOrder::kAsTheyCome};
  unsigned turns_ = 0;  // begun
  NodePool<WqeIssued> pool_;
  NodePool<std::optional<Stag>> sink_pool_;
  NodePool<abi::WcStatus> outcome_pool_;
  Fifo<Ending> endings_;          // in the order of the Reads' ends
  bool ending_executes_ = false;  // the oldest one
  Fifo<SinkEnd> sinks_;           // that end, not handed on yet
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;
  const bool one_turn_;  // for all that can retire: its row may not be on the chip later
  // Of each QP, on the chip wherever its row is.
  struct Here {
    bool listed = false;         // or its turn has begun
    bool waits = false;          // for observers: a request is outstanding, and
    Awaited oldest{};            // what the oldest one waits for
    std::uint8_t drains = 0;     // outstanding: the firmware is answered, whatever becomes of the row
    std::uint16_t requests = 0;  // of the host, outstanding: others get their places, whatever becomes of the row
  };
  std::vector<Here> qps_;
  LostQps lost_qps_{contexts_};
  OutstandingRequests* outstanding_ = nullptr;
  SqCompletionCounters counters_;
};

}  // namespace rnic
