// An entry of the firmware's log in words.
#pragma once

#include <cstdint>
#include <string>

namespace rnic {
namespace fw {
enum class LogCode : std::uint8_t;  // model/abi/firmware_log.h
}

struct LogEntry {
  std::uint32_t sequence = 0;
  std::uint64_t time_ns = 0;
  fw::LogCode code{};
  std::uint32_t a = 0, b = 0;
};

// "connection_state: connection 0x80000000: wait_reply -> rts". An unknown code is printed as its number.
std::string log_text(const LogEntry& entry);
// The same with sequence number and time, as fw_log.txt has it.
std::string log_line(const LogEntry& entry);

}  // namespace rnic
