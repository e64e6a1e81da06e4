#include "model/env/peer/terminate_comparison.h"

#include <gmock/gmock.h>

#include "model/env/peer/terminate_reader.h"
#include "testbench/unit/env/peer/streams.h"

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

// A Write of 4 octets to an STag that the real side did not have.
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
              ElementsAre(difference("layout", "RDMAP-6.8-01"), difference("segment length", "8.22")));
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

}  // namespace
}  // namespace rnic::replay
