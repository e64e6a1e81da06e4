#include <fmt/format.h>

#include "model/system/scenario.h"

namespace rnic {
namespace {

using workload::WorkResult;

struct Measured {
  double value;
  const char* unit;
  bool at_least;
};

Measured measured(CheckKind kind, const WorkResult& r) {
  const auto ns = [](std::uint64_t ps) { return static_cast<double>(ps) / 1000; };
  switch (kind) {
    case CheckKind::kMinGoodput:
      return {r.goodput_gbps, "Gb/s", true};
    case CheckKind::kMinShare:
      return {100 * r.share_of_limit(), "% of the limit", true};
    case CheckKind::kMinRate:
      return {r.rate_mops, "M/s", true};
    case CheckKind::kMaxP50:
      return {ns(r.latency.p50), "ns", false};
    case CheckKind::kMaxP99:
      return {ns(r.latency.p99), "ns", false};
    case CheckKind::kMaxP999:
      return {ns(r.latency.p999), "ns", false};
    case CheckKind::kMinFairness:
      return {r.fairness, "(Jain's index)", true};
    case CheckKind::kMaxLatency:
    case CheckKind::kData:
      break;
  }
  return {ns(r.latency.max), "ns", false};
}

}  // namespace

std::vector<CheckResult> evaluate(const std::vector<ScenarioCheck>& checks, const std::vector<WorkResult>& results) {
  std::vector<CheckResult> list;
  for (const ScenarioCheck& check : checks) {
    CheckResult c{check.name, true, ""};
    for (const WorkResult& r : results) {
      if (!check.work.empty() && r.item != check.work) continue;
      std::string text = fmt::format("{}: all {} messages compared", r.name, r.count);
      bool passed = r.data_ok;
      if (!passed) {
        text = r.name + ": " + (r.error.empty() ? "not complete" : r.error);
      } else if (check.kind != CheckKind::kData) {
        const Measured m = measured(check.kind, r);
        passed = m.at_least ? m.value >= check.value : m.value <= check.value;
        text = fmt::format("{}: {:.2f} {}, {} {}", r.name, m.value, m.unit, m.at_least ? "at least" : "at most",
                           check.value);
      }
      c.passed = c.passed && passed;
      c.text += (c.text.empty() ? "" : "; ") + text;
    }
    list.push_back(std::move(c));
  }
  return list;
}

}  // namespace rnic
