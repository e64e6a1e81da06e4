#include "model/rnic/fwcpu/rv32/iss.h"

#include <utility>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/rnic/fwcpu/firmware_fault.h"
#include "model/rnic/fwcpu/rv32/memory_access.h"
#include "model/rnic/fwcpu/rv32/unicorn.h"

namespace rnic {

using namespace fw::rv32;

// Called by Unicorn.
struct Iss::Hooks {
  template <class F>
  static void guarded(void* user, F f) {
    Iss& iss = *static_cast<Iss*>(user);
    if (iss.thrown_) return;  // the run is ending
    try {
      f(iss);
    } catch (...) {
      iss.thrown_ = std::current_exception();
      iss.unicorn_.emu_stop(iss.uc_);
    }
  }
  static void block(uc_engine*, std::uint64_t address, std::uint32_t bytes, void* user) {
    guarded(user, [&](Iss& iss) { iss.entered(static_cast<std::uint32_t>(address), bytes); });
  }
  static void instruction(uc_engine*, std::uint64_t address, std::uint32_t, void* user) {
    guarded(user, [&](Iss& iss) { iss.before_instruction(static_cast<std::uint32_t>(address)); });
  }
  static void trap(uc_engine*, std::uint32_t cause, void* user) {
    guarded(user, [&](Iss& iss) { iss.trapped(cause); });
  }
  // An access without a target, which ends the run.
  static bool invalid(uc_engine*, uc_mem_type, std::uint64_t address, int, std::int64_t, void* user) {
    guarded(user, [&](Iss& iss) {
      iss.fault_address_ = static_cast<std::uint32_t>(address);
      iss.stop_at_access(*iss.fault_address_);
    });
    return false;
  }
  // The chip may refuse an access to a register.
  template <class F>
  static void access(void* user, std::uint64_t offset, F f) {
    guarded(user, [&](Iss& iss) {
      iss.cycles_ += iss.config_.csr_access_cycles;
      try {
        f(iss);
      } catch (const FirmwareFault& fault) {
        const std::uint32_t address = kCsr.base + static_cast<std::uint32_t>(offset);
        if (fault.cause == abi::FaultCause::kBusFault) iss.fault_address_ = address;
        iss.stop_at_access(address);
        throw;
      }
    });
  }
  static std::uint64_t read(uc_engine*, std::uint64_t offset, unsigned, void* user) {
    std::uint32_t value = 0;
    access(user, offset, [&](Iss& iss) { value = iss.registers_.read(static_cast<std::uint32_t>(offset)); });
    return value;
  }
  static void write(uc_engine*, std::uint64_t offset, unsigned, std::uint64_t value, void* user) {
    access(user, offset, [&](Iss& iss) {
      iss.registers_.write(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(value), iss.cycles_);
    });
  }
};

namespace {

constexpr std::uint32_t kNoPc = UINT32_MAX;
constexpr std::uint32_t kMie = 8, kMpie = 0x80, kMppMachine = 0x1800;  // of mstatus

void check(uc_err error, const char* what) {
  if (error != UC_ERR_OK)
    throw InternalError(fmt::format("RV32 processor: {}: {}", what, Unicorn::get().strerror(error)));
}

}  // namespace

Iss::Iss(MemoryMap& memory, Registers& registers, const Rv32Config& config, std::uint64_t watchdog_cycles)
    : unicorn_(Unicorn::get()),
      memory_(memory),
      registers_(registers),
      config_(config),
      watchdog_cycles_(watchdog_cycles),
      blocks_(kText.bytes / 2) {
  check(unicorn_.open(UC_ARCH_RISCV, UC_MODE_RISCV32, &uc_), "cannot be made");
  for (const MemoryMap::Window& w : memory_.windows()) {
    unsigned rights = UC_PROT_READ;
    if (w.executable) rights |= UC_PROT_EXEC;
    if (w.writable) rights |= UC_PROT_WRITE;
    check(unicorn_.mem_map_ptr(uc_, w.at.base, w.at.bytes, rights, w.octets.data()), "memory");
  }
  check(unicorn_.mmio_map(uc_, kCsr.base, kCsr.bytes, Hooks::read, this, Hooks::write, this), "registers");
  uc_hook hook;
  check(unicorn_.hook_add(uc_, &hook, UC_HOOK_BLOCK, reinterpret_cast<void*>(Hooks::block), this, 1, 0), "block hook");
  check(unicorn_.hook_add(uc_, &hook, UC_HOOK_INTR, reinterpret_cast<void*>(Hooks::trap), this, 1, 0), "trap hook");
  check(unicorn_.hook_add(uc_, &hook, UC_HOOK_MEM_INVALID, reinterpret_cast<void*>(Hooks::invalid), this, 1, 0),
        "memory hook");
}

Iss::~Iss() {
  if (uc_ != nullptr) unicorn_.close(uc_);
}

// The hardware's actions for an interrupt in machine mode (RISC-V privileged architecture, section 3.1.6.1).
std::uint64_t Iss::interrupt(std::uint32_t cause) {
  const std::uint32_t status = read_id(UC_RISCV_REG_MSTATUS);
  if ((status & kMie) == 0) throw FirmwareFault(abi::FaultCause::kWatchdog, "it waits with interrupts off");
  write_id(UC_RISCV_REG_MEPC, get(kPc));
  write_id(UC_RISCV_REG_MCAUSE, cause);
  write_id(UC_RISCV_REG_MSTATUS, (status & ~(kMie | kMpie)) | kMpie | kMppMachine);
  return run(read_id(UC_RISCV_REG_MTVEC) & ~3u);
}

std::uint64_t Iss::run(std::uint32_t pc) {
  cycles_ = 0;
  fault_address_.reset();
  stopped_.reset();
  try {
    execute(pc);
    while (jump_) execute(*std::exchange(jump_, std::nullopt));
  } catch (const FirmwareFault& fault) {
    if (observer_ != nullptr) observer_->faulted(*this, fault.cause);
    throw;
  }
  take_back_from(get(kPc));
  return cycles_;
}

void Iss::execute(std::uint32_t pc) {
  block_ = block_end_ = kNoPc;
  branches_ = trapped_ = false;
  const uc_err error = unicorn_.emu_start(uc_, pc, kNoPc, 0, 0);
  if (trapped_) set(kPc, get(kPc) - 4);  // Unicorn continues after the trapping instruction
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (error != UC_ERR_OK) fail(error);
}

// Code that is already translated is discarded, as it does not announce instructions.
void Iss::observe(DebugObserver& observer) {
  observer_ = &observer;
  uc_hook hook;
  check(unicorn_.hook_add(uc_, &hook, UC_HOOK_CODE, reinterpret_cast<void*>(Hooks::instruction), this, 1, 0),
        "code hook");
  check(unicorn_.ctl(uc_, UC_CTL_WRITE(UC_CTL_TB_REMOVE_CACHE, 2), kText.base, kText.base + kText.bytes),
        "translations");
}

void Iss::before_instruction(std::uint32_t pc) {
  announced_ = pc;
  observer_->before_instruction(*this, pc);
  announced_.reset();
  if (jump_) unicorn_.emu_stop(uc_);
}

// A block is straight-line code to its end; its cost is computed once.
void Iss::entered(std::uint32_t address, std::uint32_t bytes) {
  if (bytes == 0 || bytes > PageMemory::kPageBytes) return;  // begins with an illegal instruction
  if (branches_ && address != block_end_) cycles_ += config_.taken_cycles;
  if (places_ != nullptr) places_->push_back({cycles_, address});
  Block& block = blocks_.at((address - kText.base) / 2);
  if (block.bytes != bytes) block = {bytes, cost_of(memory_.text().subspan(address - kText.base, bytes), config_)};
  block_ = address;
  block_end_ = address + bytes;
  branches_ = block.cost.branches;
  cycles_ += block.cost.cycles;
  instructions_ += block.cost.instructions;
  if (cycles_ > watchdog_cycles_) {
    throw FirmwareFault(abi::FaultCause::kWatchdog,
                        fmt::format("a handler takes more than {} cycles", watchdog_cycles_));
  }
}

// WFI does not end a block, but the run; the rest of the block was not executed.
void Iss::take_back_from(std::uint32_t pc) {
  if (pc <= block_ || pc >= block_end_) return;
  const BlockCost rest = cost_of(memory_.text().subspan(pc - kText.base, block_end_ - pc), config_);
  cycles_ -= rest.cycles;
  instructions_ -= rest.instructions;
}

// An exception raised by the program itself (RISC-V privileged architecture, table 3.6). None has a handler.
void Iss::trapped(std::uint32_t cause) {
  constexpr std::uint32_t kIllegal = 2, kUserCall = 8, kMachineCall = 11;
  trapped_ = true;
  if (cause == kIllegal) throw FirmwareFault(abi::FaultCause::kIllegalInstruction, "illegal instruction");
  if (cause >= kUserCall && cause <= kMachineCall) {
    throw FirmwareFault(abi::FaultCause::kIllegalInstruction, "an ecall, which nothing answers");
  }
  throw FirmwareFault(abi::FaultCause::kBusFault, fmt::format("exception {}", cause));
}

// What Unicorn does not treat as a trap: EBREAK, which it reports as invalid, and accesses without a target.
void Iss::fail(int error) {
  constexpr std::uint32_t kEbreak = 0x00100073, kCompressedEbreak = 0x9002;
  const MutableByteSpan at = memory_.at(get(kPc), 4);
  if (error == UC_ERR_INSN_INVALID && !at.empty() &&
      (load_le32(at.data()) == kEbreak || load_le16(at.data()) == kCompressedEbreak)) {
    throw FirmwareFault(abi::FaultCause::kPanic, "an assertion failed (ebreak)");
  }
  const char* const what = Unicorn::get().strerror(static_cast<uc_err>(error));
  if (!fault_address_) throw FirmwareFault(abi::FaultCause::kBusFault, what);
  if (kStackGuard.has(*fault_address_)) {
    throw FirmwareFault(
        abi::FaultCause::kStackOverflow,
        fmt::format("its stack of {} octets has overflowed, at {:#010x}", kStack.bytes, *fault_address_));
  }
  throw FirmwareFault(abi::FaultCause::kBusFault, fmt::format("{}, at {:#010x}", what, *fault_address_));
}

std::uint32_t Iss::read_id(int id) const {
  std::uint32_t value = 0;
  check(unicorn_.reg_read(uc_, id, &value), "register");
  return value;
}
void Iss::write_id(int id, std::uint32_t value) { check(unicorn_.reg_write(uc_, id, &value), "register"); }

// Unicorn has the pc of the block, and may continue to its end.
void Iss::stop_at_access(std::uint32_t address) {
  State state;
  for (unsigned reg = 0; reg < kPc; ++reg) state.x[reg] = get(reg);
  state.pc = get(kPc);
  if (state.pc >= block_ && state.pc < block_end_) {
    const ByteSpan code = memory_.text().subspan(state.pc - kText.base, block_end_ - state.pc);
    state.pc += find_access(code, state.x, address).value_or(0);
  }
  stopped_ = state;
}

std::uint32_t Iss::get(unsigned reg) const {
  if (stopped_) return reg == kPc ? stopped_->pc : stopped_->x[reg];
  if (reg != kPc) return read_id(UC_RISCV_REG_X0 + static_cast<int>(reg));
  return jump_ ? *jump_ : announced_ ? *announced_ : read_id(UC_RISCV_REG_PC);
}
void Iss::set(unsigned reg, std::uint32_t value) {
  if (stopped_) (reg == kPc ? stopped_->pc : stopped_->x[reg]) = value;
  if (reg != kPc) write_id(UC_RISCV_REG_X0 + static_cast<int>(reg), value);
  else if (announced_) jump_ = value;
  else write_id(UC_RISCV_REG_PC, value);
}

// Text could be written here, but its translation would not change.
MutableByteSpan Iss::octets(std::uint32_t address, std::size_t bytes, bool write) {
  const MutableByteSpan found = memory_.at(address, bytes);
  return write && kText.has(address) ? MutableByteSpan{} : found;
}

}  // namespace rnic
