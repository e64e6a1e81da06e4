#include "model/rnic/fwcpu/setup_times.h"

#include "model/stats/registry.h"

namespace rnic {

void SetupTimes::opened(FlowId flow, Role role, Cycle syn, Cycle at) {
  setups_[flow.v] = {role, Part::kTcp, syn, {}};
  enter(flow, Part::kFirmware, at);
}

void SetupTimes::enter(FlowId flow, Part part, Cycle at) {
  const auto found = setups_.find(flow.v);
  if (found == setups_.end()) return;
  Setup& s = found->second;
  s.spent[static_cast<std::size_t>(s.part)] += at - s.since;
  s.part = part;
  s.since = at;
}

void SetupTimes::established(FlowId flow, Cycle at) {
  if (!runs(flow)) return;
  enter(flow, Part::kFirmware, at);
  const Setup& s = setups_.at(flow.v);
  Times& times = times_[static_cast<std::size_t>(s.role)];
  Cycle total = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    times.parts[part].record(s.spent[part] * period_ps_);
    total += s.spent[part];
  }
  times.total.record(total * period_ps_);
  failed(flow);
}

void SetupTimes::failed(FlowId flow) { setups_.erase(flow.v); }

void SetupTimes::register_stats(const StatsGroup& group) const {
  constexpr const char* kRoles[] = {"initiator", "responder"};
  struct {
    const char *name, *text;
  } constexpr kPartTexts[] = {{"tcp", "part spent in TCP's handshake"},
                              {"mpa", "part spent waiting for the peer's start-up frame or RTR message"},
                              {"firmware", "part spent in the firmware, or waiting for it"},
                              {"host", "part spent waiting for the host to accept"}};
  for (std::size_t role = 0; role < times_.size(); ++role) {
    const StatsGroup of = group.group(kRoles[role]);
    of.histogram("total", times_[role].total, "ps", "from SYN to established");
    for (std::size_t part = 0; part < kParts; ++part) {
      of.histogram(kPartTexts[part].name, times_[role].parts[part], "ps", kPartTexts[part].text);
    }
  }
}

}  // namespace rnic
