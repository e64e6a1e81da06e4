// The page table: bus addresses of the pages of all regions' lists. See page_lists.md.
#pragma once

#include <array>
#include <cstdint>

#include "model/common/table.h"

namespace rnic {

// Of consecutive entries.
struct PageRow {
  static constexpr std::uint32_t kPages = 4;
  std::array<std::uint64_t, kPages> page{};  // bus addresses

  static constexpr const char* kMessage = "page_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("page0", 64, m.page[0]);
    v("page1", 64, m.page[1]);
    v("page2", 64, m.page[2]);
    v("page3", 64, m.page[3]);
  }
};

using PageTable = Table<PageRow>;

// An octet of a list in the page table: `offset` octets after the address that entry `page` of the row holds.
struct PagePlace {
  static constexpr std::uint32_t kNoRow = ~0u;  // outside of the table: the list has no such page
  std::uint32_t row = kNoRow, page = 0;
  std::uint64_t offset = 0;
};

// A region's part of the page table.
struct PageList {
  std::uint32_t first_page = 0, pages = 0;
  std::uint8_t log_page = 0;

  // Of the octet at this distance from the start of the first page.
  PagePlace place(std::uint64_t octet) const {
    if (octet >> log_page >= pages) return {};
    const std::uint32_t page = first_page + static_cast<std::uint32_t>(octet >> log_page);
    return {page / PageRow::kPages, page % PageRow::kPages, octet & (page_bytes() - 1)};
  }
  std::uint64_t page_bytes() const { return std::uint64_t{1} << log_page; }
  friend bool operator==(const PageList& a, const PageList& b) {
    return a.first_page == b.first_page && a.pages == b.pages && a.log_page == b.log_page;
  }
  friend bool operator!=(const PageList& a, const PageList& b) { return !(a == b); }
};

}  // namespace rnic
