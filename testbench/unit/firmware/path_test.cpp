// A path that becomes narrower: MULPDU follows the EMSS (RFC 5044 section 4.5).
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

class Path : public FirmwareTest {
 protected:
  void open(const std::string& reply_flags) {
    run(connect(abi::kCmCrc));
    fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
    stream(3, kRepKey + reply_flags + "010000");
    bus.take();
  }
  void narrow(std::uint16_t emss, std::uint32_t flow = 3) { fw.on(TcpEmssChanged{FlowId{flow}, emss}); }
};

TEST_F(Path, MulpduFollowsTheEmss) {
  open("40");
  narrow(960);
  EXPECT_THAT(bus.take(), ElementsAre("qp 5 rts flow 3 mulpdu 954 ird 16 ord 16", "log mulpdu"));
  narrow(539);
  EXPECT_THAT(bus.take(), ElementsAre("qp 5 rts flow 3 mulpdu 530 ird 16 ord 16", "log mulpdu"));
  narrow(100);
  EXPECT_EQ(bus.take()[0], "qp 5 rts flow 3 mulpdu 128 ird 16 ord 16");
}

TEST_F(Path, MarkersTakeTheirPart) {
  open("c0");
  narrow(960);
  EXPECT_EQ(bus.take()[0], "qp 5 rts flow 3 mulpdu 946 ird 16 ord 16");
}

TEST_F(Path, WhileTheQueueDrainsTheStateStays) {
  open("40");
  run(command(abi::CommandOp::kDisconnect, kQp));
  bus.take();
  narrow(960);
  EXPECT_EQ(bus.take()[0], "qp 5 closing flow 3 mulpdu 954 ird 16 ord 16");
}

TEST_F(Path, BeforeRdmaModeItIsKeptForTheContexts) {
  run(connect(abi::kCmCrc));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  bus.take();
  narrow(960);
  EXPECT_THAT(bus.take(), IsEmpty());
  stream(3, kRepKey + "40010000");
  EXPECT_EQ(bus.take()[0], "qp 5 rts flow 3 mulpdu 954 ird 16 ord 16");
}

TEST_F(Path, BehindTheStreamsEndItMeansNothing) {
  open("40");
  fw.on(QpPeerClosed{Qpn{5}});
  fw.on(QpSendDrained{Qpn{5}});
  bus.take();
  narrow(960);
  fw.on(TcpClosed{FlowId{3}});
  bus.take();
  narrow(960);
  narrow(960, 7);
  narrow(960, 99);
  EXPECT_THAT(bus.take(), IsEmpty());
}

}  // namespace
}  // namespace rnic::fw::test
