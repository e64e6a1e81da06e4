// The twins that --rtl and --lockstep ask for.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/rnic/twins.h"

namespace rnic::cli {

struct TwinOptions {
  std::string rtl, lockstep;           // names of stages, as twin_names() takes them
  const TwinSource* source = nullptr;  // not null if any()
  bool inside = false;                 // their internal signals are recorded
  bool any() const { return !rtl.empty() || !lockstep.empty(); }
  bool need_built_in() const;  // one of them comes from no library
  std::vector<std::string> libraries() const;
};

class AttachedTwins final {
 public:
  // Attaches twins in all chips. A stage in both options runs in lockstep with its twin. ConfigError if impossible.
  AttachedTwins(const std::vector<Rnic*>& chips, const TwinOptions& options);
  AttachedTwins(const AttachedTwins&) = delete;
  AttachedTwins& operator=(const AttachedTwins&) = delete;
  ~AttachedTwins();

  // What each twin that replaces a stage waits for, one line each.
  std::string waiting_for() const;
  // The twin that ended the run, by a difference or by behaviour that no RTL may have; nullptr if none has.
  AttachedTwin* faulty() const;
  // Whether some RTL in a stage's place comes from a library of somebody else.
  bool foreign() const { return foreign_; }
  // Reports what and where, writes the waveforms to the folder, if there is one, and returns the exit code. OutputError
  // if they cannot be written.
  int report_fault(const std::vector<std::string>& nodes, const std::string& out_dir, std::ostream& err) const;
  // What does the work of the stage with this name in the tree: "RTL of libmine.so", "its twin"; "": the stage itself.
  std::string in_place_of(const std::string& instance) const;
  // A waveform of the inside of that stage's twin, with --lockstep-inside and a folder. The name of the file, or "".
  std::string write_inside(const std::string& instance, const std::string& out_dir) const;

 private:
  const bool inside_;
  const std::string rtl_;  // for a signal handler
  bool foreign_ = false;
  std::vector<TwinSource::Handle> twins_;
  std::vector<std::string> instances_;  // of each
  std::vector<std::string> in_place_;
};

}  // namespace rnic::cli
