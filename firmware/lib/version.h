// The version of the firmware, defined only here.
#pragma once

#include <cstdint>

namespace rnic::fw {

struct Version {
  std::uint8_t major, minor, patch;
};
inline constexpr Version kVersion{1, 0, 0};

}  // namespace rnic::fw
