#include "model/rnic/register_owner.h"

#include "model/abi/rnic_regs.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using Kind = RequestId::Kind;

class RegisterOwnerTest : public StageTest {
 protected:
  static constexpr std::uint64_t kBar = 0xe0000000;
  ContextStore contexts{clk, {4, 4, 4, 4, 4, 4, 1}};
  RegisterOwner owners{contexts, pcie::PcieLinkConfig{}};

  RequestId owner(std::uint64_t offset, std::uint32_t value, std::uint64_t bar = kBar) {
    return owners.of(pcie::Tlp::write32(bar + offset, value));
  }
};

TEST_F(RegisterOwnerTest, ADoorbellBelongsToItsQueuePair) {
  EXPECT_EQ(owner(regs::SqDoorbell::kOffset, 2), contexts.queue_pair(Qpn{2}));
  EXPECT_EQ(owner(regs::RqDoorbell::kOffset, 3), contexts.queue_pair(Qpn{3}));
  EXPECT_FALSE(owner(regs::SqDoorbell::kOffset, 4)) << "a number outside the table";
}

TEST_F(RegisterOwnerTest, CommandsBelongToTheNewestThatTheyAnnounce) {
  EXPECT_EQ(owner(regs::CmdqDoorbell::kOffset, 3), RequestId(1, Kind::kCommand, 0, 0, 2));
  EXPECT_EQ(owner(regs::CmdqDoorbell::kOffset, 1), RequestId(1, Kind::kCommand, 0, 0, 65536)) << "the index wraps";
}

// In the order of the accesses: earlier ones went to the old address.
TEST_F(RegisterOwnerTest, TheRegistersAreWhereTheHostPutsThem) {
  using R = pcie::ConfigRegisters;
  EXPECT_FALSE(owners.of(pcie::Tlp::config_write(R::kBar0, 4, 0x40000000)));
  EXPECT_EQ(owner(regs::SqDoorbell::kOffset, 2, 0x40000000), contexts.queue_pair(Qpn{2}));
  EXPECT_FALSE(owner(regs::SqDoorbell::kOffset, 2));
  EXPECT_EQ(owners.offset(pcie::Tlp::read(0x40000010, 4, 0)), 0x10u);
}

TEST_F(RegisterOwnerTest, AResetStartsItsRingsFromTheBeginning) {
  using R = pcie::ConfigRegisters;
  for (const bool of_the_link : {false, true}) {
    owner(regs::CmdqDoorbell::kOffset, 3);
    if (of_the_link) owners.reset();
    else owners.of(pcie::Tlp::config_write(R::kDeviceControl, 2, R::kFunctionReset));
    EXPECT_FALSE(owner(regs::CmdqDoorbell::kOffset, 1)) << "BAR0 has no address";
    owners.of(pcie::Tlp::config_write(R::kBar0, 4, kBar));
    EXPECT_EQ(owner(regs::CmdqDoorbell::kOffset, 1), RequestId(1, Kind::kCommand, 0, 0, 0));
  }
}

// With offsets of 32 bits it would be taken for the doorbell.
TEST_F(RegisterOwnerTest, WhatLiesOutsideTheBarKeepsItsOwner) {
  const RequestId own(1, Kind::kSend, 1, 0, 9);
  for (const std::uint64_t away : {std::uint64_t{1} << 32, std::uint64_t{3} << 32, ~std::uint64_t{0} << 32}) {
    pcie::Tlp tlp = pcie::Tlp::write32(kBar + regs::SqDoorbell::kOffset + away, 2);
    tlp.owner = own;
    EXPECT_EQ(owners.of(tlp), own);
  }
}

}  // namespace
}  // namespace rnic::test
