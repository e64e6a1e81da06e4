// Where the host's command and event rings are: the values of BAR0 registers.
#pragma once

#include <cstdint>
#include <functional>

namespace rnic {

struct QueueRegs {
  bool enabled = false;  // the device may use the rings
  std::uint8_t command_log_entries = 0, event_log_entries = 0;
  std::uint64_t command_base = 0, command_data_base = 0;  // bus addresses of the ring and of its private data slots
  std::uint64_t event_base = 0, event_data_base = 0;
};
// Set up by the host before it enables the device, so reading them needs no link.
using QueueRegsReader = std::function<QueueRegs()>;

// Indices of both rings count modulo 2^16, so a ring can be full.
constexpr std::uint32_t ring_distance(std::uint32_t newer, std::uint32_t older) { return (newer - older) & 0xffff; }

}  // namespace rnic
