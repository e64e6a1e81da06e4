// The capture of a run's folder, and what the run's settings tell of the way between its ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/capture/analysis/stamp.h"

namespace rnic::cli {

struct CapturedRun {
  std::string capture;             // wire.pcapng
  bool is_run = false;             // frames are stamped where they arrive
  capture::WirePath path;          // known if both directions have the same
  std::vector<std::string> notes;  // what the path does not contain
};

// `name` is a capture, or the folder of a run. Throws ConfigError if the folder has no capture, and if its stats.json
// is not that of a run.
CapturedRun captured_run(const std::string& name);

}  // namespace rnic::cli
