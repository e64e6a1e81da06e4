// A run: two nodes and a cable built from a scenario, driven until the work is done, with its outputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cable/cable_faults.h"
#include "model/cable/inject/error_injector.h"
#include "model/programs/workload/workload.h"
#include "model/system/run_outputs.h"
#include "model/system/scenario.h"
#include "model/system/system_config.h"

namespace rnic {

// Utilization of a resource while work is done, without connection setup and teardown.
struct Utilization {
  std::string resource;
  double share = 0;  // 0 to 1
};

enum class RunEnd { kDone, kFailed, kHung, kTimeLimit, kInterrupted };

class Simulation final {
 public:
  // ConfigError for mistakes in the scenario or the command line, before any file is written.
  Simulation(const Scenario& scenario, const Overlay& command_line, const RunOptions& options);
  ~Simulation();

  // The port at which the run waits for a debugger; nothing without one.
  std::optional<std::uint16_t> gdb_port() const;

  // Called from time to time with simulated time, messages done and the total of messages.
  using ProgressReport = std::function<void(std::uint64_t now_ps, std::uint64_t done, std::uint64_t total)>;
  RunEnd run(const ProgressReport& report);

  // Writes stats.json and stats.txt, closes capture and waves.
  void write_outputs(RunEnd end);

  std::vector<workload::WorkResult> results() const { return workload_->results(); }
  const std::vector<CheckResult>& checks() const { return checks_; }
  std::string waiting_for() const;  // waiting programs and stages, one line each
  std::vector<Rnic*> chips();       // for twins; in the order of the scenario's nodes
  std::vector<std::string> errors() const;
  const std::vector<std::string>& files() const { return outputs_->files(); }
  const std::vector<std::string>& write_failures() const { return outputs_->failures(); }
  std::uint64_t cycle_ps() const { return config_.rnic.clock_period_ps; }
  std::uint64_t now_ps() const;
  std::uint64_t seed() const { return config_.sim.seed; }
  // The seed of the cable's faults; nothing without faults.
  std::optional<std::uint64_t> fault_seed() const;
  double cpu_seconds() const { return cpu_seconds_; }
  std::uint64_t frames() const { return outputs_->capture().frames(); }
  std::vector<Utilization> utilization() const;  // the busiest first; none if no work was begun

 private:
  struct Debugger;
  struct Station {
    std::string name;
    SystemConfig config;
    std::unique_ptr<Node> node;
  };

  void build_nodes(const Overlay& command_line);
  workload::TcpPath path_from(std::size_t station) const;
  void build_workload();
  void open_debugger();
  void open_outputs();
  // How long each resource has been busy in how much time.
  struct Busy {
    std::uint64_t time_ps = 0;
    std::vector<std::pair<std::string, double>> ps;
  };
  Busy busy() const;  // since the begin
  void follow_work();
  void end_phase();
  bool run_slice();
  std::string stats_text(RunEnd end) const;
  nlohmann::ordered_json stats_json(RunEnd end) const;
  void register_stats();

  const Scenario scenario_;
  const RunOptions options_;
  SystemConfig config_;
  std::vector<Station> stations_;
  std::unique_ptr<EthernetLink> cable_;
  std::unique_ptr<inject::ErrorInjector> injector_;  // if there is something to inject
  std::unique_ptr<CableFaults> faults_;
  std::unique_ptr<workload::Workload> workload_;
  std::unique_ptr<Debugger> debugger_;
  std::unique_ptr<RunOutputs> outputs_;
  std::optional<Busy> phase_begin_, work_;  // of the current phase; of all finished phases
  StatsRegistry stats_;
  std::vector<CheckResult> checks_;
  std::uint64_t total_ = 0;
  double wall_seconds_ = 0, cpu_seconds_ = 0;
};

}  // namespace rnic
