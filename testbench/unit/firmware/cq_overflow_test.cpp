// A completion queue that overran, and the effect on the queue pairs that use it.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

class CqOverflows : public FirmwareTest {
 protected:
  // CQ 0 serves QP 5, CQ 1 serves QP 6; CQ 0 also takes the receive completions of QP 7.
  CqOverflows() {
    abi::Command cq = command(abi::CommandOp::kCreateCq, 1);
    cq.u.cq = {0x3000, 4};
    run(cq);
    create(6, 1, 1);
    create(7, 1, 0);
    bus.take();
  }
  void create(std::uint32_t qpn, std::uint32_t send_cqn, std::uint32_t recv_cqn) {
    abi::Command c = command(abi::CommandOp::kCreateQp, qpn);
    c.u.qp = {0x10000, 0x20000, 6, 5, 7, send_cqn, recv_cqn, 0, {}};
    run(c);
  }
  const std::string kFive = "qp 5 error sq 10000/6 rq 20000/5 pd 7 cq 0/0";
  const std::string kSeven = "qp 7 error sq 10000/6 rq 20000/5 pd 7 cq 1/0";
};

TEST_F(CqOverflows, PutsIdleQueuePairsThatUseTheQueueIntoErrorAndNoOther) {
  fw.on(CqOverflow{Cqn{0}});
  EXPECT_THAT(bus.take(),
              ElementsAre("event cq_error status 0 id 0", kFive, "work qp 5 flush", kSeven, "work qp 7 flush"));
  fw.on(CqOverflow{Cqn{0}});
  EXPECT_THAT(bus.take(), IsEmpty()) << "told once";
}

TEST_F(CqOverflows, AFlushNamesTheQueueOfTheReceiveCompletions) {
  create(8, 0, 1);
  bus.take();
  fw.on(CqOverflow{Cqn{0}});
  EXPECT_THAT(bus.take(), testing::Contains("work qp 8 flush cq 1"));
}

TEST_F(CqOverflows, EndsAStreamWithALocalCatastrophicError) {
  run(connect(abi::kCmCrc));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  stream(3, kRepKey + "40010000");
  bus.take();
  fw.on(CqOverflow{Cqn{0}});
  EXPECT_THAT(bus.take(), ElementsAre("event cq_error status 0 id 0", "qp 5 terminate flow 3 mulpdu 1454 ird 16 ord 16",
                                      "work qp 5 terminate 00000000", "work qp 5 drain", "event qp_error status 0 id 5",
                                      "timer 0 3000000us", kSeven, "work qp 7 flush"));
}

TEST_F(CqOverflows, EndsASetupWhoseHandshakeRuns) {
  run(connect(abi::kCmCrc));
  bus.take();
  fw.on(CqOverflow{Cqn{0}});
  EXPECT_THAT(bus.take(),
              ElementsAre("event cq_error status 0 id 0", kFive, "work qp 5 flush",
                          "event connect_error status 8 id 5 terminate 20050000", kSeven, "work qp 7 flush"));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), ElementsAre("abort flow 3"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(CqOverflows, EndsASetupThatWaitsForTheReply) {
  run(connect(abi::kCmCrc));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  bus.take();
  fw.on(CqOverflow{Cqn{0}});
  EXPECT_THAT(bus.take(), ElementsAre("event cq_error status 0 id 0", "abort flow 3", kFive, "work qp 5 flush",
                                      "event connect_error status 8 id 5 terminate 20050000", "cancel timer 0", kSeven,
                                      "work qp 7 flush"));
  EXPECT_EQ(fw.connections(), 0u);
}

TEST_F(CqOverflows, NoQueuePairIsMadeOnSuchAQueueUntilItIsMadeAnew) {
  fw.on(CqOverflow{Cqn{0}});
  bus.take();
  create(8, 0, 1);
  EXPECT_THAT(bus.take(), ElementsAre("event done status 4 id 8"));
  create(8, 1, 0);
  EXPECT_THAT(bus.take(), ElementsAre("event done status 4 id 8"));
  for (const std::uint32_t qpn : {5, 7}) run(command(abi::CommandOp::kDestroyQp, qpn));
  run(command(abi::CommandOp::kDestroyCq, 0));
  abi::Command cq = command(abi::CommandOp::kCreateCq, 0);
  cq.u.cq = {0x1000, 4};
  run(cq);
  bus.take();
  create(8, 0, 1);
  EXPECT_EQ(bus.take().back(), "event done status 0 id 8");
}

TEST_F(CqOverflows, OfAQueueThatIsGoneMeansNothing) {
  fw.on(CqOverflow{Cqn{3}});
  fw.on(CqOverflow{Cqn{settings.cqs}});
  EXPECT_THAT(bus.take(), IsEmpty());
}

// A hardware error on a queue pair without a stream, such as an invalid doorbell.
TEST_F(CqOverflows, AnErrorOfAnIdleQueuePairPutsItIntoError) {
  fw.on(QpStreamError{Qpn{5}, wire::rdma::kLocalCatastrophic});
  EXPECT_THAT(bus.take(), ElementsAre(kFive, "work qp 5 flush"));
  fw.on(QpStreamError{Qpn{5}, wire::rdma::kLocalCatastrophic});
  EXPECT_THAT(bus.take(), ElementsAre("log unexpected_event"));
}

}  // namespace
}  // namespace rnic::fw::test
