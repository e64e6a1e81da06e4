// The callers of a function that stopped in the middle: the call frame information of DWARF (version 5, section 6.4),
// as the compiler writes it for RV32.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/common/bytes.h"

namespace rnic {

class CallFrames {
 public:
  static constexpr unsigned kReturn = 1, kStackPointer = 2, kPc = 32;
  using Registers = std::array<std::uint32_t, kPc + 1>;  // x0 to x31, pc
  // A word of the program's memory, if there is one.
  using Memory = std::function<std::optional<std::uint32_t>(std::uint32_t address)>;

  // `section` is .debug_frame.
  explicit CallFrames(ByteSpan section);

  // Return addresses, the innermost first. Ends where the information ends, where the stack is invalid, or after
  // `most`. If nothing is known about the code at pc, the return register has the caller.
  std::vector<std::uint32_t> callers(Registers registers, const Memory& memory, std::size_t most) const;

 private:
  struct Common;
  struct Function;
  struct Rules;

  std::optional<Function> function_at(std::uint32_t pc) const;
  std::optional<Common> common_at(std::uint32_t offset) const;
  static bool execute(ByteSpan program, const Function& function, std::uint32_t pc, const Rules& initial, Rules& rules);
  // The caller's registers; false if there is none.
  bool leave(Registers& registers, const Memory& memory, std::uint32_t pc) const;

  const ByteSpan section_;
};

}  // namespace rnic
