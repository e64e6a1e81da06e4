// The RV32 processor's address space, the same for the firmware's image and for the model of the chip.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/lib/capacity.h"
#include "model/abi/firmware_events.h"
#include "model/abi/firmware_operations.h"
#include "model/abi/firmware_sram.h"

namespace rnic::fw::rv32 {

// rnic.ld must agree on text, data and stack.
struct Region {
  std::uint32_t base, bytes;
  constexpr std::uint32_t end() const { return base + bytes; }
  constexpr bool has(std::uint32_t address) const { return address - base < bytes; }
};
inline constexpr Region kText{0x80000000, 64 << 10};
inline constexpr Region kData{0x80100000, 384 << 10};
inline constexpr Region kStackGuard{0x80160000, 64 << 10};  // no memory: a stack that overflows ends here
inline constexpr Region kStack{0x80170000, 64 << 10};
static_assert(kData.end() == kStackGuard.base && kStackGuard.end() == kStack.base);
inline constexpr Region kSram{0x50000000, (sram_bytes(DefaultCapacity::kSetups) + 0xfff) & ~0xfffu};
inline constexpr Region kMailbox{0x40000000, 4096};
inline constexpr Region kCsr{0x40001000, 4096};

// The limit of static data for this many connections. Text may use all of its memory.
constexpr std::uint32_t data_budget(std::uint32_t connections) { return (16 << 10) + 256 * connections; }

// Registers.
inline constexpr std::uint32_t kOperation = 0;  // write: the number of the operation in the mailbox
inline constexpr std::uint32_t kEvent = 4;      // read: the number of the event in the mailbox

// An event raises the machine external interrupt, or for a timer the machine timer interrupt (RISC-V privileged
// architecture, section 3.1.15). The firmware waits with WFI and takes one interrupt at a time.
inline constexpr std::uint32_t kTimerCause = 0x80000007, kExternalCause = 0x8000000b;

struct Mailbox {
  Settings settings;  // written before the processor starts
  alignas(8) std::uint8_t event[Events::max_bytes()];
  alignas(8) std::uint8_t operation[Operations::max_bytes()];
};
static_assert(sizeof(Mailbox) <= kMailbox.bytes);

// In the image, at the symbol rnic_layout: the sizes of everything that passes through the mailbox. Both compilers must
// agree on them.
struct Layout {
  std::uint32_t settings = sizeof(Settings), event_offset = offsetof(Mailbox, event),
                operation_offset = offsetof(Mailbox, operation);
  std::uint32_t events[Events::kSize] = {}, operations[Operations::kSize] = {};

  static constexpr Layout mine() {
    Layout layout;
    Events::sizes(layout.events);
    Operations::sizes(layout.operations);
    return layout;
  }
};

}  // namespace rnic::fw::rv32
