// Numbers of the segments that tcp_tx sends and of the acknowledgements that it learns of, for latency breakdowns. Free
// without a listener.
#pragma once

#include "model/common/ids.h"
#include "model/common/request_id.h"
#include "model/common/trace_point.h"

namespace rnic::tcp {

class AckTrace {
 public:
  TracePoint point;

  bool on() const { return point.on(); }
  // A segment, and with it what is received up to `ack`. `end`: the sequence number after its last octet.
  void sent(FlowId flow, RequestId owner, std::uint32_t ack, std::uint32_t end) const {
    record(TraceKind::kStreamDelivered, flow, owner, ack, end);
  }
  // The peer has everything before `una`. `owner`: the connection.
  void learned(FlowId flow, RequestId owner, std::uint32_t una) const {
    record(TraceKind::kFrameReceived, flow, owner, una, 0);
  }

 private:
  // `waited`: what tcp_tx has begun with was this event before.
  void record(TraceKind waited, FlowId flow, RequestId owner, std::uint32_t ack, std::uint32_t end) const {
    TraceEvent e;
    e.kind = TraceKind::kTaken;
    e.flow = flow;
    e.request = owner;
    e.values = {static_cast<std::uint32_t>(waited), ack, end};
    point(e);
  }
};

}  // namespace rnic::tcp
