// The processor on programs of a few instructions: cycles, registers of the chip, traps, and faults.
#include "model/rnic/fwcpu/rv32/iss.h"

#include <cstring>
#include <map>

#include <gmock/gmock.h>

#include "model/rnic/fwcpu/firmware_fault.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::test {
namespace {

using namespace fw::rv32;
using testing::ElementsAre;

class IssTest : public testing::Test, protected Iss::Registers {
 protected:
  struct Write {
    std::uint32_t offset, value;
    std::uint64_t cycles;
    bool operator==(const Write& w) const { return offset == w.offset && value == w.value && cycles == w.cycles; }
  };
  std::uint32_t read(std::uint32_t offset) override { return 0x1000 + offset; }
  void write(std::uint32_t offset, std::uint32_t value, std::uint64_t cycles) override {
    if (offset == kFaulty) throw FirmwareFault(abi::FaultCause::kPanic, "panic");
    writes.push_back({offset, value, cycles});
  }
  // Octets at an address of text, little-endian as in memory.
  void program(const char* octets, std::uint32_t at = kText.base) {
    const Bytes code = hex(octets);
    std::copy(code.begin(), code.end(), memory.at(at, code.size()).data());
  }
  abi::FaultCause fault(std::uint32_t pc = kText.base) {
    try {
      iss.run(pc);
    } catch (const FirmwareFault& f) {
      return f.cause;
    }
    return abi::FaultCause::kNone;
  }

  static constexpr std::uint64_t kWatchdog = 1000;
  static constexpr std::uint32_t kFaulty = 8;  // a register whose write throws
  PageMemory sram{kSram.bytes};
  MemoryMap memory{sram};
  std::vector<Write> writes;
  Iss iss{memory, *this, {}, kWatchdog};
};

constexpr unsigned kA0 = 10, kA1 = 11, kA2 = 12;

TEST_F(IssTest, RunsUntilItWaitsForAnInterrupt) {
  program(
      "13055000"    // addi a0,zero,5
      "73005010");  // wfi
  EXPECT_EQ(iss.run(kText.base), 1u + 3);
  EXPECT_EQ(iss.get(kA0), 5u);
  EXPECT_EQ(iss.instructions(), 2u);
}

// Three iterations: each of the two taken branches costs 2 more.
TEST_F(IssTest, ATakenBranchCostsMore) {
  program(
      "93033000"    // addi t2,zero,3
      "9383f3ff"    // 1: addi t2,t2,-1
      "e39e03fe"    // bne t2,zero,1b
      "73005010");  // wfi
  EXPECT_EQ(iss.run(kText.base), 3u + 2 * (2 + 2) + 3);
  EXPECT_EQ(iss.instructions(), 3u + 2 * 2 + 1);
  EXPECT_EQ(iss.run(kText.base), 3u + 2 * (2 + 2) + 3) << "the same again";
}

TEST_F(IssTest, CompressedCodeAndJumps) {
  program(
      "0545"  // c.li a0,1
      "19a0"  // c.j .+6
      "0505"  // c.addi a0,1, jumped over
      "0505"  // the same
      "0505"  // c.addi a0,1
      "73005010");
  EXPECT_EQ(iss.run(kText.base), 1u + 2 + 1 + 3);
  EXPECT_EQ(iss.get(kA0), 2u);
}

// A block's cycles count from its start; an access to the chip's registers costs 4 more.
TEST_F(IssTest, RegistersOfTheChipAreReadAndWritten) {
  program(
      "37160040"    // lui a2,0x40001
      "83254600"    // lw a1,4(a2)
      "2320b600"    // sw a1,0(a2)
      "73005010");  // wfi
  EXPECT_EQ(iss.run(kText.base), 1u + 2 + 1 + 3 + 4 + 4);
  EXPECT_THAT(writes, ElementsAre(Write{0, 0x1004, 15}));
}

TEST_F(IssTest, SharedMemoryIsTheHardwares) {
  sram.data()[4] = 42;
  program(
      "37060050"    // lui a2,0x50000
      "03454600"    // lbu a0,4(a2)
      "a304a600"    // sb a0,9(a2)
      "73005010");  // wfi
  iss.run(kText.base);
  EXPECT_EQ(sram.data()[9], 42);
}

// Records the program's path, and sets pc once.
class Follower final : public DebugObserver {
 public:
  void before_instruction(DebugTarget& target, std::uint32_t pc) override {
    EXPECT_EQ(target.get(DebugTarget::kPc), pc);
    path.push_back(pc - kText.base);
    if (pc == jump_from) target.set(DebugTarget::kPc, jump_to);
  }
  void faulted(DebugTarget& target, abi::FaultCause cause) override {
    faults.push_back(cause);
    EXPECT_EQ(target.get(DebugTarget::kPc), kText.base + 2);
  }
  std::vector<std::uint32_t> path;
  std::vector<abi::FaultCause> faults;
  std::uint32_t jump_from = 0, jump_to = 0;
};

constexpr const char* kTwiceAround =
    "93032000"   // addi t2,zero,2
    "9383f3ff"   // 1: addi t2,t2,-1
    "e39e03fe"   // bne t2,zero,1b
    "73005010";  // wfi

TEST_F(IssTest, AnObserverHearsOfEveryInstructionAndChangesNoCycle) {
  program(kTwiceAround);
  const std::uint64_t cycles = iss.run(kText.base);
  Follower follower;
  iss.observe(follower);
  EXPECT_EQ(iss.run(kText.base), cycles);
  EXPECT_THAT(follower.path, ElementsAre(0, 4, 8, 4, 8, 12));
  EXPECT_EQ(iss.instructions(), 12u);
}

TEST_F(IssTest, AnObserverSetsThePc) {
  program(kTwiceAround);
  Follower follower;
  follower.jump_from = kText.base + 4;
  follower.jump_to = kText.base + 12;
  iss.observe(follower);
  iss.run(kText.base);
  EXPECT_THAT(follower.path, ElementsAre(0, 4, 12));
  EXPECT_EQ(iss.get(7), 2u) << "t2: what was jumped over was not executed";
}

TEST_F(IssTest, AnObserverHearsOfAFault) {
  program("0545 0000");  // c.li a0,1, and no instruction
  Follower follower;
  iss.observe(follower);
  EXPECT_EQ(fault(), abi::FaultCause::kIllegalInstruction);
  EXPECT_THAT(follower.faults, ElementsAre(abi::FaultCause::kIllegalInstruction));
}

TEST_F(IssTest, ADebuggerWritesDataButNotText) {
  EXPECT_EQ(iss.octets(kText.base, 4, false).size(), 4u);
  EXPECT_TRUE(iss.octets(kText.base, 4, true).empty());
  EXPECT_EQ(iss.octets(kData.base, 4, true).size(), 4u);
  EXPECT_TRUE(iss.octets(kData.base + kData.bytes - 2, 4, false).empty());
  EXPECT_TRUE(iss.octets(kCsr.base, 4, false).empty());
}

class IssInterruptTest : public IssTest {
 protected:
  IssInterruptTest() {
    program(
        "97020000"  // auipc t0,0
        "93820210"  // addi t0,t0,0x100
        "73905230"  // csrrw zero,mtvec,t0
        "73600430"  // csrrsi zero,mstatus,8
        "73005010"  // 1: wfi
        "f5bf");    // c.j 1b
    program(
        "73252034"   // csrrs a0,mcause,zero
        "f3251034"   // csrrs a1,mepc,zero
        "73260030"   // csrrs a2,mstatus,zero
        "73002030",  // mret
        kText.base + 0x100);
  }
};

// RISC-V privileged architecture, sections 3.1.6.1 and 3.3.2: MPIE gets MIE, MIE is cleared, MPP is machine mode; MRET
// restores it.
TEST_F(IssInterruptTest, AnInterruptIsEnteredAndLeft) {
  EXPECT_EQ(iss.run(kText.base), 2 * 1u + 2 * 3 + 3);
  for (const std::uint32_t cause : {kTimerCause, kExternalCause}) {
    EXPECT_EQ(iss.interrupt(cause), 4 * 3u + 2 + 3) << "the handler, the jump behind WFI, and WFI";
    EXPECT_EQ(iss.get(kA0), cause);
    EXPECT_EQ(iss.get(kA1), kText.base + 0x14) << "behind WFI";
    EXPECT_EQ(iss.get(kA2) & 0x1888, 0x1880u);
  }
}

TEST_F(IssInterruptTest, AProgramThatWaitsWithInterruptsOffHangs) {
  program("01000100", kText.base + 0xc);  // c.nop c.nop instead of csrrsi
  iss.run(kText.base);
  EXPECT_THROW(iss.interrupt(kExternalCause), FirmwareFault);
}

TEST_F(IssTest, AnIllegalInstruction) {
  program("0545 0000");  // c.li a0,1, and an encoding that is never valid
  EXPECT_EQ(fault(), abi::FaultCause::kIllegalInstruction);
  EXPECT_EQ(iss.get(Iss::kPc), kText.base + 2);
  EXPECT_EQ(iss.get(kA0), 1u);
}

TEST_F(IssTest, FloatingPointIsNotThere) {
  program("53000000");  // fadd.s
  EXPECT_EQ(fault(), abi::FaultCause::kIllegalInstruction);
}

TEST_F(IssTest, AnAssertionOfTheProgramIsAPanic) {
  program("0290");  // c.ebreak
  EXPECT_EQ(fault(), abi::FaultCause::kPanic);
}

TEST_F(IssTest, NothingAnswersAnEcall) {
  program("73000000");
  EXPECT_EQ(fault(), abi::FaultCause::kIllegalInstruction);
}

TEST_F(IssTest, BusFaults) {
  const std::map<std::string, const char*> programs = {
      {"lw a0,0(zero)", "03250000"},
      {"sw zero,0(zero)", "23200000"},
      {"a store to text", "97020000 23a00200"},       // auipc t0,0; sw zero,0(t0)
      {"behind the registers", "37260040 83250600"},  // lui a2,0x40002; lw a1,0(a2)
      {"a jump to nowhere", "67000000"},              // jalr zero,0(zero)
      {"a jump to data", "b7021080 67800200"},        // lui t0,0x80100; jalr zero,0(t0)
  };
  for (const auto& [what, code] : programs) {
    program(code);
    Iss fresh(memory, *this, {}, kWatchdog);
    try {
      fresh.run(kText.base);
      ADD_FAILURE() << what;
    } catch (const FirmwareFault& f) {
      EXPECT_EQ(f.cause, abi::FaultCause::kBusFault) << what;
    }
  }
}

TEST_F(IssTest, AFaultHasTheAddressThatWasNotThere) {
  program("b7020012 23a40200");  // lui t0,0x12000; sw zero,8(t0)
  EXPECT_EQ(fault(), abi::FaultCause::kBusFault);
  EXPECT_EQ(iss.fault_address(), 0x12000008u);
  EXPECT_EQ(iss.get(Iss::kPc), kText.base + 4);
  EXPECT_EQ(fault(kText.base + 0x40), abi::FaultCause::kIllegalInstruction);
  EXPECT_EQ(iss.fault_address(), std::nullopt);
}

// Each kind of load and store, after another one and before more code: the dump has its own address and registers.
TEST_F(IssTest, AFaultIsAtTheInstructionThatMadeIt) {
  const struct {
    const char* what;
    const char* code;
    std::uint32_t address;
  } kAccesses[] = {
      {"lb a0,-1(t0)", "0385f2ff", 0x11ffffff},      {"lhu a0,2047(t0)", "03d5f27f", 0x120007ff},
      {"sw zero,-2048(t0)", "23a00280", 0x11fff800}, {"sb t0,31(t0)", "a38f5200", 0x1200001f},
      {"c.lw a0,124(s0)", "685c", 0x1300007c},       {"c.sw a0,64(s0)", "28c0", 0x13000040},
      {"c.lwsp a0,252(sp)", "7e55", 0x140000fc},     {"c.swsp a0,4(sp)", "2ac2", 0x14000004},
  };
  std::uint32_t at = kText.base;
  for (const auto& access : kAccesses) {
    SCOPED_TRACE(access.what);
    program("0545 83a50500", at);  // c.li a0,1; lw a1,0(a1), which is fine
    program(access.code, at + 6);
    program("0505 0505 73005010",
            at + 6 + static_cast<std::uint32_t>(std::strlen(access.code) / 2));  // c.addi a0,1, twice
    iss.set(kA1, kData.base);
    iss.set(2, 0x14000000);
    iss.set(5, 0x12000000);
    iss.set(8, 0x13000000);
    EXPECT_EQ(fault(at), abi::FaultCause::kBusFault);
    EXPECT_EQ(iss.fault_address(), access.address);
    EXPECT_EQ(iss.get(Iss::kPc), at + 6);
    EXPECT_EQ(iss.get(kA0), 1u);
    at += 0x40;
  }
}

TEST_F(IssTest, SoIsWhatTheChipRefuses) {
  program(
      "37160040"    // lui a2,0x40001
      "23240600"    // sw zero,8(a2)
      "0545 0505"   // c.li a0,1; c.addi a0,1
      "73005010");  // wfi
  iss.set(kA0, 7);
  EXPECT_EQ(fault(), abi::FaultCause::kPanic);
  EXPECT_EQ(iss.get(Iss::kPc), kText.base + 4);
  EXPECT_EQ(iss.get(kA0), 7u);
  EXPECT_EQ(iss.fault_address(), std::nullopt);
}

TEST_F(IssTest, AStackThatOverflowsIsSaidAndLeavesDataAlone) {
  const MutableByteSpan data = memory.at(kData.base, kData.bytes);
  std::fill_n(data.data(), data.size(), std::uint8_t{7});
  program(
      "130101ff"    // 1: addi sp,sp,-16
      "23261100"    // sw ra,12(sp)
      "eff09fff");  // jal ra,1b
  iss.set_watchdog(1'000'000);
  iss.set(2, kStack.end());
  try {
    iss.run(kText.base);
    ADD_FAILURE() << "it goes on";
  } catch (const FirmwareFault& f) {
    EXPECT_EQ(f.cause, abi::FaultCause::kStackOverflow);
    EXPECT_STREQ(f.what(), "its stack of 65536 octets has overflowed, at 0x8016fffc");
  }
  EXPECT_THAT(std::vector(data.data(), data.data() + data.size()), testing::Each(7));
}

TEST_F(IssTest, TheStackHasAHighWaterMark) {
  EXPECT_EQ(memory.stack_high_water(), 0u);
  program(
      "130101fc"    // addi sp,sp,-64
      "232a0100"    // sw zero,20(sp)
      "13010104"    // addi sp,sp,64
      "73005010");  // wfi
  iss.set(2, kStack.end());
  iss.run(kText.base);
  EXPECT_EQ(memory.stack_high_water(), 44u);
  memory.clear();
  EXPECT_EQ(memory.stack_high_water(), 0u);
}

TEST_F(IssTest, TheWatchdogEndsALoop) {
  program("01a0");  // c.j .
  EXPECT_EQ(fault(), abi::FaultCause::kWatchdog);
  EXPECT_EQ(iss.instructions(), kWatchdog / 2 + 1);
}

TEST_F(IssTest, WhatARegisterThrowsEndsTheRunAndNothingElse) {
  program(
      "37160040"    // lui a2,0x40001
      "23240600"    // sw zero,8(a2)
      "0545"        // c.li a0,1
      "73005010");  // wfi
  EXPECT_EQ(fault(), abi::FaultCause::kPanic);
  EXPECT_EQ(fault(kText.base + 8), abi::FaultCause::kNone);
  EXPECT_EQ(iss.get(kA0), 1u);
}

}  // namespace
}  // namespace rnic::test
