// Matches Atomic Responses to the Atomic Requests that wait for them (QN 3, RFC 7306 section 5.2.2).
// See response_queue.md.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/common/ring.h"
#include "model/rnic/context/lost_qps.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"

namespace rnic {

struct ResponseQueueCounters {
  std::uint64_t responses = 0, refused = 0;
  template <class V>
  static void fields(V& v) {
    v("responses", &ResponseQueueCounters::responses, "messages", "Atomic Responses that answered a request");
    v("refused", &ResponseQueueCounters::refused, "streams",
      "streams stopped by an Atomic Response that matched no request");
  }
};

class ResponseQueue final : public Stage {
 public:
  PopPort<AtomicIssued> issued{*this, "issued"};
  PopPort<DeliveredAtomic> in{*this, "in"};
  PushPort<DmaWriteRequest> dma{*this, "dma"};
  PopPort<DmaWriteDone> written{*this, "written"};
  PushPort<AtomicDone> done{*this, "done"};       // to sq_completion
  PushPort<TxUnblock> unblock{*this, "unblock"};  // to the segmenter's ORD count
  PushPort<QpEvent> event{*this, "event"};
  StagTable::Reader sinks{*this, "response_queue"};  // for the response in front; bound to the contexts' table
  RowEvents<OrqRow, AtomicIssued> requests{*this, "response_queue_request"};
  RowEvents<OrqRow, DeliveredAtomic> responses{*this, "response_queue_response"};

  ResponseQueue(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts)
      : Stage(nm, clk),
        contexts_(contexts),
        pool_({"atomics", contexts.qps() * contexts.elements().ord, "queue pairs x fwcpu.max_ord",
               contexts.orq_table.cached() ? PoolLimit::kHome : PoolLimit::kChip}) {
    contexts.stag_table.bind(sinks);
    contexts.orq_table.owned_by(*this);
    requests.bind_to(contexts.orq_table);
    responses.bind_to(contexts.orq_table);
  }
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const ResponseQueueCounters& counters() const { return counters_; }

  // The twin of this stage calls these too.
  void count_response() { ++counters_.responses; }
  void count_refused() { ++counters_.refused; }

 private:
  struct Write {
    Qpn qpn;
    std::uint32_t epoch = 0;
  };
  bool take_request();
  bool execute_request();
  bool take_response();
  bool execute_response();
  bool has_request(Qpn qpn);
  const AtomicIssued* request_of(const OrqRow& row, const DeliveredAtomic& r);
  bool look_up(const AtomicIssued* request);
  void match(const OrqRow& row, const DeliveredAtomic& r);
  void refuse(const DeliveredAtomic& r, QpOrq& q, QpEvent::Kind kind, wire::TerminateCause cause);
  QpOrq& use(Qpn qpn, const OrqRow& row);
  void complete();

  ContextTables& contexts_;
  NodePool<AtomicIssued> pool_;
  Ring<Write> writes_;  // in progress, in order
  bool asked_ = false;  // for the entry of a sink
  BufferPool buffers_{abi::kAtomicBytes};
  LostQps lost_{contexts_};
  ResponseQueueCounters counters_;
};

}  // namespace rnic
