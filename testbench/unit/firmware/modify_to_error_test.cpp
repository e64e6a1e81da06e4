// The host puts a queue pair into error, from every state: handled like any other local error.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using testing::Contains;
using testing::StartsWith;

class ModifyToError : public FirmwareTest {
 protected:
  void modify() {
    bus.take();
    abi::Command c = command(abi::CommandOp::kModifyQp, kQp);
    c.u.modify_qp = {abi::QpState::kError, {}};
    run(c);
  }
  abi::QpState state() {
    run(command(abi::CommandOp::kQueryQp, kQp));
    return bus.events().back().qp_state;
  }
  void open(std::uint8_t flags = abi::kCmCrc) {
    run(connect(flags));
    fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  }
  void establish() {
    open();
    stream(3, kRepKey + "40010000");
  }
  void expect_destroyable() {
    run(command(abi::CommandOp::kDestroyQp, kQp));
    EXPECT_EQ(bus.events().back().status, 0);
  }
  static constexpr const char* kTerminating = "qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16";
  static constexpr const char* kInError = "qp 5 error flow 3 mulpdu 1454 ird 16 ord 16";
};

TEST_F(ModifyToError, OfAStreamIsATerminate) {
  establish();
  modify();
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5", kTerminating, "work qp 5 terminate 00000000",
                                      "work qp 5 drain", "event qp_error status 0 id 5", "timer 0 3000000us"));
  fw.on(QpSendDrained{Qpn{kQp}});
  fw.on(QpPeerClosed{Qpn{kQp}});
  EXPECT_THAT(bus.take(), testing::AllOf(Contains("close flow 3"), Contains(kInError), Contains("work qp 5 flush")));
  fw.on(TcpClosed{FlowId{3}});
  expect_destroyable();
}

TEST_F(ModifyToError, OfAnIdleQueuePairFlushesAtOnce) {
  modify();
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5", "qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0",
                                      "work qp 5 flush"));
  EXPECT_EQ(state(), abi::QpState::kError);
  modify();
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5")) << "it is there already";
  expect_destroyable();
}

TEST_F(ModifyToError, WhileTcpOpens) {
  run(connect(abi::kCmCrc));
  modify();
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5", "qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0",
                                      "work qp 5 flush", StartsWith("event connect_error status 8 id 5")));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3")) << "the handshake that still ran";
  expect_destroyable();
}

TEST_F(ModifyToError, WhileTheReplyIsAwaited) {
  open();
  modify();
  EXPECT_THAT(bus.take(),
              ElementsAre("event done status 0 id 5", "abort flow 3", "qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0",
                          "work qp 5 flush", StartsWith("event connect_error status 8 id 5"), "cancel timer 0"));
  expect_destroyable();
}

// The firmware still requests the Terminate; the segmenter knows that it must not be sent (RFC 5044 section 7.1.2 rule
// 4).
TEST_F(ModifyToError, BeforeTheFirstFpdu) {
  listen(abi::kCmCrc);
  request(kReqKey + "40010000");
  run(accept(0x80000000));
  modify();
  EXPECT_THAT(bus.take(), testing::AllOf(Contains("work qp 5 terminate 00000000"), Contains("work qp 5 drain"),
                                         Contains("event qp_error status 0 id 5")));
  EXPECT_EQ(state(), abi::QpState::kTerminate);
}

TEST_F(ModifyToError, WhileTheSendQueueDrains) {
  establish();
  run(command(abi::CommandOp::kDisconnect, kQp));
  modify();
  EXPECT_THAT(bus.take(), testing::AllOf(Contains(kTerminating), Contains("work qp 5 terminate 00000000")));
}

TEST_F(ModifyToError, OfAStreamThatEndsInErrorAnyway) {
  establish();
  fw.on(QpStreamError{Qpn{kQp}, wire::mpa::kCrcMismatch});
  modify();
  EXPECT_THAT(bus.take(), ElementsAre("event done status 0 id 5"));
  EXPECT_EQ(state(), abi::QpState::kTerminate);
}

// Our FIN is out, so no Terminate can follow: the stream's end completes the closing.
TEST_F(ModifyToError, WhileTcpCloses) {
  establish();
  run(command(abi::CommandOp::kDisconnect, kQp));
  fw.on(QpSendDrained{Qpn{kQp}});
  modify();
  EXPECT_THAT(bus.take(), testing::Not(Contains(StartsWith("work"))));
  fw.on(TcpPeerClosed{FlowId{3}});
  EXPECT_THAT(bus.take(), testing::AllOf(Contains(kInError), Contains("work qp 5 flush")));
  EXPECT_EQ(state(), abi::QpState::kError);
}

}  // namespace
}  // namespace rnic::fw::test
