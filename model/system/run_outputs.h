// Who listens to a run: capture, digest, transaction log and waveform. Nothing in the chips knows.
#pragma once

#include <cstdint>
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
  std::string out_dir = "out";
  bool capture = true;     // write wire.pcapng
  std::string trace_file;  // the transaction log; empty: none
  std::string wave_file;   // empty: none
  WaveWindow wave_window;
  std::optional<std::uint16_t> gdb_port;  // a debugger attaches to the firmware there; 0: any port
};

class RunOutputs final {
 public:
  struct Station {
    std::string name;
    Node* node;
  };
  // The capture is seen from the first station. ConfigError for what cannot be written and for scopes that are not
  // there; no file and no folder is left behind then.
  RunOutputs(const RunOptions& options, const std::vector<Station>& stations, EthernetLink& cable);
  ~RunOutputs();

  // Nothing earlier will be told any more.
  void advance(std::uint64_t now_ps);
  // ConfigError if not all could be written.
  void close(std::uint64_t end_ps);

  const WireCapture& capture() const { return *capture_; }
  std::uint64_t digest() const { return digest_.value(); }
  const std::vector<std::string>& files() const { return files_; }

 private:
  struct Listeners;  // to one chip
  void open(const RunOptions& options, const std::string& name);
  void listen(const Station& station);

  std::unique_ptr<WireCapture> capture_;
  TraceDigest digest_;
  std::unique_ptr<TransactionLog> trace_;
  std::unique_ptr<Waves> waves_;
  std::vector<std::unique_ptr<Listeners>> listeners_;
  std::uint64_t trace_delay_ps_ = 0;  // how late an event may be told
  std::vector<std::string> files_;
};

}  // namespace rnic
