// DDP stream sessions over SCTP from RDMA mode to the end: the effect of each event in each state, and when the stream
// is free again (RFC 5043 section 6, RFC 5040 section 9).
#include "testbench/unit/firmware/session_bench.h"

namespace rnic::fw::test {
namespace {

using abi::CommandOp;

const std::vector<std::string> kEnded = {"qp 5 error flow 9 mulpdu 1434 ird 16 ord 16",
                                         "flow 9 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp",
                                         "work qp 5 flush"};

class SessionClosing : public SessionTest {
 protected:
  // kEnded with the lines before and after it.
  static std::vector<std::string> ended(std::vector<std::string> then, std::vector<std::string> before = {}) {
    before.insert(before.end(), kEnded.begin(), kEnded.end());
    before.insert(before.end(), then.begin(), then.end());
    return before;
  }
  void disconnect() { run(command(CommandOp::kDisconnect, kQp)); }
  void drained() { fw.on(QpSendDrained{Qpn{kQp}}); }
  void peer_closed() { fw.on(QpPeerClosed{Qpn{kQp}}); }
};

TEST_F(SessionClosing, TheHostDisconnects) {
  establish_active();
  disconnect();
  EXPECT_THAT(taken(), ElementsAre("event done status 0 id 5", "qp 5 closing flow 9 mulpdu 1434 ird 16 ord 16",
                                   "work qp 5 drain", "timer 0 3000000us"));
  drained();
  EXPECT_THAT(taken(), ElementsAre("sctp send flow 9 0004", "timer 0 3000000us"))
      << "the peer's segments are still delivered";
  peer_closed();
  EXPECT_EQ(taken(), ended({"event disconnected status 0 id 5"}));
  acked(9);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(SessionClosing, ThePeerCloses) {
  establish_active();
  peer_closed();
  EXPECT_THAT(taken(),
              ElementsAre("qp 5 closing flow 9 mulpdu 1434 ird 16 ord 16", "work qp 5 drain", "timer 0 3000000us"));
  drained();
  EXPECT_EQ(taken(), ended({"event disconnected status 0 id 5", "sctp send flow 9 0004", "timer 0 3000000us"}));
  acked(9);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
}

TEST_F(SessionClosing, BothAtOnce) {
  establish_active();
  disconnect();
  drained();
  acked(9);
  taken();
  peer_closed();
  EXPECT_EQ(taken(), ended({"event disconnected status 0 id 5", "sctp restart flow 9", "cancel timer 0"}))
      << "ours was acknowledged already";
  EXPECT_EQ(fw.connections(), 0u);
}

// A Terminate must not overtake the Accept before it.
TEST_F(SessionClosing, AResponderThatClosesAtOnceWaitsForTheAcceptToArrive) {
  listen_sctp(0);
  message(8, "0001");
  run(accept(kConn));
  disconnect();
  taken();
  drained();
  EXPECT_THAT(taken(), ElementsAre("timer 0 3000000us"));
  acked(8);
  EXPECT_THAT(taken(), ElementsAre("sctp send flow 8 0004"));
}

TEST_F(SessionClosing, AnErrorIsToldByRdmapFirst) {
  establish_active();
  fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
  EXPECT_THAT(taken(),
              ElementsAre("qp 5 terminate flow 9 mulpdu 1434 ird 16 ord 16", "work qp 5 terminate 11000000",
                          "work qp 5 drain", "event qp_error status 0 id 5 terminate 11000000", "timer 0 3000000us"));
  drained();
  EXPECT_THAT(taken(), ElementsAre("sctp discard flow 9", "sctp send flow 9 0004", "timer 0 3000000us"));
  fw.on(SctpPeerClosed{FlowId{9}});
  acked(9);
  EXPECT_EQ(taken(), ended({"event disconnected status 0 id 5", "sctp restart flow 9", "cancel timer 0"}));
}

TEST_F(SessionClosing, AnErrorHereAndTheirTerminateCross) {
  establish_active();
  fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
  fw.on(SctpPeerClosed{FlowId{9}});
  EXPECT_EQ(taken().size(), 5u) << "ours waits for the RDMAP Terminate";
  drained();
  EXPECT_EQ(taken(), ended({"event disconnected status 0 id 5", "sctp send flow 9 0004", "timer 0 3000000us"}));
  acked(9);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
}

class TheirError : public SessionClosing, public testing::WithParamInterface<ConnState> {};

TEST_P(TheirError, IsAnsweredByTheSessionsTerminateOnly) {
  establish_active();
  if (GetParam() != ConnState::kRts) disconnect();
  if (GetParam() == ConnState::kClosing) drained();
  ASSERT_EQ(fw.state(0), GetParam());
  taken();
  fw.on(QpTerminateReceived{Qpn{kQp}, wire::ddp::kInvalidQn});
  std::vector<std::string> then{"event disconnected status 0 id 5"};
  if (GetParam() != ConnState::kClosing) {
    then.insert(then.end(), {"sctp discard flow 9", "sctp send flow 9 0004", "timer 0 3000000us"});
  }
  EXPECT_EQ(taken(), ended(then, {"event qp_error status 0 id 5 terminate 12010000"}));
  acked(9);
  fw.on(SctpPeerClosed{FlowId{9}});
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
}

INSTANTIATE_TEST_SUITE_P(States, TheirError,
                         testing::Values(ConnState::kRts, ConnState::kDraining, ConnState::kClosing));

TEST_F(SessionClosing, AnErrorAfterOurTerminate) {
  establish_active();
  disconnect();
  drained();
  taken();
  fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
  EXPECT_EQ(taken(), ended({"event disconnected status 3 id 5", "sctp discard flow 9", "timer 0 3000000us"},
                           {"event qp_error status 0 id 5 terminate 11000000"}));
  EXPECT_EQ(fw.state(0), ConnState::kLingering) << "no RDMAP Terminate can follow";
  acked(9);
  fw.on(SctpPeerClosed{FlowId{9}});
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

// Violations in an open session: segments are dropped at once, and our session Terminate goes out after the segments
// already passed down. There is no RDMAP Terminate for it (choices.md 23).
struct Break {
  const char* name;
  const char* octets;  // nullptr: a chunk that violates a rule itself
};
class Broken : public SessionClosing, public testing::WithParamInterface<Break> {
 protected:
  void break_it() { GetParam().octets == nullptr ? fw.on(SctpViolation{FlowId{9}}) : message(9, GetParam().octets); }
};

TEST_P(Broken, WhileOpen) {
  establish_active();
  break_it();
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp discard flow 9",
                                   "qp 5 terminate flow 9 mulpdu 1434 ird 16 ord 16", "work qp 5 drain",
                                   "event qp_error status 0 id 5", "timer 0 3000000us"));
  drained();
  EXPECT_THAT(taken(), ElementsAre("sctp send flow 9 0004", "timer 0 3000000us"));
  acked(9);
  message(9, "0004");
  EXPECT_EQ(taken(), ended({"event disconnected status 0 id 5", "sctp restart flow 9", "cancel timer 0"}));
}

TEST_P(Broken, WhileDraining) {
  establish_active();
  disconnect();
  taken();
  break_it();
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp discard flow 9",
                                   "qp 5 terminate flow 9 mulpdu 1434 ird 16 ord 16", "work qp 5 drain",
                                   "event qp_error status 0 id 5", "timer 0 3000000us"));
}

TEST_P(Broken, WhileTheRdmapTerminateIsOnItsWay) {
  establish_active();
  fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
  taken();
  break_it();
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp discard flow 9")) << "the first error is reported";
  drained();
  EXPECT_THAT(taken(), ElementsAre("sctp send flow 9 0004", "timer 0 3000000us"));
}

TEST_P(Broken, AfterOurTerminate) {
  establish_active();
  disconnect();
  drained();
  taken();
  break_it();
  EXPECT_EQ(taken(), ended({"event disconnected status 3 id 5", "timer 0 3000000us"},
                           {"log session_violation", "sctp discard flow 9", "event qp_error status 0 id 5"}));
  EXPECT_EQ(fw.state(0), ConnState::kLingering);
}

TEST_P(Broken, AndAlreadyOver) {
  establish_active();
  peer_closed();
  drained();
  taken();
  break_it();
  EXPECT_THAT(taken(), IsEmpty()) << "counted by the session";
  EXPECT_EQ(fw.state(0), ConnState::kClosing);
}

INSTANTIATE_TEST_SUITE_P(All, Broken,
                         testing::Values(Break{"Chunk", nullptr}, Break{"Initiate", "0001"}, Break{"Accept", "0002"},
                                         Break{"Reject", "0003"}, Break{"EnhancedAccept", "000600100010"},
                                         Break{"UnknownCode", "0099"}, Break{"PrivateDataInTerminate", "00040000"}),
                         [](const auto& b) { return b.param.name; });

// An association is lost: each session is informed, in any state.
TEST_F(SessionClosing, LostWhileOpen) {
  establish_active();
  fw.on(SctpLost{FlowId{9}});
  EXPECT_EQ(taken(), ended({"event disconnected status 3 id 5"}, {"event qp_error status 0 id 5"}));
  EXPECT_EQ(fw.connections(), 0u);
}

class Lost : public SessionClosing, public testing::WithParamInterface<unsigned> {
 protected:
  void bring_to(ConnState state) {
    if (state == ConnState::kInitSent) return initiate(0);
    establish_active();
    if (state == ConnState::kTerminating) fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
    else disconnect();
    if (state == ConnState::kClosing || state == ConnState::kLingering) drained();
    if (state == ConnState::kLingering) fw.on(TimerExpired{0});
  }
  std::vector<std::string> expected(ConnState state) {
    const std::vector<std::string> gone{"event disconnected status 3 id 5", "cancel timer 0"};
    switch (state) {
      case ConnState::kInitSent:
        return {"event connect_error status 3 id 5", "cancel timer 0"};
      case ConnState::kDraining:
        return ended(gone, {"event qp_error status 0 id 5"});
      case ConnState::kLingering:
        return {"cancel timer 0"};
      default:
        return ended(gone);
    }
  }
};

TEST_P(Lost, LeavesNothing) {
  const ConnState state{static_cast<std::uint8_t>(GetParam())};
  bring_to(state);
  ASSERT_EQ(fw.state(0), state);
  taken();
  fw.on(SctpLost{FlowId{9}});
  EXPECT_EQ(taken(), expected(state)) << "no Restart: the stream went with its association";
  EXPECT_EQ(fw.connections(), 0u);
  fw.on(SctpLost{FlowId{9}});
  EXPECT_THAT(taken(), ElementsAre("log unexpected_event"));
}

INSTANTIATE_TEST_SUITE_P(States, Lost,
                         testing::Values(static_cast<unsigned>(ConnState::kInitSent),
                                         static_cast<unsigned>(ConnState::kDraining),
                                         static_cast<unsigned>(ConnState::kTerminating),
                                         static_cast<unsigned>(ConnState::kClosing),
                                         static_cast<unsigned>(ConnState::kLingering)),
                         [](const auto& state) { return name(ConnState{static_cast<std::uint8_t>(state.param)}); });

// RFC 5040 section 9: a stream that cannot be ended alone carries nothing else.
TEST_F(SessionClosing, APeerThatDoesNotEndItsSessionKeepsTheStreamOnly) {
  establish_active();
  disconnect();
  drained();
  acked(9);
  taken();
  fw.on(TimerExpired{0});
  EXPECT_EQ(taken(), ended({"event disconnected status 2 id 5", "sctp discard flow 9", "timer 0 3000000us"}));
  EXPECT_EQ(fw.state(0), ConnState::kLingering);
  run(command(CommandOp::kDestroyQp, kQp));
  EXPECT_EQ(taken().back(), "event done status 0 id 5") << "the queue pair is free";
  message(9, "0004");
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

// Not forever: later the stream belongs to the hardware, which ignores further input on it.
TEST_F(SessionClosing, APeerThatNeverEndsItsSessionIsGivenUp) {
  establish_active();
  disconnect();
  drained();
  acked(9);
  fw.on(TimerExpired{0});
  taken();
  fw.on(TimerExpired{0});
  EXPECT_THAT(taken(), ElementsAre("sctp abandon flow 9", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

// An event of a session may date from before its end was known: the answer is for that session, so it has no effect and
// does not count for the next one.
TEST_F(SessionClosing, WhatIsToldOfAnEarlierSessionIsNothingOfTheNextOnes) {
  establish_active();
  peer_closed();
  drained();
  acked(9);
  ASSERT_EQ(fw.connections(), 0u);
  taken();
  Firmware<RecordingBus, SmallCapacity>& chip = fw;
  chip.on(SctpViolation{FlowId{9}, false, 0});
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp end_run flow 9 of another life",
                                   "sctp send flow 9 0004 of another life"));
  chip.on(SctpViolation{FlowId{9}, false, 1});
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp end_run flow 9", "sctp send flow 9 0004"));
  bus.log_level = LogLevel::kDebug;
  chip.on(SctpStray{FlowId{9}, false, 0});
  chip.on(SctpAcked{FlowId{9}, 0});
  chip.on(SctpLost{FlowId{9}, 0});
  EXPECT_THAT(taken(), ElementsAre("log stale_event", "log stale_event", "log stale_event"))
      << "older than what is known";
  bus.log_level = LogLevel::kInfo;
  chip.on(SctpAcked{FlowId{9}, 1});
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9"));
}

TEST_F(SessionClosing, ASendQueueThatDoesNotRunOut) {
  establish_active();
  disconnect();
  taken();
  fw.on(TimerExpired{0});
  EXPECT_EQ(taken(), ended({"event disconnected status 2 id 5", "sctp discard flow 9", "sctp send flow 9 0004",
                            "timer 0 3000000us"}));
  EXPECT_EQ(fw.state(0), ConnState::kLingering);
  message(9, "0002");
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp discard flow 9"));
  acked(9);
  message(9, "0004");
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
}

TEST_F(SessionClosing, ATerminateThatDoesNotGoOutInTime) {
  establish_active();
  fw.on(QpStreamError{Qpn{kQp}, wire::ddp::kInvalidStag});
  taken();
  fw.on(TimerExpired{0});
  EXPECT_EQ(taken(), ended({"event disconnected status 2 id 5", "sctp discard flow 9", "sctp send flow 9 0004",
                            "timer 0 3000000us"}));
}

// The session's own Terminate was held back, and goes out now.
TEST_F(SessionClosing, ABrokenSessionThatDoesNotDrainInTime) {
  establish_active();
  fw.on(SctpViolation{FlowId{9}});
  taken();
  fw.on(TimerExpired{0});
  EXPECT_EQ(taken(), ended({"event disconnected status 2 id 5", "sctp send flow 9 0004", "timer 0 3000000us"}));
  acked(9);
  fw.on(SctpPeerClosed{FlowId{9}});
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
}

// The hardware reported the session's end to the queue pair before it knew that the pair had left the session.
TEST_F(SessionClosing, TheEndIsToldToAQueuePairThatHasLeft) {
  establish_active();
  fw.on(QpTerminateReceived{Qpn{kQp}, wire::ddp::kInvalidQn});
  acked(9);
  taken();
  peer_closed();
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 9", "cancel timer 0"));
  peer_closed();
  EXPECT_THAT(taken(), ElementsAre("log unexpected_event"));
}

TEST_F(SessionClosing, TheQueuePairIsPutInErrorByTheHost) {
  establish_passive();
  abi::Command c = command(CommandOp::kModifyQp, kQp);
  c.u.modify_qp.to = QpState::kError;
  run(c);
  EXPECT_THAT(taken(), testing::Contains("work qp 5 terminate 00000000"));
  drained();
  EXPECT_THAT(taken(), ElementsAre("sctp discard flow 8", "sctp send flow 8 0004", "timer 0 3000000us"));
}

// Streams of one association are independent.
TEST_F(SessionClosing, TwoSessionsOnOneAssociation) {
  create_qp(6);
  establish_active();
  listen_sctp(0);
  message(8, "0001");
  abi::Command c = accept(0x80000001);
  c.qpn = 6;
  run(c);
  EXPECT_EQ(taken().back(), "event established status 0 id 6 ird 8 ord 8 rev 1 flags 2");
  fw.on(SctpViolation{FlowId{9}});
  drained();
  taken();
  EXPECT_EQ(fw.state(1), ConnState::kRts);
  fw.on(QpPeerClosed{Qpn{6}});
  fw.on(QpSendDrained{Qpn{6}});
  acked(8);
  EXPECT_THAT(taken(), testing::Contains("sctp send flow 8 0004"));
  acked(8);
  EXPECT_EQ(taken().front(), "sctp restart flow 8");
  EXPECT_EQ(fw.state(0), ConnState::kClosing);
  EXPECT_EQ(fw.connections(), 1u);
}

TEST_F(SessionClosing, AStreamIsUsedAgain) {
  establish_passive();
  peer_closed();
  drained();
  acked(8);
  taken();
  run(command(CommandOp::kDestroyQp, kQp));
  create_qp(kQp);
  taken();
  message(8, "0001");
  run(accept(0x80010000));
  EXPECT_THAT(taken(), testing::Contains("flow 8 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 2 sctp"));
}

// Chunks on streams without a session.

TEST_F(SessionClosing, AStrayIsAnsweredOnceByTerminate) {
  fw.on(SctpStray{FlowId{8}});
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp end_run flow 8", "sctp send flow 8 0004"));
  fw.on(SctpStray{FlowId{8}});
  EXPECT_THAT(taken(), ElementsAre("log session_violation"));
  fw.on(SctpViolation{FlowId{8}});
  EXPECT_THAT(taken(), ElementsAre("log session_violation"));
  acked(8);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 8"));
  fw.on(SctpViolation{FlowId{8}});
  EXPECT_THAT(taken(), ElementsAre("log session_violation", "sctp end_run flow 8", "sctp send flow 8 0004"));
  fw.on(SctpLost{FlowId{8}});
  EXPECT_THAT(taken(), IsEmpty());
  acked(8);
  EXPECT_THAT(taken(), IsEmpty()) << "of an association that is gone";
}

TEST_F(SessionClosing, ATerminateIsNeverAnsweredByOne) {
  fw.on(SctpStray{FlowId{8}, true});
  EXPECT_THAT(taken(), ElementsAre("log session_violation"));
  fw.on(SctpViolation{FlowId{8}, true});
  EXPECT_THAT(taken(), ElementsAre("log session_violation"));
}

TEST_F(SessionClosing, AStrayInASessionIsCountedOnly) {
  establish_active();
  fw.on(SctpStray{FlowId{9}});
  EXPECT_THAT(taken(), IsEmpty());
  EXPECT_EQ(fw.state(0), ConnState::kRts);
}

TEST_F(SessionClosing, APathBecomesNarrower) {
  establish_active();
  fw.on(SctpMulpduChanged{FlowId{9}, 516});
  EXPECT_THAT(taken(), ElementsAre("qp 5 rts flow 9 mulpdu 516 ird 16 ord 16", "log mulpdu"));
}

TEST_F(SessionClosing, APathBecomesNarrowerBeforeTheAnswer) {
  initiate(0);
  fw.on(SctpMulpduChanged{FlowId{9}, 700});
  message(9, "0002");
  EXPECT_EQ(taken().front(), "qp 5 rts flow 9 mulpdu 700 ird 16 ord 16");
}

}  // namespace
}  // namespace rnic::fw::test
