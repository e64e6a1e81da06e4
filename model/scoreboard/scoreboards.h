// The scoreboards of a run (--scoreboard): each stage of all chips against librnic_golden, transaction by transaction,
// whatever does the stage's work. See model/golden/board.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/common/request_id.h"

namespace rnic {

class Rnic;
namespace scoreboard {
class StageBoard;
}

struct ScoreboardOptions {
  std::string stages;                               // as twin_names() takes them
  unsigned max_latency = 10'000, race_window = 64;  // cycles; settings of each board
  bool any() const { return !stages.empty(); }
};

class Scoreboards final {
 public:
  // Nothing without the option. ConfigError for an unknown stage, for one whose contexts are in a cache if it is named,
  // and without the library.
  Scoreboards(const std::vector<Rnic*>& chips, const ScoreboardOptions& options);
  Scoreboards(const Scoreboards&) = delete;
  Scoreboards& operator=(const Scoreboards&) = delete;
  ~Scoreboards();

  // Stages of "all" whose contexts are in a cache: of all chips by name, or those of some.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // The run is over. `waiting`: stages that wait, one "NAME waits for …" a line.
  void finish(const std::string& waiting);

  // What a stage did wrong: the first one. The lines are those of librnic_golden, the first one without the board's
  // kind, the last one left out.
  struct Fault {
    std::string instance, stage, text;
    RequestId of;
    std::uint64_t from_ps = 0, to_ps = 0;  // for a wave
  };
  std::optional<Fault> fault() const;

  // What was compared, a line; and the reports of all boards as JSON. Where nothing was compared of a stage that was
  // asked for by its name, or at all, `nothing` says so.
  struct Summary {
    std::string text, json, nothing;
  };
  Summary summary() const;

 private:
  std::vector<std::string> asked_for_, left_out_;  // by name
  std::vector<std::unique_ptr<scoreboard::StageBoard>> boards_;
};

}  // namespace rnic
