// Sets of numbers that users write as text: "3,7,10-12,20-".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rnic {

class Intervals {
 public:
  Intervals() = default;
  // Numbers and inclusive ranges, separated by commas; a range may be open-ended. An empty text is the empty set.
  // Throws ConfigError that names `path` for anything else.
  Intervals(const std::string& text, const std::string& path);

  bool empty() const { return list_.empty(); }
  bool contains(std::uint64_t n) const {
    for (const auto& [first, last] : list_) {
      if (n >= first && n <= last) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> list_;
};

}  // namespace rnic
