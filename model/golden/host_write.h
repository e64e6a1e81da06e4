// What other parts of a chip, or of its host, do to host memory.
#pragma once

#include <cstdint>

namespace rnic::golden {

// Octets in host memory that another one writes.
struct HostWrite {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;

  static constexpr const char* kMessage = "host_write";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
  }
};

}  // namespace rnic::golden
