#include "model/capture/replay/comparison.h"

#include <gmock/gmock.h>

#include "testbench/unit/capture/replay/streams.h"

namespace rnic::replay {
namespace {

// A responder that sent a Send, a Read Response and another Send.
class ComparisonTest : public testing::Test {
 protected:
  Recording recording;
  std::vector<std::unique_ptr<Script>> scripts;
  Outcome outcome;

  ComparisonTest() { record(real_side()); }
  static TestStream real_side() {
    TestStream real{wire::MpaFrameKind::kReply};
    real.fpdu(2, hex("4143 00000000 00000000 00000001 00000000 0102"))
        .response(3, "99999999", "0000000000005000", "A1A2")
        .fpdu(4, hex("4143 00000000 00000000 00000002 00000000 0304"));
    return real;
  }
  // The peer sends `reads` Read Requests; the real side's FIN or RST is at `closed`.
  void record(const TestStream& real, unsigned reads = 1, Order closed = kNotCaptured) {
    TestStream fed{wire::MpaFrameKind::kRequest};
    for (unsigned i = 0; i < reads; ++i) {
      fed.read(1, "99999999 0000000000005000", "00000002", "11111111 0000000000001000");
    }
    recording.name = "a > b";
    recording.streams = {fed.stream(), real.stream()};
    recording.streams[1].closed = closed;
    scripts = make_scripts({recording}, Side::kResponder);
    outcome.script = scripts[0].get();
    const std::vector<std::uint8_t>& octets = scripts[0]->real.octets();
    outcome.startup.assign(octets.begin(), octets.begin() + wire::kMpaHeaderBytes);
    outcome.messages = scripts[0]->real.messages();
  }
  Comparison compared() const {
    Comparison c;
    compare(outcome, c);
    return c;
  }
  // Expects exactly one difference, with no explanation.
  void expect_one(const std::string& what, const std::string& expected, const std::string& got) const {
    const Comparison c = compared();
    ASSERT_EQ(c.differences.size(), 1u);
    EXPECT_EQ(c.differences[0].what, "a > b: " + what);
    EXPECT_EQ(c.differences[0].expected, expected);
    EXPECT_EQ(c.differences[0].got, got);
    EXPECT_EQ(c.differences[0].explained_by, "");
    EXPECT_EQ(c.unexplained(), 1u);
  }
};

TEST_F(ComparisonTest, StartupFrameAndMessagesCount) {
  const Comparison c = compared();
  EXPECT_EQ(c.messages, 4u);
  EXPECT_EQ(c.matched, 4u);
  EXPECT_TRUE(c.differences.empty());
}

TEST_F(ComparisonTest, ResponsesMayOvertakeRequestsButNotEachOther) {
  std::swap(outcome.messages[0], outcome.messages[1]);
  EXPECT_EQ(compared().matched, 4u);
  std::swap(outcome.messages[1], outcome.messages[2]);
  EXPECT_EQ(compared().unexplained(), 2u);
}

TEST_F(ComparisonTest, AnOctetOfThePayload) {
  outcome.messages[2].payload[1] = 5;
  expect_one("message 2 (Send of 2 octets, MSN 2), octet 1 of the payload", "0x04", "0x05");
}

TEST_F(ComparisonTest, TheHeader) {
  outcome.messages[1].header.to = 0x5001;
  expect_one("response 1", "Read Response of 2 octets to STag 0x99999999, TO 0x5000",
             "Read Response of 2 octets to STag 0x99999999, TO 0x5001");
}

TEST_F(ComparisonTest, AMessageTooFew) {
  outcome.messages.pop_back();
  expect_one("message 2", "Send of 2 octets, MSN 2", "nothing");
  EXPECT_EQ(compared().messages, 4u);
  EXPECT_EQ(compared().matched, 3u);
}

TEST_F(ComparisonTest, AMessageTooMany) {
  outcome.messages.push_back(outcome.messages[2]);
  expect_one("message 3", "nothing", "Send of 2 octets, MSN 2");
  EXPECT_EQ(compared().messages, 5u);
}

TEST_F(ComparisonTest, TheStartupFrame) {
  outcome.startup[wire::kMpaKeyBytes] = 0x40;
  expect_one("startup frame, flags and revision", "M0 C0 R0 Rev 1", "M0 C1 R0 Rev 1");
}

TEST_F(ComparisonTest, WhatTheDeviceShouldHavePlaced) {
  outcome.misplaced = {"STag 0x11111111, TO 0x1000: 0x00 instead of 0xa1"};
  expect_one("placement", "the octets that were sent", outcome.misplaced[0]);
}

TEST_F(ComparisonTest, TheEndOfTheStream) {
  outcome.rest = 3;
  expect_one("end of the stream", "a whole FPDU", "3 octets");
  outcome.rest = 0;
  outcome.stream_error = "FPDU with a wrong CRC";
  expect_one("stream", "MPA and RDMAP", "FPDU with a wrong CRC");
}

TEST_F(ComparisonTest, AMessageThatTheRealSideWasKilledIn) {
  TestStream real = real_side();
  real.fpdu(5, hex("0143 00000000 00000000 00000003 00000000 0506"));
  record(real);
  outcome.messages[3].header.last = true;
  EXPECT_EQ(compared().matched, 5u);
  outcome.messages[3].payload[0] = 0;
  EXPECT_EQ(compared().unexplained(), 1u);
}

TEST_F(ComparisonTest, ARealSideThatClosedOwesAnswers) {
  record(real_side(), 2, 9);
  outcome.messages.push_back(outcome.messages[1]);
  EXPECT_EQ(compared().unexplained(), 0u);
  EXPECT_EQ(compared().matched, 4u);
  EXPECT_EQ(compared().differences.at(0).explained_by.substr(0, 14), "RDMAP-7.2.2-07");
  outcome.messages.push_back(outcome.messages[1]);  // unsolicited
  EXPECT_EQ(compared().unexplained(), 1u);
  outcome.messages.pop_back();
  outcome.messages[3].header.to = 0x5001;
  EXPECT_EQ(compared().unexplained(), 1u);
  outcome.messages[3].header.to = 0x5000;
  outcome.messages[3].payload.pop_back();
  EXPECT_EQ(compared().unexplained(), 1u);
}

TEST_F(ComparisonTest, ARealSideThatStaysOwesNothing) {
  record(real_side(), 2);
  outcome.messages.push_back(outcome.messages[1]);
  expect_one("response 2", "nothing", "Read Response of 2 octets to STag 0x99999999, TO 0x5000");
}

// The model's Terminate for that comes last; it does not excuse messages that were missing before.
TEST_F(ComparisonTest, TheEndOfThePeersStreamCutsNothingShort) {
  Message terminate;
  terminate.header.opcode = wire::Opcode::kTerminate;
  terminate.payload = hex("20010000");
  outcome.messages = {outcome.messages[0], outcome.messages[1], terminate};
  outcome.misplaced = {"STag 0x11111111, TO 0x1000: 0x00 instead of 0xa1"};
  EXPECT_EQ(compared().unexplained(), 3u);
}

TEST_F(ComparisonTest, NothingFollowsATerminateOfTheModel) {
  Message terminate;
  terminate.header.opcode = wire::Opcode::kTerminate;
  terminate.payload = hex("02090000");
  outcome.messages = {outcome.messages[0], terminate};
  const Comparison c = compared();
  EXPECT_EQ(c.differences.size(), 3u);
  EXPECT_EQ(c.unexplained(), 0u);
  EXPECT_EQ(c.matched, 2u);
}

TEST_F(ComparisonTest, ATerminateIsTheLastMessage) {
  TestStream real = real_side();
  real.terminate(5, "00000000");
  record(real);
  EXPECT_EQ(compared().matched, 5u);
  std::swap(outcome.messages[2], outcome.messages[3]);
  expect_one("after the Terminate", "nothing", "Send of 2 octets, MSN 2");
}

}  // namespace
}  // namespace rnic::replay
