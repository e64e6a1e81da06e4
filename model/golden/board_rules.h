// What a scoreboard compares of each kind of stage, and what is free. See board.md.
#pragma once

#include <vector>

namespace rnic::golden {

struct BoardRules {
  const char* name;   // of the board's kind,
  const char* stage;  // and of the predictor's
  // The member of each message that names its stream: what a port gives is compared in the order of its key, and the
  // order of different keys is free. "": all of a port have one order.
  const char* key;
};

const std::vector<BoardRules>& board_rules();

}  // namespace rnic::golden
