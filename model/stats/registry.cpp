#include "model/stats/registry.h"

#include <algorithm>
#include <string_view>

#include "model/common/check.h"

namespace rnic {
namespace {

// One unit for each thing, the same in all of a run's outputs. A "ratio" is 0 to 1.
constexpr std::string_view kUnits[] = {
    "CQEs",       "CQs",        "FPDUs",      "MRs",          "QPs",         "SRQs",         "STags",     "TLPs",
    "ULPDUs",     "WQEs",       "accesses",   "associations", "banks",       "bits",         "buckets",   "bursts",
    "calls",      "changes",    "chunks",     "commands",     "completions", "connections",  "cycles",    "doorbells",
    "elements",   "errors",     "events",     "flows",        "frames",      "instructions", "listeners", "markers",
    "messages",   "octets",     "operations", "packets",      "ports",       "ps",           "ratio",     "reads",
    "recoveries", "reductions", "reports",    "requests",     "resets",      "responses",    "restarts",  "rows",
    "segments",   "slots",      "stalls",     "streams",      "timeouts",    "timers",       "writes"};

}  // namespace

void StatsRegistry::add(const std::string& path, Source source, std::string unit, std::string description) {
  RNIC_CHECK_MSG(std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits),
                 path + " counts in unknown units: " + unit);
  RNIC_CHECK_MSG(!description.empty(), path + " has no description");
  RNIC_CHECK_MSG(groups_.count(path) == 0, path + " is a group of figures");
  RNIC_CHECK_MSG(paths_.insert(path).second, path + " is registered twice");
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    RNIC_CHECK_MSG(paths_.count(path.substr(0, dot)) == 0, path + " lies within a figure");
    groups_.insert(path.substr(0, dot));
  }
  entries_.push_back({path, std::move(source), std::move(unit), std::move(description), 0, nullptr});
}

void StatsRegistry::restart() {
  for (Entry& e : entries_) {
    if (const auto* counter = std::get_if<const std::uint64_t*>(&e.source)) e.counted_before = **counter;
    if (const auto* most = std::get_if<const HighWater*>(&e.source)) (*most)->restart();
    if (const auto* h = std::get_if<const Histogram*>(&e.source)) e.recorded_before = std::make_shared<Histogram>(**h);
    if (auto* sum = std::get_if<Sum>(&e.source)) sum->before = sum->value();
    if (auto* ratio = std::get_if<Ratio>(&e.source)) {
      for (Sum* sum : {&ratio->part, &ratio->whole}) sum->before = sum->value();
    }
  }
}

const StatsRegistry::Entry& StatsRegistry::entry(const std::string& path) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.path == path; });
  RNIC_CHECK_MSG(entry != entries_.end(), path + " is not registered");
  return *entry;
}

double StatsRegistry::value(const std::string& path) const {
  const Source& source = entry(path).source;
  if (const auto* counter = std::get_if<const std::uint64_t*>(&source)) return static_cast<double>(**counter);
  if (const auto* most = std::get_if<const HighWater*>(&source)) return static_cast<double>(**most);
  if (const auto* sum = std::get_if<Sum>(&source)) return sum->value();
  const auto* derived = std::get_if<Derived>(&source);
  RNIC_CHECK_MSG(derived != nullptr, path + " is no single figure");
  return (*derived)();
}

}  // namespace rnic
