#include "model/cable/intervals.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic {

Intervals::Intervals(const std::string& text, const std::string& path) {
  const auto number = [&](std::string_view word) {
    std::uint64_t n = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (word.empty() || error != std::errc{} || rest != word.data() + word.size()) {
      throw ConfigError(fmt::format("{} = {}: '{}' is not a number; write 3,7,10-12,20-", path, text, word));
    }
    return n;
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t dash = item.find('-');
    const std::uint64_t first = number(item.substr(0, dash));
    std::uint64_t last = first;
    if (dash != std::string_view::npos) last = dash + 1 == item.size() ? UINT64_MAX : number(item.substr(dash + 1));
    if (last < first) throw ConfigError(fmt::format("{} = {}: '{}' ends before it begins", path, text, item));
    list_.emplace_back(first, last);
  }
}

}  // namespace rnic
