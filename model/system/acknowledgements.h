// Which acknowledgement is the first that covers a request's octets, and when it was where. From events of all chips;
// times are in ps, nodes as a RequestId counts them. See latency_breakdown.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/common/request_id.h"
#include "model/common/ring.h"

namespace rnic {

class Acknowledgements {
 public:
  explicit Acknowledgements(std::size_t nodes) : flows_(nodes + 1), ports_(nodes + 1) {}

  // A segment on its way: what its sender had received.
  struct Segment {
    RequestId owner;
    FlowId flow;
    std::uint32_t ack = 0;
    bool acks = false;  // it is of TCP
    std::uint64_t written = 0, on_wire = 0;
  };

  // tcp_tx has written a segment, which ends before sequence number `end`.
  void written(std::uint32_t node, const Segment& segment, std::uint32_t end);
  // mac_tx has taken the node's next frame.
  void taken(std::uint32_t node, RequestId owner, std::uint64_t ps);
  // At `node` a request's octets were handed up on `flow`; its sender has them on `senders`.
  void delivered(std::uint32_t node, FlowId flow, std::uint32_t sender, FlowId senders);
  // The frame with that serial number of another node is at the port. Calls use(request, segment) for each request that
  // no earlier one has covered.
  template <class F>
  void at_port(std::uint32_t node, std::uint32_t serial, RequestId owner, F&& use);
  // The sender learns that the peer has what comes before `una`. Calls use(request) for each request that ends there.
  template <class F>
  void learned(std::uint32_t node, FlowId flow, std::uint32_t una, F&& use);

 private:
  // A request, by its newest segment.
  struct Pending {
    RequestId id;
    std::uint32_t end = 0;
    bool learned = false;
  };
  struct Flow {
    Ring<Pending> pending;    // the oldest first; the newest stays, as it may not be complete
    std::size_t covered = 0;  // of them, by what is at the port
    std::uint32_t peer = 0;   // node, and its flow
    FlowId peers;
  };
  struct Port {
    Ring<Segment> waiting;    // for mac_tx
    Ring<Segment> on_wire;    // taken by it
    std::uint32_t first = 1;  // serial number of the oldest of these
  };
  static constexpr std::size_t kOnWire = 65536;  // frames that are remembered
  static constexpr std::uint32_t kLater = 1024;  // as many frames may overtake one

  Flow& flow(std::uint32_t node, FlowId flow);
  Segment* find(std::uint32_t node, std::uint32_t serial, RequestId owner);
  static bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) <= 0; }

  std::vector<std::vector<Flow>> flows_;
  std::vector<Port> ports_;
};

template <class F>
void Acknowledgements::at_port(std::uint32_t node, std::uint32_t serial, RequestId owner, F&& use) {
  for (std::uint32_t sender = 1; sender < ports_.size(); ++sender) {
    const Segment* const segment = sender == node ? nullptr : find(sender, serial, owner);
    if (segment == nullptr || !segment->acks) continue;
    const Flow& receiver = flow(sender, segment->flow);
    if (receiver.peer != node) continue;
    Flow& f = flow(node, receiver.peers);
    for (; f.covered < f.pending.size() && is_before(f.pending.at(f.covered).end, segment->ack); ++f.covered) {
      use(f.pending.at(f.covered).id, *segment);
    }
  }
}

template <class F>
void Acknowledgements::learned(std::uint32_t node, FlowId flow_id, std::uint32_t una, F&& use) {
  Flow& f = flow(node, flow_id);
  while (!f.pending.empty() && is_before(f.pending.front().end, una)) {
    Pending& oldest = f.pending.front();
    if (!oldest.learned) use(oldest.id);
    oldest.learned = true;
    if (f.pending.size() == 1) return;
    f.pending.drop();
    f.covered -= f.covered != 0;
  }
}

}  // namespace rnic
