// The sizes of the firmware's static tables. A chip may have fewer of each resource (Settings), never more.
#pragma once

#include <cstdint>

namespace rnic::fw {

struct DefaultCapacity {
  static constexpr std::uint32_t kQps = 1024;
  static constexpr std::uint32_t kFlows = 2048;  // TCP connections, and streams of SCTP associations
  static constexpr std::uint32_t kCqs = 1024;
  static constexpr std::uint32_t kSrqs = 256;
  static constexpr std::uint32_t kStags = 4096;
  static constexpr std::uint32_t kConnections = 1024;
  static constexpr std::uint32_t kSessions = 256;  // connections over SCTP
  static constexpr std::uint32_t kSetups = 64;     // connections that exchange startup frames at the same time
  static constexpr std::uint32_t kListeners = 256;
};

// Room for a listener at each port.
inline constexpr std::uint32_t kAllPorts = 65536;

// For firmware that has a host's memory, as the native one: what the ABI's numbers can name.
struct LargeCapacity : DefaultCapacity {
  static constexpr std::uint32_t kQps = 65536;
  static constexpr std::uint32_t kFlows = 65536 + 1024;
  static constexpr std::uint32_t kCqs = 131072;
  static constexpr std::uint32_t kSrqs = 1024;
  static constexpr std::uint32_t kStags = 1u << 20;
  static constexpr std::uint32_t kConnections = 65536;
  static constexpr std::uint32_t kListeners = kAllPorts;
};

}  // namespace rnic::fw
