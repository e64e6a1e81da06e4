// Static memory: how many of everything the firmware can keep. A chip may have fewer (Settings), never more.
#pragma once

#include <cstdint>

namespace rnic::fw {

struct DefaultCapacity {
  static constexpr std::uint32_t kQps = 1024;
  static constexpr std::uint32_t kFlows = 1024;
  static constexpr std::uint32_t kCqs = 1024;
  static constexpr std::uint32_t kSrqs = 256;
  static constexpr std::uint32_t kStags = 4096;
  static constexpr std::uint32_t kConnections = 1024;
  static constexpr std::uint32_t kSetups = 64;  // connections that exchange startup frames at the same time
  static constexpr std::uint32_t kListeners = 256;
};

}  // namespace rnic::fw
