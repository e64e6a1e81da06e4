// Compares the model's messages with those of the real side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/capture/replay/replay_program.h"

namespace rnic::replay {

struct Difference {
  std::string what, expected, got;
  std::string explained_by;  // requirement ids, or a row of model/wire/choices.md; empty: nothing explains it
};

struct Comparison {
  std::size_t messages = 0;  // of the real side, startup frames and a refusal included, and further ones of the model
  std::size_t matched = 0;   // without a difference
  std::vector<Difference> differences;

  std::size_t unexplained() const;
};

void compare(const Outcome& outcome, Comparison& comparison);

}  // namespace rnic::replay
