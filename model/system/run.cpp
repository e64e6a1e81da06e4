#include "model/system/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <sstream>
#include <systemc>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/external/external_peer.h"
#include "model/rnic/fwcpu/gdb/gdb_server.h"
#include "model/rnic/fwcpu/rv32/iss.h"
#include "model/stats/report.h"
#include "model/system/stats_report.h"

namespace rnic {
namespace {

const char* end_name(RunEnd end) {
  switch (end) {
    case RunEnd::kDone:
      return "done";
    case RunEnd::kFailed:
      return "failed";
    case RunEnd::kHung:
      return "hung";
    case RunEnd::kPeerGone:
      return "peer gone";
    case RunEnd::kTimeLimit:
      return "time limit";
    case RunEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}

System& described(System& system) {
  system.describe();
  return system;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

// gdb, and the processors that it sees.
struct Run::Debugger {
  Debugger(const RunOptions& options, std::vector<GdbSession::Thread> threads)
      : server(*options.gdb_port, options.stop_requested), session(threads, server) {}
  GdbServer server;
  GdbSession session;
};

Run::Run(System& system, const RunOptions& options)
    : system_(described(system)),
      programs_(system.programs()),
      options_(options),
      debugger_(open_debugger(system, options)),
      outputs_(options, system.stations(), system.cable(),
               {[&system](std::uint32_t work) { return system.programs().work_name(work); },
                [&system](std::uint32_t work) { return system.programs().is_ping_pong(work); }}),
      utilization_(system),
      accounting_(system, utilization_),
      warm_(options.warmup_ps == 0) {
  register_stats();
  if (options.series.interval_ps != 0) {
    SeriesOptions series = options.series;
    series.max_values = system.config().sim.max_series_values;
    series_ = std::make_unique<Series>(series, system.stations(), accounting_, utilization_);
  }
}

Run::~Run() = default;

std::unique_ptr<Run::Debugger> Run::open_debugger(System& system, const RunOptions& options) {
  if (!options.gdb_port) return nullptr;
  std::vector<Iss*> processors;
  std::vector<GdbSession::Thread> threads;
  for (const Station& s : system.stations()) {
    Iss* const iss = s.parts.firmware != nullptr ? s.parts.firmware->processor() : nullptr;
    if (iss == nullptr) continue;
    processors.push_back(iss);
    threads.push_back({"firmware of " + s.name, iss});
  }
  if (processors.empty()) {
    throw ConfigError("--gdb: the firmware runs natively; a debugger needs --set rnic.fwcpu.target=rv32");
  }
  auto debugger = std::make_unique<Debugger>(options, threads);
  for (Iss* iss : processors) iss->observe(debugger->session);
  return debugger;
}

std::optional<std::uint16_t> Run::gdb_port() const {
  return debugger_ ? std::optional(debugger_->server.port()) : std::nullopt;
}

bool Run::killed() const { return debugger_ && debugger_->session.killed(); }

void Run::register_stats() {
  const StatsGroup root(stats_);
  system_.cable().describe(Description(root));
  for (const Station& s : system_.stations()) s.node->describe(Description(root.group(s.name)));
  programs_.register_stats(root);
}

// The slice of now, or what is left of it. A pause changes neither slices nor steps, so it changes no figure.
Run::Slice Run::run_slice(std::uint64_t until_ps) {
  const Programs::Pace pace = programs_.pace();
  const std::uint64_t end_ps = (kernel_time_ps() / pace.slice_ps + 1) * pace.slice_ps;
  while (kernel_time_ps() < end_ps) {
    if (stop_requested()) return Slice::kStopped;
    if (kernel_time_ps() >= until_ps) return Slice::kPaused;
    outputs_.follow(kernel_time_ps());
    programs_.advance(system_.world(), next_stop(std::min(end_ps, kernel_time_ps() + pace.step_ps)));
    outputs_.settle();  // before the accounts are read
    const bool working = programs_.working();
    utilization_.follow(working);
    accounting_.follow(working, working ? programs_.phase() : 0);
    if (!warm_ && kernel_time_ps() >= options_.warmup_ps) restart();
    if (series_ && kernel_time_ps() >= series_->next_ps()) series_->sample();
  }
  return Slice::kDone;
}

// Rows and the end of the warm-up are at their times, exactly.
std::uint64_t Run::next_stop(std::uint64_t until_ps) const {
  if (series_) until_ps = std::min(until_ps, series_->next_ps());
  if (!warm_) until_ps = std::min(until_ps, options_.warmup_ps);
  return std::max(until_ps, kernel_time_ps() + 1);
}

void Run::restart() {
  warm_ = true;
  stats_.restart();
  utilization_.restart();
  accounting_.restart();
  outputs_.restart();
  programs_.restart_results(kernel_time_ps());
}

std::optional<RunEnd> Run::slices(std::uint64_t until_ps, const ProgressReport& report) {
  const std::uint64_t limit_ps = system_.config().sim.max_time_us * 1'000'000;
  const std::uint64_t watchdog_ps = system_.config().sim.watchdog_us * 1'000'000;
  for (;;) {
    const Slice slice = run_slice(until_ps);
    const bool stopped = slice == Slice::kStopped;
    const std::uint64_t now = kernel_time_ps();
    outputs_.advance(now);
    if (slice == Slice::kPaused) return std::nullopt;
    programs_.end_slice();
    if (report) report(now, programs_.progress(), programs_.total());
    if (debugger_) debugger_->session.poll();
    const bool done = programs_.done();
    if (stopped && !done) return RunEnd::kInterrupted;  // failures in the meantime are among the errors
    if (programs_.failed() || killed()) return RunEnd::kFailed;
    if (done && (stopped || programs_.peer_gone() || !programs_.lingers())) return RunEnd::kDone;
    if (programs_.peer_gone()) return RunEnd::kPeerGone;
    if (const std::uint64_t p = programs_.progress(); p != progress_) progress_ = p, moved_ps_ = now;
    switch (programs_.stall(now - moved_ps_, !sc_core::sc_pending_activity(), watchdog_ps)) {
      case Programs::Stall::kWait:
        break;
      case Programs::Stall::kResolved:
        moved_ps_ = now;
        break;
      case Programs::Stall::kHung:
        return RunEnd::kHung;
    }
    if (limit_ps != 0 && now >= limit_ps) return done ? RunEnd::kDone : RunEnd::kTimeLimit;
  }
}

std::optional<RunEnd> Run::drive_until(std::uint64_t until_ps, const ProgressReport& report) {
  if (!std::exchange(begun_, true) && debugger_ && debugger_->server.accept()) debugger_->session.begin();
  const auto wall_start = std::chrono::steady_clock::now();
  const double cpu_start = processor_seconds();
  const std::optional<RunEnd> end = drive_on(until_ps, report);
  cpu_seconds_ += processor_seconds() - cpu_start;
  wall_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  if (end && debugger_) debugger_->session.end(*end == RunEnd::kDone);
  return end;
}

std::optional<RunEnd> Run::drive_on(std::uint64_t until_ps, const ProgressReport& report) {
  std::optional<RunEnd> end = RunEnd::kInterrupted;
  try {
    end = slices(until_ps, report);
  } catch (const external::PeerError& error) {
    if (!stop_requested()) {  // a signal wakes the wait for the peer
      end = RunEnd::kFailed;
      peer_error_ = error.what();
    }
  }
  if (!end) return end;
  end = programs_.conclude(*end);
  utilization_.end();
  accounting_.end();
  if (series_) series_->end();
  return end;
}

std::vector<std::string> Run::errors() const {
  constexpr std::size_t kMost = 20;  // thousands of programs may have the same one
  std::vector<std::string> errors = programs_.errors();
  if (errors.size() > kMost) {
    const std::size_t more = errors.size() - kMost;
    errors.resize(kMost);
    errors.push_back(fmt::format("and {} more errors of programs", more));
  }
  if (!warm_) errors.emplace_back("--warmup: the run has ended before, so that no figure is without it");
  if (!peer_error_.empty()) errors.push_back("the peer: " + peer_error_);
  for (std::string& fault : outputs_.firmware_faults()) errors.push_back(std::move(fault));
  if (killed()) errors.push_back("the debugger ended the run");
  return errors;
}

std::vector<std::string> Run::limits_met() const {
  std::vector<std::string> met;
  for (const Station& s : system_.stations()) {
    for (const Described::LimitOf& limit : s.parts.limits) {
      if (*limit.times != 0) met.push_back(fmt::format("{}: {} {}", s.name, *limit.times, limit.text));
    }
  }
  return met;
}

BottleneckReport Run::bottleneck() const {
  return find_bottleneck(accounting_, [this](unsigned phase) { return programs_.phase_name(phase); });
}

std::string Run::waiting_for() const {
  std::string text = programs_.waiting_for();
  for (const Station& s : system_.stations()) {
    for (const ClockDomain* clk : {&s.node->core_clk, &s.node->host_clk}) {
      for (const Stage* stage : clk->stages()) {
        if (const std::string what = stage->waiting_for(); !what.empty()) {
          text += fmt::format("{} waits for {}\n", stage->name(), what);
        }
      }
    }
  }
  return text;
}

nlohmann::ordered_json Run::statistics(RunEnd end) const {
  nlohmann::ordered_json j = programs_.about();
  j["end"] = end_name(end);
  j["complete"] = end == RunEnd::kDone;
  j["versions"] = versions_json();
  j["seed"] = system_.config().sim.seed;
  if (system_.cable().faults().any()) j["fault_seed"] = system_.cable().faults().seed();
  j["digest"] = fmt::format("{:016x}", outputs_.digest());
  j["sim_time_ps"] = kernel_time_ps();
  if (options_.warmup_ps != 0) j["warmup_ps"] = options_.warmup_ps;
  j["wall_s"] = wall_seconds_;
  j["cpu_s"] = cpu_seconds_;
  j["frames"] = frames();
  j["frames_per_cpu_s"] = cpu_seconds_ > 0 ? static_cast<double>(frames()) / cpu_seconds_ : 0;
  if (outputs_.wave_changes()) j["wave_changes"] = *outputs_.wave_changes();
  programs_.add_results(j);
  if (outputs_.breakdown() != nullptr) j["latency_breakdown"] = outputs_.breakdown()->json();
  j["errors"] = errors();
  add_bottleneck(j, bottleneck());
  for (std::size_t i = 0; i < j["phases"].size(); ++i) j["phases"][i].update(accounting_.json(accounting_.phases()[i]));
  j["occupancy"] = accounting_.json();
  for (const auto& [node, cores] : accounting_.cores_left_out()) j["occupancy_left_out"][node] = cores;
  for (const Utilization& u : utilization()) j["utilization"][u.resource] = u.share;
  for (const Station& s : system_.stations()) j["config"][s.name] = dump_system(s.config);
  if (!write_failures().empty()) j["not_written"] = write_failures();
  j["stats"] = counters();
  return j;
}

nlohmann::ordered_json Run::counters() const { return to_json(stats_); }

std::optional<nlohmann::ordered_json> Run::series() const {
  return series_ ? std::optional(series_->json(options_.warmup_ps)) : std::nullopt;
}

// The part of stats.json that goes into a database: what the run was, and the settings of each node.
std::vector<RunFact> Run::facts(RunEnd end) const {
  std::vector<RunFact> facts;
  const auto add = [&facts](const std::string& node, const std::string& name, const nlohmann::ordered_json& value) {
    facts.push_back({node, name, value.is_string() ? value.get<std::string>() : value.dump()});
  };
  const nlohmann::ordered_json about = programs_.about(), versions = versions_json();
  for (const auto& [name, value] : about.items()) add("", name, value);
  for (const auto& [name, value] : versions.items()) add("", "version." + name, value);
  add("", "end", end_name(end));
  add("", "seed", system_.config().sim.seed);
  add("", "digest", fmt::format("{:016x}", outputs_.digest()));
  add("", "sim_time_ps", kernel_time_ps());
  const Bottleneck limit = bottleneck().first;
  add("", "bottleneck", limit.line);
  add("", "bottleneck.name", limit.name);
  add("", "bottleneck.where", limit.where);
  if (end != RunEnd::kDone) add("", "waiting", waiting_for());
  for (const Station& s : system_.stations()) {
    const nlohmann::ordered_json settings = dump_system(s.config).flatten();
    for (const auto& [path, value] : settings.items()) {
      std::string name = path.substr(1);  // a JSON pointer
      std::replace(name.begin(), name.end(), '/', '.');
      add(s.name, name, value);
    }
  }
  return facts;
}

std::string Run::stats_text(RunEnd end) const {
  std::ostringstream text;
  if (end != RunEnd::kDone) text << "incomplete: " << end_name(end) << '\n';
  text << bottleneck().first.line << '\n' << programs_.table();
  for (const std::string& e : errors()) text << "error: " << e << '\n';
  write_text(text, stats_, options_.zeros);
  return text.str();
}

// Large files come first: one that did not fit leaves its space to the rest.
void Run::write_outputs(RunEnd end) {
  outputs_.close(kernel_time_ps(), [&] { return facts(end); });
  if (options_.out_dir.empty()) return;
  outputs_.write_firmware();
  if (series_) {
    outputs_.write("series.csv", series_->csv());
    outputs_.write("series.json", series()->dump() + '\n');
  }
  outputs_.write("stats.txt", stats_text(end));
  outputs_.write("stats.json", statistics(end).dump(2) + '\n');
}

}  // namespace rnic
