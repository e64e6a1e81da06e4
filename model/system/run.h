// The driver of a run: moves a system through simulated time until its work is done, watches progress and requests to
// stop, and writes the outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/system/bottleneck.h"
#include "model/system/run_outputs.h"
#include "model/system/system.h"
#include "model/system/utilization.h"

namespace rnic {

class Run final {
 public:
  // ConfigError for outputs that cannot be created, and for a debugger without a processor, before any file is written.
  Run(System& system, const RunOptions& options);
  ~Run();

  // The port at which the run waits for a debugger; nothing without one.
  std::optional<std::uint16_t> gdb_port() const;

  // Called from time to time with simulated time, the work done and its total.
  using ProgressReport = std::function<void(std::uint64_t now_ps, std::uint64_t done, std::uint64_t total)>;
  RunEnd drive(const ProgressReport& report = {}) { return *drive_until(UINT64_MAX, report); }
  // To its end, or to that time and then to the end of its step. Nothing if the run has not ended then: it may be
  // driven on, and is as if it had not stopped.
  std::optional<RunEnd> drive_until(std::uint64_t until_ps, const ProgressReport& report = {});

  // Closes capture, log, database and waveform. The folder, if there is one, gets stats.json, stats.txt and the
  // firmware's logs.
  void write_outputs(RunEnd end);

  // The contents of stats.json, of a run that has ended.
  nlohmann::ordered_json statistics(RunEnd end) const;
  // Its `stats`, at any time.
  nlohmann::ordered_json counters() const;
  // The contents of series.json; nothing without a series.
  std::optional<nlohmann::ordered_json> series() const;
  // The warm-up is over: figures are without it.
  bool warm() const { return warm_; }
  std::vector<std::string> errors() const;  // of the programs, the firmware and the debugger
  // Limits that the chips have hit, which may be why a run did not end well.
  std::vector<std::string> limits_met() const;
  std::string waiting_for() const;  // waiting programs and stages, one line each
  const std::vector<std::string>& files() const { return outputs_.files(); }
  const std::vector<std::string>& write_failures() const { return outputs_.failures(); }
  std::uint64_t frames() const { return outputs_.capture().frames(); }
  std::vector<Utilization> utilization() const { return utilization_.shares(); }
  BottleneckReport bottleneck() const;
  RunOutputs& outputs() { return outputs_; }
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  struct Debugger;

  static std::unique_ptr<Debugger> open_debugger(System& system, const RunOptions& options);
  bool killed() const;
  bool stop_requested() const { return options_.stop_requested && options_.stop_requested(); }
  enum class Slice : std::uint8_t { kDone, kStopped, kPaused };
  Slice run_slice(std::uint64_t until_ps);
  std::uint64_t next_stop(std::uint64_t until_ps) const;
  void restart();
  std::optional<RunEnd> slices(std::uint64_t until_ps, const ProgressReport& report);
  std::optional<RunEnd> drive_on(std::uint64_t until_ps, const ProgressReport& report);
  void register_stats();
  std::vector<RunFact> facts(RunEnd end) const;
  std::string stats_text(RunEnd end) const;

  System& system_;
  Programs& programs_;
  const RunOptions options_;
  std::unique_ptr<Debugger> debugger_;
  RunOutputs outputs_;
  UtilizationMeter utilization_;
  Accounting accounting_;
  StatsRegistry stats_;
  std::unique_ptr<Series> series_;
  bool warm_;                                  // all counts
  bool begun_ = false;                         // driven
  std::uint64_t progress_ = 0, moved_ps_ = 0;  // of the programs, and when that was other than before
  std::string peer_error_;
  double wall_seconds_ = 0, cpu_seconds_ = 0;
};

}  // namespace rnic
