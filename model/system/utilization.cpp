#include "model/system/utilization.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/kernel_time.h"

namespace rnic {

namespace {

std::string named(std::string text, const std::string& place, const std::string& name) {
  const std::size_t at = text.find(place);
  return at == std::string::npos ? text : text.replace(at, place.size(), name);
}

}  // namespace

UtilizationMeter::UtilizationMeter(const System& system) {
  for (const Station& s : system.stations()) {
    const std::size_t first = resources_.size();
    for (const Described::UseOf& use : s.parts.uses) {
      const std::string name = named(named(use.name, "{node}", s.name), "{peer}", s.joined_to);
      const auto known = std::find_if(resources_.begin() + static_cast<std::ptrdiff_t>(first), resources_.end(),
                                      [&](const Resource& r) { return r.name == name; });
      if (known == resources_.end()) {
        resources_.push_back({use.kind, s.name, name});
        uses_.push_back({use.busy_ps});
      } else {
        uses_[static_cast<std::size_t>(known - resources_.begin())].push_back(use.busy_ps);
      }
    }
  }
  for (const Described::Way& way : system.cable_parts().ways) {
    if (!way.busy_ps) continue;
    const std::string &from = system.end_name(way.from), &to = system.end_name(way.to);
    resources_.push_back({UseKind::kLinkRate, from, fmt::format("link rate {} to {}", from, to)});
    uses_.push_back({way.busy_ps});
  }
}

void UtilizationMeter::busy_ps(std::vector<double>& into) const {
  into.clear();
  for (const std::vector<BusyPs>& parts : uses_) {
    double sum = 0;
    for (const BusyPs& ps : parts) sum += ps();
    into.push_back(sum);
  }
}

UtilizationMeter::Busy UtilizationMeter::busy() const {
  Busy busy{kernel_time_ps(), {}};
  std::vector<double> ps;
  busy_ps(ps);
  for (std::size_t i = 0; i < ps.size(); ++i) busy.ps.emplace_back(resources_[i].name, ps[i]);
  return busy;
}

void UtilizationMeter::follow(bool working) {
  if (working == phase_begin_.has_value()) return;
  if (!phase_begin_) {
    phase_begin_ = busy();
    return;
  }
  Busy phase = busy();
  phase.time_ps -= phase_begin_->time_ps;
  if (work_) phase.time_ps += work_->time_ps;
  for (std::size_t i = 0; i < phase.ps.size(); ++i) {
    phase.ps[i].second += (work_ ? work_->ps[i].second : 0) - phase_begin_->ps[i].second;
  }
  work_ = std::move(phase);
  phase_begin_.reset();
}

void UtilizationMeter::restart() {
  work_.reset();
  if (phase_begin_) phase_begin_ = busy();
}

std::vector<Utilization> UtilizationMeter::shares() const {
  std::vector<Utilization> list;
  if (!work_ || work_->time_ps == 0) return list;
  for (const auto& [resource, ps] : work_->ps) list.push_back({resource, ps / static_cast<double>(work_->time_ps)});
  std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.share > y.share; });
  return list;
}

}  // namespace rnic
