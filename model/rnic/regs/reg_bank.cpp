#include "model/rnic/regs/reg_bank.h"

#include <iterator>
#include <limits>

namespace rnic::regs {

RegBank::RegBank(ClockDomain& clk) : clk_(clk), cells_(kBarBytes / 4), hooks_(std::size(kRegisters)) {
  for (std::size_t reg = 0; reg < std::size(kRegisters); ++reg) {
    const RegInfo& info = kRegisters[reg];
    for (std::uint32_t i = 0; i < info.count; ++i) {
      cells_[(info.offset + i * info.stride) / 4] = {info.reset, info.reset, static_cast<std::uint16_t>(reg)};
    }
  }
}

RegStatus RegBank::refuse(RegStatus status) {
  if (status == RegStatus::kBadSize) count<BadSizeAccesses>();
  else if (status == RegStatus::kReadOnly) count<ReadOnlyWrites>();
  else count<UnsupportedRequests>();
  return status;
}

RegBank::ReadResult RegBank::read(std::uint32_t offset, std::uint32_t bytes) {
  if (bytes != 4 || offset % 4 != 0) return {refuse(RegStatus::kBadSize)};
  if (offset >= kBarBytes || cells_[offset / 4].reg == kNone) return {refuse(RegStatus::kUnsupported)};
  const Cell& cell = cells_[offset / 4];
  const Access access = kRegisters[cell.reg].access;
  if (access == Access::kWo) return {refuse(RegStatus::kUnsupported)};
  if (access == Access::kRc) change({offset / 4, cell.value, 0, 0});
  const Hooks& hooks = hooks_[cell.reg];
  return {RegStatus::kOk, hooks.read ? hooks.read() : cell.value};
}

RegStatus RegBank::write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value) {
  if (bytes != 4 || offset % 4 != 0) return refuse(RegStatus::kBadSize);
  if (offset >= kBarBytes || cells_[offset / 4].reg == kNone) return refuse(RegStatus::kUnsupported);
  const Cell& cell = cells_[offset / 4];
  const RegInfo& info = kRegisters[cell.reg];
  if (info.access == Access::kRo || info.access == Access::kRc) return refuse(RegStatus::kReadOnly);
  value &= info.mask;
  std::uint32_t kept = value;
  if (offset == Control::kOffset && Control::unpack(value).reset) {
    reset_ = true;
    kept = 0;
  }
  if (info.access == Access::kRw) change({offset / 4, ~0u, kept, 0});
  if (info.access == Access::kW1c) change({offset / 4, value, 0, 0});
  const Hooks& hooks = hooks_[cell.reg];
  if (hooks.write) hooks.write(value, (offset - info.offset) / info.stride);
  return RegStatus::kOk;
}

void RegBank::change(const Change& c) {
  if (changes_.empty()) clk_.commit_later(*this);
  changes_.push_back(c);
}

void RegBank::reset() {
  for (Cell& cell : cells_) cell.value = cell.reset;
  reset_ = false;
  changes_.clear();
  if (reset_chip_) reset_chip_();
}

void RegBank::commit() {
  if (reset_) return reset();
  for (const Change& c : changes_) cells_[c.cell].value &= ~c.clear;
  for (const Change& c : changes_) {
    std::uint32_t& value = cells_[c.cell].value;
    value |= c.set;
    value += value == std::numeric_limits<std::uint32_t>::max() ? 0 : c.add;
  }
  changes_.clear();
}

}  // namespace rnic::regs
