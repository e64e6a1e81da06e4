// The firmware's log as the host reads it: a ring in which a new entry replaces the oldest, accessed through registers.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "model/abi/firmware_log_level.h"
#include "model/abi/log_text.h"
#include "model/common/clock_domain.h"
#include "model/common/part.h"
#include "model/rnic/regs/reg_bank.h"

namespace rnic {

class LogRing final : public Part {
 public:
  static constexpr std::uint32_t kEntries = 128;

  // `level`: the value of LOG_LEVEL after a reset.
  LogRing(ClockDomain& clk, regs::RegBank& bank, fw::LogLevel level);
  LogRing(const LogRing&) = delete;
  LogRing& operator=(const LogRing&) = delete;

  fw::LogLevel level() const { return static_cast<fw::LogLevel>(bank_.get<regs::LogLevel>().level); }
  void write(fw::LogCode code, std::uint32_t a, std::uint32_t b);

  void reset() { written_ = 0; }

  void describe(const Description& d) override;

  // The newest entries, oldest first.
  std::vector<LogEntry> entries() const;

 private:
  // Entries written in this cycle are visible from the next one on, so the ring has extra room for a cycle's entries.
  static constexpr std::uint32_t kSlots = 2 * kEntries;
  struct Slot {
    LogEntry entry;
    Cycle at = 0;
  };
  std::uint32_t next() const;
  std::uint32_t oldest() const { return next() < kEntries ? 0 : next() - kEntries; }
  const LogEntry* selected() const;

  ClockDomain& clk_;
  regs::RegBank& bank_;
  std::array<Slot, kSlots> slots_{};
  std::uint32_t written_ = 0;
  std::function<void(const LogEntry&)> observer_;
};

}  // namespace rnic
