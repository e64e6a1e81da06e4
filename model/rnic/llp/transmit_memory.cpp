#include "model/rnic/llp/transmit_memory.h"

#include "model/common/description.h"
#include "model/common/memory.h"

namespace rnic::llp {

void TransmitMemory::describe(const Description& d) {
  d.counters(counters_);
  const auto level = [&](const char* key, auto read, const char* unit, const char* text) {
    d.stats().derived(
        key, [read] { return static_cast<double>(read()); }, unit, text);
  };
  describe_memory(d.part("kept").stats(),
                  {whole().octets, whole().octets, 8, "octets", "octets until they are acknowledged"},
                  counters_.octets_max);
  level(
      "segments", [this] { return whole().records; }, "segments", "its records");
  level(
      "octets_used", [this] { return used().octets; }, "octets", "taken at the end of the run");
  level(
      "segments_used", [this] { return used().records; }, "segments", "records taken at the end of the run");
}

}  // namespace rnic::llp
