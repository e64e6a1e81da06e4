// The memory of a lower layer for octets that are kept until they are acknowledged: who gets room in it, and who is
// next when there is none. See transmit_memory.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/common/ids.h"
#include "model/common/registered.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/transmit_memory_config.h"
#include "model/stats/high_water.h"

namespace rnic::llp {

struct TransmitMemoryCounters {
  HighWater octets_max, segments_max;
  std::uint64_t waits = 0, wait_cycles = 0;
  template <class V>
  static void fields(V& v) {
    v("octets_max", &TransmitMemoryCounters::octets_max, "octets", "most octets taken at a time");
    v("segments_max", &TransmitMemoryCounters::segments_max, "segments", "most records taken at a time");
    v("waits", &TransmitMemoryCounters::waits, "segments", "segments that found no room when they were to be cut");
    v("wait_cycles", &TransmitMemoryCounters::wait_cycles, "cycles",
      "for how long flows waited until they were called");
  }
};

// The segmenter takes room for a segment when it cuts it, so what is on its way to the lower layer counts, too. What is
// given back is there from the next cycle on.
class TransmitMemory final : public Committed, public Part {
 public:
  struct Amount {
    std::uint32_t octets = 0, segments = 0;
  };

  // For the flows from `first` on.
  TransmitMemory(ClockDomain& clk, const TransmitMemoryConfig& config, FlowId first, std::size_t flows);

  // ---- For the segmenter, which is called when there may be room for a flow that waits.

  void serve(Stage& segmenter) { segmenter_ = &segmenter; }
  bool has(FlowId flow) const { return flow.v - first_ < held_.size(); }
  // Somebody waits, or would have to before half of the memory is taken.
  bool is_short() const { return is_short_; }
  // Room for a segment, if the flow is not to wait.
  bool admits(FlowId flow, std::uint32_t octets) const { return !is_short_ || admits_when_short(flow, octets); }
  void take(FlowId flow, std::uint32_t octets) {
    if (called_ != 0) cancel(flow);
    add(held_[flow.v - first_], octets, 1);
    if (!fits(kLargestSegment, half_)) is_short_ = true;
    if (used_.octets > counters_.octets_max || used_.segments > counters_.segments_max) show(used_);
  }

  // The flow waits for room for a segment of its queue pair.
  void wait(FlowId flow, Qpn qpn, std::uint32_t octets);
  struct Called {
    FlowId flow;
    Qpn qpn;
  };
  bool somebody_waits() const { return waiting_ != 0; }
  // Whether call() may find somebody.
  bool may_call() const { return may_call_; }
  // The next of those that wait, if there is room. It has that room until it takes it, or until cancel().
  std::optional<Called> call();
  // Gives the room of a flow that was called, and sends nothing, to the others.
  void cancel(FlowId flow);

  // ---- For those that keep or drop segments

  // A flow that may send from now on, and one that may not any more: whose share there is.
  void open(FlowId flow) { change({flow.v - first_, 0, 0, 1}); }
  void close(FlowId flow) { change({flow.v - first_, 0, 0, -1}); }
  void give_back(FlowId flow, std::uint32_t octets, std::uint32_t segments) {
    change({flow.v - first_, -static_cast<std::int32_t>(octets), -static_cast<std::int32_t>(segments), 0});
  }
  // What does not wait for room: octets of the connection's set-up, SYN and FIN, and the pieces of a segment that is
  // cut.
  void keep(FlowId flow, std::uint32_t octets, std::uint32_t segments) {
    change({flow.v - first_, static_cast<std::int32_t>(octets), static_cast<std::int32_t>(segments), 0});
  }

  // ---- For all

  const Amount& used() const { return used_; }
  const Amount& held(FlowId flow) const { return held_[flow.v - first_]; }
  const TransmitMemoryCounters& counters() const { return counters_; }

  void reset();
  void commit() override;
  void describe(const Description& d) override;

 private:
  enum class Place : std::uint8_t { kNone, kInShare, kBeyondShare, kCalled };
  struct Wait {
    Cycle since = 0;
    Qpn qpn{};
    std::uint32_t octets = 0;
    Place place = Place::kNone;
  };
  struct Change {
    std::uint32_t flow;
    std::int32_t octets, segments, flows;
  };
  static constexpr std::uint32_t kLargestSegment = 0xffff;

  bool fits(std::uint32_t octets, const Amount& limit) const {
    return used_.segments < limit.segments && std::uint64_t{used_.octets} + octets <= limit.octets;
  }
  bool admits_when_short(FlowId flow, std::uint32_t octets) const;
  bool in_share(const Amount& held, std::uint32_t octets) const;
  void change(const Change& c) {
    changes_.push_back(c);
    clk_.commit_later(*this);
  }
  void add(Amount& held, std::uint32_t octets, std::uint32_t segments) {
    held.octets += octets;
    held.segments += segments;
    used_.octets += octets;
    used_.segments += segments;
  }
  void update_short() { is_short_ = waiting_ != 0 || !fits(kLargestSegment, half_); }
  void show(const Amount& peak) {
    counters_.octets_max.level(peak.octets, used_.octets);
    counters_.segments_max.level(peak.segments, used_.segments);
  }
  void move_to_share();

  ClockDomain& clk_;
  const Amount whole_, half_;
  const std::uint32_t first_;
  Stage* segmenter_ = nullptr;
  Amount used_;
  std::vector<Amount> held_;  // by flow
  std::uint32_t flows_ = 0;   // that are open
  std::vector<Wait> waits_;   // by flow; empty until the first one has to wait
  IdQueue<FlowId> in_share_, beyond_share_;
  std::uint32_t waiting_ = 0, waiting_in_share_ = 0, called_ = 0;
  bool is_short_ = false, may_call_ = false;
  std::vector<Change> changes_;  // of this cycle
  TransmitMemoryCounters counters_;
};

}  // namespace rnic::llp
