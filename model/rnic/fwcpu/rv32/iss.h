// The RV32IMC processor: Unicorn executes, this class counts cycles, enters traps and supervises the program.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "model/rnic/fwcpu/firmware_target.h"
#include "model/rnic/fwcpu/gdb/debug_target.h"
#include "model/rnic/fwcpu/rv32/instruction_costs.h"
#include "model/rnic/fwcpu/rv32/memory_map.h"

struct uc_struct;

namespace rnic {

struct Unicorn;

class Iss final : public DebugTarget {
 public:
  // The chip's registers (kCsr). Their exceptions leave run().
  class Registers {
   public:
    virtual ~Registers() = default;
    virtual std::uint32_t read(std::uint32_t offset) = 0;
    // `cycles` since the run began.
    virtual void write(std::uint32_t offset, std::uint32_t value, std::uint64_t cycles) = 0;
  };

  // A run that takes more than `watchdog_cycles` is a fault.
  Iss(MemoryMap& memory, Registers& registers, const Rv32Config& config, std::uint64_t watchdog_cycles);
  ~Iss() override;
  Iss(const Iss&) = delete;
  Iss& operator=(const Iss&) = delete;

  // From an address, or from the handler of an interrupt, until the program waits for an interrupt (WFI). Returns the
  // cycles that it took; throws FirmwareFault when it cannot continue, and the registers show where that was.
  std::uint64_t run(std::uint32_t pc);
  std::uint64_t interrupt(std::uint32_t cause);

  void set_watchdog(std::uint64_t cycles) { watchdog_cycles_ = cycles; }
  std::uint64_t cycles() const { return cycles_; }  // of the last run
  std::uint64_t instructions() const { return instructions_; }
  // The target that the last run could not reach, if that ended it.
  std::optional<std::uint32_t> fault_address() const { return fault_address_; }

  // From now on each entered block of straight-line code is recorded, with the cycles since the run began; nullptr:
  // off.
  void follow(std::vector<CodePlace>* places) { places_ = places; }

  // From now on every instruction is announced. Only the host's time changes.
  void observe(DebugObserver& observer);
  std::uint32_t get(unsigned reg) const override;
  void set(unsigned reg, std::uint32_t value) override;
  MutableByteSpan octets(std::uint32_t address, std::size_t bytes, bool write) override;

 private:
  struct Hooks;
  struct Block {
    std::uint32_t bytes = 0;  // 0: not seen yet
    BlockCost cost;
  };

  struct State {
    std::array<std::uint32_t, kPc> x;
    std::uint32_t pc;
  };

  void execute(std::uint32_t pc);
  void before_instruction(std::uint32_t pc);
  void entered(std::uint32_t address, std::uint32_t bytes);
  void take_back_from(std::uint32_t pc);
  void stop_at_access(std::uint32_t address);
  [[noreturn]] void fail(int error);
  void trapped(std::uint32_t cause);
  std::uint32_t read_id(int id) const;
  void write_id(int id, std::uint32_t value);

  const Unicorn& unicorn_;
  MemoryMap& memory_;
  Registers& registers_;
  const Rv32Config config_;
  std::uint64_t watchdog_cycles_;
  uc_struct* uc_ = nullptr;
  std::vector<Block> blocks_;                // by their first halfword in text
  std::uint32_t block_ = 0, block_end_ = 0;  // the running block
  bool branches_ = false;                    // it ends in a conditional branch
  std::uint64_t cycles_ = 0, instructions_ = 0;
  std::exception_ptr thrown_;  // in a hook; none may cross the simulator's frames
  bool trapped_ = false;
  std::optional<std::uint32_t> fault_address_;
  std::optional<State> stopped_;  // by an access that failed
  std::vector<CodePlace>* places_ = nullptr;
  DebugObserver* observer_ = nullptr;
  std::optional<std::uint32_t> announced_;  // pc of the instruction that the observer hears of
  std::optional<std::uint32_t> jump_;       // to where the observer has set it
};

}  // namespace rnic
