#include "model/capture/replay/memory_plan.h"

#include <gmock/gmock.h>

#include "model/abi/host_abi.h"
#include "testbench/unit/capture/replay/streams.h"

namespace rnic::replay {
namespace {

using testing::ElementsAre;

class MemoryPlanTest : public testing::Test {
 protected:
  TestStream fed{wire::MpaFrameKind::kRequest}, real{wire::MpaFrameKind::kReply};
  MemoryPlan plan() { return MemoryPlanner(fed.reader(), real.reader(), fed.stream(), real.stream()).plan(); }
};

TEST_F(MemoryPlanTest, AccessesThatTouchAreOneRegion) {
  fed.write(1, "11111111", "0000000000001000", "0102")
      .write(2, "11111111", "0000000000001002", "0304")
      .write(3, "11111111", "0000000000001008", "05")
      .write(4, "22222222", "0000000000001000", "06");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 3u);
  EXPECT_EQ(p.regions[0].base, 0x1000u);
  EXPECT_EQ(p.regions[0].octets.size(), 4u);
  EXPECT_EQ(p.regions[0].access, abi::kRemoteWrite);
  EXPECT_EQ(p.regions[1].base, 0x1008u);
  EXPECT_EQ(p.regions[2].stag, 0x22222222u);
  EXPECT_EQ(p.find(0x11111111, 0, 0x1003), 0u);
  EXPECT_EQ(p.find(0x11111111, 0, 0x1008), 1u);
  EXPECT_EQ(p.find(0x33333333, 0, 0x1000), std::nullopt);
}

TEST_F(MemoryPlanTest, WhatIsReadFirstWasThereFromTheBeginning) {
  fed.write(1, "11111111", "0000000000001000", "0102")
      .read(2, "99999999 0000000000005000", "00000004", "11111111 0000000000001000");
  real.response(3, "99999999", "0000000000005000", "0102A3A4");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 1u);
  EXPECT_EQ(p.regions[0].octets, hex("0000A3A4"));  // the model itself must place the Write
  EXPECT_EQ(p.regions[0].access, abi::kRemoteWrite | abi::kRemoteRead);
  EXPECT_TRUE(p.changes.empty());
}

TEST_F(MemoryPlanTest, WhatTheProgramChangedIsWrittenBeforeTheRead) {
  const std::string sink = "99999999 0000000000005000", source = "11111111 0000000000001000";
  fed.read(1, sink, "00000002", source);
  const std::size_t second = fed.stream().octets.size();
  fed.read(3, sink, "00000002", source);
  real.response(2, "99999999", "0000000000005000", "0101").response(4, "99999999", "0000000000005000", "0102");
  const MemoryPlan p = plan();
  EXPECT_EQ(p.regions.at(0).octets, hex("0101"));
  ASSERT_EQ(p.changes.size(), 1u);
  EXPECT_EQ(p.changes[0].before, second);
  EXPECT_EQ(p.changes[0].octets, hex("0102"));
  EXPECT_FALSE(p.changes[0].ends);
}

TEST_F(MemoryPlanTest, SinksOfTheRealSideAreWritableByIt) {
  real.read(1, "33333333 0000000000002000", "00000010", "44444444 0000000000000000");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 1u);
  EXPECT_EQ(p.regions[0].stag, 0x33333333u);
  EXPECT_EQ(p.regions[0].octets.size(), 16u);
  EXPECT_EQ(p.regions[0].access, abi::kLocalWrite);
  EXPECT_EQ(p.sinks.at(0), 0u);
}

TEST_F(MemoryPlanTest, AnInvalidatedStagIsOneRegionAndAnotherOneAfterwards) {
  real.fpdu(0, hex("4143 00000000 00000000 00000001 00000000 11111111"));  // advertises the STag
  fed.write(1, "11111111", "0000000000001000", "01")
      .write(2, "11111111", "0000000000001008", "02")
      .fpdu(3, hex("4144 11111111 00000000 00000001 00000000"))
      .write(4, "11111111", "0000000000001000", "03");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 2u);
  EXPECT_EQ(p.regions[0].octets.size(), 9u);
  EXPECT_EQ(p.regions[1].generation, 1u);
  EXPECT_EQ(p.regions[1].octets.size(), 1u);
}

TEST_F(MemoryPlanTest, APeerInvalidatesOnlyWhatItWasToldOf) {
  real.fpdu(0, hex("4143 00000000 00000000 00000001 00000000 78563412"));  // little-endian
  fed.fpdu(1, hex("4144 12345678 00000000 00000001 00000000")).fpdu(2, hex("4144 DEADBE00 00000000 00000002 00000000"));
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 1u);
  EXPECT_EQ(p.regions[0].stag, 0x12345678u);
}

// The Terminates are siw's: layer and type swapped, M and D mirrored.
TEST_F(MemoryPlanTest, AnStagThatTheRealSideCallsInvalidIsNotRegistered) {
  fed.write(1, "11111111", "0000000000001000", "01").write(2, "DEADBE00", "0000000000001000", "02");
  real.terminate(3, "11000300 0001 C140 DEADBE00 0000000000001000");
  const MemoryPlan p = plan();
  EXPECT_EQ(p.failing, 1u);
  ASSERT_EQ(p.regions.size(), 1u);
  EXPECT_EQ(p.regions[0].stag, 0x11111111u);
}

TEST_F(MemoryPlanTest, WhatIsOutOfBoundsIsRegisteredAnOctetShort) {
  fed.read(1, "99999999 0000000000005000", "00000010", "11111111 0000000000001000");
  real.terminate(2,
                 "10010700 0000 4141 00000000 00000001 00000010 00000000"
                 "99999999 0000000000005000 00000010 11111111 0000000000001000");
  const MemoryPlan p = plan();
  EXPECT_EQ(p.failing, 0u);
  ASSERT_EQ(p.regions.size(), 1u);
  EXPECT_EQ(p.regions[0].octets.size(), 15u);
  EXPECT_EQ(p.regions[0].access, abi::kRemoteRead);
  EXPECT_FALSE(p.regions[0].contains(0x1000, 16));
}

TEST_F(MemoryPlanTest, WhatBelongsToOthersIsRegisteredInAnotherDomain) {
  fed.write(1, "11111111", "0000000000001000", "01");
  real.terminate(2, "11020300 0001 C140 11111111 0000000000001000");
  EXPECT_TRUE(plan().regions.at(0).foreign);
}

// A Send of three segments, MSN 2, after one of a single segment.
void send_twice(TestStream& fed) {
  fed.fpdu(1, hex("4143 00000000 00000000 00000001 00000000 AABB"))
      .fpdu(2, hex("0143 00000000 00000000 00000002 00000000 01020304"))
      .fpdu(3, hex("0143 00000000 00000000 00000002 00000004 05060708"))
      .fpdu(4, hex("4143 00000000 00000000 00000002 00000008 09"));
}

MATCHER_P2(IsReceive, message, bytes, "") { return arg.message == message && arg.bytes == bytes; }

TEST_F(MemoryPlanTest, ASendThatIsTooLongInItsMiddleFoundAReceiveThatEndsThere) {
  send_twice(fed);
  real.terminate(5, "21020300 0004 0143 00000000 00000000 00000002 00000004");
  EXPECT_THAT(plan().receives, ElementsAre(IsReceive(0u, 2u), IsReceive(1u, 7u)));
}

TEST_F(MemoryPlanTest, ASendThatIsRefusedFromTheBeginningFoundNoReceive) {
  send_twice(fed);
  real.terminate(5, "21020300 0004 0143 00000000 00000000 00000002 00000000");
  EXPECT_THAT(plan().receives, ElementsAre(IsReceive(0u, 2u)));
}

TEST_F(MemoryPlanTest, ASendThatIsCalledTooLongFoundAReceiveAnOctetShort) {
  send_twice(fed);
  real.terminate(5, "1205C000 0016 4143 00000000 00000000 00000001 00000000");  // RFC 5040's layout
  EXPECT_THAT(plan().receives, ElementsAre(IsReceive(0u, 1u)));
}

TEST_F(MemoryPlanTest, AWriteThatWrapsIsToAnStagOfTheRealSide) {
  fed.write(1, "11111111", "FFFFFFFFFFFFFFFE", "01020304");
  real.terminate(2, "01000300 0004 C140 11111111 FFFFFFFFFFFFFFFE");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 1u);
  EXPECT_EQ(p.regions[0].stag, 0x11111111u);
  EXPECT_FALSE(p.regions[0].contains(0xfffffffffffffffe, 4));
  EXPECT_TRUE(wraps(0xfffffffffffffffe, 4));
  EXPECT_FALSE(wraps(0xfffffffffffffffe, 1));
}

TEST_F(MemoryPlanTest, AWriteThatWrapsToAnInvalidStagIsNot) {
  fed.write(1, "11111111", "FFFFFFFFFFFFFFFE", "01020304");
  real.terminate(2, "11000300 0004 C140 11111111 FFFFFFFFFFFFFFFE");
  EXPECT_TRUE(plan().regions.empty());
}

TEST_F(MemoryPlanTest, WhatWrapsWithoutATerminateIsToAnStagOfTheRealSide) {
  const std::string sink = "99999999 0000000000005000";
  fed.write(1, "11111111", "FFFFFFFFFFFFFFFF", "0102").read(2, sink, "00000010", "22222222 FFFFFFFFFFFFFFF8");
  real.response(3, "99999999", "0000000000005000", "01");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 2u);
  EXPECT_EQ(p.regions[1].base, 0xfffffffffffffff8u);
  EXPECT_EQ(p.regions[1].octets.size(), 1u);
}

// Two Reads; the response to the second is refused.
TEST_F(MemoryPlanTest, TheSinkOfAReadWhoseResponseIsRefusedEndsBeforeItComes) {
  real.read(1, "33333333 0000000000002000", "00000002", "44444444 0000000000000000")
      .read(2, "55555555 0000000000002000", "00000002", "44444444 0000000000000000");
  fed.response(3, "33333333", "0000000000002000", "0102");
  const std::size_t second = fed.stream().octets.size();
  fed.response(4, "55555555", "0000000000002000", "0304");
  real.terminate(5, "11010300 0002 C142 55555555 0000000000002000");
  const MemoryPlan p = plan();
  ASSERT_EQ(p.regions.size(), 2u);
  EXPECT_FALSE(p.regions[1].foreign);
  ASSERT_EQ(p.changes.size(), 1u);
  EXPECT_TRUE(p.changes[0].ends);
  EXPECT_EQ(p.changes[0].before, second);
  EXPECT_EQ(p.changes[0].region, 1u);
  EXPECT_TRUE(p.ends_sink);
  EXPECT_EQ(p.final[1], hex("0000"));
}

TEST_F(MemoryPlanTest, AResponseThatNobodyAskedForEndsNoSink) {
  fed.response(1, "33333333", "0000000000002000", "0102");
  real.terminate(2, "11000300 0002 C142 33333333 0000000000002000");
  EXPECT_TRUE(plan().changes.empty());
}

TEST_F(MemoryPlanTest, AnStagThatIsInvalidAfterItsUseEndedInBetween) {
  const std::string sink = "99999999 0000000000005000", source = "11111111 0000000000001000";
  fed.read(1, sink, "00000002", source);
  const std::size_t second = fed.stream().octets.size();
  fed.read(3, sink, "00000002", source);
  real.response(2, "99999999", "0000000000005000", "0102")
      .terminate(4, "10000700 0000 4141 00000000 00000001 00000002 00000000" + sink + "00000002" + source);
  const MemoryPlan p = plan();
  EXPECT_EQ(p.failing, 1u);  // same octets as the first request, which was answered
  ASSERT_EQ(p.changes.size(), 1u);
  EXPECT_TRUE(p.changes[0].ends);
  EXPECT_EQ(p.changes[0].before, second);
  EXPECT_FALSE(p.ends_sink);
}

TEST_F(MemoryPlanTest, AnStagWithoutTheRightDidNotEnd) {
  fed.read(1, "99999999 0000000000005000", "00000002", "11111111 0000000000001000")
      .write(3, "11111111", "0000000000001000", "01");
  real.response(2, "99999999", "0000000000005000", "0102").terminate(4, "11000300 0001 C140 11111111 0000000000001000");
  const MemoryPlan p = plan();
  EXPECT_EQ(p.failing, 1u);
  EXPECT_TRUE(p.changes.empty());
}

}  // namespace
}  // namespace rnic::replay
