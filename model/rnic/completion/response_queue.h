// Matches Atomic Responses to the Atomic Requests that wait for them (QN 3, RFC 7306 section 5.2.2).
// See response_queue.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/common/ring.h"
#include "model/rnic/context/context.h"
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

  ResponseQueue(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts)
      : Stage(nm, clk),
        contexts_(contexts),
        qps_(contexts.qps()),
        pool_({"atomics", contexts.qps() * contexts.elements().ord, "queue pairs x fwcpu.max_ord"}) {
    contexts.stag_table.bind(sinks);
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
  struct QpAtomics {
    std::uint32_t epoch = 0;
    PooledQueue outstanding;  // in the order of their requests
    bool stopped = false;     // after an error
  };
  struct Write {
    Qpn qpn;
    std::uint32_t epoch = 0;
  };
  QpAtomics& qp(Qpn qpn);
  const AtomicIssued* request_of(const DeliveredAtomic& r);
  bool look_up(const DeliveredAtomic& r);
  void match(const DeliveredAtomic& r);
  void refuse(const DeliveredAtomic& r, QpAtomics& q, QpEvent::Kind kind, wire::TerminateCause cause);
  void complete();

  ContextStore& contexts_;
  std::vector<QpAtomics> qps_;
  NodePool<AtomicIssued> pool_;
  Ring<Write> writes_;  // in progress, in order
  bool asked_ = false;  // for the entry of a sink
  BufferPool buffers_{abi::kAtomicBytes};
  ResponseQueueCounters counters_;
};

}  // namespace rnic
