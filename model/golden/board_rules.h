// What a scoreboard compares of each kind of stage, and what is free. See board.md.
#pragma once

#include <vector>

#include "model/golden/races.h"

namespace rnic::golden {

struct BoardRules {
  const char* name;   // of the board's kind,
  const char* stage;  // and of the predictor's
  // The members that name a message's stream, the first of these lists that a port's messages have: "qpn|srqn". What a
  // port gives is compared in the order of its key, and the order of different keys is free. "": all of a port have one
  // order.
  const char* key;
  MakeRaces races = nullptr;
};

const std::vector<BoardRules>& board_rules();

}  // namespace rnic::golden
