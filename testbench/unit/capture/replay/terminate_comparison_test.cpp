#include "model/capture/replay/terminate_comparison.h"

#include <gmock/gmock.h>

#include "model/capture/replay/terminate_reader.h"
#include "testbench/unit/capture/replay/streams.h"

namespace rnic::replay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kWriteHeader = "C140 DEADBE00 0000000000001000";

TEST(ReadTerminateTest, BothLayouts) {
  const auto rfc = read_terminate(hex("1205C000 0076 4143 00000000 00000000 00000001 00000000"));
  ASSERT_TRUE(rfc.has_value());
  EXPECT_FALSE(rfc->swapped);
  EXPECT_EQ(rfc->cause, wire::ddp::kMessageTooLong);
  const auto siw = read_terminate(hex("21020300 0100 4143 00000000 00000000 00000001 00000000"));
  ASSERT_TRUE(siw.has_value());
  EXPECT_TRUE(siw->swapped);
  EXPECT_EQ(siw->cause, wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_EQ(siw->segment_length, 0x100);
  EXPECT_EQ(siw->ddp_header, hex("4143 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(read_terminate(hex("210203")), std::nullopt);
}

// A Write of 4 octets to an STag unknown to the real side.
class TerminateComparisonTest : public testing::Test {
 protected:
  Recording recording;
  std::vector<std::unique_ptr<Script>> scripts;
  const Script* script = nullptr;

  TerminateComparisonTest() {
    TestStream fed{wire::MpaFrameKind::kRequest}, real{wire::MpaFrameKind::kReply};
    fed.write(1, "DEADBE00", "0000000000001000", "01020304");
    real.terminate(2, "11000300 0004" + kWriteHeader);
    recording.streams = {fed.stream(), real.stream()};
    scripts = make_scripts({recording}, Side::kResponder);
    script = scripts.at(0).get();
  }
  std::vector<Difference> against(const std::string& model) {
    Message m;
    m.header.opcode = wire::Opcode::kTerminate;
    m.header.last = true;
    m.payload = hex(model);
    return compare_terminates(*script, &script->real.messages().at(0), &m);
  }
  static auto difference(const char* what, const char* why) {
    return AllOf(Field(&Difference::what, HasSubstr(what)),
                 Field(&Difference::explained_by, *why == '\0' ? testing::Matcher<std::string>(IsEmpty())
                                                               : testing::Matcher<std::string>(HasSubstr(why))));
  }
};

TEST_F(TerminateComparisonTest, ByTheDocumentsEveryDifferenceIsExplained) {
  EXPECT_THAT(against("1100C000 0012" + kWriteHeader),
              ElementsAre(difference("layout", "RDMAP-6.8-01"), difference("segment length", "choices.md 12")));
}

TEST_F(TerminateComparisonTest, MissingHeadersAreNot) {
  EXPECT_THAT(against("11000000"), ElementsAre(difference("layout", "RDMAP-6.8-01"), difference("segment length", ""),
                                               difference("DDP header", "")));
}

TEST_F(TerminateComparisonTest, AWrongHeaderLengthOrCodeIsNot) {
  EXPECT_THAT(against("1101C000 0013 C140 DEADBE00 0000000000001001"),
              ElementsAre(difference("layout", "RDMAP-6.8-01"), difference("cause", ""),
                          difference("segment length", ""), difference("DDP header", "")));
}

TEST_F(TerminateComparisonTest, SilenceIsNot) {
  EXPECT_THAT(compare_terminates(*script, &script->real.messages().at(0), nullptr),
              ElementsAre(difference("Terminate", "")));
}

TEST_F(TerminateComparisonTest, OnlyARefusedInvalidateExplainsATerminateOfTheModelAlone) {
  const auto alone = [&](const std::string& model) {
    Message m;
    m.payload = hex(model);
    return compare_terminates(*script, nullptr, &m);
  };
  EXPECT_THAT(alone("02090000"), ElementsAre(difference("Terminate", "RDMAP-9.2-04")));
  EXPECT_THAT(alone("11000000"), ElementsAre(difference("Terminate", "")));
}

// A connection whose initiator, the model, has read into a sink that the real side reported as out of bounds.
TEST(SinkComparisonTest, OnlyAnEndedSinkExplainsAnotherCode) {
  Recording recording;
  TestStream fed{wire::MpaFrameKind::kReply}, real{wire::MpaFrameKind::kRequest};
  real.read(1, "33333333 0000000000002000", "00000002", "44444444 0000000000000000");
  fed.response(2, "33333333", "0000000000002000", "0102");
  real.terminate(3, "11010300 0002 C142 33333333 0000000000002000");
  recording.streams = {real.stream(), fed.stream()};
  const auto scripts = make_scripts({recording}, Side::kInitiator);
  Script& script = *scripts.at(0);
  Message model;
  model.payload = hex("1100C000 0010 C142 33333333 0000000000002000");
  const auto why = [&] { return compare_terminates(script, &script.real.messages().at(1), &model).at(1).explained_by; };
  EXPECT_THAT(why(), HasSubstr("RDMAP-5.2-07"));
  model.payload[1] = 3;
  EXPECT_EQ(why(), "");
  model.payload[1] = 0;
  script.memory.ends_sink = false;
  EXPECT_EQ(why(), "");
}

// siw closes silently; only the model sends the Terminate.
class SilenceTest : public testing::Test {
 protected:
  TestStream fed{wire::MpaFrameKind::kRequest};
  const TestStream real{wire::MpaFrameKind::kReply};
  std::string why(const std::string& terminate) {
    Recording recording;
    recording.streams = {fed.stream(), real.stream()};
    const auto scripts = make_scripts({recording}, Side::kResponder);
    Message model;
    model.payload = hex(terminate);
    return compare_terminates(*scripts.at(0), nullptr, &model).at(0).explained_by;
  }
};

TEST_F(SilenceTest, AReadWhoseSourceWraps) {
  const std::string request = "99999999 0000000000005000 00000010 11111111 FFFFFFFFFFFFFFF8";
  const std::string header = "0104E000 002E 4141 00000000 00000001 00000001 00000000";
  fed.read(1, "99999999 0000000000005000", "00000010", "11111111 FFFFFFFFFFFFFFF8")
      .read(2, "99999999 0000000000005000", "00000010", "11111111 0000000000001000");
  EXPECT_THAT(why(header + request), HasSubstr("RDMAP-9.2-10"));
  EXPECT_EQ(why(header + "99999999 0000000000005000 00000010 11111111 0000000000001000"), "");
  EXPECT_EQ(why(header + "99999999 0000000000005000 00000010 11111111 FFFFFFFFFFFFFFF9"), "");  // not the peer's
  EXPECT_EQ(why("0104"), "");
}

TEST_F(SilenceTest, AStreamThatEndsAmidAnFpdu) {
  fed.write(1, "11111111", "0000000000001000", "01");
  EXPECT_EQ(why("20010000"), "");
  fed.add(2, hex("0010 C140"));
  EXPECT_THAT(why("20010000"), HasSubstr("MPA-8-01"));
  EXPECT_EQ(why("20020000"), "");
}

}  // namespace
}  // namespace rnic::replay
