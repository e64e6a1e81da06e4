#include "model/common/memory.h"

namespace rnic {

namespace {

void describe_shape(const StatsGroup& stats, const MemoryShape& shape) {
  const auto fixed = [&](const char* key, double value, const char* unit, const std::string& text) {
    stats.derived(
        key, [value] { return value; }, unit, text);
  };
  fixed("entries", static_cast<double>(shape.entries), shape.unit, shape.text);
  fixed("bits", shape.bits, "bits", "of an entry");
  fixed("size", static_cast<double>(shape.on_chip) * shape.bits / 8, "octets", "of the memory on the chip");
}

}  // namespace

void describe_memory(const StatsGroup& stats, const MemoryShape& shape, const StatsRegistry::Derived& used,
                     const char* used_text) {
  describe_shape(stats, shape);
  stats.derived("used", used, shape.unit, used_text);
}

void describe_memory(const StatsGroup& stats, const MemoryShape& shape, const HighWater& used) {
  describe_shape(stats, shape);
  stats.high_water("used", used, shape.unit, "in use at a time, at most");
}

}  // namespace rnic
