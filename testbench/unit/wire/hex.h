// Literal octets for tests, grouped for the reader: hex("0016 4143 00000000").
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/common/bytes.h"

namespace rnic {

using Bytes = std::vector<std::uint8_t>;

inline Bytes hex(const std::string& text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    throw std::invalid_argument("not octets: " + text);
  }
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes to_bytes(ByteSpan span) { return {span.begin(), span.end()}; }

// The output of emit() into a buffer of exactly `size` octets; empty if it refuses.
template <class Header>
Bytes emitted(const Header& header, std::size_t size) {
  Bytes out(size, 0xee);
  out.resize(header.emit(out));
  return out;
}

}  // namespace rnic
