// Where a request ends and the next begins.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rnic::pcie {

// Octets of the next TLP for `left` octets at an address: at most `limit` counted in whole double words, which is how
// MPS and MRRS are checked, and not across a 4 KiB boundary (section 2.2.7).
constexpr std::uint32_t cut(std::uint64_t address, std::uint32_t left, std::uint32_t limit) {
  const auto to_page_end = static_cast<std::uint32_t>(4096 - (address & 4095));
  return std::min({left, limit - static_cast<std::uint32_t>(address & 3), to_page_end});
}

}  // namespace rnic::pcie
