// The memory of a lower layer for octets that are kept until they are acknowledged. See transmit_memory.md.
#pragma once

#include "model/common/part.h"
#include "model/common/shared_room.h"
#include "model/rnic/llp/transmit_memory_config.h"

namespace rnic::llp {

struct TransmitMemoryCounters : SharedRoomCounters {
  template <class V>
  static void fields(V& v) {
    v("octets_max", &TransmitMemoryCounters::octets_max, "octets", "most octets taken at a time");
    v("segments_max", &TransmitMemoryCounters::records_max, "segments", "most records taken at a time");
    v("waits", &TransmitMemoryCounters::waits, "segments", "segments that found no room when they were to be cut");
    v("wait_cycles", &TransmitMemoryCounters::wait_cycles, "cycles",
      "for how long flows waited until they were called");
  }
};

// The segmenter takes room for a segment when it cuts it, so what is on its way to the lower layer counts, too. A flow
// has a part of it while it may send. What does not wait for room, keep(): octets of the connection's set-up, SYN and
// FIN, and the pieces of a segment that is cut.
class TransmitMemory final : public SharedRoom<FlowId>, public Part {
 public:
  // For the flows from `first` on.
  TransmitMemory(ClockDomain& clk, const TransmitMemoryConfig& config, FlowId first, std::size_t flows)
      : SharedRoom(clk, {config.octets, config.segments}, first, flows, kLargestSegment, Sharers::kOpen, counters_) {}

  const TransmitMemoryCounters& counters() const { return counters_; }
  void describe(const Description& d) override;

 private:
  static constexpr std::uint32_t kLargestSegment = 0xffff;
  TransmitMemoryCounters counters_;
};

}  // namespace rnic::llp
