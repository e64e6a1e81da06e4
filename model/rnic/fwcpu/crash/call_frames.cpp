#include "model/rnic/fwcpu/crash/call_frames.h"

#include "model/rnic/fwcpu/crash/dwarf_reader.h"

namespace rnic {

// The part shared by functions.
struct CallFrames::Common {
  std::uint32_t code_factor = 1;
  std::int32_t data_factor = 1;
  ByteSpan program;
};

struct CallFrames::Function {
  Common common;
  std::uint32_t address = 0, bytes = 0;
  ByteSpan program;
};

// At an instruction: the frame's end (its CFA) is a register and an offset, and the registers stored before it.
struct CallFrames::Rules {
  unsigned cfa_register = kStackPointer;
  std::int32_t cfa_offset = 0;
  std::array<std::optional<std::int32_t>, kPc> saved;
};

CallFrames::CallFrames(ByteSpan section) : section_(section) {}

std::optional<CallFrames::Common> CallFrames::common_at(std::uint32_t offset) const {
  DwarfReader r(section_.subspan(offset));
  const ByteSpan octets = section_.subspan(std::size_t{offset} + 4, r.u32());
  DwarfReader entry(octets);
  if (entry.u32() != UINT32_MAX) return std::nullopt;
  const std::uint8_t version = entry.u8();
  if (!entry.text().empty()) return std::nullopt;  // an augmentation changes the rest
  if (version == 4) entry.skip(2);                 // sizes of addresses and segments
  Common common;
  common.code_factor = static_cast<std::uint32_t>(entry.unsigned_leb());
  common.data_factor = static_cast<std::int32_t>(entry.signed_leb());
  const std::uint64_t return_column = version == 1 ? entry.u8() : entry.unsigned_leb();
  if (!entry.good() || return_column != kReturn) return std::nullopt;
  common.program = octets.subspan(entry.at());
  return common;
}

std::optional<CallFrames::Function> CallFrames::function_at(std::uint32_t pc) const {
  DwarfReader entries(section_);
  while (!entries.at_end()) {
    const std::uint32_t bytes = entries.u32();
    const ByteSpan octets = section_.subspan(entries.at(), bytes);
    DwarfReader entry = entries.piece(bytes);
    const std::uint32_t common = entry.u32();
    if (common == UINT32_MAX) continue;
    Function f;
    f.address = entry.u32();
    f.bytes = entry.u32();
    if (!entry.good() || pc - f.address >= f.bytes) continue;
    const std::optional<Common> of_all = common_at(common);
    if (!of_all) return std::nullopt;
    f.common = *of_all;
    f.program = octets.subspan(entry.at());
    return f;
  }
  return std::nullopt;
}

// Up to the rules that hold at pc. False for an unknown instruction.
bool CallFrames::execute(ByteSpan program, const Function& function, std::uint32_t pc, const Rules& initial,
                         Rules& rules) {
  enum : std::uint8_t {
    kNop,
    kAdvance1 = 2,
    kAdvance2,
    kAdvance4,
    kOffsetExtended,
    kRestoreExtended,
    kUndefined,
    kSameValue,
    kRemember = 0x0a,
    kRestoreState,
    kDefCfa,
    kDefCfaRegister,
    kDefCfaOffset
  };
  enum : std::uint8_t { kAdvance = 1, kOffset, kRestore };  // in the two highest bits, with an operand in the others
  std::vector<Rules> remembered;
  std::uint32_t at = function.address;
  for (DwarfReader r(program); !r.at_end();) {
    const std::uint8_t op = r.u8(), operand = op & 0x3f;
    const auto number = [&r] { return static_cast<std::uint32_t>(r.unsigned_leb()); };
    const auto advance = [&](std::uint32_t by) { at += by * function.common.code_factor; };
    const auto save = [&](std::uint32_t reg) {
      const std::int32_t offset = static_cast<std::int32_t>(number()) * function.common.data_factor;
      if (reg < kPc) rules.saved[reg] = offset;
    };
    const auto restore = [&](std::uint32_t reg) {
      if (reg < kPc) rules.saved[reg] = initial.saved[reg];
    };
    switch (op >> 6) {
      case kAdvance:
        advance(operand);
        break;
      case kOffset:
        save(operand);
        break;
      case kRestore:
        restore(operand);
        break;
      default:
        switch (op) {
          case kNop:
            break;
          case kAdvance1:
            advance(r.u8());
            break;
          case kAdvance2:
            advance(r.u16());
            break;
          case kAdvance4:
            advance(r.u32());
            break;
          case kOffsetExtended:
            save(number());
            break;
          case kRestoreExtended:
          case kUndefined:
          case kSameValue:
            restore(number());
            break;
          case kRemember:
            remembered.push_back(rules);
            break;
          case kRestoreState:
            if (remembered.empty()) return false;
            rules = remembered.back();
            remembered.pop_back();
            break;
          case kDefCfa:
            rules.cfa_register = number();
            rules.cfa_offset = static_cast<std::int32_t>(number());
            break;
          case kDefCfaRegister:
            rules.cfa_register = number();
            break;
          case kDefCfaOffset:
            rules.cfa_offset = static_cast<std::int32_t>(number());
            break;
          default:
            return false;
        }
    }
    if (at > pc) break;
  }
  return true;
}

bool CallFrames::leave(Registers& registers, const Memory& memory, std::uint32_t pc) const {
  const std::optional<Function> function = function_at(pc);
  if (!function) return false;
  Rules initial, rules;
  if (!execute(function->common.program, *function, pc, Rules(), initial)) return false;
  rules = initial;
  if (!execute(function->program, *function, pc, initial, rules) || rules.cfa_register >= kPc) return false;
  const Registers inside = registers;
  const std::uint32_t cfa = inside[rules.cfa_register] + static_cast<std::uint32_t>(rules.cfa_offset);
  for (unsigned reg = 1; reg < kPc; ++reg) {
    if (!rules.saved[reg]) continue;
    const std::optional<std::uint32_t> word = memory(cfa + static_cast<std::uint32_t>(*rules.saved[reg]));
    if (!word) return false;
    registers[reg] = *word;
  }
  registers[kStackPointer] = cfa;
  registers[kPc] = registers[kReturn];
  return registers[kPc] != inside[kPc] || cfa != inside[kStackPointer];
}

std::vector<std::uint32_t> CallFrames::callers(Registers registers, const Memory& memory, std::size_t most) const {
  std::vector<std::uint32_t> found;
  // Another function may follow a call: the call itself is before its return address.
  for (bool innermost = true; found.size() < most; innermost = false) {
    const std::uint32_t pc = registers[kPc] - (innermost ? 0 : 1);
    const bool known = function_at(pc).has_value();
    if (known ? !leave(registers, memory, pc) : !innermost) break;
    if (!known) registers[kPc] = registers[kReturn];
    if (!function_at(registers[kPc] - 1)) break;
    found.push_back(registers[kPc]);
  }
  return found;
}

}  // namespace rnic
