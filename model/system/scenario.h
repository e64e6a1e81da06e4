// A scenario file: the nodes of a run, how they are connected, the work they do and the expected results.
// traces/README.md documents every key.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/cable/inject/injection.h"
#include "model/config/overlay.h"
#include "model/programs/consumer/program_spec.h"
#include "model/programs/workload/endpoint.h"
#include "model/programs/workload/plan.h"
#include "model/programs/workload/results.h"
#include "model/system/sweep.h"

namespace rnic {

struct ScenarioNode {
  std::string name;
  std::uint32_t ip = 0;
  std::array<std::uint8_t, 6> mac{};
  Overlay config;         // of this node, with precedence over the scenario's
  Overlay assigned;       // of this node, by --set and sweeps that name it; highest precedence
  bool external = false;  // outside the simulation
};

enum class CheckKind : std::uint8_t {
  kData,
  kMinGoodput,
  kMinShare,
  kMinRate,
  kMaxP50,
  kMaxP99,
  kMaxP999,
  kMaxLatency,
  kMinFairness,
  kTerminate
};

struct ScenarioCheck {
  std::string name;
  CheckKind kind = CheckKind::kData;
  std::string work;  // a work item, or empty: all of them
  double value = 0;  // Gb/s, per cent, M/s, ns, or an index
  // kTerminate: on which connection, by which side, and the reason.
  unsigned connection = 0, qp = 0;
  bool sent_by_from = false, told = true;  // told: the other side has received it
  wire::TerminateCause cause{};
};

struct Scenario {
  std::string file, name, description;
  Overlay config;  // with the keys of "link" in the group of that name
  std::vector<ScenarioNode> nodes;
  workload::Plan plan;  // its connections name nodes by index
  std::vector<ScenarioCheck> checks;
  std::vector<inject::Injection> injections;    // of messages; those of requests are in the plan
  std::vector<std::string> injection_names;     // of both kinds, in the order of the file
  std::vector<consumer::ProgramSpec> programs;  // with an external peer, in place of a plan
  Sweep sweep;                                  // empty: one run
  nlohmann::json json;                          // the file's contents, without a sweep
  Overlay assigned;                             // values that replace some of them
  nlohmann::json effective;                     // `json` with them

  bool has_external_peer() const;
  // The file and the assigned values, for messages.
  std::string source() const;
};

// Throws ConfigError naming the file, the JSON path and the reason; an unknown key or name comes with the closest one.
// `assigned` are values that take the place of the file's (scenario_assignment.h).
Scenario read_scenario(const std::string& file, const Overlay& assigned = {});
Scenario parse_scenario(const nlohmann::json& json, const std::string& file, const Overlay& assigned = {});

// One point of the scenario's sweep, as a scenario without one. Assigned values take precedence over the sweep's.
Scenario at_point(const Scenario& scenario, std::size_t point);

// Of one node, by increasing precedence: the scenario's, its own, the command line's for all nodes and for this node.
Overlay settings_of(const Scenario& scenario, const ScenarioNode& node, const Overlay& command_line);

struct CheckResult {
  std::string name;
  bool passed = false;
  std::string text;  // "93.1 Gb/s, at least 90"
};

// How one side of a queue pair of a connection ended before its work was done, if it did.
using EndingOf = std::function<std::optional<workload::Ending>(unsigned connection, unsigned qp, bool from)>;

// Every check of the scenario. A check of goodput or latency fails when its work is not complete.
std::vector<CheckResult> evaluate(const std::vector<ScenarioCheck>& checks,
                                  const std::vector<workload::WorkResult>& results, const EndingOf& ending_of);

}  // namespace rnic
