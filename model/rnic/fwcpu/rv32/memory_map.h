// The memories of the RV32 processor, where its program finds them.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/targets/rv32/platform.h"
#include "model/rnic/fwcpu/page_memory.h"
#include "model/rnic/fwcpu/rv32/elf_image.h"

namespace rnic {

class MemoryMap {
 public:
  struct Window {
    fw::rv32::Region at;
    MutableByteSpan octets;
    bool executable, writable;
  };

  // `sram` is the memory that the firmware shares with the hardware: at least kSram.bytes, in whole pages.
  explicit MemoryMap(MutableByteSpan sram);

  // Zeros in data and mailbox, and a stack that was never used; the SRAM is not touched.
  void clear();
  // Puts the segments into text and data. ConfigError if one is elsewhere.
  void load(const ElfImage& image);
  // The deepest use of the stack since clear().
  std::uint32_t stack_high_water() const;

  const std::array<Window, 5>& windows() const { return windows_; }
  // Octets by the program's address; empty unless all of them lie in one memory.
  MutableByteSpan at(std::uint32_t address, std::size_t bytes) const;
  ByteSpan text() const { return text_; }
  fw::rv32::Mailbox& mailbox() const { return *reinterpret_cast<fw::rv32::Mailbox*>(mailbox_.data()); }

 private:
  PageMemory text_{fw::rv32::kText.bytes}, data_{fw::rv32::kData.bytes}, stack_{fw::rv32::kStack.bytes},
      mailbox_{fw::rv32::kMailbox.bytes};
  const std::array<Window, 5> windows_;
};

}  // namespace rnic
