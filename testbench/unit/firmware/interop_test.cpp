// RDMAC peers and RDMAC queue pairs (draft-carrier-rddp-rnic-interop-00), operation by operation.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using abi::CommandOp;
using abi::CommandStatus;
using abi::Markers;
using abi::Personality;

const std::string kRdmacReply = kRepKey + "c0000000";

class InteropTest : public FirmwareTest {
 protected:
  using FirmwareTest::FirmwareTest;

  void expect_refused(const abi::Command& c, CommandStatus status) {
    run(c);
    EXPECT_THAT(bus.take(), testing::SizeIs(1)) << "nothing but the answer";
    EXPECT_EQ(bus.events().back().status, static_cast<std::uint8_t>(status));
  }
  abi::Command qp(std::uint32_t qpn, abi::StreamAttr stream) {
    abi::Command c = command(CommandOp::kCreateQp, qpn);
    c.u.qp = {0x10000, 0x20000, 6, 5, 7, 0, 0, 0, stream};
    return c;
  }
  abi::Command modify(std::uint32_t qpn, abi::QpState to, abi::StreamAttr stream = {}) {
    abi::Command c = command(CommandOp::kModifyQp, qpn);
    c.u.modify_qp = {to, stream};
    return c;
  }
  static abi::Command connect_from(std::uint32_t qpn, std::uint8_t flags) {
    abi::Command c = connect(flags);
    c.qpn = qpn;
    return c;
  }
  void listen_as(Personality personality, std::uint8_t flags) {
    abi::Command c = command(CommandOp::kListen, 0);
    c.flags = flags;
    c.u.cm.local_port = 7000;
    c.u.cm.personality = personality;
    run(c);
    ASSERT_EQ(bus.events().back().status, 0);
  }
  // The answer to a kQueryQp.
  abi::Event query(std::uint32_t qpn) {
    run(command(CommandOp::kQueryQp, qpn));
    return bus.events().back();
  }
  void expect_selection(std::uint32_t qpn, unsigned version, Markers rx, Markers tx) {
    const abi::Event answer = query(qpn);
    EXPECT_EQ(answer.status, 0);
    EXPECT_EQ(answer.ddp_version, version);
    EXPECT_EQ(answer.stream.rx_markers, rx);
    EXPECT_EQ(answer.stream.tx_markers, tx);
  }
  void open(std::uint8_t flags, std::uint32_t qpn = kQp) {
    run(connect_from(qpn, flags));
    fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  }
};

class IetfDevice : public InteropTest {};
class PermissiveDevice : public InteropTest {
 protected:
  PermissiveDevice() : InteropTest(Personality::kPermissive) {}
};
class RdmacDevice : public InteropTest {
 protected:
  RdmacDevice() : InteropTest(Personality::kRdmac) {}
};

// Section 5.2.1. The whole request is read, so that TCP can close in order.
TEST_F(IetfDevice, AnswersAnRdmacRequestWithItsRevisionAndCloses) {
  listen(abi::kCmCrc);
  bus.take();
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  bus.take();
  stream(3, kReqKey + "c000000568656c6c6f");
  EXPECT_THAT(bus.take(), ElementsAre("read flow 3 5", "send flow 3 " + kRepKey + "40010000", "log bad_frame",
                                      "event connect_error status 5 id 80000000 terminate 20040000", "close flow 3",
                                      "timer 0 3000000us"));
  EXPECT_EQ(bus.events().back().mpa_revision, 0);
}

// Section 5.2.2.
TEST_F(IetfDevice, ClosesOnAnRdmacReply) {
  open(abi::kCmCrc);
  bus.take();
  stream(3, kRdmacReply);
  EXPECT_THAT(bus.take(), ElementsAre("log bad_frame", "event connect_error status 5 id 5 terminate 20040000",
                                      "close flow 3", "timer 0 3000000us"));
  EXPECT_EQ(query(kQp).qp_state, abi::QpState::kIdle) << "for another attempt";
}

// Section 5.3.1: M=1 and C=1 whatever it prefers.
TEST_F(PermissiveDevice, TakesAnRdmacInitiatorWithVersionZero) {
  listen(0);
  bus.take();
  request(kReqKey + "c0000000");
  const auto lines = bus.take();
  EXPECT_EQ(lines[lines.size() - 2], "event connect_request status 0 id 80000000 rev 0 flags 3 version 0");
  run(accept(0x80000000));
  EXPECT_THAT(bus.take(),
              ElementsAre("event done status 0 id 80000000", "qp 5 rts flow 3 mulpdu 1442 ird 8 ord 8 fenced version 0",
                          "flow 3 rdma qp 5 tx_markers 1 rx_markers 1 crc 1 epoch 1", "send flow 3 " + kRdmacReply,
                          "enter_rdma flow 3", "event established status 0 id 5 ird 8 ord 8 rev 0 flags 3 version 0"));
  expect_selection(kQp, 0, Markers::kOn, Markers::kOn);
}

// Section 5.3.2: markers although it asked for none, and CRC.
TEST_F(PermissiveDevice, InitiatorGoesToVersionZeroOnAnRdmacReply) {
  open(0);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kReqKey + "00010000"));
  stream(3, kRdmacReply);
  EXPECT_THAT(bus.take(),
              ElementsAre("qp 5 rts flow 3 mulpdu 1442 ird 16 ord 16 version 0",
                          "flow 3 rdma qp 5 tx_markers 1 rx_markers 1 crc 1 epoch 1", "enter_rdma flow 3",
                          "event established status 0 id 5 ird 16 ord 16 rev 0 flags 3 version 0", "cancel timer 0"));
  expect_selection(kQp, 0, Markers::kOn, Markers::kOn);
}

TEST_F(PermissiveDevice, VersionOneWithAnIetfPeer) {
  open(abi::kCmMarkers);
  stream(3, kRepKey + "00010000");
  EXPECT_EQ(bus.events().back().ddp_version, 1);
  expect_selection(kQp, 1, Markers::kOn, Markers::kOff);
}

TEST_F(PermissiveDevice, AnEnhancedRequestHasNoRdmacReply) {
  open(abi::kCmEnhanced);
  bus.take();
  stream(3, kRdmacReply);
  EXPECT_EQ(bus.take()[1], "event connect_error status 5 id 5 terminate 20040000");
}

// The queue pair is not known when the request arrives: one with version 1 only does not fit.
TEST_F(PermissiveDevice, TheAcceptedQueuePairHasTheLastWord) {
  run(qp(6, {Personality::kIetf, Markers::kOpen, Markers::kOpen}));
  listen(0);
  request(kReqKey + "c0000000");
  bus.take();
  abi::Command c = accept(0x80000000);
  c.qpn = 6;
  expect_refused(c, CommandStatus::kVersionNotSupported);
  run(accept(0x80000000));
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRdmacReply));
}

TEST_F(PermissiveDevice, AnRdmacQueuePairAnswersRevisionOneWithZero) {
  run(qp(6, {Personality::kRdmac, Markers::kOpen, Markers::kOpen}));
  listen(0);
  request(kReqKey + "00010000");
  EXPECT_EQ(bus.events().back().ddp_version, 1) << "as the listener would answer";
  bus.take();
  abi::Command c = accept(0x80000000);
  c.qpn = 6;
  run(c);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRdmacReply));
  EXPECT_EQ(bus.events().back().ddp_version, 0);
}

TEST_F(PermissiveDevice, AnRdmacQueuePairHasNoEnhancedConnection) {
  run(qp(6, {Personality::kRdmac, Markers::kOpen, Markers::kOpen}));
  bus.take();
  expect_refused(connect_from(6, abi::kCmEnhanced), CommandStatus::kVersionNotSupported);
  listen(abi::kCmEnhanced);
  request(kReqKey + "1002000400100010");
  bus.take();
  abi::Command c = accept(0x80000000);
  c.qpn = 6;
  expect_refused(c, CommandStatus::kVersionNotSupported);
}

TEST_F(PermissiveDevice, AListenerMayBeStricter) {
  listen_as(Personality::kIetf, 0);
  bus.take();
  request(kReqKey + "c0000000");
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + "40010000"));
  EXPECT_EQ(bus.events().back().type, abi::EventType::kConnectError);
}

TEST_F(PermissiveDevice, AListenerMayBeRdmac) {
  abi::Command enhanced = command(CommandOp::kListen, 0);
  enhanced.flags = abi::kCmEnhanced;
  enhanced.u.cm.local_port = 7000;
  enhanced.u.cm.personality = Personality::kRdmac;
  expect_refused(enhanced, CommandStatus::kVersionNotSupported);
  listen_as(Personality::kRdmac, 0);
  request(kReqKey + "40010000");
  EXPECT_EQ(bus.events().back().ddp_version, 0);
  bus.take();
  run(command(CommandOp::kReject, 0x80000000));
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + "e0000000"));
}

// A queue pair's setting for receive markers takes precedence over the options of its connection.
TEST_F(PermissiveDevice, ReceiveMarkersOfTheQueuePair) {
  run(qp(6, {Personality::kIetf, Markers::kOn, Markers::kOff}));
  expect_selection(6, 1, Markers::kOn, Markers::kOff);
  bus.take();
  open(0, 6);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kReqKey + "80010000"));
  stream(3, kRepKey + "80010000");
  EXPECT_THAT(bus.take(), testing::Contains("flow 3 rdma qp 6 tx_markers 1 rx_markers 1 crc 0 epoch 1"));
  expect_selection(6, 1, Markers::kOn, Markers::kOn);
}

TEST_F(PermissiveDevice, ReceiveMarkersSwitchedOff) {
  run(modify(kQp, abi::QpState::kIdle, {Personality::kDevice, Markers::kOff, Markers::kOpen}));
  listen(abi::kCmMarkers);
  request(kReqKey + "00010000");
  bus.take();
  run(accept(0x80000000));
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kRepKey + "00010000"));
}

// Section 6.2.5.
TEST_F(PermissiveDevice, ModifyWhileIdle) {
  expect_selection(kQp, 1, Markers::kOpen, Markers::kOpen);
  bus.take();
  run(modify(kQp, abi::QpState::kIdle, {Personality::kRdmac, Markers::kOpen, Markers::kOpen}));
  EXPECT_THAT(bus.take(),
              ElementsAre("qp 5 idle sq 10000/6 rq 20000/5 pd 7 cq 0/0 version 0", "event done status 0 id 5"));
  expect_selection(kQp, 0, Markers::kOn, Markers::kOn);
  run(modify(kQp, abi::QpState::kIdle, {Personality::kIetf, Markers::kOff, Markers::kOpen}));
  expect_selection(kQp, 1, Markers::kOff, Markers::kOpen);
  bus.take();
  // Section 6.2.6. A refused change leaves everything as it was.
  expect_refused(modify(kQp, abi::QpState::kIdle, {Personality::kRdmac, Markers::kOpen, Markers::kOpen}),
                 CommandStatus::kMarkersRequired);
  expect_refused(modify(kQp, abi::QpState::kIdle, {static_cast<Personality>(4), Markers::kOpen, Markers::kOpen}),
                 CommandStatus::kVersionNotSupported);
  expect_refused(modify(kQp, abi::QpState::kIdle, {Personality::kDevice, static_cast<Markers>(3), Markers::kOpen}),
                 CommandStatus::kBadOp);
  expect_selection(kQp, 1, Markers::kOff, Markers::kOpen);
  bus.take();
  expect_refused(modify(9, abi::QpState::kIdle), CommandStatus::kBadIndex);
  expect_refused(modify(kQp, abi::QpState::kRts), CommandStatus::kBadState);
  expect_refused(command(CommandOp::kQueryQp, 9), CommandStatus::kBadIndex);
}

TEST_F(PermissiveDevice, NoModificationOnceThePeerWasToldOrTheStreamRuns) {
  const abi::Command version = modify(kQp, abi::QpState::kIdle, {Personality::kIetf, Markers::kOpen, Markers::kOpen});
  open(0);
  bus.take();
  expect_refused(version, CommandStatus::kBadState);
  stream(3, kRepKey + "00010000");
  bus.take();
  expect_refused(version, CommandStatus::kBadState);
  expect_refused(modify(kQp, abi::QpState::kError, {Personality::kDevice, Markers::kOn, Markers::kOpen}),
                 CommandStatus::kBadState);
}

// Section 6.2.3.
TEST_F(IetfDevice, CreateQpRefusals) {
  expect_refused(qp(6, {Personality::kRdmac, Markers::kOpen, Markers::kOpen}), CommandStatus::kVersionNotSupported);
  expect_refused(qp(6, {Personality::kPermissive, Markers::kOpen, Markers::kOpen}),
                 CommandStatus::kVersionNotSupported);
  expect_refused(qp(6, {Personality::kIetf, Markers::kOpen, static_cast<Markers>(3)}), CommandStatus::kBadOp);
  abi::Command c = command(CommandOp::kListen, 0);
  c.u.cm.local_port = 7000;
  c.u.cm.personality = Personality::kPermissive;
  expect_refused(c, CommandStatus::kVersionNotSupported);
}

TEST_F(RdmacDevice, CreateQpRefusals) {
  expect_refused(qp(6, {Personality::kIetf, Markers::kOpen, Markers::kOpen}), CommandStatus::kVersionNotSupported);
  expect_refused(qp(6, {Personality::kDevice, Markers::kOff, Markers::kOpen}), CommandStatus::kMarkersRequired);
  expect_refused(qp(6, {Personality::kDevice, Markers::kOpen, Markers::kOff}), CommandStatus::kMarkersRequired);
  expect_selection(kQp, 0, Markers::kOn, Markers::kOn);
}

// Section 5.2.1: Rev 0, M=1, C=1 whatever the options are.
TEST_F(RdmacDevice, InitiatorSendsRevisionZero) {
  open(0);
  EXPECT_THAT(bus.take(), testing::Contains("send flow 3 " + kReqKey + "c0000000"));
  stream(3, kRdmacReply);
  EXPECT_EQ(bus.take()[1], "flow 3 rdma qp 5 tx_markers 1 rx_markers 1 crc 1 epoch 1");
  EXPECT_EQ(bus.events().back().ddp_version, 0);
}

TEST_F(RdmacDevice, ClosesOnAReplyOfRevisionOne) {
  open(0);
  bus.take();
  stream(3, kRepKey + "c0010000");
  EXPECT_THAT(bus.take(), ElementsAre("log bad_frame", "event connect_error status 5 id 5 terminate 20040000",
                                      "close flow 3", "timer 0 3000000us"));
}

TEST_F(RdmacDevice, AnswersRevisionOneWithZero) {
  listen(0);
  request(kReqKey + "00010000");
  bus.take();
  run(accept(0x80000000));
  const auto lines = bus.take();
  EXPECT_EQ(lines[2], "flow 3 rdma qp 5 tx_markers 1 rx_markers 1 crc 1 epoch 1");
  EXPECT_EQ(lines[3], "send flow 3 " + kRdmacReply);
}

// Its private data would begin with a word that is unknown here.
TEST_F(RdmacDevice, ClosesOnAnEnhancedRequest) {
  listen(0);
  bus.take();
  fw.on(TcpAccepted{FlowId{3}, 0x0a000002, 40000, 7000, 1460});
  bus.take();
  bus.put_read_octets(hex(kReqKey + "50020004"));
  fw.on(TcpStreamData{FlowId{3}, 20});
  EXPECT_THAT(bus.take(), ElementsAre("log bad_frame", "event connect_error status 5 id 80000000 terminate 20040000",
                                      "close flow 3", "timer 0 3000000us"));
}

}  // namespace
}  // namespace rnic::fw::test
