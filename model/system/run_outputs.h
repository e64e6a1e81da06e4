// What a run leaves: capture, digest, transaction log and waveform, and the files of its folder. Nothing in the chips
// knows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/system/chip_trace.h"
#include "model/system/chip_waves.h"
#include "model/system/wire_capture.h"
#include "model/trace/digest.h"
#include "model/trace/transaction_log.h"

namespace rnic {

class Node;

struct RunOptions {
  std::string out_dir = "out";  // empty: no folder, and so neither capture nor reports
  bool capture = true;          // write wire.pcapng
  std::string trace_file;       // the transaction log; empty: none
  std::string wave_file;        // empty: none
  WaveWindow wave_window;
  std::optional<std::uint16_t> gdb_port;  // a debugger attaches to the firmware there; 0: any port
  // Asked about once in a microsecond of simulated time; the run ends soon after it says yes. Empty: nobody stops it.
  std::function<bool()> stop_requested;
};

// Removes what a run leaves in its folder, whole or not: it may not be taken for the next one's.
void remove_outputs(const std::filesystem::path& folder);

// "the firmware of b stopped: …"
std::string firmware_fault_text(const std::string& node, const std::string& reason);

class RunOutputs final {
 public:
  struct Station {
    std::string name;
    Node* node;
  };
  // The capture is seen from the first station. ConfigError for what cannot be created and for scopes that are not
  // there; no file and no folder is left behind then. Otherwise an earlier run's files are gone from the folder.
  RunOutputs(const RunOptions& options, const std::vector<Station>& stations, EthernetLink& cable);
  ~RunOutputs();

  // The kernel stands at this time; to be called at least every 10 us, and before the first.
  void follow(std::uint64_t now_ps);
  // Nothing earlier will be told any more.
  void advance(std::uint64_t now_ps);
  // Capture, log and waveform get their names.
  void close(std::uint64_t end_ps);
  // A file of the folder. Returns whether there was room for it.
  bool write(const std::string& name, const std::string& text);
  // What the firmware noted down, and a dump of each that has stopped.
  void write_firmware();
  // A line for each firmware that has stopped.
  std::vector<std::string> firmware_faults() const;

  const WireCapture& capture() const { return *capture_; }
  // Changes of signals that were observed; nothing without a waveform.
  std::optional<std::uint64_t> wave_changes() const { return waves_ ? std::optional(waves_->changes()) : std::nullopt; }
  std::uint64_t digest() const { return digest_.value(); }
  // The files that are whole.
  const std::vector<std::string>& files() const { return files_; }
  // Those that are not, each with the reason; nothing is left of them.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Listeners;  // to one chip
  bool captures() const { return options_.capture && !options_.out_dir.empty(); }
  std::string in_folder(const std::string& name) const;
  void open(const std::string& name);
  void listen(const Station& station);
  bool attempt(const std::string& file, const std::function<void()>& write);

  const RunOptions options_;
  const std::vector<Station> stations_;
  std::unique_ptr<WireCapture> capture_;
  TraceDigest digest_;
  std::unique_ptr<TransactionLog> trace_;
  std::unique_ptr<Waves> waves_;
  std::vector<std::unique_ptr<Listeners>> listeners_;
  std::uint64_t trace_delay_ps_ = 0;  // how late an event may be told
  std::vector<std::string> files_, failures_;
};

}  // namespace rnic
