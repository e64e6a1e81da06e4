// How a connection's setup spends its time, from SYN to established: TCP, the peer (MPA), the firmware, the host.
#pragma once

#include <array>
#include <vector>

#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/stats/histogram.h"

namespace rnic {

class StatsGroup;

// A setup is in one part at a time, so the parts add up to the total, to the cycle. Stored by flow; after construction
// only the histograms' samples are allocated.
class SetupTimes {
 public:
  enum class Role : std::uint8_t { kInitiator, kResponder };
  // kFirmware includes the wait of an event for the processor.
  enum class Part : std::uint8_t { kTcp, kMpa, kFirmware, kHost };
  static constexpr std::size_t kParts = 4;

  SetupTimes(std::size_t flows, std::uint64_t period_ps) : setups_(flows), period_ps_(period_ps) {}

  // TCP was opening from `syn` on; its event is there for the firmware at `at`.
  void opened(FlowId flow, Role role, Cycle syn, Cycle at);
  // The firmware waits from `at` on, for the peer or for the host; or something for it is there.
  void enter(FlowId flow, Part part, Cycle at);
  void established(FlowId flow, Cycle at);
  void failed(FlowId flow);
  bool runs(FlowId flow) const { return flow.v < setups_.size() && setups_[flow.v].running; }
  void reset() { setups_.assign(setups_.size(), {}); }

  void register_stats(const StatsGroup& group) const;

 private:
  struct Setup {
    bool running = false;
    Role role = Role::kInitiator;
    Part part = Part::kTcp;
    Cycle since = 0;
    std::array<Cycle, kParts> spent{};
  };
  struct Times {
    Histogram total;
    std::array<Histogram, kParts> parts;
  };
  std::vector<Setup> setups_;  // by flow
  const std::uint64_t period_ps_;
  std::array<Times, 2> times_;  // by role, in ps
};

}  // namespace rnic
