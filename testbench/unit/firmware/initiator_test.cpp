// The active side: from the host's connect command to RDMA mode, and the possible failures.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using abi::ConnectStatus;

class Initiator : public FirmwareTest {
 protected:
  // Connects until the request is out on flow 3.
  void open(std::uint8_t flags, std::uint16_t emss = 1460, const std::string& private_hex = "") {
    run(connect(flags), private_hex);
    fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, emss});
    bus.take();
  }
};

TEST_F(Initiator, Revision1WithCrc) {
  run(connect(abi::kCmCrc));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 0 cookie 77",  //
                                      "open 0a000001:7000 from 0 cookie 80000000"));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("send flow 3 " + kReqKey + "40010000",  //
                                      "read flow 3 20",                       //
                                      "timer 0 5000000us"));
  stream(3, kRepKey + "40010000");
  EXPECT_THAT(bus.take(), ElementsAre("qp 5 rts flow 3 mulpdu 1454 ird 16 ord 16",
                                      "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
                                      "enter_rdma flow 3",  //
                                      "event established status 0 id 5 ird 16 ord 16 rev 1 flags 2", "cancel timer 0"));
  const abi::Event& event = bus.events().back();
  EXPECT_EQ(event.peer_ip, 0x0a000001u);
  EXPECT_EQ(event.peer_port, 7000);
  EXPECT_EQ(event.local_port, 41000);
}

TEST_F(Initiator, TheHostsLimitsOfTcpHoldFromRdmaModeOn) {
  abi::Command c = connect(abi::kCmCrc);
  c.u.cm.tcp = {5, abi::KeepAlive::kOff};
  run(c);
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), testing::Not(testing::Contains(testing::HasSubstr("limits"))));
  stream(3, kRepKey + "40010000");
  const std::vector<std::string> done = bus.take();
  EXPECT_EQ(done[2], "limits flow 3 retries 5 keep-alive off");
  EXPECT_EQ(done[3], "enter_rdma flow 3");
}

TEST_F(Initiator, EnhancedPeerToPeerSendsTheAgreedRtrFirst) {
  run(connect(abi::kCmCrc | abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrWrite | abi::kCmRtrRead, 16, 32),
      "68656c6c6f");
  bus.take();
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_EQ(bus.take().front(), "send flow 3 " + kReqKey + "500200098010c02068656c6c6f");
  stream(3, kRepKey + "5002000480148012");  // IRD 20, ORD 18
  EXPECT_THAT(bus.take(),
              ElementsAre("read flow 3 4",  //
                          "qp 5 rts flow 3 mulpdu 1454 ird 18 ord 20",
                          "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
                          "enter_rdma flow 3",  //
                          "work qp 5 rtr_write",
                          "event established status 0 id 5 ird 18 ord 20 peer 20/18 rev 2 flags 2e", "cancel timer 0"));
}

// RFC 6581 section 9.2: B, C and D for every supported kind, unless the host wants fewer.
TEST_F(Initiator, APeerToPeerRequestNamesEveryRtrKind) {
  struct {
    unsigned flags;
    const char* word;
  } const kCases[] = {
      {0, "c010c010"}, {abi::kCmRtrSend, "c0100010"}, {abi::kCmRtrWrite, "80108010"}, {abi::kCmRtrRead, "80104010"}};
  std::uint32_t n = 0;
  for (const auto& test : kCases) {
    abi::Command c = connect(static_cast<std::uint8_t>(abi::kCmEnhanced | abi::kCmPeerToPeer | test.flags));
    if (n != 0) create_qp(kQp + n);
    c.qpn = kQp + n;
    run(c);
    bus.take();
    fw.on(TcpConnected{FlowId{3 + n}, 0x80000000 + n, 41000, 1460});
    EXPECT_EQ(bus.take().front(), fmt::format("send flow {} {}10020004{}", 3 + n, kReqKey, test.word));
    stream(3 + n, kRepKey + "10020004" + test.word);
    ++n;
  }
}

TEST_F(Initiator, EveryRtrKind) {
  struct {
    const char* reply_word;
    const char* work;
  } const kCases[] = {{"c0100010", "work qp 5 rtr_send"}, {"80104010", "work qp 5 rtr_read"}};
  std::uint32_t flow = 3, qp = kQp;
  for (const auto& test : kCases) {
    abi::Command c = connect(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend | abi::kCmRtrRead);
    if (qp != kQp) create_qp(qp);
    c.qpn = qp;
    run(c);
    fw.on(TcpConnected{FlowId{flow}, qp == kQp ? 0x80000000u : 0x80000001u, 41000, 1460});
    bus.take();
    stream(flow, kRepKey + "10020004" + test.reply_word);
    std::string work = test.work;
    work[8] = static_cast<char>('0' + qp);
    EXPECT_THAT(bus.take(), testing::Contains(work));
    ++flow;
    ++qp;
  }
}

// Both sides support Send, Write and Read; the initiator chooses.
TEST_F(Initiator, TakesTheRtrKindThatItLikesBest) {
  using abi::RtrKind;
  struct {
    std::uint8_t order;
    const char* work;
  } const kCases[] = {{abi::rtr_order(RtrKind::kRead, RtrKind::kSend), "rtr_read"},
                      {abi::rtr_order(RtrKind::kSend), "rtr_send"},
                      {0, "rtr_write"}};
  std::uint32_t n = 0;
  for (const auto& test : kCases) {
    abi::Command c =
        connect(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend | abi::kCmRtrWrite | abi::kCmRtrRead);
    if (n != 0) create_qp(kQp + n);
    c.qpn = kQp + n;
    c.u.cm.rtr_order = test.order;
    run(c);
    fw.on(TcpConnected{FlowId{3 + n}, 0x80000000 + n, 41000, 1460});
    bus.take();
    stream(3 + n, kRepKey + "10020004" + "c010c010");
    EXPECT_THAT(bus.take(), testing::Contains(fmt::format("work qp {} {}", kQp + n, test.work)));
    ++n;
  }
}

// RFC 6581 section 9.2: a reply may name kinds that were not requested.
TEST_F(Initiator, RtrKindsOfTheReplyThatItDidNotOffer) {
  open(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrRead);
  stream(3, kRepKey + "10020004" + "c010c010");
  EXPECT_THAT(bus.take(), testing::Contains("work qp 5 rtr_read"));
}

// RFC 6581 section 9.3: the peer is informed as soon as an FPDU can go out.
TEST_F(Initiator, ALocalFailureIsToldInATerminate) {
  open(abi::kCmEnhanced);
  fw.on(QpStreamError{Qpn{5}, wire::rdma::kLocalCatastrophic});
  EXPECT_THAT(bus.take(), IsEmpty());
  stream(3, kRepKey + "10020004" + "00100010");
  EXPECT_THAT(bus.take(),
              ElementsAre("read flow 3 4",  //
                          "qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16",
                          "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 0 epoch 1",
                          "enter_rdma flow 3",  //
                          "work qp 5 terminate 20050000", "work qp 5 drain",
                          "event connect_error status 8 id 5 terminate 20050000 peer 16/16", "timer 0 3000000us"));
  fw.on(QpSendDrained{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre("close flow 3", "timer 0 3000000us"));
}

TEST_F(Initiator, ALocalFailureAndNoReply) {
  open(abi::kCmEnhanced);
  fw.on(QpStreamError{Qpn{5}, wire::rdma::kLocalCatastrophic});
  fw.on(TimerExpired{0});
  const auto lines = bus.take();
  EXPECT_EQ(lines[0], "abort flow 3");
  EXPECT_THAT(lines, testing::Contains("work qp 5 flush"));
  EXPECT_THAT(lines, testing::Contains("event connect_error status 8 id 5 terminate 20050000"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(Initiator, ALocalFailureAndARejection) {
  open(abi::kCmEnhanced);
  fw.on(QpStreamError{Qpn{5}, wire::rdma::kLocalCatastrophic});
  stream(3, kRepKey + "30020004" + "00100008");
  const auto lines = bus.take();
  EXPECT_EQ(lines[1], "event rejected status 1 id 5 peer 16/8 rev 2 flags 4");
  EXPECT_THAT(lines, testing::Contains("work qp 5 flush"));
  run(connect(abi::kCmCrc));
  EXPECT_EQ(bus.take()[0], "event done status 4 id 0 cookie 77") << "the QP is in error";
}

// RFC 5044 section 4.5: markers that the peer requests reduce our MULPDU, those that we request do not.
TEST_F(Initiator, MarkersOfThePeerShrinkMulpdu) {
  open(abi::kCmCrc);
  stream(3, kRepKey + "80010000");
  const auto lines = bus.take();
  EXPECT_EQ(lines[0], "qp 5 rts flow 3 mulpdu 1442 ird 16 ord 16");
  EXPECT_EQ(lines[1], "flow 3 rdma qp 5 tx_markers 1 rx_markers 0 crc 1 epoch 1");
}

TEST_F(Initiator, OwnMarkersWithoutCrc) {
  open(abi::kCmMarkers, 8948);
  stream(3, kRepKey + "00010000");
  const auto lines = bus.take();
  EXPECT_EQ(lines[0], "qp 5 rts flow 3 mulpdu 8942 ird 16 ord 16");
  EXPECT_EQ(lines[1], "flow 3 rdma qp 5 tx_markers 0 rx_markers 1 crc 0 epoch 1");
  EXPECT_EQ(lines[3], "event established status 0 id 5 ird 16 ord 16 rev 1 flags 1");
}

TEST_F(Initiator, ThePeersCrcIsEnough) {
  open(0);
  stream(3, kRepKey + "40010000");
  EXPECT_EQ(bus.take()[1], "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1");
}

TEST_F(Initiator, PrivateDataOf512OctetsBothWays) {
  std::string data;
  for (int i = 0; i < 512; ++i) data += i % 2 ? "a5" : "3c";
  run(connect(abi::kCmCrc), data);
  bus.take();
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_EQ(bus.take()[0], "send flow 3 " + kReqKey + "40010200" + data);
  stream(3, kRepKey + "40010200" + data);
  const auto lines = bus.take();
  EXPECT_EQ(lines[0], "read flow 3 512");
  EXPECT_EQ(lines[4], "event established status 0 id 5 ird 16 ord 16 rev 1 flags 2 private " + data);
}

TEST_F(Initiator, PrivateDataOfTheReplyWithoutTheEnhancedWord) {
  open(abi::kCmEnhanced);
  stream(3, kRepKey + "10020007" + "00100010" + "616263");
  EXPECT_EQ(bus.take()[4], "event established status 0 id 5 ird 16 ord 16 peer 16/16 rev 2 flags 4 private 616263");
}

// The read ends at the frame's last octet, so an FPDU in the same segment is left to the deframer.
TEST_F(Initiator, NothingBeyondTheReplyIsRead) {
  open(abi::kCmCrc);
  stream(3, kRepKey + "40010005");
  EXPECT_THAT(bus.take(), ElementsAre("read flow 3 5"));
  stream(3, "0102030405");
  EXPECT_THAT(bus.take(), testing::Not(testing::Contains(testing::StartsWith("read"))));
}

TEST_F(Initiator, RejectionTellsThePeersWordAndFreesTheQp) {
  open(abi::kCmEnhanced);
  stream(3, kRepKey + "30020008" + "00100008" + "62757379");
  EXPECT_THAT(bus.take(), ElementsAre("read flow 3 8",  //
                                      "event rejected status 1 id 5 peer 16/8 rev 2 flags 4 private 62757379",
                                      "close flow 3",  //
                                      "timer 0 3000000us"));
  fw.on(TcpPeerClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), IsEmpty());
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
  run(connect(abi::kCmCrc));
  EXPECT_EQ(bus.take()[1], "open 0a000001:7000 from 0 cookie 80010000");
}

// RFC 6581 section 9.1: the reply's ORD exceeds our IRD, Terminate 2/0/6.
TEST_F(Initiator, TerminatesForInsufficientIrd) {
  open(abi::kCmEnhanced);
  stream(3, kRepKey + "10020004" + "00100021");
  EXPECT_THAT(bus.take(),
              ElementsAre("read flow 3 4",  //
                          "qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16",
                          "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 0 epoch 1",
                          "enter_rdma flow 3",  //
                          "work qp 5 terminate 20060000", "work qp 5 drain",
                          "event connect_error status 6 id 5 terminate 20060000 peer 16/33", "timer 0 3000000us"));
  fw.on(QpSendDrained{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre("close flow 3", "timer 0 3000000us"));
  fw.on(TcpPeerClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("qp 5 error flow 3 mulpdu 1454 ird 16 ord 16",
                                      "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 0 epoch 1", "work qp 5 flush",
                                      "event disconnected status 0 id 5"));
}

TEST_F(Initiator, TerminatesWithoutACommonRtr) {
  open(abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend);
  stream(3, kRepKey + "10020004" + "8010c010");
  const auto lines = bus.take();
  EXPECT_EQ(lines[4], "work qp 5 terminate 20070000");
  EXPECT_EQ(lines[6], "event connect_error status 7 id 5 terminate 20070000 peer 16/16");
}

struct BadReply {
  const char* name;
  std::string header;
  ConnectStatus status;
};
class InitiatorBadReply : public FirmwareTest, public testing::WithParamInterface<BadReply> {};

TEST_P(InitiatorBadReply, ClosesAtOnce) {
  run(connect(abi::kCmCrc));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  bus.take();
  stream(3, GetParam().header);
  EXPECT_THAT(bus.take(), ElementsAre("log bad_frame",
                                      fmt::format("event connect_error status {} id 5 terminate 20040000",
                                                  static_cast<int>(GetParam().status)),
                                      "close flow 3", "timer 0 3000000us"));
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_EQ(fw.connections(), 0u);
  bus.take();
  run(connect(abi::kCmCrc));
  EXPECT_EQ(bus.take()[0], "event done status 0 id 0 cookie 77") << "the QP may try again";
}

INSTANTIATE_TEST_SUITE_P(Headers, InitiatorBadReply,
                         testing::Values(BadReply{"key", "58" + kRepKey.substr(2) + "40010000",
                                                  ConnectStatus::kBadMpaFrame},
                                         BadReply{"two_initiators", kReqKey + "40010000", ConnectStatus::kBadMpaFrame},
                                         BadReply{"revision_2", kRepKey + "40020000", ConnectStatus::kBadRevision},
                                         BadReply{"revision_3", kRepKey + "40030000", ConnectStatus::kBadRevision},
                                         BadReply{"revision_0", kRepKey + "c0000000", ConnectStatus::kBadRevision},
                                         BadReply{"pd_length_513", kRepKey + "40010201", ConnectStatus::kBadMpaFrame}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(Initiator, UnenhancedReplyToAnEnhancedRequest) {
  open(abi::kCmEnhanced);
  stream(3, kRepKey + "40010000");
  EXPECT_THAT(bus.take(), ElementsAre("log bad_frame", "event connect_error status 5 id 5 terminate 20040000",
                                      "close flow 3", "timer 0 3000000us"));
}

TEST_F(Initiator, EnhancedWordCutShort) {
  open(abi::kCmEnhanced);
  stream(3, kRepKey + "10020002" + "0000");
  EXPECT_EQ(bus.take()[2], "event connect_error status 4 id 5 terminate 20040000");
}

TEST_F(Initiator, PeerClosesWithinTheReply) {
  open(abi::kCmCrc);
  fw.on(TcpStreamData{FlowId{3}, 11});
  EXPECT_EQ(bus.take()[1], "event connect_error status 4 id 5 terminate 20040000");
}

TEST_F(Initiator, PeerClosesInsteadOfReplying) {
  open(abi::kCmCrc);
  fw.on(TcpStreamData{FlowId{3}, 0});
  EXPECT_THAT(bus.take(),
              ElementsAre("log bad_frame", "event connect_error status 3 id 5", "close flow 3", "timer 0 3000000us"));
}

TEST_F(Initiator, PeerResets) {
  open(abi::kCmCrc);
  fw.on(TcpReset{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("event connect_error status 3 id 5", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(Initiator, NoReplyInTime) {
  open(abi::kCmCrc);
  fw.on(TimerExpired{0});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3", "event connect_error status 2 id 5", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(Initiator, CancelledDuringTheHandshake) {
  run(connect(abi::kCmCrc));
  bus.take();
  run(command(abi::CommandOp::kDisconnect, kQp));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5", "event connect_error status 9 id 5"));
  EXPECT_EQ(fw.connections(), 0u);
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3"));
  run(connect(abi::kCmCrc));
  EXPECT_EQ(bus.take()[0], "event done status 0 id 0 cookie 77") << "the QP may try again";
}

TEST_F(Initiator, CancelledWhileTheReplyIsAwaited) {
  open(abi::kCmCrc);
  run(command(abi::CommandOp::kDisconnect, kQp));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5", "abort flow 3", "event connect_error status 9 id 5",
                                      "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(Initiator, TcpDoesNotOpen) {
  for (const auto& [reason, status] :
       {std::pair{OpenFailure::kRefused, 1}, {OpenFailure::kTimeout, 2}, {OpenFailure::kNoResources, 10}}) {
    run(connect(abi::kCmCrc));
    const std::string open = bus.take()[1];
    const auto cookie = static_cast<std::uint32_t>(std::stoul(open.substr(open.rfind(' ')), nullptr, 16));
    fw.on(TcpOpenFailed{cookie, reason});
    EXPECT_THAT(bus.take(), ElementsAre(fmt::format("event connect_error status {} id 5", status)));
  }
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(Initiator, AConnectionThatNobodyAskedForIsAborted) {
  fw.on(TcpConnected{FlowId{9}, 0x80000002, 41000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 9"));
}

}  // namespace
}  // namespace rnic::fw::test
