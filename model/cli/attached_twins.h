// The twins that --rtl and --lockstep ask for.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/rnic/twins.h"

namespace rnic::cli {

struct TwinOptions {
  std::string rtl, lockstep;           // names of stages, as twin_names() takes them
  const TwinSource* source = nullptr;  // there where any() are asked for
  bool inside = false;                 // what goes on in them is kept
  bool any() const { return !rtl.empty() || !lockstep.empty(); }
};

class AttachedTwins final {
 public:
  // In all chips. A stage that both options name stands beside its twin. ConfigError where there can be none.
  AttachedTwins(const std::vector<Rnic*>& chips, const TwinOptions& options);

  // What each waits for that stands in for a stage, one line each.
  std::string waiting_for() const;
  // One that has ended the run, by a difference or by what no RTL may do; nullptr if none has.
  AttachedTwin* faulty() const;
  // Says what and where, writes the waveforms of it into the folder, and returns the exit code. OutputError where they
  // cannot be written.
  int report_fault(const std::vector<std::string>& nodes, const std::string& out_dir, std::ostream& err) const;

 private:
  const bool inside_;
  std::vector<TwinSource::Handle> twins_;
};

}  // namespace rnic::cli
