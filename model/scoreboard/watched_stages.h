// How scoreboards are made for the stages of a chip. Each theme has its own source file.
#pragma once

#include <string>
#include <vector>

#include "model/common/stage.h"
#include "model/scoreboard/stage_port.h"

namespace rnic {
class ContextStore;
struct AtomicAluConfig;
struct TerminateConfig;
}  // namespace rnic

namespace rnic::scoreboard {

// What boards use of the chip that their stages are in.
struct WatchedChip {
  unsigned beat_bytes = 64;
  ContextStore* contexts = nullptr;
  const TerminateConfig* terminate = nullptr;
  const AtomicAluConfig* atomic_alu = nullptr;
};

struct WatchedStage {
  const char* name;
  // Adds them: inputs first, in the order in which the stage takes what is there in one cycle.
  void (*ports)(Stage& stage, const WatchedChip& chip, StageBoard& board);
  // Of the board's kind: the members of a JSON object.
  std::string (*settings)(Stage& stage, const WatchedChip& chip);
  unsigned whole = 0;  // ContextRows::Tables of which all rows have to be on the chip
};
const std::vector<WatchedStage>& watched_streams();
const std::vector<WatchedStage>& watched_requests();
const std::vector<WatchedStage>& watched_placement();

// Ports by their numbers in rnic_golden_messages.h.
template <class T>
void watch(StageBoard& board, PopPort<T>& port, unsigned number) {
  board.add(std::make_unique<InPort<T>>(board, *port, number));
}
inline void watch(StageBoard& board, PopPort<StreamBeat>& port, unsigned number) {
  board.add(std::make_unique<StreamInPort<StreamBeat>>(board, *port, number));
}
template <class T>
void watch(StageBoard& board, PushPort<T>& port, unsigned number, GivenWhen when = GivenWhen::kSeen) {
  board.add_output(std::make_unique<OutPort<T>>(board, *port, number, when), number);
}
// An output of a stage of which a board knows an order among outputs.
template <class T>
void watch_pushes(StageBoard& board, PushPort<T>& port, unsigned number) {
  watch(board, port, number, GivenWhen::kPushed);
}

}  // namespace rnic::scoreboard
