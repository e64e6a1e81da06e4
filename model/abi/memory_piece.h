// Octets of host memory as an STag's region has them, and as the bus has them. See page_lists.md.
#pragma once

#include <cstdint>

namespace rnic {

// A region's part of the page table, in one word. Its octets are within its pages: that is checked where it is made.
struct PageList {
  static constexpr unsigned kLogPageBits = 5, kBits = 25;  // 20 for the first entry: a table has up to 2^20
  std::uint32_t v = 0;                                     // 0: none, the octets are contiguous on the bus

  static constexpr PageList of(std::uint32_t first_page, unsigned log_page) {
    return {log_page == 0 ? 0 : first_page << kLogPageBits | log_page};
  }
  constexpr explicit operator bool() const { return v != 0; }
  constexpr unsigned log_page() const { return v & ((1u << kLogPageBits) - 1); }
  constexpr std::uint32_t first_page() const { return v >> kLogPageBits; }
  constexpr std::uint64_t page_bytes() const { return std::uint64_t{1} << log_page(); }
  friend constexpr bool operator==(PageList a, PageList b) { return a.v == b.v; }
  friend constexpr bool operator!=(PageList a, PageList b) { return a.v != b.v; }
};

struct MemoryPiece {
  std::uint64_t address = 0;  // on the bus; or, with a list, the offset from the start of its first page
  std::uint32_t bytes = 0;
  PageList list = {};
  std::uint32_t region = 0;  // with a list: the STag of the region whose list it is

  static constexpr const char* kMessage = "memory_piece";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("page_list", PageList::kBits, m.list.v);
    v("region", 32, m.region);
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
