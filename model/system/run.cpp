#include "model/system/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <sstream>
#include <systemc>

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

World& described(World& world) {
  world.describe_nodes();
  return world;
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

Run::Run(World& world, const RunOptions& options)
    : world_(described(world)),
      options_(options),
      debugger_(open_debugger(world, options)),
      outputs_(options, world.stations(), world.cable(),
               [&world](std::uint32_t work) { return world.work_name(work); }),
      utilization_(world.stations(), world.faults()),
      accounting_(world.stations(), world.faults(), utilization_, world.config().sim.account_links),
      warm_(options.warmup_ps == 0) {
  register_stats();
  if (options.series.interval_ps != 0) {
    SeriesOptions series = options.series;
    series.max_values = world.config().sim.max_series_values;
    series_ = std::make_unique<Series>(series, world.stations(), accounting_, utilization_);
  }
}

Run::~Run() = default;

std::unique_ptr<Run::Debugger> Run::open_debugger(World& world, const RunOptions& options) {
  if (!options.gdb_port) return nullptr;
  std::vector<Iss*> processors;
  std::vector<GdbSession::Thread> threads;
  for (const Station& s : world.stations()) {
    Iss* const iss = s.node->chip.fwcpu.processor();
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
  for (unsigned direction = 0; direction < 2; ++direction) {
    const FaultCounters* const counters = world_.faults().counters(direction);
    if (counters != nullptr) root.group(direction == 0 ? "link.forward" : "link.reverse").counters(*counters);
  }
  for (const Station& s : world_.stations()) s.node->describe(Description(root.group(s.name)));
  world_.register_stats(root);
}

// False if the run is to stop.
bool Run::run_slice() {
  const World::Pace pace = world_.pace();
  const std::uint64_t until_ps = (kernel_time_ps() / pace.slice_ps + 1) * pace.slice_ps;
  while (kernel_time_ps() < until_ps) {
    if (stop_requested()) return false;
    outputs_.follow(kernel_time_ps());
    world_.advance(next_stop(std::min(until_ps, kernel_time_ps() + pace.step_ps)));
    outputs_.settle();  // before the accounts are read
    const bool working = world_.working();
    utilization_.follow(working);
    accounting_.follow(working, working ? world_.phase() : 0);
    if (!warm_ && kernel_time_ps() >= options_.warmup_ps) restart();
    if (series_ && kernel_time_ps() >= series_->next_ps()) series_->sample();
  }
  return true;
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
  world_.restart_results(kernel_time_ps());
}

RunEnd Run::slices(const ProgressReport& report) {
  const std::uint64_t limit_ps = world_.config().sim.max_time_us * 1'000'000;
  std::uint64_t progress = 0, progress_ps = 0;
  for (;;) {
    const bool stopped = !run_slice();
    const std::uint64_t now = kernel_time_ps();
    outputs_.advance(now);
    world_.end_slice();
    if (report) report(now, world_.progress(), world_.total());
    if (debugger_) debugger_->session.poll();
    const bool done = world_.done();
    if (stopped && !done) return RunEnd::kInterrupted;  // failures in the meantime are among the errors
    if (world_.failed() || killed()) return RunEnd::kFailed;
    if (done && (stopped || world_.peer_gone() || !world_.lingers())) return RunEnd::kDone;
    if (world_.peer_gone()) return RunEnd::kPeerGone;
    if (const std::uint64_t p = world_.progress(); p != progress) progress = p, progress_ps = now;
    switch (world_.stall(now - progress_ps, !sc_core::sc_pending_activity())) {
      case World::Stall::kWait:
        break;
      case World::Stall::kResolved:
        progress_ps = now;
        break;
      case World::Stall::kHung:
        return RunEnd::kHung;
    }
    if (limit_ps != 0 && now >= limit_ps) return done ? RunEnd::kDone : RunEnd::kTimeLimit;
  }
}

RunEnd Run::drive(const ProgressReport& report) {
  if (debugger_ && debugger_->server.accept()) debugger_->session.begin();
  const auto wall_start = std::chrono::steady_clock::now();
  const double cpu_start = processor_seconds();
  RunEnd end = RunEnd::kInterrupted;
  try {
    end = slices(report);
  } catch (const external::PeerError& error) {
    if (!stop_requested()) {  // a signal wakes the wait for the peer
      end = RunEnd::kFailed;
      peer_error_ = error.what();
    }
  }
  end = world_.conclude(end);
  utilization_.end();
  accounting_.end();
  if (series_) series_->end();
  cpu_seconds_ = processor_seconds() - cpu_start;
  wall_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  if (debugger_) debugger_->session.end(end == RunEnd::kDone);
  return end;
}

std::vector<std::string> Run::errors() const {
  std::vector<std::string> errors = world_.errors();
  if (!warm_) errors.emplace_back("--warmup: the run has ended before, so that no figure is without it");
  if (!peer_error_.empty()) errors.push_back("the peer: " + peer_error_);
  for (std::string& fault : outputs_.firmware_faults()) errors.push_back(std::move(fault));
  if (killed()) errors.push_back("the debugger ended the run");
  return errors;
}

std::vector<std::string> Run::limits_met() const {
  std::vector<std::string> met;
  const nlohmann::ordered_json stats = to_json(stats_);
  for (const Station& s : world_.stations()) {
    const RnicConfig& rnic = s.config.rnic;
    const auto add = [&](const char* block, const char* counter, const std::string& limit) {
      const auto count = stats.at(s.name).at("rnic").at(block).at(counter).at("value").get<std::uint64_t>();
      if (count != 0) met.push_back(fmt::format("{}: {} {}", s.name, count, limit));
    };
    add("dma_read", "timeouts",
        fmt::format("reads of host memory took longer than rnic.pcie.dma_read.completion_timeout_us {}",
                    rnic.pcie.dma_read.completion_timeout_us));
    add("fwcpu", "no_resources",
        fmt::format("connections found no room: rnic.fwcpu.max_connections is {}, rnic.fwcpu.max_setups {}",
                    rnic.fwcpu.max_connections, rnic.fwcpu.max_setups));
  }
  return met;
}

BottleneckReport Run::bottleneck() const {
  return find_bottleneck(accounting_, [this](unsigned phase) { return world_.phase_name(phase); });
}

std::string Run::waiting_for() const {
  std::string text = world_.waiting_for();
  for (const Station& s : world_.stations()) {
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
  nlohmann::ordered_json j = world_.about();
  j["end"] = end_name(end);
  j["complete"] = end == RunEnd::kDone;
  j["versions"] = versions_json();
  j["seed"] = world_.config().sim.seed;
  if (world_.faults().any()) j["fault_seed"] = world_.faults().seed();
  j["digest"] = fmt::format("{:016x}", outputs_.digest());
  j["sim_time_ps"] = kernel_time_ps();
  if (options_.warmup_ps != 0) j["warmup_ps"] = options_.warmup_ps;
  j["wall_s"] = wall_seconds_;
  j["cpu_s"] = cpu_seconds_;
  j["frames"] = frames();
  j["frames_per_cpu_s"] = cpu_seconds_ > 0 ? static_cast<double>(frames()) / cpu_seconds_ : 0;
  if (outputs_.wave_changes()) j["wave_changes"] = *outputs_.wave_changes();
  world_.add_results(j);
  if (outputs_.breakdown() != nullptr) j["latency_breakdown"] = outputs_.breakdown()->json();
  j["errors"] = errors();
  add_bottleneck(j, bottleneck());
  j["occupancy"] = accounting_.json();
  for (const Utilization& u : utilization()) j["utilization"][u.resource] = u.share;
  for (const Station& s : world_.stations()) j["config"][s.name] = dump_system(s.config);
  if (!write_failures().empty()) j["not_written"] = write_failures();
  j["stats"] = to_json(stats_);
  return j;
}

// The part of stats.json that goes into a database: what the run was, and the settings of each node.
std::vector<RunFact> Run::facts(RunEnd end) const {
  std::vector<RunFact> facts;
  const auto add = [&facts](const std::string& node, const std::string& name, const nlohmann::ordered_json& value) {
    facts.push_back({node, name, value.is_string() ? value.get<std::string>() : value.dump()});
  };
  const nlohmann::ordered_json about = world_.about(), versions = versions_json();
  for (const auto& [name, value] : about.items()) add("", name, value);
  for (const auto& [name, value] : versions.items()) add("", "version." + name, value);
  add("", "end", end_name(end));
  add("", "seed", world_.config().sim.seed);
  add("", "digest", fmt::format("{:016x}", outputs_.digest()));
  add("", "sim_time_ps", kernel_time_ps());
  for (const Station& s : world_.stations()) {
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
  text << bottleneck().first.line << '\n' << world_.table();
  for (const std::string& e : errors()) text << "error: " << e << '\n';
  write_text(text, stats_);
  return text.str();
}

// Large files come first: one that did not fit leaves its space to the rest.
void Run::write_outputs(RunEnd end) {
  outputs_.close(kernel_time_ps(), [&] { return facts(end); });
  if (options_.out_dir.empty()) return;
  outputs_.write_firmware();
  if (series_) {
    outputs_.write("series.csv", series_->csv());
    outputs_.write("series.json", series_->json(options_.warmup_ps).dump() + '\n');
  }
  outputs_.write("stats.txt", stats_text(end));
  outputs_.write("stats.json", statistics(end).dump(2) + '\n');
}

}  // namespace rnic
