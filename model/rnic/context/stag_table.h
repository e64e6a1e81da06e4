// The STags of a chip: a table with ports and a read latency. See stag_table.md.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/table.h"

namespace rnic {

constexpr std::uint32_t index_of(Stag s) { return s.v >> 8; }

// An entry; its index is that of the STag.
struct StagRow {
  StagContext stag;
  std::uint16_t windows = 0;  // bound to this region under its key

  constexpr bool has_key(Stag s) const { return stag.key == (s.v & 0xff); }
  constexpr bool has_windows(Stag region) const { return windows != 0 && has_key(region); }

  static constexpr const char* kMessage = "stag_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stag", m.stag);
    v("windows", 16, m.windows);
  }
};

using StagTable = Table<StagRow>;

// Two ports: what is sent and what is received each need one.
struct StagTableConfig : TableConfig {
  constexpr StagTableConfig() { read_ports = 2; }
};

}  // namespace rnic
