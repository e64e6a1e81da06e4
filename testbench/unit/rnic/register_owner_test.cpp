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
  RegisterOwner owners{contexts, kBar};

  RequestId owner(std::uint64_t offset, std::uint32_t value) {
    return owners.of(pcie::Tlp::write32(kBar + offset, value));
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

// It would be taken for the doorbell if the offset were 32 bits.
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
