// A board of librnic_golden beside a stage, or beside the RTL in its place: it sees what passes the stage's links.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/common/registered.h"
#include "model/common/request_id.h"
#include "model/common/stage.h"
#include "model/scoreboard/golden_library.h"

namespace rnic::scoreboard {

class StageBoard;

// An end of a link at the stage, whose moves wait until all of earlier cycles are known.
class StagePort {
 public:
  virtual ~StagePort() = default;
  virtual Cycle oldest() const = 0;  // the cycle of its oldest move; kNever if none waits
  virtual void hand_over() = 0;      // that move, to the board
  // Cycles without room up to `until`, for an output that still has none.
  virtual void tell_stall(Cycle until) = 0;
  virtual bool empty() const = 0;  // nothing is on the link
};

// Stages run ahead, so the ends of their links hear of moves of future cycles, each end in its own order. The board
// gets them in the order of time. The first fault ends the run at the end of its cycle, by an exception.
class StageBoard final : private Committed {
 public:
  // ConfigError for settings that the library does not take.
  StageBoard(Stage& stage, const char* kind, const std::string& settings,
             const GoldenLibrary& library = golden_library());
  StageBoard(const StageBoard&) = delete;
  StageBoard& operator=(const StageBoard&) = delete;
  ~StageBoard();

  void add(std::unique_ptr<StagePort> port) { ports_.push_back(std::move(port)); }
  void add_output(std::unique_ptr<StagePort> port, unsigned number) {
    out_ = number;
    add(std::move(port));
  }
  const Stage& stage() const { return stage_; }

  // Of ports.
  void accepted(unsigned port, const void* message, Cycle cycle, RequestId owner);
  void given(unsigned port, const void* message, Cycle cycle, RequestId owner);
  void row(const char* table, std::uint32_t index, const void* row, Cycle cycle);
  void stalled(unsigned port, Cycle from, Cycle to);
  void moved() { settle(stage_.clock().now()); }
  void emptied(Cycle now);

  // The run is over. `at_rest`: so that what is missing now will not come.
  void finish(bool at_rest);

  // The text of librnic_golden, of several lines; empty if the stage was right so far.
  const std::string& fault() const { return fault_; }
  RequestId fault_of() const { return fault_of_; }
  std::uint64_t fault_from() const { return fault_from_; }  // cycles, for a wave
  std::uint64_t fault_to() const { return fault_to_; }
  std::uint64_t given() const { return given_; }                  // transactions
  std::string report() const { return library_.report(board_); }  // JSON

 private:
  void settle(Cycle limit);
  void tell_reset(Cycle until);
  bool owes() const;
  void judge(std::int32_t status, Cycle cycle, RequestId owner);
  void commit() override;

  Stage& stage_;
  const GoldenLibrary& library_;
  rnic_board* board_ = nullptr;
  std::vector<std::unique_ptr<StagePort>> ports_;
  unsigned out_ = 0;  // an output
  Cycle reset_at_ = kNever, last_ = 0;
  std::uint64_t accepted_ = 0, given_ = 0;
  std::string fault_;
  RequestId fault_of_;
  std::uint64_t fault_from_ = 0, fault_to_ = 0;
};

}  // namespace rnic::scoreboard
