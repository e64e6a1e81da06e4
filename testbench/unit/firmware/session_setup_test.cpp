// DDP stream sessions over SCTP: both roles of their setup, with the host's events and the messages sent (RFC 5043
// section 6, RFC 6581 section 7).
#include "testbench/unit/firmware/session_bench.h"

namespace rnic::fw::test {
namespace {

using abi::CommandOp;
using abi::CommandStatus;

class SessionSetup : public SessionTest {
 protected:
  using SessionTest::SessionTest;
  CommandStatus status_of_last() const { return static_cast<CommandStatus>(bus.events().back().status); }
};

// The initiator.

TEST_F(SessionSetup, PlainWithPrivateDataBothWays) {
  run(over_sctp(connect(0)), "68656c6c6f");
  EXPECT_THAT(taken(),
              ElementsAre("event done status 0 id 0 cookie 77", "sctp connect 0a000001:7000 from 0 cookie 80000000"));
  bus.put_private_data(hex("ffffffffff"));  // of another command, before the stream is available
  fw.on(SctpConnected{FlowId{9}, kConn, 41000, kMulpdu});
  EXPECT_THAT(taken(), ElementsAre("sctp begin flow 9", "sctp send flow 9 000168656c6c6f", "timer 0 5000000us"));
  acked(9);
  EXPECT_THAT(taken(), IsEmpty());
  message(9, "0002776f726c64");
  EXPECT_THAT(taken(), ElementsAre("qp 5 rts flow 9 mulpdu 1434 ird 16 ord 16",
                                   "flow 9 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp", "sctp open flow 9",
                                   "event established status 0 id 5 ird 16 ord 16 rev 1 flags 2 private 776f726c64",
                                   "cancel timer 0"))
      << "contexts before the first segment";
  EXPECT_EQ(bus.events().back().local_port, 41000);
}

// IRD, ORD and the RTR message as over MPA: the same word of RFC 6581.
TEST_F(SessionSetup, EnhancedWithRtrMessage) {
  initiate(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrWrite | abi::kCmRtrRead);
  message(9, "000680208010");
  EXPECT_THAT(taken(),
              ElementsAre("qp 5 rts flow 9 mulpdu 1434 ird 16 ord 16",
                          "flow 9 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp", "sctp open flow 9",
                          "work qp 5 rtr_write",
                          "event established status 0 id 5 ird 16 ord 16 peer 32/16 rev 2 flags 2e", "cancel timer 0"));
}

TEST_F(SessionSetup, TheInitiateCarriesTheWordOfTheOptions) {
  abi::Command c = over_sctp(connect(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend, 16, 32));
  c.u.cm.options |= abi::kCmKeepIrd;
  run(c, "ab");
  taken();
  fw.on(SctpConnected{FlowId{9}, kConn, 41000, kMulpdu});
  EXPECT_EQ(taken()[1], "sctp send flow 9 0005ffff0020ab");
}

struct Answer {
  const char* name;
  bool enhanced;
  const char* octets;
  std::vector<std::string> lines;
};

class Answered : public SessionSetup, public testing::WithParamInterface<Answer> {};

// All answers that open nothing. The Initiate is acknowledged first, so that nothing else is pending.
TEST_P(Answered, EndsTheSetup) {
  initiate(GetParam().enhanced ? abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend : 0);
  acked(9);
  message(9, GetParam().octets);
  EXPECT_EQ(taken(), GetParam().lines);
  EXPECT_EQ(bus.events().back().id, kQp) << "of the queue pair";
}

const char* const kOver = "sctp restart flow 9";
const char* const kDown = "cancel timer 0";
const char* const kLingers = "timer 0 3000000us";
const std::vector<std::string> kReset = {kOver, "event connect_error status 3 id 5", kDown};
const std::vector<std::string> kBad = {"log session_violation", "sctp discard flow 9", "sctp send flow 9 0004",
                                       "event connect_error status 4 id 5", kLingers};

INSTANTIATE_TEST_SUITE_P(
    All, Answered,
    testing::Values(Answer{"Reject",
                           false,
                           "000362757379",
                           {kOver, "event rejected status 1 id 5 rev 1 flags 0 private 62757379", kDown}},
                    Answer{"EnhancedReject",
                           true,
                           "00078008c0406d6f7265",
                           {kOver, "event rejected status 1 id 5 peer 8/64 rev 2 flags 6c private 6d6f7265", kDown}},
                    Answer{"EnhancedRejectWithoutWord",
                           true,
                           "00076d6f",
                           {kOver, "event rejected status 1 id 5 rev 2 flags 0 private 6d6f", kDown}},
                    // From an end that does not support RFC 6581.
                    Answer{"RejectOfAnEnhancedOne",
                           true,
                           "000362757379",
                           {kOver, "event rejected status 1 id 5 rev 1 flags 0 private 62757379", kDown}},
                    Answer{"Terminate", false, "0004", kReset},
                    Answer{"TerminateOfAnEnhancedOne", true, "0004", kReset},
                    Answer{"AcceptOfTheWrongFamily", true, "0002", kBad},
                    Answer{"EnhancedAcceptOfAPlainOne",
                           false,
                           "000600100010",
                           {"log session_violation", "sctp discard flow 9", "sctp send flow 9 0004",
                            "event connect_error status 4 id 5 peer 16/16", kLingers}},
                    Answer{"EnhancedRejectOfAPlainOne",
                           false,
                           "000700100010",
                           {"log session_violation", "sctp discard flow 9", "sctp send flow 9 0004",
                            "event connect_error status 4 id 5 peer 16/16", kLingers}},
                    Answer{"CrossingInitiate", false, "0001", kBad},
                    Answer{"CrossingEnhancedInitiate",
                           true,
                           "000500100010",
                           {"log session_violation", "sctp discard flow 9", "sctp send flow 9 0004",
                            "event connect_error status 4 id 5 peer 16/16", kLingers}},
                    Answer{"UnknownCode", false, "ffff", kBad},
                    Answer{"EnhancedAcceptTooShort", true, "00060010", kBad},
                    Answer{"PrivateDataInTerminate", false, "000400", kBad}),
    [](const auto& answer) { return answer.param.name; });

// Errors 6 and 7 of RFC 6581 section 8: the RDMAP Terminate goes out before the session's.
struct Unmet {
  const char* name;
  const char* word;
  const char* terminate;
  unsigned status;
};
class UnmetTerms : public SessionSetup, public testing::WithParamInterface<Unmet> {};

TEST_P(UnmetTerms, AreToldByAnRdmapTerminateAndThenTheSessions) {
  abi::Command c = over_sctp(connect(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend));
  c.u.cm.options |= abi::kCmMaxIrd;
  run(c);
  fw.on(SctpConnected{FlowId{9}, kConn, 41000, kMulpdu});
  taken();
  message(9, std::string("0006") + GetParam().word);
  const auto lines = taken();
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_THAT(lines[0], testing::StartsWith("qp 5 terminate flow 9 mulpdu 1434"));
  EXPECT_EQ(lines[2], "sctp discard flow 9");
  EXPECT_EQ(lines[3], std::string("work qp 5 terminate ") + GetParam().terminate);
  EXPECT_EQ(lines[4], "work qp 5 drain");
  EXPECT_THAT(lines[5], testing::StartsWith(fmt::format("event connect_error status {} id 5 terminate {}",
                                                        GetParam().status, GetParam().terminate)));
  EXPECT_EQ(lines[6], "timer 0 3000000us");
  fw.on(QpSendDrained{Qpn{kQp}});
  EXPECT_THAT(taken(), ElementsAre("sctp send flow 9 0004", "timer 0 3000000us")) << "not before it";
  fw.on(SctpPeerClosed{FlowId{9}});
  EXPECT_EQ(taken().back(), "event disconnected status 0 id 5");
  acked(9);
  EXPECT_THAT(taken(), IsEmpty()) << "the Terminate is not acknowledged yet";
  acked(9);
  EXPECT_THAT(taken(), ElementsAre(kOver, kDown));
  EXPECT_EQ(fw.connections(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, UnmetTerms,
                         testing::Values(Unmet{"Ird", "c0100040", "20060000", 6},
                                         Unmet{"Rtr", "80100010", "20070000", 7}),
                         [](const auto& unmet) { return unmet.param.name; });

TEST_F(SessionSetup, OpeningFails) {
  run(over_sctp(connect(0)));
  taken();
  fw.on(SctpOpenFailed{kConn, OpenFailure::kTimeout});
  EXPECT_THAT(taken(), ElementsAre("event connect_error status 2 id 5"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(SessionSetup, AStreamThatNobodyWantsAnyMoreIsGivenBack) {
  run(over_sctp(connect(0)));
  run(command(CommandOp::kDisconnect, kQp));
  EXPECT_EQ(taken().back(), "event connect_error status 9 id 5");
  EXPECT_EQ(fw.connections(), 0u);
  fw.on(SctpConnected{FlowId{9}, kConn, 41000, kMulpdu});
  EXPECT_THAT(taken(), ElementsAre("sctp give_back flow 9"));
}

// A stray chunk of the peer on that stream is still unanswered.
TEST_F(SessionSetup, AStreamThatIsBeingRefusedIsNotUsed) {
  run(over_sctp(connect(0)));
  fw.on(SctpStray{FlowId{9}});
  taken();
  fw.on(SctpConnected{FlowId{9}, kConn, 41000, kMulpdu});
  EXPECT_THAT(taken(), ElementsAre("sctp give_back flow 9", "event connect_error status 10 id 5"));
  acked(9);
  EXPECT_THAT(taken(), ElementsAre(kOver));
}

// An attempt that the host has given up ends when the peer has answered: earlier, a Terminate could cross a rejection.
TEST_F(SessionSetup, NoAnswerInTime) {
  initiate(0);
  fw.on(TimerExpired{0});
  EXPECT_THAT(taken(), ElementsAre("event connect_error status 2 id 5", kLingers));
  EXPECT_EQ(fw.state(0), ConnState::kLingering);
  acked(9);
  EXPECT_THAT(taken(), IsEmpty());
  message(9, "0002");
  EXPECT_THAT(taken(), ElementsAre("sctp discard flow 9", "sctp send flow 9 0004"));
  message(9, "0004");
  EXPECT_THAT(taken(), IsEmpty());
  acked(9);
  EXPECT_THAT(taken(), ElementsAre(kOver, kDown));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(SessionSetup, TheHostCancelsAndIsRejectedMeanwhile) {
  initiate(0);
  run(command(CommandOp::kDisconnect, kQp));
  EXPECT_THAT(taken(), ElementsAre("event done status 0 id 5", "event connect_error status 9 id 5", kLingers));
  message(9, "0003");
  EXPECT_THAT(taken(), IsEmpty()) << "nothing follows a rejection";
  acked(9);
  EXPECT_THAT(taken(), ElementsAre(kOver, kDown));
}

// The queue pair may try again before the old stream is free.
TEST_F(SessionSetup, ACancelledAttemptLeavesTheQueuePairFree) {
  initiate(0);
  run(command(CommandOp::kDisconnect, kQp));
  taken();
  run(over_sctp(connect(0)));
  EXPECT_THAT(taken(),
              ElementsAre("event done status 0 id 0 cookie 77", "sctp connect 0a000001:7000 from 0 cookie 80000001"));
}

TEST_F(SessionSetup, ALocalFailureIsToldWhenTheAnswerLetsIt) {
  initiate(abi::kCmEnhanced);
  fw.on(QpStreamError{Qpn{kQp}, wire::rdma::kLocalCatastrophic});
  EXPECT_THAT(taken(), IsEmpty());
  message(9, "000600100010");
  const auto lines = taken();
  EXPECT_THAT(lines, testing::Contains("work qp 5 terminate 20050000"));
  EXPECT_THAT(lines, testing::Contains("event connect_error status 8 id 5 terminate 20050000 peer 16/16"));
  fw.on(QpSendDrained{Qpn{kQp}});
  EXPECT_THAT(taken(), ElementsAre("sctp discard flow 9", "sctp send flow 9 0004", "timer 0 3000000us"));
}

TEST_F(SessionSetup, ALocalFailureOfAPlainSetupEndsItAtOnce) {
  initiate(0);
  fw.on(QpStreamError{Qpn{kQp}, wire::rdma::kLocalCatastrophic});
  EXPECT_THAT(taken(), ElementsAre("qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0", "work qp 5 flush",
                                   "event connect_error status 8 id 5 terminate 20050000", kLingers));
}

// The responder.

TEST_F(SessionSetup, ARequestIsTheHostsToAccept) {
  abi::Command listen = over_sctp(command(CommandOp::kListen, 0));
  listen.u.cm.local_port = 7000;
  run(listen);
  EXPECT_THAT(taken(), ElementsAre("sctp listen 7000", "event done status 0 id 0"));
  message(8, "000168656c6c6f");
  EXPECT_THAT(taken(), ElementsAre("event connect_request status 0 id 80000000 rev 1 flags 0 private 68656c6c6f"));
  const abi::Event& event = bus.events().back();
  EXPECT_EQ(event.peer_ip, 0x0a000002u);
  EXPECT_EQ(event.peer_port, 40000);
  EXPECT_EQ(event.local_port, 7000);

  run(accept(kConn), "776f726c64");
  EXPECT_THAT(taken(), ElementsAre("event done status 0 id 80000000", "qp 5 rts flow 8 mulpdu 1434 ird 8 ord 8",
                                   "flow 8 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp",
                                   "sctp send flow 8 0002776f726c64", "sctp open flow 8",
                                   "event established status 0 id 5 ird 8 ord 8 rev 1 flags 2"))
      << "segments may follow the Accept at once: not fenced";
  EXPECT_EQ(fw.state(0), ConnState::kRts);
}

// choices.md 24: the RTR message is absorbed; nothing waits for it.
TEST_F(SessionSetup, PeerToPeerIsEstablishedByTheAccept) {
  listen_sctp(abi::kCmEnhanced | abi::kCmRtrSend);
  message(8, "0005c010c010");
  EXPECT_EQ(taken().back(), "event connect_request status 0 id 80000000 peer 16/16 rev 2 flags 7c");
  run(accept(kConn));
  EXPECT_THAT(
      taken(),
      ElementsAre("event done status 0 id 80000000", "qp 5 rts flow 8 mulpdu 1434 ird 16 ord 8 absorbs",
                  "flow 8 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1 sctp", "sctp send flow 8 0006c0100008",
                  "sctp open flow 8", "event established status 0 id 5 ird 16 ord 8 peer 16/16 rev 2 flags 1e"));
  fw.on(QpFirstFpdu{Qpn{kQp}});
  EXPECT_THAT(taken(), IsEmpty());
}

TEST_F(SessionSetup, RejectionWithPrivateDataAndAsMuchAsFits) {
  listen_sctp(0);
  message(8, "0001");
  taken();
  abi::Command reject = command(CommandOp::kReject, kConn);
  reject.u.cm.options = abi::kCmStay;  // for MPA only
  const std::string most(2 * 512, 'a');
  run(reject, most);
  EXPECT_THAT(taken(), ElementsAre("event done status 0 id 80000000", "sctp end_run flow 8",
                                   "sctp send flow 8 0003" + most, kLingers));
  EXPECT_EQ(fw.state(0), ConnState::kLingering);
  acked(8);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 8", kDown));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(SessionSetup, EnhancedRejectionNamesTheNeededOrd) {
  listen_sctp(abi::kCmEnhanced | abi::kCmRtrWrite);
  message(8, "0005c0108010");
  abi::Command reject = command(CommandOp::kReject, kConn);
  reject.u.cm.need_ord = 32;
  run(reject, "6d6f");
  EXPECT_THAT(taken(), testing::Contains("sctp send flow 8 0007801080206d6f"));
}

// The host's accept has a condition that the initiator does not meet: 2/0/6 stays here, as does its private data.
TEST_F(SessionSetup, AnInitiatorWithTooLittleIrdIsRejected) {
  listen_sctp(abi::kCmEnhanced);
  message(8, "000500040010");
  taken();
  abi::Command c = accept(kConn);
  c.u.cm.need_ord = 8;
  run(c, "abcd");
  EXPECT_THAT(taken(),
              ElementsAre("event done status 0 id 80000000", "sctp end_run flow 8", "sctp send flow 8 000700100008",
                          "event connect_error status 6 id 5 terminate 20060000 peer 4/16", kLingers));
  acked(8);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 8", kDown));
  EXPECT_EQ(fw.connections(), 0u);
}

// An end without a common RTR kind accepts with its own kinds; the initiator then sends 2/0/7.
TEST_F(SessionSetup, NoCommonRtrIsAcceptedWithTheOwnKinds) {
  listen_sctp(abi::kCmEnhanced | abi::kCmRtrSend);
  message(8, "000580108010");
  run(accept(kConn));
  EXPECT_THAT(taken(), testing::Contains("sctp send flow 8 0006c0100008"));
}

struct Refusal {
  const char* name;
  std::uint8_t flags;
  std::uint16_t port;
  const char* octets;
  const char* logged;  // before the Terminate, if anything
};
class Refused : public SessionSetup, public testing::WithParamInterface<Refusal> {};

// The host is informed of none of these: a Terminate goes out, and the stream is free when it has arrived.
TEST_P(Refused, ByASessionTerminate) {
  listen_sctp(GetParam().flags);
  const Bytes octets = hex(GetParam().octets);
  bus.put_message(octets);
  fw.on(SctpControl{FlowId{8}, 0x0a000002, 40000, GetParam().port, kMulpdu, static_cast<std::uint16_t>(octets.size())});
  std::vector<std::string> expected{"sctp end_run flow 8", "sctp send flow 8 0004"};
  if (GetParam().logged != nullptr) expected.insert(expected.begin(), GetParam().logged);
  EXPECT_EQ(taken(), expected);
  EXPECT_EQ(fw.connections(), 0u);
  message(8, "0001");
  EXPECT_THAT(taken(), IsEmpty()) << "what follows is of the session that is refused";
  acked(8);
  EXPECT_THAT(taken(), ElementsAre("sctp restart flow 8"));
  acked(8);
  EXPECT_THAT(taken(), IsEmpty());
  message(8, "0001");
  EXPECT_THAT(taken(), ElementsAre(testing::StartsWith("event connect_request")));
}

INSTANTIATE_TEST_SUITE_P(All, Refused,
                         testing::Values(Refusal{"EnhancedNotKnown", 0, 7000, "000500100010", nullptr},
                                         Refusal{"NoListener", 0, 7001, "0001", "log no_listener"}),
                         [](const auto& refusal) { return refusal.param.name; });

// A plain Initiate may come to a listener that supports RFC 6581: the answer is plain, too.
TEST_F(SessionSetup, APlainInitiateToAnEnhancedListener) {
  listen_sctp(abi::kCmEnhanced);
  message(8, "0001");
  run(accept(kConn));
  EXPECT_THAT(taken(), testing::Contains("sctp send flow 8 0002"));
}

TEST_F(SessionSetup, TheBacklogLimitsWhatWaits) {
  listen_sctp(0, 1);
  message(8, "0001");
  taken();
  message(7, "0001");
  EXPECT_THAT(taken(), ElementsAre("log no_resources", "sctp end_run flow 7", "sctp send flow 7 0004"));
  run(command(CommandOp::kReject, kConn));
  acked(7);
  taken();
  message(7, "0001");
  EXPECT_THAT(taken(), ElementsAre("event connect_request status 0 id 80000001 rev 1 flags 0"));
}

struct Withdrawal {
  const char* name;
  bool violates;
  const char* octets;
  unsigned status;
};
class Withdrawn : public SessionSetup, public testing::WithParamInterface<Withdrawal> {};

// While the host decides.
TEST_P(Withdrawn, BeforeItIsAnswered) {
  listen_sctp(0);
  message(8, "0001");
  taken();
  GetParam().violates ? fw.on(SctpViolation{FlowId{8}}) : message(8, GetParam().octets);
  auto lines = taken();
  if (GetParam().status == 4) {
    EXPECT_EQ(lines.front(), "log session_violation");
    lines.erase(lines.begin());
  }
  EXPECT_THAT(lines,
              ElementsAre("sctp end_run flow 8", "sctp send flow 8 0004",
                          fmt::format("event connect_error status {} id 80000000", GetParam().status), kLingers));
  run(accept(kConn));
  EXPECT_EQ(status_of_last(), CommandStatus::kBadState);
  taken();
  acked(8);
  EXPECT_EQ(taken().front(), "sctp restart flow 8");
  EXPECT_EQ(fw.connections(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Withdrawn,
                         testing::Values(Withdrawal{"Terminate", false, "0004", 3},
                                         Withdrawal{"Initiate", false, "0001", 4},
                                         Withdrawal{"Violation", true, "", 4}),
                         [](const auto& w) { return w.param.name; });

TEST_F(SessionSetup, AnAssociationIsLostWhileTheHostDecides) {
  listen_sctp(0, 1);
  message(8, "0001");
  taken();
  fw.on(SctpLost{FlowId{8}});
  EXPECT_THAT(taken(), ElementsAre("event connect_error status 3 id 80000000"));
  EXPECT_EQ(fw.connections(), 0u);
  message(8, "0001");
  EXPECT_THAT(taken(), ElementsAre("event connect_request status 0 id 80010000 rev 1 flags 0")) << "not pending";
}

// Both transports.

TEST_F(SessionSetup, AListenerIsOfOneTransport) {
  listen(0);
  taken();
  message(8, "0001");
  EXPECT_THAT(taken(), testing::Contains("log no_listener"));
  acked(8);
  listen_sctp(0);
  message(8, "0001");
  EXPECT_EQ(taken().back(), "event connect_request status 0 id 80000000 rev 1 flags 0");
  abi::Command again = over_sctp(command(CommandOp::kListen, 0));
  again.u.cm.local_port = 7000;
  run(again);
  EXPECT_EQ(status_of_last(), CommandStatus::kBusy);

  taken();
  abi::Command unlisten = command(CommandOp::kUnlisten, 0);
  unlisten.u.cm.local_port = 7000;
  run(unlisten);
  EXPECT_THAT(taken(), ElementsAre("unlisten 7000", "event done status 0 id 0"));
  run(over_sctp(unlisten));
  EXPECT_THAT(taken(), ElementsAre("sctp unlisten 7000", "event done status 0 id 0"));
  run(over_sctp(unlisten));
  EXPECT_EQ(status_of_last(), CommandStatus::kBadIndex);
}

TEST_F(SessionSetup, SessionsAtATimeAreLimited) {  // two, of four connections
  create_qp(6);
  create_qp(7);
  taken();
  for (const std::uint32_t qpn : {5u, 6u}) {
    abi::Command c = over_sctp(connect(0));
    c.qpn = qpn;
    run(c);
  }
  abi::Command third = over_sctp(connect(0));
  third.qpn = 7;
  run(third);
  EXPECT_EQ(status_of_last(), CommandStatus::kNoResources);
  listen_sctp(0);
  message(8, "0001");
  EXPECT_THAT(taken(), ElementsAre("log no_resources", "sctp end_run flow 8", "sctp send flow 8 0004"));
  abi::Command over_tcp = connect(0);
  over_tcp.qpn = 7;
  run(over_tcp);
  EXPECT_EQ(status_of_last(), CommandStatus::kOk);
  fw.on(SctpOpenFailed{kConn, OpenFailure::kRefused});
  acked(8);
  taken();
  message(8, "0001");
  EXPECT_THAT(taken(), ElementsAre(testing::StartsWith("event connect_request"))) << "one has ended";
}

TEST_F(SessionSetup, PrivateDataBesideTheWord) {
  run(over_sctp(connect(abi::kCmEnhanced)), std::string(2 * 509, '0'));
  EXPECT_EQ(status_of_last(), CommandStatus::kBadLength);
  run(over_sctp(connect(abi::kCmEnhanced)), std::string(2 * 508, '0'));
  EXPECT_EQ(status_of_last(), CommandStatus::kOk);
}

// DDP and RDMAP over SCTP have version 1 only.
class RdmacSession : public SessionSetup {
 protected:
  RdmacSession() : SessionSetup(abi::Personality::kPermissive) {}
};

TEST_F(RdmacSession, IsRefused) {
  abi::Command listen = over_sctp(command(CommandOp::kListen, 0));
  listen.u.cm.local_port = 7001;
  listen.u.cm.personality = abi::Personality::kRdmac;
  run(listen);
  EXPECT_EQ(status_of_last(), CommandStatus::kVersionNotSupported);
  abi::Command qp = command(CommandOp::kCreateQp, 6);
  qp.u.qp = {0x10000, 0x20000, 6, 5, 7, 0, 0, 0, {}};
  qp.u.qp.stream.personality = abi::Personality::kRdmac;
  run(qp);
  abi::Command c = over_sctp(connect(0));
  c.qpn = 6;
  run(c);
  EXPECT_EQ(status_of_last(), CommandStatus::kVersionNotSupported);
  listen_sctp(0);
  message(8, "0001");
  abi::Command a = accept(kConn);
  a.qpn = 6;
  run(a);
  EXPECT_EQ(status_of_last(), CommandStatus::kVersionNotSupported);
  a.qpn = kQp;
  run(a);
  EXPECT_THAT(taken(), testing::Contains("qp 5 rts flow 8 mulpdu 1434 ird 8 ord 8"));
}

}  // namespace
}  // namespace rnic::fw::test
