// What a memory of a chip is, for all outputs that show memories: tables of rows, pools of elements, buffers of octets.
// See pool.md.
#pragma once

#include <cstddef>
#include <string>

#include "model/common/message.h"
#include "model/stats/high_water.h"
#include "model/stats/registry.h"

namespace rnic {

struct MemoryShape {
  std::size_t entries = 0;  // that there may be, here or in their home
  std::size_t on_chip = 0;
  unsigned bits = 0;              // of one
  const char* unit = "elements";  // of entries
  std::string text = {};          // what they are
};

// `used`: the most that there were at a time.
void describe_memory(const StatsGroup& stats, const MemoryShape& shape, const StatsRegistry::Derived& used,
                     const char* used_text);
void describe_memory(const StatsGroup& stats, const MemoryShape& shape, const HighWater& used);

// Of all fields; references to buffers are none.
template <class M>
unsigned bits_of() {
  unsigned sum = 0;
  for (const Signal& field : signals_of<M>()) sum += field.width;
  return sum;
}
// That tell so many things apart.
constexpr unsigned index_bits(std::size_t things) {
  unsigned bits = 0;
  while (bits < 32 && (std::size_t{1} << bits) < things) ++bits;
  return bits;
}

}  // namespace rnic
