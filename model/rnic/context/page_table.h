// The page table: bus addresses of the pages of all regions' lists. See page_lists.md.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/memory_piece.h"
#include "model/common/table.h"

namespace rnic {

// Of consecutive entries.
struct PageRow {
  static constexpr std::uint32_t kPages = 4;
  static constexpr std::uint32_t rows(std::uint32_t pages) { return (pages + kPages - 1) / kPages; }
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
  std::uint32_t row = 0, page = 0;
  std::uint64_t offset = 0;
};
// Of the octet at this distance from the start of the list's first page.
constexpr PagePlace place_of(PageList list, std::uint64_t octet) {
  const std::uint32_t page = list.first_page() + static_cast<std::uint32_t>(octet >> list.log_page());
  return {page / PageRow::kPages, page % PageRow::kPages, octet & (list.page_bytes() - 1)};
}

}  // namespace rnic
