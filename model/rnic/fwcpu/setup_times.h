// How a connection's setup spends its time, from SYN to established: TCP, the peer (MPA), the firmware, the host.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/stats/histogram.h"

namespace rnic {

class StatsGroup;

// A setup is in one part at a time, so the parts add up to the total, to the cycle. A flow costs nothing outside of its
// setup.
class SetupTimes {
 public:
  enum class Role : std::uint8_t { kInitiator, kResponder };
  // kFirmware includes the wait of an event for the processor.
  enum class Part : std::uint8_t { kTcp, kMpa, kFirmware, kHost };
  static constexpr std::size_t kParts = 4;

  explicit SetupTimes(std::uint64_t period_ps) : period_ps_(period_ps) {}

  // TCP was opening from `syn` on; its event is there for the firmware at `at`.
  void opened(FlowId flow, Role role, Cycle syn, Cycle at);
  // The firmware waits from `at` on, for the peer or for the host; or something for it is there.
  void enter(FlowId flow, Part part, Cycle at);
  void established(FlowId flow, Cycle at);
  void failed(FlowId flow);
  bool runs(FlowId flow) const { return setups_.count(flow.v) != 0; }
  void reset() { setups_.clear(); }

  void register_stats(const StatsGroup& group) const;

 private:
  struct Setup {
    Role role = Role::kInitiator;
    Part part = Part::kTcp;
    Cycle since = 0;
    std::array<Cycle, kParts> spent{};
  };
  struct Times {
    Histogram total;
    std::array<Histogram, kParts> parts;
  };
  std::unordered_map<std::uint32_t, Setup> setups_;  // those that run, by flow
  const std::uint64_t period_ps_;
  std::array<Times, 2> times_;  // by role, in ps
};

}  // namespace rnic
