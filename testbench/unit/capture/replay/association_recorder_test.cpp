// A capture's sessions as a replay gets them, in whatever order their messages came.
#include "model/capture/replay/association_recorder.h"

#include <gmock/gmock.h>

#include "model/capture/ddp_session.h"
#include "model/capture/replay/session_octets.h"
#include "model/common/check.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::capture {
namespace {

using replay::Recording;
using wire::SctpChunkType;

class AssociationRecorderTest : public testing::Test {
 protected:
  // User data of a message in the session of `stream`; `at` is its place in the capture.
  void says(Side from, std::uint16_t stream, std::uint32_t ppid, const Bytes& user_data, std::uint64_t at) {
    recorder.message(sessions[stream], from, {{at}, {at}, stream, ppid, true, user_data});
  }
  std::vector<Recording> taken() {
    std::vector<Recording> list;
    recorder.take(list);
    return list;
  }
  std::string refusal() {
    try {
      taken();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  void SetUp() override {
    for (std::uint16_t s = 0; s < 4; ++s) sessions[s].stream = s;
  }

  DdpSession sessions[4];
  AssociationRecorder recorder{{false, {10, 0, 0, 1}, 49152}, {false, {10, 0, 0, 2}, 5000}};
};

constexpr Side kOpener = Side::kInitiator, kListener = Side::kResponder;
const Bytes kInitiate = hex("0000 0001 AA"), kAccept = hex("0000 0002");

TEST_F(AssociationRecorderTest, PutsMessagesInOrder) {
  says(kOpener, 0, 17, kInitiate, 10);
  says(kListener, 0, 17, kAccept, 20);
  says(kOpener, 0, 16, hex("0002 0505"), 30);
  says(kOpener, 0, 16, hex("0001 040404"), 40);  // was lost, and arrived later
  says(kOpener, 0, 17, hex("0003 0004"), 50);
  const auto list = taken();
  ASSERT_EQ(list.size(), 1u);
  const replay::RecordedStream& stream = list[0].from(kOpener);
  Bytes octets;
  wire::SessionMessage initiate;
  const Bytes private_data = {0xaa};
  initiate.private_data = private_data;
  replay::append_startup(initiate, octets);
  const std::size_t first = octets.size();
  replay::append_fpdu(Bytes{4, 4, 4}, octets);
  replay::append_fpdu(Bytes{5, 5}, octets);
  EXPECT_EQ(stream.octets, octets);
  EXPECT_EQ(stream.order_of(first), 10u);
  EXPECT_EQ(stream.order_of(octets.size()), 40u);
  EXPECT_EQ(stream.closed, 50u);
  EXPECT_EQ(list[0].from(kListener).closed, replay::kNotCaptured);
  EXPECT_EQ(list[0].transport, host::Transport::kSctp);
  EXPECT_EQ(list[0].port(kListener), 5000);
}

// A session's initiator is the sender of the Initiate, even on an association opened by the other side.
TEST_F(AssociationRecorderTest, ASessionHasSidesOfItsOwn) {
  says(kListener, 1, 17, kInitiate, 10);
  says(kOpener, 1, 17, kAccept, 20);
  says(kOpener, 0, 17, kInitiate, 30);
  says(kListener, 0, 17, kAccept, 40);
  recorder.chunk(kListener, SctpChunkType::kCookieEcho, {5});
  recorder.chunk(kOpener, SctpChunkType::kAbort, {60});
  const auto list = taken();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].port(Side::kInitiator), 5000);
  EXPECT_EQ(list[0].from(Side::kResponder).closed, 60u);
  EXPECT_EQ(list[1].port(Side::kInitiator), 49152);
  EXPECT_EQ(list[1].from(Side::kInitiator).closed, 60u);
  EXPECT_THAT(list[0].name, testing::HasSubstr("stream 1"));
}

TEST_F(AssociationRecorderTest, AnAbortOfAnInitIsARefusal) {
  recorder.chunk(kListener, SctpChunkType::kAbort, {10});
  const auto list = taken();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_TRUE(list[0].refused);
}

TEST_F(AssociationRecorderTest, TellsWhatIsMissingAndHasWhatComesBefore) {
  says(kOpener, 0, 17, kInitiate, 10);
  EXPECT_EQ(recorder.hole(), "");
  says(kOpener, 0, 16, hex("0002 0505"), 20);
  EXPECT_EQ(recorder.hole(), "10.0.0.1:49152 > 10.0.0.2:5000 stream 0: messages are missing");
  const auto list = taken();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].from(kOpener).arrivals.size(), 1u);
}

TEST_F(AssociationRecorderTest, RefusesInitiatesThatCross) {
  says(kOpener, 0, 17, kInitiate, 10);
  says(kListener, 0, 17, kInitiate, 11);
  EXPECT_THAT(refusal(), testing::HasSubstr("both sides initiated it"));
}

}  // namespace
}  // namespace rnic::capture
