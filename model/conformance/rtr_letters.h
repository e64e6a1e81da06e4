// RTR kinds as vectors write them: by their letters in the enhanced word.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "model/abi/host_abi.h"

namespace rnic::conformance {

inline abi::RtrKind rtr_kind(char letter) {
  switch (letter) {
    case 'B':
      return abi::RtrKind::kSend;
    case 'C':
      return abi::RtrKind::kWrite;
    case 'D':
      return abi::RtrKind::kRead;
    default:
      throw std::invalid_argument(std::string("no RTR kind: ") + letter);
  }
}

inline std::uint8_t rtr_order(const std::string& letters) {
  unsigned order = 0;
  for (std::size_t i = letters.size(); i-- > 0;) order = order << 2 | static_cast<unsigned>(rtr_kind(letters[i]));
  if (order > 0x3f) throw std::invalid_argument("rtr_pref has more than three kinds");
  return static_cast<std::uint8_t>(order);
}

}  // namespace rnic::conformance
