// Compares a node's contexts on the chip with their home, when nothing is under way.
#pragma once

#include <gmock/gmock.h>

#include "model/rnic/context/home_entry.h"
#include "model/system/node.h"

namespace rnic::test {

// Each row on the chip is what its home has. Returns how many there are.
inline unsigned check_home(Node& node) {
  const PageTable& table = node.chip.contexts().page_table;
  unsigned found = 0;
  for (std::uint32_t row = 0; row < table.rows(); ++row) {
    const PageRow* const here = table.peek(row);
    if (here == nullptr) continue;
    ++found;
    for (std::uint32_t i = 0; i < PageRow::kPages; ++i) {
      const std::uint32_t number = row * PageRow::kPages + i;
      const std::uint64_t octet = std::uint64_t{number} * HomeEntry::kBytes;
      const std::uint64_t page = node.context.home()->pages().at(octet >> abi::kLogHomePage);
      const std::uint64_t entry = load_le64(node.memory.span(page + octet % abi::kHomePageBytes, 8).data());
      const std::uint64_t there = HomeEntry::is_whole(entry, number) ? HomeEntry::address(entry) : kNowhere;
      EXPECT_EQ(here->page[i], there) << "entry " << i << " of row " << row;
    }
  }
  return found;
}

}  // namespace rnic::test
