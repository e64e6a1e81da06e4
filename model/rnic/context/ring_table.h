// Where the rings of work queue entries are in host memory: a table with ports and a read latency for the send rings of
// a chip, and one for its receive rings. See ring_table.md.
#pragma once

#include <cstdint>

#include "model/common/table.h"

namespace rnic {

// Written by the firmware.
struct RingRow {
  std::uint64_t base = 0;  // bus address of its first entry

  static constexpr const char* kMessage = "ring_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("base", 64, m.base);
  }
};

using RingTable = Table<RingRow>;

}  // namespace rnic
