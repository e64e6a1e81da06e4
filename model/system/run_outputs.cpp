#include "model/system/run_outputs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/config/nearest.h"
#include "model/system/node.h"

namespace rnic {
namespace {

void check_scopes(const std::vector<std::string>& scopes, const std::vector<RunOutputs::Station>& stations) {
  std::vector<std::string> known;
  for (const RunOutputs::Station& s : stations) {
    for (std::string& scope : wave_scopes(s.node->chip)) known.push_back(std::move(scope));
  }
  for (const std::string& scope : scopes) {
    if (std::find(known.begin(), known.end(), scope) != known.end()) continue;
    throw ConfigError(fmt::format("--wave-scope {}: unknown scope; the nearest is {}", scope, nearest(scope, known)));
  }
}

}  // namespace

struct RunOutputs::Listeners {
  explicit Listeners(const Station& s) : recorder(TraceDomain{s.name, s.node->core_clk.period_ps()}) {}
  Recorder recorder;
  std::unique_ptr<ChipTrace> trace;
  std::unique_ptr<ChipWaves> waves;
};

RunOutputs::RunOutputs(const RunOptions& options, const std::vector<Station>& stations, EthernetLink& cable) {
  check_scopes(options.wave_window.scopes, stations);
  open(options, stations.at(0).name);
  cable.tap(*capture_);
  for (const Station& s : stations) listen(s);
  if (waves_) waves_->begin();
}

RunOutputs::~RunOutputs() = default;

// The waveform may lie in the folder, so that comes first; it goes again if a mistake ends the run here.
void RunOutputs::open(const RunOptions& options, const std::string& name) {
  const std::filesystem::path dir = options.out_dir;
  std::vector<std::filesystem::path> made;  // the innermost first
  std::error_code error;
  for (std::filesystem::path p = dir; !p.empty() && !exists(p, error); p = p.parent_path()) made.push_back(p);
  try {
    create_directories(dir, error);
    if (error) throw ConfigError(fmt::format("{}: {}", options.out_dir, error.message()));
    if (!options.trace_file.empty()) trace_ = std::make_unique<TransactionLog>(options.trace_file, trace_words);
    if (!options.wave_file.empty()) {
      waves_ = std::make_unique<Waves>(open_wave_sink(options.wave_file), options.wave_window);
    }
  } catch (const ConfigError&) {
    for (const std::filesystem::path& p : made) remove(p, error);
    throw;
  }
  const std::string capture = options.capture ? (dir / "wire.pcapng").string() : "";
  capture_ = std::make_unique<WireCapture>(name, capture);
  for (const std::string& file : {capture, options.trace_file, options.wave_file}) {
    if (!file.empty()) files_.push_back(file);
  }
}

void RunOutputs::listen(const Station& station) {
  auto l = std::make_unique<Listeners>(station);
  l->recorder.attach(digest_);
  if (trace_) l->recorder.attach(*trace_);
  // A twin tells of a beat when it leaves its pipeline, with the cycle in which it entered.
  const ClockDomain& clk = station.node->core_clk;
  trace_delay_ps_ = std::max(trace_delay_ps_, ClockDomain::kNearCycles * clk.period_ps());
  l->trace = std::make_unique<ChipTrace>(station.node->chip, l->recorder);
  if (waves_) l->waves = std::make_unique<ChipWaves>(station.node->chip, clk, *waves_);
  listeners_.push_back(std::move(l));
}

void RunOutputs::advance(std::uint64_t now_ps) {
  capture_->advance(now_ps);
  if (trace_) trace_->advance(now_ps - std::min(now_ps, trace_delay_ps_));
  if (waves_) waves_->advance(now_ps);
}

void RunOutputs::close(std::uint64_t end_ps) {
  capture_->close();
  if (trace_) trace_->close();
  if (waves_) waves_->close(end_ps);
}

}  // namespace rnic
