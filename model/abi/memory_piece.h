// Octets of host memory as an STag's region has them, and as the bus has them. See page_lists.md.
#pragma once

#include <cstdint>

namespace rnic {

struct MemoryPiece {
  std::uint64_t address = 0;  // on the bus; or, with a list, the offset from the start of its first page
  std::uint32_t bytes = 0;
  std::uint32_t list = 0;  // the STag of the region whose page list this is; 0: none

  static constexpr const char* kMessage = "memory_piece";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("list", 32, m.list);
  }
};
struct BusPiece {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

// An address without memory: the result of a page list whose region is gone. Reads fail, writes are lost.
inline constexpr std::uint64_t kNowhere = std::uint64_t{1} << 63;

// Sizes of a page list's pages, as binary logarithms.
inline constexpr unsigned kMinLogPage = 12, kMaxLogPage = 30;
// Whether [first_offset, first_offset + length) is within that many pages, for lists from the host.
constexpr bool fits_pages(std::uint64_t first_offset, std::uint64_t length, std::uint32_t pages, unsigned log_page) {
  if (log_page < kMinLogPage || log_page > kMaxLogPage || first_offset >> log_page != 0) return false;
  const std::uint64_t room = std::uint64_t{pages} << log_page;
  return room > first_offset && length <= room - first_offset;
}

}  // namespace rnic
