// RDMA mode and the ways out of it.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

class Closing : public FirmwareTest {
 protected:
  // QP 5 in RDMA mode on flow 3, as the initiator.
  Closing() {
    run(connect(abi::kCmCrc));
    fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
    stream(3, kRepKey + "40010000");
    bus.take();
  }
  void disconnect() { run(command(abi::CommandOp::kDisconnect, kQp)); }
  const std::string kErrorQp = "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16";
  const std::string kFlowOff = "flow 3 off qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 1";
};

TEST_F(Closing, HostDisconnectsAfterTheSendQueueRanOut) {
  disconnect();
  EXPECT_THAT(bus.take(),
              ElementsAre("event done status 0 id 5",  //
                          "qp 5 closing flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 drain", "timer 0 3000000us"));
  fw.on(QpSendDrained{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre("close flow 3", "timer 0 3000000us"));
  fw.on(QpPeerClosed{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre(kErrorQp, kFlowOff, "work qp 5 flush", "event disconnected status 0 id 5"));
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

// Half the stream continues until all pending work is done (RFC 5041 section 6.2).
TEST_F(Closing, PeerClosesFirst) {
  fw.on(QpPeerClosed{Qpn{5}});
  EXPECT_THAT(bus.take(),
              ElementsAre("qp 5 closing flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 drain", "timer 0 3000000us"));
  fw.on(QpSendDrained{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre(kErrorQp, kFlowOff, "work qp 5 flush", "event disconnected status 0 id 5",
                                      "close flow 3", "timer 0 3000000us"));
  run(command(abi::CommandOp::kDestroyQp, kQp));
  EXPECT_THAT(bus.take(), ElementsAre("qp 5 invalid", "event done status 0 id 5")) << "TCP may still be closing";
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("cancel timer 0"));
}

TEST_F(Closing, PeerClosesWhileTheQueueDrains) {
  disconnect();
  bus.take();
  fw.on(QpPeerClosed{Qpn{5}});
  EXPECT_THAT(bus.take(), testing::IsEmpty()) << "it still drains";
  fw.on(QpSendDrained{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre(kErrorQp, kFlowOff, "work qp 5 flush", "event disconnected status 0 id 5",
                                      "close flow 3", "timer 0 3000000us"));
}
// An error in data that the peer still sends: no Terminate can follow our FIN, so the peer gets a RST.
TEST_F(Closing, AnErrorBehindOurFin) {
  disconnect();
  fw.on(QpSendDrained{Qpn{5}});
  bus.take();
  fw.on(QpStreamError{Qpn{5}, wire::ddp::kInvalidStag});
  EXPECT_THAT(bus.take(),
              ElementsAre("event qp_error status 0 id 5 terminate 11000000", "abort flow 3", kErrorQp, kFlowOff,
                          "work qp 5 flush", "event disconnected status 3 id 5", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

// RFC 5044 section 8, error 1: the host is informed, the peer cannot be.
TEST_F(Closing, Reset) {
  fw.on(TcpReset{FlowId{3}});
  EXPECT_THAT(bus.take(), ElementsAre("event qp_error status 0 id 5 terminate 20010000", kErrorQp, kFlowOff,
                                      "work qp 5 flush", "event disconnected status 3 id 5"));
  EXPECT_EQ(fw.connections(), 0u);
}
TEST_F(Closing, ResetBehindAnErrorIsNotAnotherOne) {
  fw.on(QpStreamError{Qpn{5}, wire::ddp::kInvalidStag});
  bus.take();
  fw.on(TcpReset{FlowId{3}});
  EXPECT_THAT(bus.take(),
              ElementsAre(kErrorQp, kFlowOff, "work qp 5 flush", "event disconnected status 3 id 5", "cancel timer 0"));
}

TEST_F(Closing, OwnErrorSendsTheTerminateBeforeTheFin) {
  fw.on(QpStreamError{Qpn{5}, wire::ddp::kInvalidStag});
  EXPECT_THAT(bus.take(),
              ElementsAre("qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16", "work qp 5 terminate 11000000",
                          "work qp 5 drain", "event qp_error status 0 id 5 terminate 11000000", "timer 0 3000000us"));
  fw.on(QpSendDrained{Qpn{5}});
  EXPECT_THAT(bus.take(), ElementsAre("close flow 3", "timer 0 3000000us"));
  fw.on(TcpClosed{FlowId{3}});
  EXPECT_THAT(bus.take(),
              ElementsAre(kErrorQp, kFlowOff, "work qp 5 flush", "event disconnected status 0 id 5", "cancel timer 0"));
}

TEST_F(Closing, TerminateReceived) {
  fw.on(QpTerminateReceived{Qpn{5}, wire::ddp::kInvalidQn});
  EXPECT_THAT(bus.take(),
              ElementsAre("event qp_error status 0 id 5 terminate 12010000", kErrorQp, kFlowOff, "work qp 5 flush",
                          "event disconnected status 0 id 5", "close flow 3", "timer 0 3000000us"));
}

// The event takes the contents of the window to the host.
TEST_F(Closing, TheHostGetsTheHeaderOfEitherTerminate) {
  const MutableByteSpan window = bus.sram(kTerminateWindow);
  for (std::size_t i = 0; i < window.size(); ++i) window.data()[i] = static_cast<std::uint8_t>(i);
  fw.on(QpStreamError{Qpn{5}, wire::rdma::kOperationUnspecified, 24});
  const std::string octets24 = "000102030405060708090a0b0c0d0e0f1011121314151617";
  EXPECT_EQ(bus.take()[3], "event qp_error status 0 id 5 terminate 02ff0000 private " + octets24);
  EXPECT_EQ(bus.events().back().terminate_origin, abi::TerminateOrigin::kLocal);
}
// RFC 5044 section 8, error 1: only the host is informed.
TEST_F(Closing, OfALostStreamNoTerminateIsSent) {
  fw.on(TcpReset{FlowId{3}});
  const abi::Event& error = bus.events()[bus.events().size() - 2];
  EXPECT_EQ(error.terminate, wire::terminate_word(wire::mpa::kConnectionLost));
  EXPECT_EQ(error.terminate_origin, abi::TerminateOrigin::kUnsent);
}
TEST_F(Closing, AMalformedTerminateIsToldAsSuch) {
  fw.on(QpTerminateReceived{Qpn{5}, wire::rdma::kOperationUnspecified, 4, true});
  EXPECT_EQ(bus.take()[0], "event qp_error status 0 id 5 terminate 02ff0000 private 00000000");
  EXPECT_EQ(bus.events()[bus.events().size() - 2].terminate_origin, abi::TerminateOrigin::kMalformed);
}

TEST_F(Closing, TerminateThatCrossesOurFin) {
  disconnect();
  fw.on(QpSendDrained{Qpn{5}});
  bus.take();
  fw.on(QpTerminateReceived{Qpn{5}, wire::ddp::kInvalidQn});
  EXPECT_THAT(bus.take(), ElementsAre("event qp_error status 0 id 5 terminate 12010000", kErrorQp, kFlowOff,
                                      "work qp 5 flush", "event disconnected status 0 id 5"));
}

TEST_F(Closing, NothingDrains) {
  disconnect();
  bus.take();
  fw.on(TimerExpired{0});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3", kErrorQp, kFlowOff, "work qp 5 flush",
                                      "event disconnected status 2 id 5", "cancel timer 0"));
}

TEST_F(Closing, PeerNeverSendsItsFin) {
  disconnect();
  fw.on(QpSendDrained{Qpn{5}});
  bus.take();
  fw.on(TimerExpired{0});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3", kErrorQp, kFlowOff, "work qp 5 flush",
                                      "event disconnected status 2 id 5", "cancel timer 0"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(Closing, CommandsInTheWrongState) {
  run(connect(abi::kCmCrc));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 4 id 0 cookie 77"));
  run(command(abi::CommandOp::kDestroyQp, kQp));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 4 id 5"));
  disconnect();
  bus.take();
  disconnect();
  EXPECT_THAT(bus.take(), ElementsAre("event done status 4 id 5"));
  fw.on(TcpReset{FlowId{3}});
  bus.take();
  run(connect(abi::kCmCrc));
  EXPECT_THAT(bus.take(), ElementsAre("event done status 4 id 0 cookie 77")) << "a QP in error is not used again";
}

TEST_F(Closing, AFlowNamesTheUseOfItsQueuePairsNumber) {
  fw.on(TcpReset{FlowId{3}});
  run(command(abi::CommandOp::kDestroyQp, kQp));
  create_qp(kQp);
  run(connect(abi::kCmCrc));
  fw.on(TcpConnected{FlowId{3}, 0x80010000, 41000, 1460});
  bus.take();
  stream(3, kRepKey + "40010000");
  EXPECT_EQ(bus.take()[1], "flow 3 rdma qp 5 tx_markers 0 rx_markers 0 crc 1 epoch 2");
}

TEST_F(Closing, EventsOfUnknownFlowsAndQpsChangeNothing) {
  fw.on(TcpReset{FlowId{9}});
  fw.on(TcpPeerClosed{FlowId{settings.flows}});
  fw.on(QpSendDrained{Qpn{9}});
  fw.on(QpFirstFpdu{Qpn{settings.qps}});
  fw.on(TimerExpired{1000});
  EXPECT_THAT(bus.take(), ElementsAre("log unexpected_event", "log unexpected_event", "log unexpected_event",
                                      "log unexpected_event", "log unexpected_event"));
}

}  // namespace
}  // namespace rnic::fw::test
