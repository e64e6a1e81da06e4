// The outputs of a run: capture, digest, transaction log and waveform, and the files of its folder. The chips are not
// aware of them.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/system/cable_trace.h"
#include "model/system/chip_trace.h"
#include "model/system/chip_waves.h"
#include "model/system/latency_breakdown.h"
#include "model/system/series.h"
#include "model/system/system.h"
#include "model/system/trace_filter.h"
#include "model/system/wave_triggers.h"
#include "model/system/wire_capture.h"
#include "model/trace/database.h"
#include "model/trace/digest.h"
#include "model/trace/event_stream.h"
#include "model/trace/folder_lock.h"
#include "model/trace/perfetto.h"
#include "model/trace/transaction_log.h"

namespace rnic {

struct RunOptions {
  std::string out_dir = "out";      // empty: no folder, and so neither capture nor reports
  bool capture = true;              // write wire.pcapng
  bool capture_tlps = false;        // and in it the TLPs of the nodes' PCIe links
  bool capture_requests = false;    // and the owner of each packet, as its comment
  std::string trace_file;           // the transaction log; empty: none
  std::string perfetto_file;        // empty: none
  EventReader* events = nullptr;    // has the events of the log, too; outlives the run
  TraceFilterOptions trace_filter;  // of these three
  std::string database_file;        // empty: none
  bool breakdown = false;           // where the time of each work request went
  std::string wave_file;            // empty: none
  bool zeros = true;                // stats.txt also has figures that are 0
  WaveWindow wave_window;
  WaveCondition wave_condition;  // if any, the window is found by another run (RunOutputs::triggers)
  SeriesOptions series;
  std::uint64_t warmup_ps = 0;            // the part before it does not count
  std::optional<std::uint16_t> gdb_port;  // a debugger attaches to the firmware there; 0: any port
  // Polled about once per microsecond of simulated time; when it is true, the run ends. Empty: the run is not stopped.
  std::function<bool()> stop_requested;
};

// Removes the files of an earlier run from its folder, complete or not: they must not pass for the next one's. Except
// those of `except`, which the next one has begun.
void remove_outputs(const std::filesystem::path& folder, const std::vector<std::string>& except = {});

// "the firmware of b stopped: …"
std::string firmware_fault_text(const std::string& node, const std::string& reason);

class RunOutputs final {
 public:
  // The stations must outlive this. `works`: what requests were posted for, in the breakdown. The capture
  // is taken at the first station. ConfigError for files that cannot be created, for unknown scopes, and for a folder
  // that another run writes into; then no new file and no new folder remains. Otherwise an earlier run's files are
  // removed from the folder.
  RunOutputs(const RunOptions& options, const std::vector<Station>& stations, Cable& cable,
             LatencyBreakdown::Works works);
  ~RunOutputs();

  // The kernel has reached this time; to be called at least every 10 us, and before the first.
  void follow(std::uint64_t now_ps);
  // The kernel has reached that time; to be called before anything else looks at the chips.
  void settle();
  // No earlier event will follow.
  void advance(std::uint64_t now_ps);
  // Closes capture, log, database and waveform, which get their final names. The facts are the database's.
  void close(std::uint64_t end_ps, const std::function<std::vector<RunFact>()>& facts);
  // A file of the folder. False if it could not be written.
  bool write(const std::string& name, const std::string& text);
  // The firmware's logs, and a dump of each firmware after a fatal fault.
  void write_firmware();
  // A line for each fatal firmware fault.
  std::vector<std::string> firmware_faults() const;

  // The event that the waveform waits for; nullptr: none.
  const WaveTriggers* triggers() const { return triggers_.get(); }
  // No event of an earlier time will follow.
  bool has_all_before(std::uint64_t ps, std::uint64_t now_ps) const { return now_ps >= ps + trace_delay_ps_; }
  // The waveform that another run was to write: nothing, or why it is not there.
  void add_waveform(const std::string& why_not);

  const WireCapture& capture() const { return *capture_; }
  // Changes of signals that were observed; nothing without a waveform.
  std::optional<std::uint64_t> wave_changes() const { return waves_ ? std::optional(waves_->changes()) : std::nullopt; }
  // Nothing if it was not asked for.
  const LatencyBreakdown* breakdown() const { return breakdown_.get(); }
  // The end of the warm-up: what statistics have of events counts from now on.
  void restart() {
    if (breakdown_) breakdown_->restart();
  }
  std::uint64_t digest() const { return digest_.value(); }
  // What those who asked for an output have to know about it: that it has nothing, and why.
  std::vector<std::string> notices(std::uint64_t end_ps) const;
  // The complete files.
  const std::vector<std::string>& files() const { return files_; }
  // Files that could not be written, each with the reason; they are removed.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Listeners;  // to one chip
  bool captures() const { return options_.capture && !options_.out_dir.empty(); }
  std::string in_folder(const std::string& name) const;
  void open(const std::string& name);
  std::vector<std::string> event_files() const;
  void lock_files();
  std::string comment_of(RequestId request) const;
  void open_events();
  void close_events();
  void open_waves();
  void close_waves(std::uint64_t end_ps);
  void draw_until(std::uint64_t now_ps);
  void listen(const Station& station);
  bool attempt(const std::string& file, const std::function<void()>& write);

  const RunOptions options_;
  const std::vector<Station>& stations_;
  const LatencyBreakdown::Works works_;
  std::optional<FolderLock> folder_;
  std::deque<FileLock> event_locks_;
  std::optional<FileLock> wave_lock_;
  std::unique_ptr<WireCapture> capture_;
  std::unique_ptr<CableTrace> cable_trace_;
  TraceDigest digest_;
  std::unique_ptr<EventStream> events_;  // if there is a reader
  std::unique_ptr<TraceFilter> filter_;  // of the options' three; nullptr: all passes
  std::unique_ptr<TransactionLog> trace_;
  std::unique_ptr<PerfettoTrace> perfetto_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<LatencyBreakdown> breakdown_;
  std::unique_ptr<Waves> waves_;
  std::unique_ptr<WaveTriggers> triggers_;
  std::vector<std::unique_ptr<Listeners>> listeners_;
  std::uint64_t trace_delay_ps_ = 0;  // how late an event may be recorded
  std::vector<std::string> files_, failures_;
};

}  // namespace rnic
