// librnic_golden, loaded when it is needed: its model is another one than the program's, with a kernel of its own.
#pragma once

#include "model/golden/abi/rnic_golden.h"

namespace rnic {

struct GoldenLibrary {
  decltype(&rnic_board_open) open;
  decltype(&rnic_board_close) close;
  decltype(&rnic_board_accepted) accepted;
  decltype(&rnic_board_given) given;
  decltype(&rnic_board_row) row;
  decltype(&rnic_board_stalled) stalled;
  decltype(&rnic_board_reset) reset;
  decltype(&rnic_board_end) end;
  decltype(&rnic_board_text) text;
  decltype(&rnic_board_report) report;
};

// Loaded at the first call. ConfigError where there is none, or one that lacks a function.
const GoldenLibrary& golden_library();

}  // namespace rnic
