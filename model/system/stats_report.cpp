#include "model/system/stats_report.h"

#include <systemc>

#include <nlohmann/json.hpp>

#include "model/system/scenario_assignment.h"

namespace rnic {

namespace {

nlohmann::ordered_json percentiles(const workload::WorkResult::Percentiles& p, double unit_ps) {
  const auto in = [unit_ps](std::uint64_t ps) { return static_cast<double>(ps) / unit_ps; };
  return {{"count", p.count}, {"p50", in(p.p50)}, {"p99", in(p.p99)}, {"p99.9", in(p.p999)}, {"max", in(p.max)}};
}

// Shares from 0 to 1, and the latency below which that share of the work was done.
nlohmann::ordered_json distribution(const std::vector<std::uint64_t>& ps) {
  nlohmann::ordered_json share = nlohmann::ordered_json::array(), ns = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < ps.size(); ++i) {
    share.push_back(workload::WorkResult::kCdfPerMille[i] / 1000.0);
    ns.push_back(static_cast<double>(ps[i]) / 1000);
  }
  return {{"share", share}, {"ns", ns}};
}

}  // namespace

nlohmann::ordered_json scenario_about(const Scenario& scenario) {
  nlohmann::ordered_json j{{"scenario", scenario.name}};
  if (!scenario.assigned.settings().empty()) j["assigned"] = values_json(scenario.assigned);
  return j;
}

nlohmann::ordered_json results_json(const std::vector<workload::WorkResult>& results, std::uint64_t cycle_ps) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const workload::WorkResult& r : results) {
    nlohmann::ordered_json j;
    j["name"] = r.name;
    j["phase"] = r.phase;
    j["op"] = workload::op_name(r.op);
    j["count"] = r.count;
    j["bytes"] = r.bytes;
    j["duration_ps"] = r.duration_ps;
    j["goodput_gbps"] = r.goodput_gbps;
    j["rate_mops"] = r.rate_mops;
    j["limit_gbps"] = r.limit_gbps;
    j["tcp_limit_gbps"] = r.tcp_limit_gbps;
    j["fairness"] = r.fairness;
    j["latency_ns"] = percentiles(r.latency, 1000);
    j["latency_cycles"] = percentiles(r.latency, static_cast<double>(cycle_ps));
    if (!r.latency_cdf.empty()) j["latency_cdf"] = distribution(r.latency_cdf);
    j["one_way_ns"] = percentiles(r.one_way, 1000);
    if (r.op == workload::Op::kConnect) {
      j["connections_per_s"] = 1e6 * r.rate_mops;
      j["outcomes"] = {{"accept", r.outcomes[0]},
                       {"reject", r.outcomes[1]},
                       {"no_listener", r.outcomes[2]},
                       {"timeout", r.outcomes[3]}};
      j["retries"] = r.retries;
    }
    j["data_ok"] = r.data_ok;
    if (!r.error.empty()) j["error"] = r.error;
    list.push_back(std::move(j));
  }
  return list;
}

nlohmann::ordered_json checks_json(const std::vector<CheckResult>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CheckResult& c : checks) list.push_back({{"name", c.name}, {"passed", c.passed}, {"text", c.text}});
  return list;
}

nlohmann::ordered_json comparison_json(const replay::Comparison& comparison) {
  nlohmann::ordered_json differences = nlohmann::ordered_json::array();
  for (const replay::Difference& d : comparison.differences) {
    const nlohmann::ordered_json why =
        d.explained_by.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(d.explained_by);
    differences.push_back({{"what", d.what}, {"expected", d.expected}, {"got", d.got}, {"explained_by", why}});
  }
  return {{"messages", comparison.messages}, {"matched", comparison.matched}, {"differences", differences}};
}

nlohmann::ordered_json versions_json() {
  return {{"rnicsim", RNIC_VERSION}, {"systemc", sc_core::sc_release()}, {"compiler", __VERSION__}};
}

}  // namespace rnic
