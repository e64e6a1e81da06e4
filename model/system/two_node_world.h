// Two nodes of a scenario on one cable, and the work between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/cable/inject/error_injector.h"
#include "model/config/overlay.h"
#include "model/programs/workload/workload.h"
#include "model/system/scenario.h"
#include "model/system/scenario_config.h"
#include "model/system/world.h"

namespace rnic {

class TwoNodeWorld final : public World {
 public:
  // ConfigError for mistakes in the scenario or the command line.
  TwoNodeWorld(const Scenario& scenario, const Overlay& command_line);
  ~TwoNodeWorld() override;

  std::vector<workload::WorkResult> results() const { return workload_->results(); }

  void advance(std::uint64_t until_ps) override { clocks().run_until(until_ps); }
  bool done() const override { return workload_->done(); }
  bool failed() const override { return workload_->failed(); }
  bool working() const override { return workload_->working(); }
  unsigned phase() const override { return workload_->phase(); }
  std::string phase_name(unsigned phase) const override { return workload_->phase_name(phase); }
  std::string work_name(std::uint32_t work) const override { return workload_->work_name(work); }
  std::uint64_t progress() const override { return workload_->progress(); }
  std::uint64_t total() const override { return total_; }
  void restart_results(std::uint64_t now_ps) override { workload_->restart(now_ps); }
  RunEnd conclude(RunEnd end) override;
  bool passed() const override;

  std::string table() const override;
  std::string verdicts() const override;
  std::vector<std::string> errors() const override;
  std::string waiting_for() const override { return workload_->waiting_for(); }
  nlohmann::ordered_json about() const override;
  void add_results(nlohmann::ordered_json& j) const override;

 private:
  TwoNodeWorld(const Scenario& scenario, ScenarioConfig resolved);
  void build_nodes(const std::vector<SystemConfig>& configs);
  workload::TcpPath path_from(std::size_t station) const;
  void build_workload();

  const Scenario scenario_;
  std::unique_ptr<inject::ErrorInjector> injector_;  // if there is something to inject
  std::unique_ptr<workload::Workload> workload_;
  std::vector<CheckResult> checks_;
  std::uint64_t total_ = 0;
};

}  // namespace rnic
