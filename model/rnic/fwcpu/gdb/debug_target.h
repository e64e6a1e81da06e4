// A processor as a debugger sees and watches it.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/common/bytes.h"

namespace rnic {

class DebugTarget {
 public:
  static constexpr unsigned kPc = 32, kRegisters = 33;  // x0 to x31, pc

  virtual ~DebugTarget() = default;
  virtual std::uint32_t get(unsigned reg) const = 0;
  virtual void set(unsigned reg, std::uint32_t value) = 0;
  // Octets by the program's address; empty unless there is memory for all of them, which may be written if `write`.
  virtual MutableByteSpan octets(std::uint32_t address, std::size_t bytes, bool write) = 0;
};

// Called from within a run of the processor, which continues when the call returns.
class DebugObserver {
 public:
  virtual ~DebugObserver() = default;
  virtual void before_instruction(DebugTarget& target, std::uint32_t pc) = 0;
  virtual void faulted(DebugTarget& target, abi::FaultCause cause) = 0;
};

}  // namespace rnic
