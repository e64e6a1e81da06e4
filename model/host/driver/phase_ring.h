// The consumer's side of a ring that the device writes: completion queues and the event queue.
#pragma once

#include <cstdint>
#include <cstring>

#include "model/common/clock_domain.h"
#include "model/host/host_memory.h"

namespace rnic::host {

// Entries carry a phase bit that starts at 1 and flips each time the ring wraps, so that a valid entry differs
// from an old one without a register read.
template <class Entry>
class PhaseRing {
 public:
  // Further octets after the last entry.
  PhaseRing(HostMemory& memory, const ClockDomain& clk, unsigned log_entries, std::size_t behind = 0)
      : memory_(memory), clk_(clk), log_(log_entries), behind_(behind), base_(memory.alloc(bytes() + behind, 4096)) {}
  ~PhaseRing() { memory_.free(base_, bytes() + behind_); }
  PhaseRing(const PhaseRing&) = delete;
  PhaseRing& operator=(const PhaseRing&) = delete;

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return sizeof(Entry) << log_; }
  unsigned log_entries() const { return log_; }
  std::uint32_t entries() const { return 1u << log_; }
  std::uint32_t taken() const { return taken_; }  // entries ever taken, modulo 2^32

  // The device wrote at this address in this cycle: the processor sees it from the next one on.
  void written(std::uint64_t address) {
    if (fresh_in_ == clk_.now()) return;
    fresh_in_ = clk_.now();
    fresh_slot_ = static_cast<std::uint32_t>((address - base_) / sizeof(Entry));
  }

  // Copies the oldest entry without taking it; false when there is none.
  bool peek(Entry& entry) const {
    const std::uint32_t slot = taken_ & (entries() - 1);
    if (fresh_in_ == clk_.now() && slot == fresh_slot_) return false;
    std::memcpy(static_cast<void*>(&entry), memory_.span(base_ + slot * sizeof(Entry), sizeof(Entry)).data(),
                sizeof(Entry));
    return entry.phase == ((taken_ >> log_ & 1) ^ 1);
  }
  void take() { ++taken_; }
  // In its state before the device wrote to it; no write to it may be in flight.
  void clear() {
    std::memset(memory_.span(base_, bytes()).data(), 0, bytes());
    taken_ = 0;
    fresh_in_ = kNever;
  }

 private:
  HostMemory& memory_;
  const ClockDomain& clk_;
  const unsigned log_;
  const std::size_t behind_;
  const std::uint64_t base_;
  std::uint32_t taken_ = 0;
  Cycle fresh_in_ = kNever;
  std::uint32_t fresh_slot_ = 0;
};

}  // namespace rnic::host
