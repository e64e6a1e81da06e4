// Each class of RV32IMC instructions has its own digit in the sum.
#include "model/rnic/fwcpu/rv32/instruction_costs.h"

#include <gtest/gtest.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::test {
namespace {

Rv32Config digits() {
  Rv32Config c;
  c.alu_cycles = 1;
  c.load_cycles = 10;
  c.store_cycles = 100;
  c.multiply_cycles = 1'000;
  c.divide_cycles = 10'000;
  c.jump_cycles = 100'000;
  c.branch_cycles = 1'000'000;
  c.system_cycles = 10'000'000;
  return c;
}
// Octets as in memory, little-endian.
void expect(const char* octets, std::uint32_t cycles, std::uint32_t instructions = 1, bool branches = false) {
  SCOPED_TRACE(octets);
  const BlockCost cost = cost_of(hex(octets), digits());
  EXPECT_EQ(cost.cycles, cycles);
  EXPECT_EQ(cost.instructions, instructions);
  EXPECT_EQ(cost.branches, branches);
}

TEST(InstructionCostsTest, FourOctets) {
  expect("13055000", 1);                   // addi a0,zero,5
  expect("b305a500", 1);                   // add a1,a0,a0
  expect("37160040", 1);                   // lui a2,0x40001
  expect("17030000", 1);                   // auipc t1,0
  expect("0f00f00f", 1);                   // fence
  expect("83260600", 10);                  // lw a3,0(a2)
  expect("83460600", 10);                  // lbu a3,0(a2)
  expect("2322d600", 100);                 // sw a3,4(a2)
  expect("3307b502", 1'000);               // mul a4,a0,a1
  expect("3337b502", 1'000);               // mulhu a4,a0,a1
  expect("b3d7a502", 10'000);              // divu a5,a1,a0
  expect("33f8a502", 10'000);              // remu a6,a1,a0
  expect("ef008000", 100'000);             // jal ra,.+8
  expect("e7000500", 100'000);             // jalr ra,0(a0)
  expect("6304b500", 1'000'000, 1, true);  // beq a0,a1,.+8
  expect("f3220030", 10'000'000);          // csrrs t0,mstatus,zero
  expect("73002030", 10'000'000);          // mret
  expect("73005010", 10'000'000);          // wfi
}

TEST(InstructionCostsTest, TwoOctets) {
  for (const char* alu : {"0505", "2e85", "2e95", "0605", "0545", "0100"}) expect(alu, 1);  // c.addi mv add slli li nop
  expect("8841", 10);                                                                       // c.lw a0,0(a1)
  expect("0245", 10);                                                                       // c.lwsp a0,0(sp)
  expect("88c1", 100);                                                                      // c.sw a0,0(a1)
  expect("2ac0", 100);                                                                      // c.swsp a0,0(sp)
  expect("11a0", 100'000);                                                                  // c.j .+4
  expect("1120", 100'000);                                                                  // c.jal .+4
  expect("8280", 100'000);                                                                  // c.jr ra
  expect("8290", 100'000);                                                                  // c.jalr ra
  expect("11c1", 1'000'000, 1, true);                                                       // c.beqz a0,.+4
  expect("11e1", 1'000'000, 1, true);                                                       // c.bnez a0,.+4
}

TEST(InstructionCostsTest, ABlockIsTheSumOfItsInstructions) {
  expect("0505 83260600 2ac0 3307b502 11e1", 1'001'111, 5, true);
  expect("", 0, 0);
}

}  // namespace
}  // namespace rnic::test
