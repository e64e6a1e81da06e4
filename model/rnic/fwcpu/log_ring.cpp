#include "model/rnic/fwcpu/log_ring.h"

#include "model/common/description.h"

namespace rnic {

LogRing::LogRing(ClockDomain& clk, regs::RegBank& bank, fw::LogLevel level) : clk_(clk), bank_(bank) {
  bank.strap(regs::LogLevel{static_cast<std::uint32_t>(level)});
  bank.strap(regs::LogEntries{kEntries});
  bank.on_read<regs::LogNext>([this] { return regs::LogNext{next()}; });
  bank.on_read<regs::LogCode>([this] {
    const LogEntry* e = selected();
    return e == nullptr ? regs::LogCode{} : regs::LogCode{static_cast<std::uint32_t>(e->code), true};
  });
  const auto word = [&](auto make) {
    return [this, make] {
      const LogEntry* e = selected();
      return make(e == nullptr ? LogEntry{} : *e);
    };
  };
  bank.on_read<regs::LogTimeLo>(
      word([](const LogEntry& e) { return regs::LogTimeLo{static_cast<std::uint32_t>(e.time_ns)}; }));
  bank.on_read<regs::LogTimeHi>(
      word([](const LogEntry& e) { return regs::LogTimeHi{static_cast<std::uint32_t>(e.time_ns >> 32)}; }));
  bank.on_read<regs::LogA>(word([](const LogEntry& e) { return regs::LogA{e.a}; }));
  bank.on_read<regs::LogB>(word([](const LogEntry& e) { return regs::LogB{e.b}; }));
}

void LogRing::describe(const Description& d) {
  d.events([this](Described::EventSink sink) {
    observer_ = [this, sink = std::move(sink)](const LogEntry& entry) {
      TraceEvent e;
      e.cycle = clk_.now();
      e.where = "firmware_log";
      e.kind = TraceKind::kFirmwareLog;
      e.values = {static_cast<std::uint32_t>(entry.code), entry.a, entry.b};
      sink(e);
    };
  });
}

void LogRing::write(fw::LogCode code, std::uint32_t a, std::uint32_t b) {
  Slot& slot = slots_[written_ % kSlots];
  slot = {{written_, clk_.now_ps() / 1000, code, a, b}, clk_.now()};
  if (written_ - bank_.get<regs::LogTaken>().value >= kEntries) bank_.count<regs::LogLost>();
  ++written_;
  if (observer_) observer_(slot.entry);
}

std::uint32_t LogRing::next() const {
  std::uint32_t n = written_;
  while (n != 0 && written_ - n < kEntries && slots_[(n - 1) % kSlots].at == clk_.now()) --n;
  return n;
}

const LogEntry* LogRing::selected() const {
  const std::uint32_t n = bank_.get<regs::LogSelect>().value;
  return n >= oldest() && n < next() ? &slots_[n % kSlots].entry : nullptr;
}

std::vector<LogEntry> LogRing::entries() const {
  std::vector<LogEntry> list;
  for (std::uint32_t n = written_ < kEntries ? 0 : written_ - kEntries; n < written_; ++n) {
    list.push_back(slots_[n % kSlots].entry);
  }
  return list;
}

}  // namespace rnic
