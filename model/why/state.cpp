#include "model/why/state.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace rnic::why {
namespace {

std::optional<std::uint64_t> number_behind(std::string_view words, std::string_view text) {
  const std::size_t at = words.find(text);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = words.substr(at + text.size());
  std::uint64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> state_of(const std::string& words) {
  const bool is_window = words.find(" octets in flight") != std::string::npos;
  const std::size_t to = words.rfind(" to ");
  std::vector<std::pair<std::string, std::uint64_t>> state;
  const auto add = [&](const char* name, std::optional<std::uint64_t> number) {
    if (number) state.emplace_back(name, *number);
  };
  if (is_window) {
    add("octets_in_flight", number_behind(words, ": "));
    add("congestion_window", number_behind(words, ", congestion window "));
    add("peer_window", number_behind(words, ", peer's window "));
  } else if (to != std::string::npos) {
    add("congestion_window_before", number_behind(words, ": congestion window "));
    if (!state.empty()) add("congestion_window", number_behind(std::string_view(words).substr(to), " to "));
  }
  return state;
}

}  // namespace rnic::why
