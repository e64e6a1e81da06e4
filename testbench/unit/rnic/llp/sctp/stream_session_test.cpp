// Each row of the state table of a DDP stream session, with the octets that it sends (RFC 5043 section 6).
#include "firmware/conn/stream_session.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "model/ends/session_end.h"

namespace rnic {
namespace {

using fw::SessionState;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SessionCode;
using Kind = fw::SessionAction::Kind;
using State = fw::SessionState;

constexpr std::uint16_t kStream = 3;
const std::vector<std::uint8_t> kHello = {'h', 'e', 'l', 'l', 'o'};

fw::SessionPolicy policy(bool enhanced) {
  fw::SessionPolicy p;
  p.enhanced = enhanced;
  p.ird = p.ord = 8;
  p.max_ird = 16;
  return p;
}

std::vector<std::uint8_t> control(std::uint16_t ssn, std::uint16_t code, const std::vector<std::uint8_t>& data = {}) {
  std::vector<std::uint8_t> octets(4 + data.size());
  store_be16(octets.data(), ssn);
  store_be16(octets.data() + 2, code);
  std::copy(data.begin(), data.end(), octets.begin() + 4);
  return octets;
}

class StreamSessionTest : public testing::Test {
 protected:
  // "4@1" means a Terminate with DDP-SSN 1, "s@1" a segment.
  std::vector<std::string> sent() {
    std::vector<std::string> names;
    for (const auto& m : end_.take_sent()) {
      const std::string what =
          m.ppid == wire::kPpidDdpSession ? std::to_string(load_be16(m.user_data.data() + 2)) : std::string("s");
      names.push_back(what + "@" + std::to_string(load_be16(m.user_data.data())));
    }
    return names;
  }
  void control_comes(std::uint16_t ssn, std::uint16_t code, std::vector<std::uint8_t> data = {}) {
    if (code >= 5 && data.empty()) data = {0, 8, 0, 8};
    end_.receive({kStream, wire::kPpidDdpSession, control(ssn, code, data)});
  }
  sctp::ChunkFate segment_comes(std::uint16_t ssn) {
    std::vector<std::uint8_t> octets(20);
    store_be16(octets.data(), ssn);
    return end_.receive({kStream, wire::kPpidDdpSegment, octets});
  }
  State state() const { return end_.state(kStream); }

  void init_sent(bool enhanced = false, bool acknowledged = true) {
    end_.connect(kStream, policy(enhanced));
    EXPECT_THAT(sent(), ElementsAre(enhanced ? "5@0" : "1@0"));
    if (acknowledged) end_.acknowledge_all();
    EXPECT_EQ(state(), State::kInitSent);
  }
  void pending(std::uint16_t code = 1) {
    control_comes(0, code);
    EXPECT_EQ(state(), State::kPending);
  }
  void active_open() {
    init_sent();
    control_comes(0, 2);
    EXPECT_EQ(state(), State::kOpen);
  }
  void passive_open(bool acknowledged = true) {
    pending();
    end_.accept(kStream);
    EXPECT_THAT(sent(), ElementsAre("2@0"));
    if (acknowledged) end_.acknowledge_all();
    EXPECT_EQ(state(), State::kOpen);
  }
  // Ends a session whose Terminate is sent.
  void closes_on_terminate(std::uint16_t ssn) {
    EXPECT_EQ(state(), State::kClosing);
    control_comes(ssn, 4);
    EXPECT_EQ(state(), State::kClosing);
    idle_when_acknowledged();
  }
  void idle_when_acknowledged() {
    EXPECT_EQ(state(), State::kClosing);
    end_.acknowledge_all();
    EXPECT_EQ(state(), State::kIdle);
    EXPECT_EQ(end_.streams().mode(kStream), sctp::StreamMode::kIdle);
    EXPECT_EQ(end_.buffers(), 0u);
    // The id is free for another session, from 0 on.
    end_.connect(kStream, policy(false));
    EXPECT_THAT(sent(), ElementsAre("1@0"));
  }

  SessionEnd end_{policy(true)};
};

// Idle.

TEST_F(StreamSessionTest, IdleInitiateGoesUpToTheHostWithItsPrivateData) {
  for (const std::uint16_t code : {1, 5}) {
    SessionEnd end(policy(true));
    const std::vector<std::uint8_t> data =
        code == 1 ? kHello : std::vector<std::uint8_t>{0, 16, 0, 32, 'h', 'e', 'l', 'l', 'o'};
    end.receive({kStream, wire::kPpidDdpSession, control(0, code, data)});
    EXPECT_EQ(end.state(kStream), State::kPending);
    ASSERT_TRUE(end.was_told(Kind::kRequest));
    EXPECT_EQ(end.told[0].private_data, kHello);
    EXPECT_EQ(end.told[0].word.has_value(), code == 5);
    EXPECT_THAT(end.take_sent(), IsEmpty());
  }
}

TEST_F(StreamSessionTest, IdleOverThePendingLimitTerminatesPlainAndEnhanced) {
  for (const std::uint16_t code : {1, 5}) {
    SessionEnd end(policy(true));
    end.room = false;
    const std::vector<std::uint8_t> word(code == 5 ? 4 : 0);
    end.receive({kStream, wire::kPpidDdpSession, control(0, code, word)});
    const auto messages = end.take_sent();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].user_data, control(0, 4));
    EXPECT_THAT(end.told, IsEmpty());
    end.acknowledge_all();
    EXPECT_EQ(end.state(kStream), State::kIdle);
  }
}

TEST_F(StreamSessionTest, IdleResponderThatDoesNotKnowEnhancedTerminates) {
  end_.listener = policy(false);
  control_comes(0, 5);
  EXPECT_THAT(sent(), ElementsAre("4@0"));
  EXPECT_THAT(end_.told, IsEmpty());
  idle_when_acknowledged();
}

TEST_F(StreamSessionTest, IdleOtherChunksAreAnsweredByOneTerminate) {
  segment_comes(0);
  EXPECT_THAT(sent(), ElementsAre("4@0"));
  control_comes(1, 2);
  segment_comes(2);
  EXPECT_THAT(sent(), IsEmpty());
  idle_when_acknowledged();
}

TEST_F(StreamSessionTest, IdleControlMessagesThatBeginNothingAreStray) {
  for (const std::uint16_t code : {2, 3, 6, 7, 8, 0xffff}) {
    SessionEnd end(policy(true));
    end.receive({kStream, wire::kPpidDdpSession, control(0, code, {0, 0, 0, 0})});
    EXPECT_EQ(end.take_sent().size(), 1u) << code;
    EXPECT_EQ(end.strays(kStream), 1u);
    end.acknowledge_all();
    EXPECT_EQ(end.state(kStream), State::kIdle);
  }
}

TEST_F(StreamSessionTest, IdleInitiateWithoutItsWordIsStray) {
  control_comes(0, 5, {1, 2, 3});
  EXPECT_THAT(sent(), ElementsAre("4@0"));
  idle_when_acknowledged();
}

TEST_F(StreamSessionTest, IdleTerminateIsNotAnsweredByATerminate) {
  control_comes(0, 4);
  control_comes(7, 4);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(state(), State::kIdle);
  EXPECT_EQ(end_.strays(kStream), 2u);
}

TEST_F(StreamSessionTest, IdleChunksThatBreakARuleAreStray) {
  end_.receive({kStream, wire::kPpidDdpSession, control(0, 4), false});
  EXPECT_THAT(sent(), IsEmpty());
  end_.receive({kStream, wire::kPpidDdpSession, control(0, 1), false});
  EXPECT_THAT(sent(), ElementsAre("4@0"));
  EXPECT_THAT(end_.told, IsEmpty());
  idle_when_acknowledged();
}

// InitSent.

TEST_F(StreamSessionTest, InitSentAcceptOfTheOwnFamilyOpens) {
  init_sent();
  control_comes(0, 2, kHello);
  EXPECT_EQ(state(), State::kOpen);
  ASSERT_TRUE(end_.was_told(Kind::kEstablished));
  EXPECT_EQ(end_.told[0].private_data, kHello);
}
TEST_F(StreamSessionTest, InitSentEnhancedAcceptOpens) {
  init_sent(true);
  control_comes(0, 6);
  EXPECT_EQ(state(), State::kOpen);
}
TEST_F(StreamSessionTest, InitSentRejectIsIdleWhenAcknowledged) {
  init_sent(false, false);
  control_comes(0, 3, kHello);
  EXPECT_EQ(end_.told[0].kind, Kind::kRejected);
  EXPECT_EQ(end_.told[0].private_data, kHello);
  EXPECT_THAT(sent(), IsEmpty());
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, InitSentEnhancedRejectIsRejected) {
  init_sent(true);
  control_comes(0, 7);
  EXPECT_EQ(end_.told[0].kind, Kind::kRejected);
  EXPECT_EQ(state(), State::kIdle);
  EXPECT_THAT(sent(), IsEmpty());
}
TEST_F(StreamSessionTest, InitSentTerminateInThePlaceOfAnAcceptIsRefused) {
  init_sent();
  control_comes(0, 4);
  EXPECT_EQ(end_.told[0].kind, Kind::kRefused);
  EXPECT_EQ(state(), State::kIdle);
  EXPECT_THAT(sent(), IsEmpty());
}
TEST_F(StreamSessionTest, InitSentWrongKindOfAcceptIsAViolation) {
  init_sent(true);
  control_comes(0, 2);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(end_.told[0].kind, Kind::kBadReply);
  closes_on_terminate(1);
}
TEST_F(StreamSessionTest, InitSentEnhancedRejectToAPlainInitiateIsAViolationAndTheEnd) {
  init_sent();
  control_comes(0, 7);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, InitSentCrossingInitiatesEndBothSides) {
  SessionEnd peer(policy(true));
  end_.connect(kStream, policy(true));
  peer.connect(kStream, policy(true));
  const auto pass = [](SessionEnd& from, SessionEnd& to) {
    for (const auto& message : from.take_sent()) to.receive(message);
  };
  pass(peer, end_);
  EXPECT_THAT(sent(), ElementsAre("5@0"));  // the Terminate waits, for it must not overtake
  peer.receive({kStream, wire::kPpidDdpSession, control(0, 5, {0, 8, 0, 8})});
  peer.acknowledge_all();
  end_.acknowledge_all();
  pass(peer, end_);
  pass(end_, peer);
  for (SessionEnd* end : {&end_, &peer}) {
    EXPECT_TRUE(end->was_told(Kind::kBadReply));
    end->acknowledge_all();
    EXPECT_EQ(end->state(kStream), State::kIdle);
  }
}
TEST_F(StreamSessionTest, InitSentSegmentFirstIsAViolationAndTheTerminateWaitsForTheAcknowledgement) {
  init_sent(false, false);
  EXPECT_EQ(segment_comes(0), sctp::ChunkFate::kViolation);
  EXPECT_EQ(state(), State::kClosing);
  EXPECT_THAT(sent(), IsEmpty());
  end_.acknowledge(kStream);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
}
TEST_F(StreamSessionTest, InitSentAnswerFreesTheTerminateWithoutAnAcknowledgement) {
  init_sent(true, false);
  control_comes(0, 2);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
}
TEST_F(StreamSessionTest, InitSentMalformedAnswerIsAViolation) {
  init_sent(true);
  control_comes(0, 6, {1});
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  closes_on_terminate(1);
}
TEST_F(StreamSessionTest, InitSentTooMuchIrdWantedSendsBothTerminates) {
  init_sent(true);
  control_comes(0, 6, {0, 8, 0, 17});
  EXPECT_THAT(sent(), ElementsAre("s@1", "4@2"));
  EXPECT_EQ(end_.told[0].kind, Kind::kSetupFailed);
  EXPECT_EQ(end_.told[0].error, fw::SetupError::kInsufficientIrd);
  closes_on_terminate(1);
}
TEST_F(StreamSessionTest, InitSentSegmentsThatOvertakeTheAcceptAreDeliveredBehindIt) {
  init_sent();
  EXPECT_EQ(segment_comes(2), sctp::ChunkFate::kHeld);
  EXPECT_EQ(segment_comes(1), sctp::ChunkFate::kHeld);
  EXPECT_THAT(end_.placed, IsEmpty());
  control_comes(0, 2);
  EXPECT_EQ(end_.delivered.size(), 2u);
  EXPECT_EQ(end_.placed.size(), 2u);
}

// Pending.

TEST_F(StreamSessionTest, PendingHostAccepts) {
  passive_open();
  EXPECT_TRUE(end_.was_told(Kind::kEstablished));
}
TEST_F(StreamSessionTest, PendingHostAcceptsAnEnhancedOne) {
  pending(5);
  end_.accept(kStream, kHello);
  const auto messages = end_.take_sent();
  EXPECT_EQ(messages.at(0).user_data, control(0, 6, {0, 8, 0, 8, 'h', 'e', 'l', 'l', 'o'}));
}
TEST_F(StreamSessionTest, PendingAnRtrSendIsAbsorbedIfBothKnowIt) {
  for (const std::uint8_t kinds : {0x80, 0xc0}) {
    SessionEnd end(policy(true));
    end.listener.rtr = {true, true, false};
    end.receive({kStream, wire::kPpidDdpSession, control(0, 5, {kinds, 8, 0x80, 8})});
    end.accept(kStream);
    EXPECT_EQ(end.told.back().absorbs_rtr_send, kinds == 0xc0);
  }
}
TEST_F(StreamSessionTest, PendingHostRejects) {
  pending();
  end_.reject(kStream, kHello);
  EXPECT_EQ(end_.take_sent().at(0).user_data, control(0, 3, kHello));
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, PendingHostRejectsAnEnhancedOne) {
  pending(5);
  end_.reject(kStream);
  EXPECT_THAT(sent(), ElementsAre("7@0"));
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, PendingTooLittleIrdIsRejectedInTheHostsPlace) {
  end_.listener.need_ord = 9;
  pending(5);
  end_.accept(kStream);
  EXPECT_EQ(end_.take_sent().at(0).user_data, control(0, 7, {0, 8, 0, 9}));
  EXPECT_TRUE(end_.was_told(Kind::kSetupFailed));
  EXPECT_FALSE(end_.was_told(Kind::kEstablished));
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, PendingSegmentsAreHeldUntilTheHostDecides) {
  pending();
  EXPECT_EQ(segment_comes(1), sctp::ChunkFate::kHeld);
  EXPECT_THAT(end_.placed, IsEmpty());
  end_.accept(kStream);
  EXPECT_EQ(end_.delivered.size(), 1u);
}
TEST_F(StreamSessionTest, PendingSegmentsAreDroppedWhenTheHostRejects) {
  pending();
  segment_comes(1);
  end_.reject(kStream);
  EXPECT_EQ(end_.buffers(), 0u);
  EXPECT_EQ(segment_comes(2), sctp::ChunkFate::kDropped);
  EXPECT_THAT(end_.placed, IsEmpty());
}
TEST_F(StreamSessionTest, PendingTerminateWithdrawsTheRequestAndIsAnswered) {
  pending();
  control_comes(1, 4);
  EXPECT_EQ(end_.told.back().kind, Kind::kWithdrawn);
  EXPECT_THAT(sent(), ElementsAre("4@0"));
  end_.accept(kStream);  // too late
  EXPECT_THAT(sent(), IsEmpty());
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, PendingAnythingElseIsAViolation) {
  pending();
  control_comes(1, 1);
  EXPECT_THAT(sent(), ElementsAre("4@0"));
  EXPECT_EQ(end_.told.back().kind, Kind::kBroken);
  idle_when_acknowledged();
}

// Open.

TEST_F(StreamSessionTest, OpenSegmentsArePlacedOnArrival) {
  active_open();
  EXPECT_EQ(segment_comes(2), sctp::ChunkFate::kPlace);
  EXPECT_EQ(end_.placed.size(), 1u);
  EXPECT_THAT(end_.delivered, IsEmpty());
  segment_comes(1);
  EXPECT_EQ(end_.delivered.size(), 2u);
}
TEST_F(StreamSessionTest, OpenTerminateIsAnsweredBehindWhatPrecedesIt) {
  active_open();
  control_comes(2, 4);
  EXPECT_EQ(state(), State::kOpen);
  segment_comes(1);
  EXPECT_EQ(end_.delivered.size(), 1u);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(end_.told.back().kind, Kind::kClosed);
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, OpenTheAnswerWaitsForTheAcknowledgementOfTheAccept) {
  passive_open(false);
  control_comes(1, 4);
  EXPECT_THAT(sent(), IsEmpty());
  end_.acknowledge(kStream);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, OpenOtherControlMessagesAreViolations) {
  for (const std::uint16_t code : {1, 2, 3, 5, 6, 7, 9, 0xffff}) {
    SessionEnd end(policy(true));
    end.connect(kStream, policy(false));
    end.acknowledge_all();
    end.receive({kStream, wire::kPpidDdpSession, control(0, 2)});
    end.take_sent();
    end.receive({kStream, wire::kPpidDdpSession, control(1, code, {0, 0, 0, 0})});
    const auto messages = end.take_sent();
    ASSERT_EQ(messages.size(), 1u) << code;
    EXPECT_EQ(messages[0].user_data, control(1, 4));
    EXPECT_EQ(end.told.back().kind, Kind::kBroken);
    EXPECT_EQ(end.state(kStream), State::kClosing);
  }
}
TEST_F(StreamSessionTest, OpenTerminateWithPrivateDataIsAViolation) {
  active_open();
  control_comes(1, 4, {0});
  EXPECT_EQ(end_.told.back().kind, Kind::kBroken);
}
TEST_F(StreamSessionTest, OpenChunkThatBreaksARuleOfItsOwnIsAViolation) {
  active_open();
  end_.violate(kStream, sctp::StreamViolation::kTooLong);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(segment_comes(1), sctp::ChunkFate::kDropped);
  EXPECT_THAT(end_.placed, IsEmpty());
  closes_on_terminate(2);
}
TEST_F(StreamSessionTest, OpenSecondSessionBeforeTheFirstIsOver) {
  active_open();
  control_comes(0, 1);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(end_.told.back().kind, Kind::kBroken);
}

// TermSent.

TEST_F(StreamSessionTest, TermSentSegmentsAreDeliveredIfTheEndWasInOrder) {
  active_open();
  end_.close(kStream);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(state(), State::kTermSent);
  segment_comes(1);
  EXPECT_EQ(end_.delivered.size(), 1u);
  control_comes(2, 4);
  EXPECT_EQ(end_.told.back().kind, Kind::kClosed);
  EXPECT_THAT(sent(), IsEmpty());
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, TermSentSegmentsAreDroppedAfterAnError) {
  active_open();
  end_.close(kStream, false);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(segment_comes(1), sctp::ChunkFate::kDropped);
  control_comes(2, 4);
  EXPECT_THAT(end_.placed, IsEmpty());
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, TermSentTerminatesThatCrossNeedNoFurtherOne) {
  active_open();
  end_.close(kStream);
  sent();
  control_comes(1, 4);
  EXPECT_THAT(sent(), IsEmpty());
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, TermSentControlMessageIsAViolation) {
  active_open();
  end_.close(kStream);
  control_comes(1, 2);
  EXPECT_EQ(state(), State::kClosing);
  EXPECT_EQ(end_.told.back().kind, Kind::kBroken);
}
TEST_F(StreamSessionTest, TermSentOfAnInitiateThatIsNotAnsweredYet) {
  init_sent(false, false);
  end_.close(kStream);
  EXPECT_THAT(sent(), IsEmpty());  // must not overtake the Initiate
  control_comes(0, 2);             // crosses the close
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  EXPECT_EQ(segment_comes(1), sctp::ChunkFate::kDropped);
  control_comes(2, 4);
  idle_when_acknowledged();
}
TEST_F(StreamSessionTest, TermSentNothingIsSentAfterARejection) {
  for (const std::uint16_t code : {3, 4}) {
    SessionEnd end(policy(true));
    end.connect(kStream, policy(false));
    end.take_sent();
    end.close(kStream);
    end.receive({kStream, wire::kPpidDdpSession, control(0, code)});
    end.acknowledge_all();
    EXPECT_THAT(end.take_sent(), IsEmpty());
    EXPECT_EQ(end.state(kStream), State::kIdle);
  }
}

// Closing.

TEST_F(StreamSessionTest, ClosingCountsAndDropsWhatElseComes) {
  active_open();
  segment_comes(0);  // seen twice
  sent();
  const auto strays = end_.strays(kStream);
  segment_comes(0);
  control_comes(1, 2);
  EXPECT_EQ(end_.strays(kStream), strays + 2);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(state(), State::kClosing);
}
TEST_F(StreamSessionTest, ClosingStaysWithoutThePeersTerminate) {
  active_open();
  control_comes(1, 2);
  end_.acknowledge_all();
  EXPECT_EQ(state(), State::kClosing);
  sent();
  end_.connect(kStream, policy(false));
  EXPECT_THAT(sent(), IsEmpty());
}
TEST_F(StreamSessionTest, ClosingTheRunMustBeCompleteUpToTheTerminate) {
  active_open();
  segment_comes(0);  // a violation
  sent();
  end_.acknowledge_all();
  control_comes(2, 4);
  EXPECT_EQ(state(), State::kClosing);
  segment_comes(1);
  EXPECT_EQ(state(), State::kIdle);
}
TEST_F(StreamSessionTest, ClosingTheNextInitiateWaitsForTheAcknowledgements) {
  passive_open();
  control_comes(1, 4);
  EXPECT_THAT(sent(), ElementsAre("4@1"));
  end_.told.clear();
  control_comes(0, 1);  // the peer has our Terminate; its acknowledgement is still in flight
  EXPECT_THAT(end_.told, IsEmpty());
  end_.acknowledge_all();
  EXPECT_EQ(state(), State::kPending);
  EXPECT_TRUE(end_.was_told(Kind::kRequest));
  end_.accept(kStream);
  EXPECT_THAT(sent(), ElementsAre("2@0"));
}

// The association.

TEST_F(StreamSessionTest, LostAssociationEndsAllSessionsWithoutAMessage) {
  active_open();
  segment_comes(2);
  end_.lose_association();
  EXPECT_EQ(end_.told.back().kind, Kind::kLost);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(state(), State::kIdle);
  EXPECT_EQ(end_.buffers(), 0u);
}

TEST_F(StreamSessionTest, SessionsOfOtherStreamsGoOn) {
  active_open();
  end_.receive({0, wire::kPpidDdpSession, control(0, 1)});
  EXPECT_EQ(end_.state(0), State::kPending);
  segment_comes(0);
  EXPECT_EQ(end_.state(0), State::kPending);
  EXPECT_EQ(state(), State::kClosing);
}

}  // namespace
}  // namespace rnic
