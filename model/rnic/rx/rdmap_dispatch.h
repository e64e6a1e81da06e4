// Delivers RDMAP messages in order: receive completions, Read Requests to the IRRQ, read completions, Terminates
// (RFC 5040 section 5). See rdmap_dispatch.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "model/common/link.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/per_llp.h"
#include "model/rnic/messages/placement.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"

namespace rnic {

struct RdmapDispatchCounters {
  std::uint64_t messages = 0, lost = 0;
  template <class V>
  static void fields(V& v) {
    v("messages", &RdmapDispatchCounters::messages, "messages", "RDMAP messages delivered");
    v("lost", &RdmapDispatchCounters::lost, "segments", "segments without a page, and later ones of their streams");
  }
};

class RdmapDispatch final : public Stage {
 public:
  PopPort<PlacedSegment> in{*this, "in"};
  PopPort<DmaWriteDone> written{*this, "written"};
  PushPort<CqeRequest> cqe{*this, "cqe"};
  PushPort<QueuedRequest> read_request{*this, "read_request"};
  PushPort<DeliveredAtomic> atomic_response{*this, "atomic_response"};
  PushPort<ReadDone> read_done{*this, "read_done"};
  PushPort<ReadDone> read_over{*this, "read_over"};  // a Read's sink is about to be its owner's alone
  PushPort<TxUnblock> unblock{*this, "unblock"};
  PushPort<QpEvent> event{*this, "event"};
  PushPort<QpEvent> stream_error{*this, "stream_error"};
  PerLlp<PushPort<StreamEnded>> ended{*this, "ended"};

  RdmapDispatch(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts)
      : Stage(nm, clk), contexts_(contexts) {}
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const RdmapDispatchCounters& counters() const { return counters_; }

 private:
  bool open(const PlacedSegment& s);
  void deliver(const PlacedSegment& s);
  void end(const PlacedSegment& s);
  bool is_lost(const PlacedSegment& s);
  void lose(const PlacedSegment& s);
  bool may_deliver(const PlacedSegment& s);
  bool may_end() {
    return std::all_of(ended.begin(), ended.end(), [](auto& port) { return port->can_push(); });
  }
  void complete(const PlacedSegment& s, abi::WcStatus status);

  ContextTables& contexts_;
  bool opened_ = false;  // by the segment in front
  // Streams that end because a write was lost, by QP: epoch.
  std::unordered_map<std::uint32_t, std::uint32_t> broken_;
  std::optional<StagFence> fence_;  // of the message that waits for its delivery
  RdmapDispatchCounters counters_;
};

}  // namespace rnic
