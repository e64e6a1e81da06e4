#include "model/system/acknowledgements.h"

namespace rnic {
namespace {

// Of one queue; ids have the lower bits of the sequence.
bool is_later(RequestId a, RequestId b) {
  constexpr std::uint64_t kSequences = std::uint64_t{1} << RequestId::kSequenceBits;
  const std::uint64_t ahead = (a.sequence() - b.sequence()) % kSequences;
  return ahead != 0 && ahead < kSequences / 2;
}

}  // namespace

Acknowledgements::Flow& Acknowledgements::flow(std::uint32_t node, FlowId flow) {
  auto& flows = flows_[node];
  if (flow.v >= flows.size()) flows.resize(flow.v + 1);
  return flows[flow.v];
}

void Acknowledgements::written(std::uint32_t node, const Segment& segment, std::uint32_t end) {
  ports_[node].waiting.push(segment);
  const RequestId id = segment.owner;
  if (id.node() != node || id.kind() != RequestId::Kind::kSend) return;  // it carries none of the node's own requests
  Flow& f = flow(node, segment.flow);
  const auto is_of_queue = [id](RequestId other) { return id.queue() == other.queue() && id.life() == other.life(); };
  if (!f.pending.empty() && !is_of_queue(f.pending.back().id)) {  // another connection has the flow's number now
    f.pending.clear();
    f.covered = 0;
  }
  if (f.pending.empty() || is_later(id, f.pending.back().id)) return f.pending.push({id, end, false});
  Pending& newest = f.pending.back();
  if (newest.id != id || is_before(end, newest.end)) return;  // a retransmission
  if (f.covered == f.pending.size()) --f.covered;
  newest.end = end;
  newest.learned = false;
}

// What leaves by another way than tcp_tx has a number, too. A reset of the chip discards what waits.
void Acknowledgements::taken(std::uint32_t node, RequestId owner, std::uint64_t ps) {
  Port& port = ports_[node];
  Segment segment;
  segment.owner = owner;
  if (port.waiting.any([owner](const Segment& s) { return s.owner == owner; })) {
    do segment = port.waiting.pop();
    while (segment.owner != owner);
  }
  segment.on_wire = ps;
  port.on_wire.push(segment);
  if (port.on_wire.size() <= kOnWire) return;
  port.on_wire.drop();
  ++port.first;
}

void Acknowledgements::delivered(std::uint32_t node, FlowId flow_id, std::uint32_t sender, FlowId senders) {
  Flow& f = flow(node, flow_id);
  f.peer = sender;
  f.peers = senders;
}

// Frames long before it that have not arrived will not.
Acknowledgements::Segment* Acknowledgements::find(std::uint32_t node, std::uint32_t serial, RequestId owner) {
  Port& port = ports_[node];
  const std::uint32_t place = serial - port.first;
  if (place >= port.on_wire.size() || port.on_wire.at(place).owner != owner) return nullptr;
  for (; serial - port.first > kLater; ++port.first) port.on_wire.drop();
  return &port.on_wire.at(serial - port.first);
}

}  // namespace rnic
