// The firmware's log as a program reads it while the device runs.
#pragma once

#include <utility>
#include <vector>

#include "model/abi/firmware_log_level.h"
#include "model/abi/log_text.h"
#include "model/host/driver/host_cpu.h"

namespace rnic::host {

// read() requests the new entries; when done() they can be taken. The requesting program is woken then.
class FirmwareLog {
 public:
  FirmwareLog(HostCpu& cpu, Core& driver) : cpu_(cpu), driver_(driver) {}

  void read();
  bool done() const { return state_ == State::kIdle; }
  std::vector<LogEntry> take() { return std::exchange(entries_, {}); }
  // Entries that were overwritten before the host had taken them.
  std::uint32_t lost() const { return lost_; }
  void set_level(fw::LogLevel level);

  // For the driver.
  static constexpr std::uint32_t kCookie = 0x80000000;
  void answered(std::uint32_t cookie, std::uint32_t value, std::uint64_t at_ps);
  void step();
  // The device was reset, and has no entry; a pending read() is done.
  void restart();

 private:
  enum class State : std::uint8_t { kIdle, kCounting, kReading };
  static constexpr unsigned kWords = 5;
  void ask(std::uint32_t offset);
  void ask_for_entries();
  void collect();

  HostCpu& cpu_;
  Core& driver_;
  Core* owner_ = nullptr;
  State state_ = State::kIdle;
  std::uint32_t next_ = 0, lost_ = 0, first_ = 0;
  std::size_t answers_ = 0;
  std::vector<std::uint32_t> words_;  // answers, in the order of the questions
  std::vector<LogEntry> entries_;
};

}  // namespace rnic::host
