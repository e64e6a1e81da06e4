// The last cycles of a lock-step, both sides, for a wave file around the first difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl-stubs/verilated/sides.h"

namespace rnic::rtl {

class Window {
 public:
  static constexpr std::size_t kCycles = 256;  // kept
  static constexpr unsigned kBehind = 16;      // run on behind a difference, to see what becomes of it

  // A cycle in which the block was evaluated. In those between nothing moved.
  void record(const Sides& sides);
  // As `<instance>.stage.<signal>` and `<instance>.twin.<signal>`; `<instance>.differs` is 1 where they are not the
  // same, and `cycle` their number. The format goes by the file's extension. ConfigError if it cannot be written.
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
