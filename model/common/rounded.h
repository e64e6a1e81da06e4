// A number with a few significant digits.
#pragma once

#include <charconv>
#include <iterator>

#include <fmt/format.h>

namespace rnic {

// `value` with `digits` significant digits, at most 17: what they are as text, read again. The same in every locale of
// the process, which may be somebody else's.
inline double rounded(double value, int digits) {
  char text[32];
  const char* const end = fmt::format_to(text, "{:.{}g}", value, digits);
  double number = value;
  std::from_chars(text, end, number);
  return number;
}

}  // namespace rnic
