#include "model/system/run_outputs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/exact_time.h"
#include "model/common/request_id.h"
#include "model/config/nearest.h"
#include "model/host/driver/host_trace.h"
#include "model/system/event_words.h"
#include "model/system/tlp_capture.h"
#include "model/system/tlp_trace.h"
#include "model/trace/output_file.h"
#include "model/wire/tcp_frame_view.h"

namespace rnic {
namespace {

void check_scopes(const std::vector<std::string>& scopes, const std::vector<Station>& stations) {
  if (scopes.empty()) return;
  std::vector<std::string> known = cable_scopes(stations);
  for (const Station& s : stations) {
    for (std::string& scope : wave_scopes(*s.node, s.parts)) known.push_back(std::move(scope));
  }
  for (const std::string& scope : scopes) {
    if (std::find(known.begin(), known.end(), scope) != known.end()) continue;
    throw ConfigError(fmt::format("--wave-scope {}: unknown scope; the nearest is {}", scope, nearest(scope, known)));
  }
}

constexpr const char *kCapture = "wire.pcapng", *kDatabase = "run.sqlite", *kBreakdown = "breakdown.tsv";

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
  constexpr std::string_view kNames[] = {"stats.json", "stats.txt",    "series.csv",          "series.json",
                                         "fw_log.txt", "lockstep.vcd", "lockstep_inside.vcd", kCapture,
                                         kDatabase,    kBreakdown};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

FrameRecord frame_record(const WireCapture::Captured& c, std::size_t stations) {
  const Frame& frame = c.frame;
  FrameRecord record{c.number, c.ps,         c.direction,         frame.bytes, frame.buf->owner(),
                     {},       frame.serial, frame.buf->offset(), c.swallowed};
  if (c.direction >= stations) record.sender.reset();
  if (const auto view = wire::TcpFrameView::parse({frame.data(), frame.bytes})) {
    const wire::TcpHeader& tcp = view->tcp.header;
    record.tcp = {tcp.seq, tcp.ack, static_cast<std::uint32_t>(view->tcp.payload.size()), tcp.flags};
  }
  return record;
}

}  // namespace

void remove_outputs(const std::filesystem::path& folder, const std::vector<std::string>& except) {
  std::error_code none;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const auto is_it = [&](const std::string& file) { return std::filesystem::equivalent(file, entry.path(), none); };
    if (!is_output(entry.path().filename().string()) || std::any_of(except.begin(), except.end(), is_it)) continue;
    found.push_back(entry.path());
  }
  for (const std::filesystem::path& file : found) std::filesystem::remove(file, none);
}

std::string firmware_fault_text(const std::string& node, const std::string& reason) {
  return fmt::format("the firmware of {} stopped: {}", node, reason);
}

struct RunOutputs::Listeners {
  explicit Listeners(const Station& s)
      : recorder(TraceDomain{s.name, s.node->core_clk.period_ps()}), ps_recorder(TraceDomain{s.name, 1}) {}
  void attach(TraceSink& detailed) {
    recorder.attach(detailed, true);
    ps_recorder.attach(detailed, true);
  }
  Recorder recorder, ps_recorder;  // the second one for events that are at no clock edge of the chip
  std::unique_ptr<ChipTrace> trace;
  std::unique_ptr<host::HostTrace> host_trace;
  std::unique_ptr<TlpTrace> tlps;
  std::unique_ptr<TlpCapture> captured_tlps;
  std::unique_ptr<ChipWaves> waves;
};

RunOutputs::RunOutputs(const RunOptions& options, const std::vector<Station>& stations, Cable& cable,
                       LatencyBreakdown::Works works)
    : options_(options), stations_(stations), works_(std::move(works)) {
  check_scopes(options.wave_window.scopes, stations);
  open(stations.at(0).name);
  cable.tap(static_cast<FrameTap&>(*capture_));
  cable.tap(static_cast<CableTap&>(*cable_trace_));
  for (const Station& s : stations) listen(s);
  if (waves_) {
    cable_trace_->draw(*waves_, options_.wave_window.from_ps);
    waves_->begin();
  }
}

RunOutputs::~RunOutputs() = default;

std::string RunOutputs::in_folder(const std::string& name) const {
  return (std::filesystem::path(options_.out_dir) / name).string();
}

// The waveform may be in the folder, so that comes first; it is removed again if a mistake ends the run here.
void RunOutputs::open(const std::string& name) {
  const std::filesystem::path dir = options_.out_dir;
  std::vector<std::filesystem::path> made;  // the innermost first
  std::error_code error;
  for (std::filesystem::path p = dir; !p.empty() && !exists(p, error); p = p.parent_path()) made.push_back(p);
  try {
    if (!dir.empty()) create_directories(dir, error);
    if (error) throw ConfigError(fmt::format("{}: {}", options_.out_dir, error.message()));
    if (!dir.empty()) folder_.emplace(options_.out_dir, FolderLock::Kind::kAlone);
    lock_files();
    open_events();
    if (!options_.wave_file.empty()) open_waves();
  } catch (const ConfigError&) {
    const bool is_anothers = !dir.empty() && !folder_ && !error;
    if (is_anothers) throw;
    if (events_) close_events();
    if (wave_lock_) PendingFile(options_.wave_file).discard();
    for (const std::filesystem::path& p : made) remove(p, error);
    throw;
  }
  std::vector<std::string> begun;
  for (const std::string& file : event_files()) {
    PendingFile(file).remove_earlier();
    begun.push_back(PendingFile(file).name());
  }
  if (!options_.wave_file.empty() && PendingFile(options_.wave_file).is_renamed()) {
    for (const std::string& file : {options_.wave_file, WaveLayout::gtkwave_name(options_.wave_file),
                                    WaveLayout::surfer_name(options_.wave_file)}) {
      PendingFile(file).remove_earlier();
    }
  }
  if (!dir.empty()) remove_outputs(dir, begun);
  if (options_.breakdown) breakdown_ = std::make_unique<LatencyBreakdown>(node_names(stations_), works_);
  capture_ = std::make_unique<WireCapture>(name, captures() ? in_folder(kCapture) : "");
  cable_trace_ = std::make_unique<CableTrace>(stations_, *capture_);
  capture_->comment([this](unsigned direction, const Frame& frame) {
    const std::string note = cable_trace_->take_note(direction, frame);
    const std::string request = options_.capture_requests ? comment_of(frame.buf->owner()) : "";
    return note.empty() || request.empty() ? note + request : note + ", " + request;
  });
  if (database_) {
    capture_->listen([this](const WireCapture::Captured& c) { database_->frame(frame_record(c, stations_.size())); });
  }
}

// A waveform written by another process of this run belongs to that process.
void RunOutputs::lock_files() {
  std::vector<PendingFile> locked;
  try {
    for (const std::string& file : event_files()) {
      const PendingFile pending(file);
      event_locks_.emplace_back(pending);
      locked.push_back(pending);
    }
    if (!options_.wave_file.empty() && !options_.wave_condition.any())
      wave_lock_.emplace(PendingFile(options_.wave_file));
  } catch (const ConfigError&) {
    for (const PendingFile& file : locked) file.discard();
    throw;
  }
}

// Files that the events go to, in the order in which they are written at the end.
std::vector<std::string> RunOutputs::event_files() const {
  std::vector<std::string> files;
  for (const std::string& file : {options_.trace_file, options_.database_file, options_.perfetto_file}) {
    if (!file.empty()) files.push_back(file);
  }
  return files;
}

// As RequestId counts them.
std::string RunOutputs::comment_of(RequestId request) const {
  return request ? "request " + request.text(node_names(stations_)) : "";
}

void RunOutputs::open_events() {
  if (event_files().empty() && options_.events == nullptr) return;
  const std::vector<std::string> nodes = node_names(stations_);
  events_ = std::make_unique<EventStream>(nodes);
  const bool is_filtered =
      !options_.trace_file.empty() || !options_.perfetto_file.empty() || options_.events != nullptr;
  if (options_.trace_filter.any() && is_filtered) {
    filter_ = std::make_unique<TraceFilter>(options_.trace_filter, nodes);
    events_->attach(*filter_);
  }
  const auto attach = [this](EventReader& reader) {
    if (filter_) filter_->attach(reader);
    else events_->attach(reader);
  };
  if (!options_.trace_file.empty()) {
    trace_ = std::make_unique<TransactionLog>(options_.trace_file, nodes, trace_words);
    attach(*trace_);
  }
  if (!options_.database_file.empty()) {
    database_ = std::make_unique<Database>(options_.database_file, nodes, trace_words);
    events_->attach(*database_);
  }
  if (!options_.perfetto_file.empty()) {
    perfetto_ = std::make_unique<PerfettoTrace>(options_.perfetto_file, nodes, trace_words);
    attach(*perfetto_);
  }
  if (options_.events != nullptr) attach(*options_.events);
}

void RunOutputs::close_events() {
  trace_.reset();
  database_.reset();
  perfetto_.reset();
  for (const std::string& file : event_files()) PendingFile(file).discard();
}

void RunOutputs::listen(const Station& station) {
  auto l = std::make_unique<Listeners>(station);
  l->recorder.attach(digest_);
  if (breakdown_) {
    l->recorder.attach_timing(*breakdown_);
    l->ps_recorder.attach_timing(*breakdown_);
  }
  const bool triggers = triggers_ && triggers_->listens();
  if (triggers) l->attach(*triggers_);
  if (events_) l->attach(*events_);
  // TLPs are not in the digest: it covers what the chip does, and they follow from that.
  if (events_ || triggers) l->tlps = std::make_unique<TlpTrace>(station.parts, l->ps_recorder);
  if (options_.capture_tlps && captures()) {
    std::function<std::string(RequestId)> comment;
    if (options_.capture_requests) comment = [this](RequestId request) { return comment_of(request); };
    l->captured_tlps = std::make_unique<TlpCapture>(station.name, station.parts, *capture_, comment);
  }
  // A twin reports a beat when it leaves its pipeline, with the cycle in which it entered.
  ClockDomain& clk = station.node->core_clk;
  trace_delay_ps_ = std::max(trace_delay_ps_, ClockDomain::kNearCycles * clk.period_ps());
  l->trace = std::make_unique<ChipTrace>(station.parts, l->recorder);
  cable_trace_->record(l->ps_recorder);
  if (l->ps_recorder.detailed()) {
    l->host_trace = std::make_unique<host::HostTrace>(station.node->cpu, *station.parts.owners, l->ps_recorder);
  }
  if (waves_)
    l->waves =
        std::make_unique<ChipWaves>(*station.node, station.parts, *waves_, options_.wave_window, node_names(stations_));
  listeners_.push_back(std::move(l));
}

void RunOutputs::follow(std::uint64_t now_ps) {
  if (!waves_) return;
  for (const auto& l : listeners_) l->waves->follow(now_ps);
}

void RunOutputs::settle() {
  if (!waves_) return;
  for (const auto& l : listeners_) l->waves->settle();
}

void RunOutputs::advance(std::uint64_t now_ps) {
  capture_->advance(now_ps);
  if (events_) events_->advance(now_ps - std::min(now_ps, trace_delay_ps_));
  if (waves_) draw_until(now_ps);
}

void RunOutputs::draw_until(std::uint64_t now_ps) {
  for (const auto& l : listeners_) l->waves->draw_clock(now_ps);
  waves_->advance(now_ps);
}

bool RunOutputs::attempt(const std::string& file, const std::function<void()>& write) try {
  write();
  files_.push_back(file);
  return true;
} catch (const OutputError& error) {
  failures_.emplace_back(error.what());
  return false;
}

void RunOutputs::close(std::uint64_t end_ps, const std::function<std::vector<RunFact>()>& facts) {
  if (events_) events_->advance(UINT64_MAX);
  if (captures()) attempt(in_folder(kCapture), [&] { capture_->close(); });
  else capture_->close();
  if (trace_) attempt(options_.trace_file, [&] { trace_->close(); });
  if (database_) attempt(options_.database_file, [&] { database_->close(facts()); });
  if (perfetto_) attempt(options_.perfetto_file, [&] { perfetto_->close(); });
  if (breakdown_ && !options_.out_dir.empty()) {
    attempt(in_folder(kBreakdown), [&] { breakdown_->write(in_folder(kBreakdown)); });
  }
  if (waves_) close_waves(end_ps);
}

// If it waits for something, another run writes it; but mistakes of the user end this one.
void RunOutputs::open_waves() {
  const std::string& file = options_.wave_file;
  if (!options_.wave_condition.any()) {
    waves_ = std::make_unique<Waves>(open_wave_sink(file), options_.wave_window);
    wave_lock_.emplace(PendingFile(file));  // FST's writer makes a file of its own
    return;
  }
  const PendingFile pending(file);
  if (!pending.is_renamed()) throw ConfigError(file + ": with --wave-on or --wave-ring the waveform has to be a file");
  triggers_ = std::make_unique<WaveTriggers>(options_.wave_condition.on, stations_);
  open_wave_sink(file);
  pending.discard();
}

void RunOutputs::add_waveform(const std::string& why_not) {
  const std::string& file = options_.wave_file;
  if (!why_not.empty()) {
    for (const std::string& name : {file, WaveLayout::gtkwave_name(file), WaveLayout::surfer_name(file)}) {
      PendingFile(name).discard();
    }
    failures_.push_back(why_not);
    return;
  }
  for (const std::string& name : {file, WaveLayout::gtkwave_name(file), WaveLayout::surfer_name(file)}) {
    files_.push_back(name);
  }
}

// With layouts for viewers beside the waveform; beside a pipe or a device there are none.
void RunOutputs::close_waves(std::uint64_t end_ps) {
  const std::string& file = options_.wave_file;
  settle();
  draw_until(end_ps);
  if (!attempt(file, [&] { waves_->close(end_ps); }) || !PendingFile(file).is_renamed()) return;
  const WaveLayout layout = waves_->layout();
  const auto write = [this](const std::string& name, const std::string& text) {
    attempt(name, [&] { write_file(name, text); });
  };
  write(WaveLayout::gtkwave_name(file), layout.gtkwave(file));
  write(WaveLayout::surfer_name(file), layout.surfer());
}

std::vector<std::string> RunOutputs::notices(std::uint64_t end_ps) const {
  std::vector<std::string> notices;
  if (filter_ && filter_->passed() == 0) {
    std::string files = options_.trace_file;
    if (!options_.perfetto_file.empty()) files += (files.empty() ? "" : " and ") + options_.perfetto_file;
    notices.push_back(
        fmt::format("nothing is in {}: of {} events none passes {}", files, filter_->seen(), filter_->text()));
  }
  if (waves_ && options_.wave_window.from_ps >= end_ps) {
    notices.push_back(fmt::format("no change is in {}: the run has ended at {}, before --wave-from {}",
                                  options_.wave_file, exact_time(end_ps), exact_time(options_.wave_window.from_ps)));
  }
  return notices;
}

bool RunOutputs::write(const std::string& name, const std::string& text) {
  const std::string file = in_folder(name);
  return attempt(file, [&] { write_file(file, text); });
}

void RunOutputs::write_firmware() {
  std::string log;
  for (const Station& s : stations_) {
    if (s.parts.firmware == nullptr) continue;
    if (const auto& fault = s.parts.firmware->fault()) write(dump_name(s.name), fault->dump);
    for (const std::string& line : s.parts.firmware->log()) log += s.name + ' ' + line + '\n';
  }
  write("fw_log.txt", log);
}

std::vector<std::string> RunOutputs::firmware_faults() const {
  std::vector<std::string> faults;
  for (const Station& s : stations_) {
    if (s.parts.firmware == nullptr || !s.parts.firmware->fault()) continue;
    const FirmwareStop& fault = *s.parts.firmware->fault();
    faults.push_back(firmware_fault_text(s.name, fault.reason));
    if (!options_.out_dir.empty()) faults.back() += "; see " + in_folder(dump_name(s.name));
  }
  return faults;
}

}  // namespace rnic
