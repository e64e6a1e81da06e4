// The firmware's bus on the RV32 processor: an operation is put into the mailbox, and a register write hands it over.
#pragma once

#include "firmware/targets/rv32/platform.h"

namespace rnic::fw::rv32 {

inline volatile std::uint32_t& csr(std::uint32_t offset) {
  return *reinterpret_cast<volatile std::uint32_t*>(kCsr.base + offset);
}
inline Mailbox& mailbox() { return *reinterpret_cast<Mailbox*>(kMailbox.base); }

class Bus {
 public:
  template <class Op>
  void write(const Op& op) {
    __builtin_memcpy(mailbox().operation, &op, sizeof op);
    asm volatile("" ::: "memory");  // the octets are written before the register
    csr(kOperation) = Operations::number_of<Op>();
  }
  MutableByteSpan sram(SramRange range) {
    return {reinterpret_cast<std::uint8_t*>(kSram.base + range.offset), range.bytes};
  }
};

}  // namespace rnic::fw::rv32
