#include "model/rnic/tx/mac_tx.h"

#include <algorithm>

#include "model/common/description.h"
#include "model/rnic/llp/ethernet_timing.h"

namespace rnic {

PopPort<Frame>* MacTx::next() {
  for (unsigned i = 0; i < kLlps; ++i) {
    PopPort<Frame>& port = in[static_cast<LlpId>((turn_ + i) % kLlps)];
    if (port->can_pop()) return &port;
  }
  return nullptr;
}

// A frame is taken in the cycle in which its preamble can start: when the line becomes free, not at the edge.
Wake MacTx::tick() {
  PopPort<Frame>* const from = next();
  if (from == nullptr) return Wake::on_traffic();
  const Cycle free_in = line_free_ps_ / clock().period_ps();
  if (free_in > now()) return Wake::at_cycle(free_in);
  const Frame frame = (*from)->pop();
  turn_ = static_cast<unsigned>(from - in.begin()) + 1;
  const std::uint64_t start_ps = std::max(clock().now_ps(), line_free_ps_);
  const std::uint32_t octets = ethernet::line_octets(frame.bytes), busy = octets + ethernet::kInterFrameGapOctets;
  line_free_ps_ = start_ps + ethernet::octets_to_ps(busy, config_.line_gbps);
  ++counters_.frames;
  counters_.bytes += frame.bytes;
  counters_.line_octets += busy;
  ethernet.send(frame, start_ps + ethernet::octets_to_ps(octets, config_.line_gbps));
  return next() != nullptr ? Wake::next_cycle() : Wake::on_traffic();
}

void MacTx::describe(const Description& d) {
  d.counters(counters_);
  d.series("mac_tx.frames", 90, counters_, &MacTxCounters::frames);
  d.use(UseKind::kWire, "wire {node} to {peer}", 10,
        [this] { return static_cast<double>(counters_.line_octets) * 8000 / config_.line_gbps; });
  for (PopPort<Frame>& port : in) d.takes(port);
}

}  // namespace rnic
