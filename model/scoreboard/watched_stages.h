// How scoreboards are made for the stages of a chip. Each theme has its own source file.
#pragma once

#include <string>
#include <vector>

#include "model/common/stage.h"
#include "model/scoreboard/stage_port.h"

namespace rnic::scoreboard {

struct WatchedStage {
  const char* name;
  // Adds the ports, and returns the settings of the board's kind as the members of a JSON object; nullptr: there is no
  // board for this stage yet.
  void (*ports)(Stage& stage, StageBoard& board);
  std::string (*settings)(Stage& stage);
};
const std::vector<WatchedStage>& watched_streams();

// Ports by their numbers in rnic_golden_messages.h.
template <class T>
void watch(StageBoard& board, PopPort<T>& port, unsigned number) {
  board.add(std::make_unique<InPort<T>>(board, *port, number));
}
template <class T>
void watch(StageBoard& board, PushPort<T>& port, unsigned number) {
  board.add_output(std::make_unique<OutPort<T>>(board, *port, number), number);
}

}  // namespace rnic::scoreboard
