// Foreign text in a message of ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rnic {

// The first `most` octets of a UTF-8 text without cutting a character in two, and "…" for the rest.
inline std::string cited(std::string_view text, std::size_t most = 200) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

// A message that may cite more than a reader wants: its beginning, which says where, and its end, which says why.
inline std::string shortened(std::string_view message, std::size_t most = 4000) {
  if (message.size() <= most) return std::string(message);
  std::size_t begin = message.size() - most / 2;
  while (begin < message.size() && (static_cast<unsigned char>(message[begin]) & 0xc0) == 0x80) ++begin;
  return cited(message, most / 2) + std::string(message.substr(begin));
}

}  // namespace rnic
