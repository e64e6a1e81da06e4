#include "model/host/driver/firmware_log.h"

#include "model/abi/firmware_log.h"
#include "model/abi/rnic_regs.h"

namespace rnic::host {

void FirmwareLog::ask(std::uint32_t offset) {
  cpu_.mmio_read(offset, kCookie + static_cast<std::uint32_t>(words_.size()));
  words_.push_back(0);
}

void FirmwareLog::set_level(fw::LogLevel level) {
  cpu_.mmio_write(regs::LogLevel::kOffset, regs::LogLevel{static_cast<std::uint32_t>(level)}.pack());
}

void FirmwareLog::read() {
  RNIC_CHECK(state_ == State::kIdle);
  owner_ = &cpu_.running();
  state_ = State::kCounting;
  answers_ = 0;
  words_.clear();
  for (const std::uint32_t offset : {regs::LogNext::kOffset, regs::LogLost::kOffset, regs::LogEntries::kOffset}) {
    ask(offset);
  }
}

void FirmwareLog::answered(std::uint32_t cookie, std::uint32_t value, std::uint64_t at_ps) {
  words_.at(cookie - kCookie) = value;
  if (++answers_ == words_.size()) driver_.wake_at(at_ps);
}

void FirmwareLog::step() {
  if (state_ == State::kIdle || answers_ != words_.size()) return;
  state_ == State::kCounting ? ask_for_entries() : collect();
}

// Registers are accessed in order, so the words read after a selection are those of its entry.
void FirmwareLog::ask_for_entries() {
  const std::uint32_t next = words_[0], kept = words_[2];
  lost_ = words_[1];
  first_ = next - next_ > kept ? next - kept : next_;
  next_ = next;
  state_ = State::kReading;
  answers_ = 0;
  words_.clear();
  for (std::uint32_t n = first_; n != next; ++n) {
    cpu_.mmio_write(regs::LogSelect::kOffset, n);
    for (const std::uint32_t offset : {regs::LogCode::kOffset, regs::LogTimeLo::kOffset, regs::LogTimeHi::kOffset,
                                       regs::LogA::kOffset, regs::LogB::kOffset}) {
      ask(offset);
    }
  }
  if (words_.empty()) collect();
}

void FirmwareLog::restart() {
  next_ = lost_ = 0;
  if (std::exchange(state_, State::kIdle) != State::kIdle) owner_->wake();
}

// An entry overwritten between the count and its turn is not valid.
void FirmwareLog::collect() {
  for (std::size_t i = 0; i < words_.size(); i += kWords) {
    const auto code = regs::LogCode::unpack(words_[i]);
    if (!code.valid) continue;
    entries_.push_back({first_ + static_cast<std::uint32_t>(i / kWords),
                        std::uint64_t{words_[i + 2]} << 32 | words_[i + 1], static_cast<fw::LogCode>(code.code),
                        words_[i + 3], words_[i + 4]});
  }
  cpu_.mmio_write(regs::LogTaken::kOffset, next_);
  state_ = State::kIdle;
  owner_->wake();
}

}  // namespace rnic::host
