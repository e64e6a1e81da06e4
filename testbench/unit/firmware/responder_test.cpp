// The passive side: from TCP's accept to the first FPDU.
#include <fmt/format.h>

#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using abi::ConnectStatus;
constexpr std::uint32_t kConn = 0x80000000;  // the first connection id

class Responder : public FirmwareTest {
 protected:
  void listening(std::uint8_t flags) {
    listen(flags);
    bus.take();
  }
};

TEST_F(Responder, Revision1WithPrivateDataBothWays) {
  listen(abi::kCmCrc);
  EXPECT_THAT(bus.take(), ElementsAre("listen 7000", "event done status 0 id 0"));
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("timer 0 10000000us", "read flow 3 20"));
  stream(3, kReqKey + "4001000568656c6c6f");
  EXPECT_THAT(bus.take(), ElementsAre("read flow 3 5", "read flow 3 1",
                                      "event connect_request status 0 id 80000000 rev 1 flags 2 private "
                                      "68656c6c6f",
                                      "cancel timer 0"));
  const abi::Event& event = bus.events().back();
  EXPECT_EQ(event.peer_ip, 0x0a000002u);
  EXPECT_EQ(event.peer_port, 40000);
  EXPECT_EQ(event.local_port, 7000);

  run(accept(kConn), "776f726c64");
  EXPECT_THAT(bus.take(),
              ElementsAre("event done status 0 id 80000000",  //
                          "qp 5 rts flow 3 mulpdu 1454 ird 8 ord 8 fenced",
                          "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
                          "send flow 3 " + kRepKey + "40010005776f726c64",  //
                          "enter_rdma flow 3", "event established status 0 id 5 ird 8 ord 8 rev 1 flags 2"));
  fw.on(QpFirstFpdu{Qpn{5}});
  EXPECT_THAT(bus.take(), IsEmpty());
  run(command(abi::CommandOp::kDisconnect, 5));
  EXPECT_EQ(bus.take()[1], "qp 5 closing flow 3 mulpdu 1454 ird 8 ord 8") << "no longer fenced";
}

TEST_F(Responder, TheHostsLimitsOfTcpHoldFromRdmaModeOn) {
  listening(abi::kCmCrc);
  request(kReqKey + "40010000");
  bus.take();
  abi::Command c = accept(kConn);
  c.u.cm.tcp = {3, abi::KeepAlive::kOn};
  run(c);
  EXPECT_THAT(bus.take(), testing::IsSupersetOf({"limits flow 3 retries 3 keep-alive on", "enter_rdma flow 3"}));
}

// RFC 5044 section 7.1: 0 to 512 octets, both ways.
class PrivateData : public Responder, public testing::WithParamInterface<unsigned> {
 protected:
  const std::string length = fmt::format("4001{:04x}", GetParam());
  const std::string data = [] {
    std::string octets;
    for (unsigned i = 0; i < GetParam(); ++i) octets += fmt::format("{:02x}", i & 0xff);
    return octets;
  }();
};
TEST_P(PrivateData, OfAnyLengthGoesUpAndDown) {
  listening(abi::kCmCrc);
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  stream(3, kReqKey + length + data);
  EXPECT_THAT(bus.take(),
              testing::Contains("event connect_request status 0 id 80000000 rev 1 flags 2 private " + data));
  run(accept(kConn), data);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + length + data));
}
TEST_P(PrivateData, OfAnyLengthGoesOutAndComesBack) {
  run(connect(abi::kCmCrc), data);
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kReqKey + length + data));
  stream(3, kRepKey + length + data);
  EXPECT_THAT(bus.take(),
              testing::Contains("event established status 0 id 5 ird 16 ord 16 rev 1 flags 2 private " + data));
}
INSTANTIATE_TEST_SUITE_P(Octets, PrivateData, testing::Values(1, 99, 100, 101, 255, 256, 257, 511, 512));

TEST_F(Responder, PeerToPeerIsEstablishedByTheRtrMessage) {
  listening(abi::kCmCrc | abi::kCmEnhanced | abi::kCmRtrWrite | abi::kCmRtrRead);
  request(kReqKey + "500200048010c010");
  EXPECT_EQ(bus.take()[4], "event connect_request status 0 id 80000000 peer 16/16 rev 2 flags 6e");
  run(accept(kConn));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 80000000",  //
                                      "qp 5 rts flow 3 mulpdu 1454 ird 16 ord 8 fenced",
                                      "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1",
                                      "send flow 3 " + kRepKey + "500200048010c008",  //
                                      "enter_rdma flow 3", "timer 0 4000000us"));
  fw.on(QpFirstFpdu{Qpn{5}});
  EXPECT_THAT(bus.take(),
              ElementsAre("event established status 0 id 5 ird 16 ord 8 peer 16/16 rev 2 flags 6e", "cancel timer 0"));
}

// Only an agreed Send is absorbed: it uses no receive work request (RFC 6581 section 9.2).
TEST_F(Responder, RtrBySendIsAbsorbed) {
  listening(abi::kCmEnhanced | abi::kCmRtrSend);
  request(kReqKey + "10020004c0100010");
  bus.take();
  run(accept(kConn));
  const auto lines = bus.take();
  EXPECT_EQ(lines[1], "qp 5 rts flow 3 mulpdu 1454 ird 16 ord 8 fenced absorbs");
  EXPECT_EQ(lines[3], "send flow 3 " + kRepKey + "10020004c0100008");
}

TEST_F(Responder, NoRtrMessageInTime) {
  listening(abi::kCmEnhanced);
  request(kReqKey + "100200048010c010");
  run(accept(kConn));
  bus.take();
  fw.on(TimerExpired{0});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3", "qp 5 error flow 3 mulpdu 1454 ird 16 ord 8 fenced",
                                      "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 0 epoch 1", "work qp 5 flush",
                                      "event connect_error status 2 id 5 peer 16/16", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

class ResponderOptions : public FirmwareTest, public testing::WithParamInterface<unsigned> {};

// RFC 5044 section 7.1.1: markers toward the side that asked for them, CRC if either asked.
TEST_P(ResponderOptions, MarkersAndCrc) {
  const bool own_m = GetParam() & 1, own_c = GetParam() & 2, peer_m = GetParam() & 4, peer_c = GetParam() & 8;
  listen(static_cast<std::uint8_t>((own_m ? abi::kCmMarkers : 0) | (own_c ? abi::kCmCrc : 0)));
  request(kReqKey + fmt::format("{:02x}010000", (peer_m ? 0x80 : 0) | (peer_c ? 0x40 : 0)));
  bus.take();
  run(accept(kConn));
  const bool crc = own_c || peer_c;
  EXPECT_THAT(
      bus.take(),
      ElementsAre("event done status 0 id 80000000",
                  fmt::format("qp 5 rts flow 3 mulpdu {} ird 8 ord 8 fenced", peer_m ? 1442 : 1454),
                  fmt::format("flow 3 rdma qp 5 tx_markers {:d} rx_markers {:d} crc {:d} epoch 1", peer_m, own_m, crc),
                  "send flow 3 " + kRepKey + fmt::format("{:02x}010000", (own_m ? 0x80 : 0) | (crc ? 0x40 : 0)),
                  "enter_rdma flow 3",
                  fmt::format("event established status 0 id 5 ird 8 ord 8 rev 1 flags {:x}",
                              (own_m || peer_m ? 1 : 0) | (crc ? 2 : 0))));
}

INSTANTIATE_TEST_SUITE_P(All, ResponderOptions, testing::Range(0u, 16u));

TEST_F(Responder, RejectionWithPrivateData) {
  listening(abi::kCmCrc);
  request(kReqKey + "40010000");
  bus.take();
  run(command(abi::CommandOp::kReject, kConn), "62757379");
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 80000000", "send flow 3 " + kRepKey + "6001000462757379",
                                      "close flow 3", "timer 0 3000000us"));
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("cancel timer 0"));
}

// RFC 5044 section 7.1.1: R has no meaning in a request, the reserved bits none in any frame.
TEST_F(Responder, RejectAndReservedBitsOfARequestAreNotChecked) {
  listening(abi::kCmCrc);
  const std::uint32_t id = request(kReqKey + "6f010000");
  EXPECT_THAT(bus.take(), testing::Contains(testing::StartsWith("event connect_request status 0 id 80000000")));
  run(accept(id));
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + "40010000"));
}

TEST_F(Responder, EnhancedRejectionCarriesTheEnhancedWord) {
  listening(abi::kCmEnhanced);
  request(kReqKey + "1002000400100004");
  bus.take();
  run(command(abi::CommandOp::kReject, kConn));
  EXPECT_EQ(bus.take()[1], "send flow 3 " + kRepKey + "3002000400040000");
}

struct BadRequest {
  const char* name;
  std::string octets;
  std::uint8_t listener_flags;
  ConnectStatus status;
};
class ResponderBadRequest : public FirmwareTest, public testing::WithParamInterface<BadRequest> {};

TEST_P(ResponderBadRequest, ClosesWithoutAReply) {
  listen(GetParam().listener_flags);
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  stream(3, GetParam().octets);
  auto lines = bus.take();
  const std::vector<std::string> last(lines.end() - 4, lines.end());
  EXPECT_THAT(last, ElementsAre("log bad_frame",
                                fmt::format("event connect_error status {} id 80000000 terminate 20040000",
                                            static_cast<int>(GetParam().status)),
                                "close flow 3", "timer 0 3000000us"));
  EXPECT_THAT(lines, testing::Not(testing::Contains(testing::StartsWith("send"))));
}

INSTANTIATE_TEST_SUITE_P(
    Frames, ResponderBadRequest,
    testing::Values(BadRequest{"key", "58" + kReqKey.substr(2) + "40010000", abi::kCmCrc, ConnectStatus::kBadMpaFrame},
                    BadRequest{"two_responders", kRepKey + "40010000", abi::kCmCrc, ConnectStatus::kBadMpaFrame},
                    BadRequest{"revision_3", kReqKey + "40030000", abi::kCmEnhanced, ConnectStatus::kBadRevision},
                    BadRequest{"enhanced_at_an_unenhanced_listener", kReqKey + "50020009", abi::kCmCrc,
                               ConnectStatus::kBadRevision},
                    BadRequest{"pd_length_513", kReqKey + "40010201", abi::kCmCrc, ConnectStatus::kBadMpaFrame},
                    BadRequest{"enhanced_word_cut_short", kReqKey + "100200020000", abi::kCmEnhanced,
                               ConnectStatus::kBadMpaFrame}),
    [](const auto& row) { return std::string(row.param.name); });

// An initiator waits for the reply (RFC 5044 section 7.1.2 rule 3), so another octet means a wrong PD_Length.
TEST_F(Responder, OctetAfterTheRequest) {
  listening(abi::kCmCrc);
  request(kReqKey + "40010000" + "00");
  const auto lines = bus.take();
  EXPECT_EQ(lines[lines.size() - 3], "event connect_error status 4 id 80000000 terminate 20040000");
  run(accept(kConn));
  EXPECT_EQ(bus.take()[0], "event done status 4 id 80000000") << "too late to accept";
}

// The same, but detected when the reply was already sent.
TEST_F(Responder, OctetBeforeTheReply) {
  listening(abi::kCmCrc);
  run(accept(request(kReqKey + "40010000")));
  bus.take();
  fw.on(TcpStreamData{FlowId{3}, 1});
  EXPECT_THAT(bus.take(),
              ElementsAre("qp 5 terminate flow 3 mulpdu 1454 ird 8 ord 8 fenced", "work qp 5 terminate 20040000",
                          "work qp 5 drain", "event qp_error status 0 id 5 terminate 20040000", "timer 0 3000000us"));
}

// After a rejection that leaves the stream, another request is read from its first octet on: earlier octets belong to
// none.
TEST_F(Responder, OctetBeforeARejectionThatStays) {
  listening(abi::kCmCrc);
  abi::Command no = command(abi::CommandOp::kReject, request(kReqKey + "40010000"));
  no.u.cm.options = abi::kCmStay;
  bus.take();
  run(no);
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 80000000", "send flow 3 " + kRepKey + "60010000",
                                      "read flow 3 20", "timer 0 10000000us"));
  fw.on(TcpStreamData{FlowId{3}, 1});
  EXPECT_THAT(bus.take(), ElementsAre("log bad_frame", "event connect_error status 4 id 80000000 terminate 20040000",
                                      "close flow 3", "timer 0 3000000us"));
}

TEST_F(Responder, RequestTimeout) {
  listening(abi::kCmCrc);
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  stream(3, kReqKey + "40010005");  // half a frame
  bus.take();
  fw.on(TimerExpired{0});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3", "event connect_error status 2 id 80000000", "cancel timer 0"));
}

TEST_F(Responder, PeerLeavesWhileTheHostThinks) {
  listening(abi::kCmCrc);
  request(kReqKey + "40010000");
  bus.take();
  fw.on(TcpStreamData{FlowId{3}, 0});
  EXPECT_THAT(bus.take(), IsEmpty());
  fw.on(TcpPeerClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("event connect_error status 3 id 80000000", "close flow 3", "timer 0 3000000us"));
  fw.on(TcpClosed{FlowId{3}});
  bus.take();
  run(accept(kConn));
  EXPECT_EQ(bus.take()[0], "event done status 2 id 80000000") << "the id is not valid any more";
  EXPECT_EQ(request(kReqKey + "40010000"), 0x80010000u) << "nor is it used again";
}

TEST_F(Responder, NobodyListens) {
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("log no_listener", "abort flow 3"));
}

TEST_F(Responder, NoMoreThanTheBacklogWait) {
  abi::Command c = command(abi::CommandOp::kListen, 0);
  c.flags = abi::kCmCrc;
  c.u.cm.local_port = 7000;
  c.u.cm.backlog = 1;
  run(c);
  const std::uint32_t id = request(kReqKey + "40010000");
  bus.take();
  const TcpAccepted second{FlowId{4}, 0x0a000002, 40001, 7000, 1460};
  fw.on(second);
  EXPECT_THAT(bus.take(), ElementsAre("log no_resources", "abort flow 4"));
  run(accept(id));
  bus.take();
  fw.on(second);
  EXPECT_EQ(bus.take()[0], "timer 1 10000000us") << "an answered request makes room";
}

// The old requests count for the next listener on this port, too.
TEST_F(Responder, ABacklogOfALaterListener) {
  abi::Command c = command(abi::CommandOp::kListen, 0);
  c.u.cm.local_port = 7000;
  c.u.cm.backlog = 1;
  run(c);
  const std::uint32_t id = request(kReqKey + "40010000");
  c.op = abi::CommandOp::kUnlisten;
  run(c);
  c.op = abi::CommandOp::kListen;
  run(c);
  fw.on(TcpAccepted{FlowId{4}, 0x0a000002, 40001, 7000, 1460});
  bus.put_read_octets(hex(kReqKey + "40010000"));
  fw.on(TcpStreamData{FlowId{4}, 20});
  bus.take();
  run(accept(id));
  EXPECT_EQ(bus.take()[0], "event done status 0 id 80000000") << "a request outlives its listener";
  fw.on(TcpAccepted{FlowId{5}, 0x0a000002, 40002, 7000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("log no_resources", "abort flow 5"));
}

// RFC 5044 section 7.1.2 rules 6 and 8: if the peer closes before the end of its request, wherever that is, there is no
// answer.
TEST_F(Responder, ARequestCutShortAnywhere) {
  const Bytes frame = hex(kReqKey + "50020009" + "80100010" + "0102030405");
  for (std::size_t cut = 1; cut < frame.size(); ++cut) {
    if (cut == 1) listen(abi::kCmCrc | abi::kCmEnhanced);
    fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
    std::size_t given = 0;
    while (given + bus.asked() <= cut) {
      const std::uint32_t n = bus.asked();
      bus.put_read_octets(Bytes(frame.begin() + given, frame.begin() + given + n));
      given += n;
      fw.on(TcpStreamData{FlowId{3}, n});
    }
    bus.put_read_octets(Bytes(frame.begin() + given, frame.begin() + cut));
    bus.take();
    fw.on(TcpStreamData{FlowId{3}, static_cast<std::uint32_t>(cut - given)});
    const auto lines = bus.take();
    EXPECT_EQ(lines[0], "log bad_frame") << cut;
    EXPECT_EQ(lines[2], "close flow 3") << cut;
    EXPECT_THAT(lines, testing::Not(testing::Contains(testing::StartsWith("send")))) << cut;
    fw.on(TcpClosed{FlowId{3}});
    EXPECT_EQ(fw.connections(), 0u);
  }
}

// RFC 6581 section 9.1: the reply rejects and names the required ORD; only the host is informed of 2/0/6.
TEST_F(Responder, AnInitiatorWithTooLittleIrdIsRejected) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  const std::uint32_t id = request(kReqKey + "50020004" + "00020010");
  bus.take();
  abi::Command c = accept(id);
  c.u.cm.need_ord = 4;
  run(c, "776f");
  EXPECT_THAT(bus.take(),
              ElementsAre("event done status 0 id 80000000", "send flow 3 " + kRepKey + "70020004" + "00100004",
                          "event connect_error status 6 id 5 terminate 20060000 peer 2/16", "close flow 3",
                          "timer 0 3000000us"));
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_EQ(fw.connections(), 0u);
  bus.take();
  run(connect(abi::kCmCrc));
  EXPECT_EQ(bus.take()[0], "event done status 0 id 0 cookie 77") << "the QP may try again";
}

// RFC 5044 section 7.1.2 rule 2: the provider rejects, and the host wants the stream to stay.
TEST_F(Responder, AProvidersRejectionLeavesTheStreamToAnotherRequest) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  const std::uint32_t id = request(kReqKey + "50020004" + "00020010");
  bus.take();
  abi::Command c = accept(id);
  c.u.cm.need_ord = 4;
  c.u.cm.options = abi::kCmStay;
  run(c);
  EXPECT_THAT(bus.take(),
              ElementsAre("event done status 0 id 80000000", "send flow 3 " + kRepKey + "70020004" + "00100004",
                          "read flow 3 20", "event connect_error status 6 id 5 terminate 20060000 peer 2/16",
                          "timer 0 10000000us"));
  stream(3, kReqKey + "50020004" + "00040010");
  EXPECT_THAT(bus.take(), testing::Contains("event connect_request status 0 id 80000000 peer 4/16 rev 2 flags 6"));
  run(c);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + "50020004" + "00100004"));
  fw.on(TcpReset{FlowId{3}});
  EXPECT_EQ(bus.take()[4], "event disconnected status 3 id 5") << "the second request was set up";
}

TEST_F(Responder, AnInitiatorWithJustEnoughIrdIsNot) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  const std::uint32_t id = request(kReqKey + "50020004" + "00040010");
  bus.take();
  abi::Command c = accept(id);
  c.u.cm.need_ord = 4;
  run(c);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + "50020004" + "00100004"));
}

// IRD may be raised up to the host's limit.
TEST_F(Responder, MaxIrdOfTheAccept) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  const std::uint32_t id = request(kReqKey + "50020004" + "00040020");
  bus.take();
  abi::Command c = accept(id, 2);
  c.u.cm.max_ird = 5;
  c.u.cm.options = abi::kCmMaxIrd;
  run(c);
  EXPECT_EQ(bus.take()[1], "qp 5 rts flow 3 mulpdu 1454 ird 5 ord 4 fenced");
}

// RFC 6581 section 9.1: a maximum of 0 leaves none.
TEST_F(Responder, AMaxIrdOfZero) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  const std::uint32_t id = request(kReqKey + "50020004" + "00040020");
  bus.take();
  abi::Command c = accept(id, 0);
  c.u.cm.options = abi::kCmMaxIrd;
  run(c);
  const auto did = bus.take();
  EXPECT_THAT(did, testing::Contains("send flow 3 " + kRepKey + "50020004" + "00000004"));
  EXPECT_EQ(did[1], "qp 5 rts flow 3 mulpdu 1454 ird 0 ord 4 fenced");
}

TEST_F(Responder, AHostsOwnRejectionNamesTheOrdItNeeds) {
  listen(abi::kCmCrc | abi::kCmEnhanced);
  abi::Command c = command(abi::CommandOp::kReject, request(kReqKey + "50020004" + "00080010"));
  bus.take();
  c.u.cm.need_ord = 12;
  run(c);
  EXPECT_EQ(bus.take()[1], "send flow 3 " + kRepKey + "70020004" + "0010000c");
}

}  // namespace
}  // namespace rnic::fw::test
