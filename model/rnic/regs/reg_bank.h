// The values of the registers of rnic_regs.h, with the access rules of the table and the owners' behaviour.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/abi/rnic_regs.h"
#include "model/common/registered.h"

namespace rnic::regs {

enum class RegStatus : std::uint8_t { kOk, kUnsupported, kBadSize, kReadOnly };

// Whatever changes a register in a cycle, host or chip, is visible to everybody from the next cycle on. Where both
// change one register in the same cycle, clearing comes before setting and counting, so that no event is lost.
class RegBank final : public Committed {
 public:
  explicit RegBank(ClockDomain& clk);

  // The host's accesses. An error changes nothing but the error counter registers.
  struct ReadResult {
    RegStatus status = RegStatus::kOk;
    std::uint32_t value = 0;
  };
  ReadResult read(std::uint32_t offset, std::uint32_t bytes);
  RegStatus write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value);

  // The chip's view of a register; `i` is the index in an array.
  template <class R>
  R get(std::uint32_t i = 0) const {
    return R::unpack(cells_[cell<R>(i)].value);
  }
  template <class R>
  void set(const R& r, std::uint32_t i = 0) {
    change({cell<R>(i), ~0u, r.pack(), 0});
  }
  // Sets bits and leaves the others as they are.
  template <class R>
  void raise(const R& bits) {
    change({cell<R>(0), 0, bits.pack(), 0});
  }
  // Adds one to a counter register, which stops at its largest value.
  template <class R>
  void count() {
    change({cell<R>(0), 0, 0, 1});
  }
  // Before the simulation starts: what the register holds now and after a reset.
  template <class R>
  void strap(const R& r, std::uint32_t i = 0) {
    cells_[cell<R>(i)].value = cells_[cell<R>(i)].reset = r.pack();
  }

  // Called with R, or with R and the index, when the host writes the register; at most one owner.
  template <class R, class F>
  void on_write(F f) {
    Hooks& hooks = hooks_[cells_[cell<R>(0)].reg];
    RNIC_CHECK(!hooks.write);
    hooks.write = [f](std::uint32_t value, std::uint32_t i) {
      if constexpr (std::is_invocable_v<F, R, std::uint32_t>) f(R::unpack(value), i);
      else f(R::unpack(value));
    };
  }
  // Supplies what the host reads in place of the stored value; must answer from state that is registered itself.
  template <class R, class F>
  void on_read(F f) {
    Hooks& hooks = hooks_[cells_[cell<R>(0)].reg];
    RNIC_CHECK(!hooks.read);
    hooks.read = [f] { return R(f()).pack(); };
  }

  // What CONTROL.RESET does at the end of its cycle.
  void reset();
  // Called when the host resets the chip, at the end of the cycle in which it does; at most one owner.
  void on_reset(std::function<void()> f) {
    RNIC_CHECK(!reset_chip_);
    reset_chip_ = std::move(f);
  }

  void commit() override;

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  struct Cell {
    std::uint32_t value = 0, reset = 0;
    std::uint16_t reg = kNone;  // index in kRegisters
  };
  struct Hooks {
    std::function<void(std::uint32_t, std::uint32_t)> write;
    std::function<std::uint32_t()> read;
  };
  struct Change {
    std::uint32_t cell, clear, set, add;
  };
  template <class R>
  static std::uint32_t cell(std::uint32_t i) {
    std::uint32_t offset = R::kOffset;
    if constexpr (is_array<R>::value) {
      RNIC_CHECK(i < R::kCount);
      offset = R::offset(i);
    } else {
      RNIC_CHECK(i == 0);
    }
    return offset / 4;
  }
  template <class R, class = void>
  struct is_array : std::false_type {};
  template <class R>
  struct is_array<R, std::void_t<decltype(R::kCount)>> : std::true_type {};

  RegStatus refuse(RegStatus status);
  void change(const Change& c);

  ClockDomain& clk_;
  std::vector<Cell> cells_;
  std::vector<Hooks> hooks_;
  std::vector<Change> changes_;
  std::function<void()> reset_chip_;
  bool reset_ = false;
};

}  // namespace rnic::regs
