// What an event says in words, of a database and of a log alike.
#pragma once

#include <string_view>

namespace rnic::diff {

// What the firmware did ends with how long it took ("create_qp, 105 cycles"), which is a time.
inline std::string_view without_time(std::string_view words) {
  constexpr std::string_view kEnd = " cycles", kDigits = "0123456789";
  if (words.size() < kEnd.size() || words.substr(words.size() - kEnd.size()) != kEnd) return words;
  const std::string_view front = words.substr(0, words.size() - kEnd.size());
  const std::size_t before = front.find_last_not_of(kDigits);
  if (before == std::string_view::npos || before == 0 || before + 1 == front.size()) return words;
  return front.substr(before - 1, 2) == ", " ? front.substr(0, before - 1) : words;
}

}  // namespace rnic::diff
