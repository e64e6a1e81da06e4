// Instantiates the whole firmware on a minimal bus in a freestanding build. This proves that it needs no heap, no
// exceptions, no RTTI and nothing of the simulation.
#include "firmware/app/instantiate.h"

namespace rnic::fw {

struct MinimalBus {
  template <class Op>
  void write(const Op& op) {
    last_words = Op::kCsrWords;
    last = &op;
  }
  MutableByteSpan sram(SramRange range) { return MutableByteSpan(memory).subspan(range.offset); }

  std::uint8_t memory[sram_bytes(DefaultCapacity::kSetups)] = {};
  const volatile void* last = nullptr;
  unsigned last_words = 0;
};

template class ResourceManager<MinimalBus>;
template class ConnectionManager<MinimalBus>;
template class Firmware<MinimalBus>;

}  // namespace rnic::fw
