// The workload of a scenario: two nodes on one cable, and the work between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/cable/inject/error_injector.h"
#include "model/programs/workload/workload.h"
#include "model/system/scenario.h"
#include "model/system/system.h"

namespace rnic {

class WorkloadPrograms final : public Programs {
 public:
  // Adds nodes, cable and injections to the system. ConfigError for mistakes in the scenario.
  WorkloadPrograms(System& system, const Scenario& scenario, const std::vector<SystemConfig>& nodes);
  ~WorkloadPrograms() override;

  void advance(World& world, std::uint64_t until_ps) override { world.run_until(until_ps); }
  bool done() const override { return workload_->done(); }
  bool failed() const override { return workload_->failed(); }
  bool working() const override { return workload_->working(); }
  unsigned phase() const override { return workload_->phase(); }
  std::string phase_name(unsigned phase) const override { return workload_->phase_name(phase); }
  std::string work_name(std::uint32_t work) const override { return workload_->work_name(work); }
  bool is_ping_pong(std::uint32_t work) const override { return workload_->is_ping_pong(work); }
  std::uint64_t progress() const override { return workload_->progress(); }
  std::uint64_t total() const override { return total_; }
  void restart_results(std::uint64_t now_ps) override { workload_->restart(now_ps); }
  RunEnd conclude(RunEnd end) override;
  bool passed() const override;

  std::vector<workload::WorkResult> results() const override { return workload_->results(); }
  std::string table() const override;
  std::string verdicts() const override;
  std::vector<std::string> errors() const override;
  std::string waiting_for() const override { return workload_->waiting_for(); }
  nlohmann::ordered_json about() const override;
  void add_results(nlohmann::ordered_json& j) const override;

 private:
  void build_nodes(System& system, const std::vector<SystemConfig>& configs);
  workload::TcpPath path_from(const System& system, std::size_t station) const;
  void build_workload(const System& system);

  const Scenario scenario_;
  const std::uint64_t clock_period_ps_;              // of the chips
  std::unique_ptr<inject::ErrorInjector> injector_;  // if there is something to inject
  std::unique_ptr<workload::Workload> workload_;
  std::vector<CheckResult> checks_;
  std::uint64_t total_ = 0;
};

}  // namespace rnic
