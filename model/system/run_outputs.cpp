#include "model/system/run_outputs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/config/nearest.h"
#include "model/trace/output_file.h"

namespace rnic {
namespace {

void check_scopes(const std::vector<std::string>& scopes, const std::vector<Station>& stations) {
  std::vector<std::string> known;
  for (const Station& s : stations) {
    for (std::string& scope : wave_scopes(s.node->chip)) known.push_back(std::move(scope));
  }
  for (const std::string& scope : scopes) {
    if (std::find(known.begin(), known.end(), scope) != known.end()) continue;
    throw ConfigError(fmt::format("--wave-scope {}: unknown scope; the nearest is {}", scope, nearest(scope, known)));
  }
}

constexpr const char *kCapture = "wire.pcapng", *kBreakdown = "breakdown.tsv";

constexpr std::string_view kDump = "firmware-", kText = ".txt";
std::string dump_name(const std::string& node) { return fmt::format("{}{}{}", kDump, node, kText); }

// What a run may leave in its folder.
bool is_output(std::string name) {
  constexpr std::string_view kPart = ".part";
  const auto ends_with = [&name](std::string_view end) {
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  if (ends_with(kPart)) name.resize(name.size() - kPart.size());
  if (name.rfind(kDump, 0) == 0 && ends_with(kText)) return true;
  constexpr std::string_view kNames[] = {"stats.json",          "stats.txt", "fw_log.txt", "lockstep.vcd",
                                         "lockstep_inside.vcd", kCapture,    kBreakdown};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

void remove_outputs(const std::filesystem::path& folder) {
  std::error_code none;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (is_output(entry.path().filename().string())) found.push_back(entry.path());
  }
  for (const std::filesystem::path& file : found) std::filesystem::remove(file, none);
}

std::string firmware_fault_text(const std::string& node, const std::string& reason) {
  return fmt::format("the firmware of {} stopped: {}", node, reason);
}

// As RequestId counts them.
std::vector<std::string> node_names(const std::vector<Station>& stations) {
  std::vector<std::string> names;
  for (const Station& s : stations) names.push_back(s.name);
  return names;
}

struct RunOutputs::Listeners {
  explicit Listeners(const Station& s)
      : recorder(TraceDomain{s.name, s.node->core_clk.period_ps()}), host_recorder(TraceDomain{s.name, 1}) {}
  void attach(TraceSink& detailed) {
    recorder.attach(detailed, true);
    host_recorder.attach(detailed, true);
  }
  Recorder recorder, host_recorder;
  std::unique_ptr<ChipTrace> trace;
  std::unique_ptr<HostTrace> host_trace;
  std::unique_ptr<ChipWaves> waves;
};

RunOutputs::RunOutputs(const RunOptions& options, const std::vector<Station>& stations, EthernetLink& cable)
    : options_(options), stations_(stations) {
  check_scopes(options.wave_window.scopes, stations);
  open(stations.at(0).name);
  cable.tap(*capture_);
  for (const Station& s : stations) listen(s);
  if (waves_) waves_->begin();
}

RunOutputs::~RunOutputs() = default;

std::string RunOutputs::in_folder(const std::string& name) const {
  return (std::filesystem::path(options_.out_dir) / name).string();
}

// The waveform may lie in the folder, so that comes first; it goes again if a mistake ends the run here.
void RunOutputs::open(const std::string& name) {
  const std::filesystem::path dir = options_.out_dir;
  std::vector<std::filesystem::path> made;  // the innermost first
  std::error_code error;
  for (std::filesystem::path p = dir; !p.empty() && !exists(p, error); p = p.parent_path()) made.push_back(p);
  try {
    if (!dir.empty()) create_directories(dir, error);
    if (error) throw ConfigError(fmt::format("{}: {}", options_.out_dir, error.message()));
    if (!options_.trace_file.empty())
      trace_ = std::make_unique<TransactionLog>(options_.trace_file, trace_words, node_names(stations_));
    if (!options_.wave_file.empty()) {
      waves_ = std::make_unique<Waves>(open_wave_sink(options_.wave_file), options_.wave_window);
    }
  } catch (const ConfigError&) {
    trace_.reset();
    if (!options_.trace_file.empty()) PendingFile(options_.trace_file).discard();
    for (const std::filesystem::path& p : made) remove(p, error);
    throw;
  }
  for (const std::string& file : {options_.trace_file, options_.wave_file}) {
    if (!file.empty()) PendingFile(file).remove_earlier();
  }
  if (!dir.empty()) remove_outputs(dir);
  if (options_.breakdown) breakdown_ = std::make_unique<LatencyBreakdown>(node_names(stations_));
  capture_ = std::make_unique<WireCapture>(name, captures() ? in_folder(kCapture) : "");
}

void RunOutputs::listen(const Station& station) {
  auto l = std::make_unique<Listeners>(station);
  l->recorder.attach(digest_);
  if (trace_) l->attach(*trace_);
  if (breakdown_) l->attach(*breakdown_);
  // A twin tells of a beat when it leaves its pipeline, with the cycle in which it entered.
  ClockDomain& clk = station.node->core_clk;
  trace_delay_ps_ = std::max(trace_delay_ps_, ClockDomain::kNearCycles * clk.period_ps());
  l->trace = std::make_unique<ChipTrace>(station.node->chip, l->recorder);
  if (l->host_recorder.detailed()) {
    l->host_trace = std::make_unique<HostTrace>(station.node->cpu, station.node->chip.contexts(), l->host_recorder);
  }
  if (waves_) l->waves = std::make_unique<ChipWaves>(station.node->chip, clk, *waves_, options_.wave_window);
  listeners_.push_back(std::move(l));
}

void RunOutputs::follow(std::uint64_t now_ps) {
  if (!waves_) return;
  for (const auto& l : listeners_) l->waves->follow(now_ps);
}

void RunOutputs::advance(std::uint64_t now_ps) {
  capture_->advance(now_ps);
  if (trace_) trace_->advance(now_ps - std::min(now_ps, trace_delay_ps_));
  if (waves_) waves_->advance(now_ps);
}

bool RunOutputs::attempt(const std::string& file, const std::function<void()>& write) try {
  write();
  files_.push_back(file);
  return true;
} catch (const OutputError& error) {
  failures_.emplace_back(error.what());
  return false;
}

void RunOutputs::close(std::uint64_t end_ps) {
  if (captures()) attempt(in_folder(kCapture), [&] { capture_->close(); });
  if (trace_) attempt(options_.trace_file, [&] { trace_->close(); });
  if (breakdown_ && !options_.out_dir.empty()) {
    attempt(in_folder(kBreakdown), [&] { breakdown_->write(in_folder(kBreakdown)); });
  }
  if (waves_) attempt(options_.wave_file, [&] { waves_->close(end_ps); });
}

bool RunOutputs::write(const std::string& name, const std::string& text) {
  const std::string file = in_folder(name);
  return attempt(file, [&] { write_file(file, text); });
}

void RunOutputs::write_firmware() {
  std::string log;
  for (const Station& s : stations_) {
    if (const auto& fault = s.node->chip.fwcpu.fault()) write(dump_name(s.name), fault->dump);
    for (const LogEntry& entry : s.node->chip.firmware_log.entries()) log += s.name + ' ' + log_line(entry) + '\n';
  }
  write("fw_log.txt", log);
}

std::vector<std::string> RunOutputs::firmware_faults() const {
  std::vector<std::string> faults;
  for (const Station& s : stations_) {
    const auto& fault = s.node->chip.fwcpu.fault();
    if (!fault) continue;
    faults.push_back(firmware_fault_text(s.name, fault->reason));
    if (!options_.out_dir.empty()) faults.back() += "; see " + in_folder(dump_name(s.name));
  }
  return faults;
}

}  // namespace rnic
