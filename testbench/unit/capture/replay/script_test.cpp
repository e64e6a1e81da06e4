#include "model/capture/replay/script.h"

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "testbench/unit/capture/replay/streams.h"

namespace rnic::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Bytes send(unsigned msn) {
  Bytes ulpdu = hex("4143 00000000 00000000 00000000 00000000 0102");
  ulpdu[13] = static_cast<std::uint8_t>(msn);
  return ulpdu;
}
constexpr std::size_t kSendBytes = 28;  // the FPDU of such a Send

std::vector<std::unique_ptr<Script>> scripts(const TestStream& request, const TestStream& reply, Side model) {
  Recording r;
  r.name = "a > b";
  r.streams = {request.stream(), reply.stream()};
  return make_scripts({r}, model);
}

std::string refusal(const TestStream& request, const TestStream& reply) {
  try {
    scripts(request, reply, Side::kResponder);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

class ScriptTest : public testing::Test {
 protected:
  TestStream request{wire::MpaFrameKind::kRequest}, reply{wire::MpaFrameKind::kReply};
};

MATCHER_P2(IsStep, end, messages, "") { return arg.end == end && arg.model_messages == messages; }
MATCHER_P2(IsPost, message, octets, "") { return arg.message == message && arg.fed_octets == octets; }

// Both startup frames are at order 0; the peer's Sends come before and after the model's.
TEST_F(ScriptTest, EachSideWaitsForWhatWasCapturedBefore) {
  request.fpdu(1, send(1)).fpdu(5, send(2));
  reply.fpdu(2, send(1)).fpdu(3, send(2)).fpdu(6, send(3));
  const auto list = scripts(request, reply, Side::kResponder);
  const Script& s = *list.at(0);
  EXPECT_THAT(s.steps, ElementsAre(IsStep(20u, 0u), IsStep(20 + kSendBytes, 1u), IsStep(20 + 2 * kSendBytes, 3u)));
  EXPECT_THAT(s.posts,
              ElementsAre(IsPost(0u, 20 + kSendBytes), IsPost(1u, 20 + kSendBytes), IsPost(2u, 20 + 2 * kSendBytes)));
  EXPECT_EQ(s.close_after, 4u);
}

TEST_F(ScriptTest, APeersTerminateComesWhenTheModelHasSaidEverything) {
  request.fpdu(1, send(1)).terminate(2, "00000000");
  reply.fpdu(9, send(1));
  EXPECT_THAT(scripts(request, reply, Side::kResponder).at(0)->steps.back(),
              IsStep(request.stream().octets.size(), 2u));
}

TEST_F(ScriptTest, ALocalErrorOfTheRealSideIsARequestToo) {
  request.fpdu(1, send(1));
  reply.fpdu(2, send(1)).terminate(3, "00FF0000");
  EXPECT_EQ(scripts(request, reply, Side::kResponder).at(0)->posts.size(), 2u);
  TestStream protection{wire::MpaFrameKind::kReply};
  protection.fpdu(2, send(1)).terminate(3, "11000000");
  EXPECT_EQ(scripts(request, protection, Side::kResponder).at(0)->posts.size(), 1u);
}

TEST_F(ScriptTest, WhoClosesFirst) {
  request.fpdu(1, send(1));
  Recording r;
  r.streams = {request.stream(), reply.stream()};
  r.streams[1].closed = 2;
  r.streams[0].closed = 3;
  EXPECT_TRUE(make_scripts({r}, Side::kResponder).at(0)->model_closes_first);
  EXPECT_FALSE(make_scripts({r}, Side::kInitiator).at(0)->model_closes_first);
}

TEST_F(ScriptTest, ConnectionsWithoutMpaArePassedOver) {
  Recording plain;
  plain.streams[0].octets = hex("474554202f20485454502f312e300d0a0d0a2020");
  Recording iwarp;
  iwarp.name = "iwarp";
  iwarp.streams = {request.stream(), reply.stream()};
  const auto list = make_scripts({plain, iwarp}, Side::kResponder);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]->name, "iwarp");
  EXPECT_THROW(make_scripts({plain}, Side::kResponder), ConfigError);
}

TEST_F(ScriptTest, WhatCannotBeReplayedIsRefused) {
  TestStream atomic{wire::MpaFrameKind::kRequest};
  atomic.fpdu(1, hex("414A 00000000 00000001 00000001 00000000") + Bytes(52, 0));
  EXPECT_THAT(refusal(atomic, reply),
              HasSubstr("a > b: its streams have a message that is not replayed: Atomic Request"));
  TestStream huge{wire::MpaFrameKind::kRequest};
  huge.write(1, "11111111", "0000000000000000", "01").fpdu(2, hex("4144 11111111 00000000 00000001 00000000"));
  EXPECT_EQ(refusal(huge, reply), "");
  TestStream sparse{wire::MpaFrameKind::kRequest};
  sparse.write(1, "11111111", "0000000000000000", "01")
      .write(2, "11111111", "7000000000000000", "01")
      .fpdu(3, hex("4144 11111111 00000000 00000001 00000000"));
  EXPECT_THAT(refusal(sparse, reply), HasSubstr("too far for one region"));
  TestStream much{wire::MpaFrameKind::kRequest};
  much.read(1, "99999999 0000000000005000", "08000000", "11111111 0000000000001000")
      .read(2, "99999999 0000000000005000", "08000001", "22222222 0000000000001000");
  EXPECT_THAT(refusal(much, reply), HasSubstr("more than 256 MiB of memory were used"));
}

}  // namespace
}  // namespace rnic::replay
