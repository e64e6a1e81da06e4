// A node on a cable with a captured peer in the place of the second one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/capture/replay/comparison.h"
#include "model/config/overlay.h"
#include "model/stats/registry.h"
#include "model/system/run_outputs.h"
#include "model/system/system_config.h"

namespace rnic {

class Node;

class ReplaySimulation final {
 public:
  // The scripts are played one after the other. ConfigError for wrong settings, and for outputs that cannot be created.
  ReplaySimulation(std::vector<std::unique_ptr<replay::Script>> scripts, const Overlay& command_line,
                   const RunOptions& options);
  ~ReplaySimulation();

  enum class End { kDone, kFailed, kInterrupted };
  // Runs to the end of the last connection. A connection without progress is ended, which is a
  // difference.
  End run();

  // Closes capture, log and waveform. The folder, if there is one, gets stats.json, which begins with `about`.
  void write_outputs(End end, nlohmann::ordered_json about);

  replay::Comparison comparison() const;    // of the connections that have ended
  const std::string& host_error() const;    // the host's error: the settings do not allow what the capture needs
  std::vector<std::string> errors() const;  // the firmware's
  std::vector<std::string> files() const;   // those that are complete
  std::vector<std::string> write_failures() const;

 private:
  bool run_slice();

  const RunOptions options_;
  SystemConfig config_;
  const std::vector<std::unique_ptr<replay::Script>> scripts_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<EthernetLink> cable_;
  std::unique_ptr<replay::ReplayPeer> peer_;
  std::unique_ptr<replay::ReplayProgram> program_;
  std::unique_ptr<RunOutputs> outputs_;  // none without observers
  StatsRegistry stats_;
};

}  // namespace rnic
