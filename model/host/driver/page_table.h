// The driver's account of the device's page table: which entries belong to a region.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace rnic::host {

class PageTable {
 public:
  void resize(std::uint32_t entries) {
    if (entries != 0) free_ = {{0, entries}};
  }
  // The first of this number of consecutive entries; nothing if there are not as many left.
  std::optional<std::uint32_t> take(std::uint32_t entries) {
    for (auto range = free_.begin(); range != free_.end(); ++range) {
      if (range->second < entries) continue;
      const auto [first, count] = *range;
      free_.erase(range);
      if (count != entries) free_[first + entries] = count - entries;
      return first;
    }
    return {};
  }
  void give_back(std::uint32_t first, std::uint32_t entries) {
    if (entries == 0) return;
    auto at = free_.emplace(first, entries).first;
    if (const auto after = std::next(at); after != free_.end() && first + entries == after->first) {
      at->second += after->second;
      free_.erase(after);
    }
    if (at == free_.begin()) return;
    const auto before = std::prev(at);
    if (before->first + before->second != first) return;
    before->second += at->second;
    free_.erase(at);
  }

 private:
  std::map<std::uint32_t, std::uint32_t> free_;  // first entry, number; never adjacent
};

}  // namespace rnic::host
