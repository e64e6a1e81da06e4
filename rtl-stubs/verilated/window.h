// The last cycles of both sides of a lock-step, for a wave file around the first difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl-stubs/verilated/sides.h"

namespace rnic::rtl {

class Window {
 public:
  static constexpr std::size_t kCycles = 256;  // kept
  static constexpr unsigned kBehind = 16;      // run after a difference, to show its consequences

  // A cycle in which the block was evaluated. Nothing moved in those between.
  void record(const Sides& sides);
  // Signals are `<instance>.stage.<signal>` and `<instance>.twin.<signal>`. `<instance>.differs` is 1 where they
  // differ, `cycle` is their number. The file's extension selects the format. ConfigError if it cannot be written.
  void write(const Sides& sides, const std::string& file) const;

 private:
  struct Row {
    Cycle cycle = 0;
    std::vector<std::uint64_t> stage, twin;
  };
  std::vector<Row> rows_;  // a ring, once it is full
  std::size_t oldest_ = 0;
};

}  // namespace rnic::rtl
