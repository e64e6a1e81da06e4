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
    case CheckKind::kTerminate:
      break;
  }
  return {ns(r.latency.max), "ns", false};
}

// One side must have sent it and the other must have received it; if that is unknown, as the startup is not over yet,
// its connection must have ended without one.
CheckResult terminated(const ScenarioCheck& check, const EndingOf& ending_of) {
  CheckResult c{check.name, true, ""};
  for (const bool sender : {true, false}) {
    const auto ending = ending_of(check.connection, check.qp, sender == check.sent_by_from);
    const auto origin = sender ? abi::TerminateOrigin::kLocal : abi::TerminateOrigin::kPeer;
    const bool informed = sender || check.told;
    c.passed = c.passed && ending && ending->terminate.has_value() == informed &&
               (!informed || (ending->terminate->origin == origin && ending->terminate->cause == check.cause));
    c.text += fmt::format("{}{}: {}", sender ? "" : "; ", sender ? "sender" : "receiver",
                          ending ? ending->text : "its connection has not ended");
  }
  return c;
}

}  // namespace

std::vector<CheckResult> evaluate(const std::vector<ScenarioCheck>& checks, const std::vector<WorkResult>& results,
                                  const EndingOf& ending_of) {
  std::vector<CheckResult> list;
  for (const ScenarioCheck& check : checks) {
    if (check.kind == CheckKind::kTerminate) {
      list.push_back(terminated(check, ending_of));
      continue;
    }
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
