#include "model/rnic/responder/read_responder.h"

#include "model/abi/host_abi.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace rdma = wire::rdma;

QueuedRead read(std::uint32_t stag, std::uint64_t to, std::uint32_t size) {
  return {Qpn{1}, {0x100, 0x2000, size, stag, to}};
}

constexpr Cycle kThrough = kToEnd + kToEnd;  // a request leaves in the cycle in which it comes

class ReadResponderTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  ReadResponder dut{"dut", clk, contexts};
  Source<QueuedRead> irrq = drive(dut.in);
  Sink<ReadWork> segmenter = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);

  ReadResponderTest() {
    open_qp(contexts, 1, rts_qp(1));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, abi::kRemoteRead));
    contexts.write(Stag{stag_of(4)}, region(0x1000, 0x100, abi::kLocalWrite | abi::kRemoteWrite));
    contexts.write(Stag{stag_of(5)}, region(0x1000, 0x100, 0, 2));
    contexts.commit();
  }
  void expect_refused(QueuedRead r, wire::TerminateCause cause) {
    r.segment.length = 46;
    r.segment.octets = {0x41, 0x41, 7};
    irrq.send(r);
    run_until_idle();
    EXPECT_THAT(segmenter, IsEmpty());
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, QpEvent::Kind::kStreamError);
    EXPECT_EQ(events[0].cause, cause) << int(events[0].cause.code);
    EXPECT_EQ(events[0].failed.length, 46u);
    EXPECT_EQ(events[0].failed.octets, r.segment.octets);
  }
};

TEST_F(ReadResponderTest, WorkLeavesInTheCycleOfTheRequestOneACycle) {
  irrq.send({read(stag_of(3), 0x1000, 0x100), read(stag_of(3), 0x10ff, 1), read(stag_of(3), 0x1001, 3)});
  run_until_idle();
  EXPECT_EQ(segmenter.cycles(), in_a_row(kThrough, 3));
  const wire::ReadRequest& r = segmenter[2].request;
  EXPECT_EQ(r.src_stag, stag_of(3));
  EXPECT_EQ(r.src_to, 0x1001u);
  EXPECT_EQ(r.size, 3u);
  EXPECT_EQ(r.sink_stag, 0x100u);
  EXPECT_EQ(r.sink_to, 0x2000u);
}
TEST_F(ReadResponderTest, ZeroLengthChecksNothing) {
  irrq.send(read(0xffffffff, ~std::uint64_t{0}, 0));
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 1u);
  EXPECT_EQ(segmenter[0].request.size, 0u);
}
// Each fails its own check and all later ones.
TEST_F(ReadResponderTest, UnknownIndex) { expect_refused(read(stag_of(99), ~std::uint64_t{0}, 2), rdma::kInvalidStag); }
TEST_F(ReadResponderTest, UnknownKey) { expect_refused(read(stag_of(3, 1), 0x1000, 2), rdma::kInvalidStag); }
TEST_F(ReadResponderTest, ForeignDomain) {
  expect_refused(read(stag_of(5), ~std::uint64_t{0}, 2), rdma::kStagNotAssociated);
}
// A window of type 2 serves the stream of one queue pair, whatever the domain of the other one.
StagContext window_of(std::uint32_t qpn, std::uint32_t epoch = 1) {
  StagContext w = region(0x1000, 0x100, abi::kRemoteRead);
  w.kind = StagKind::kWindow2;
  w.region = stag_of(3);
  w.qpn = Qpn{qpn};
  w.qp_epoch = epoch;
  return w;
}
TEST_F(ReadResponderTest, AWindowOfAnotherStream) {
  contexts.write(Stag{stag_of(8)}, window_of(2));
  contexts.commit();
  expect_refused(read(stag_of(8), 0x1000, 2), rdma::kStagNotAssociated);
}
TEST_F(ReadResponderTest, AWindowOfAnEarlierUseOfTheNumber) {
  contexts.write(Stag{stag_of(8)}, window_of(1, 0));
  contexts.commit();
  expect_refused(read(stag_of(8), 0x1000, 2), rdma::kStagNotAssociated);
}
TEST_F(ReadResponderTest, AWindowOfItsOwn) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  irrq.send(read(stag_of(8), 0x1000, 2));
  run_until_idle();
  EXPECT_EQ(segmenter.size(), 1u);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(ReadResponderTest, NoRemoteRead) { expect_refused(read(stag_of(4), ~std::uint64_t{0}, 2), rdma::kAccessRights); }
TEST_F(ReadResponderTest, Wrap) { expect_refused(read(stag_of(3), ~std::uint64_t{0}, 2), rdma::kToWrap); }
TEST_F(ReadResponderTest, WrapToZero) { expect_refused(read(stag_of(3), ~std::uint64_t{0}, 1), rdma::kToWrap); }
TEST_F(ReadResponderTest, OneOctetBefore) { expect_refused(read(stag_of(3), 0xfff, 2), rdma::kBaseOrBounds); }
TEST_F(ReadResponderTest, OneOctetBehind) { expect_refused(read(stag_of(3), 0x1000, 0x101), rdma::kBaseOrBounds); }
TEST_F(ReadResponderTest, HugeRead) { expect_refused(read(stag_of(3), 0x1000, 0xffffffff), rdma::kBaseOrBounds); }

TEST_F(ReadResponderTest, BackpressureOnBothOutputsInAnyOrderOfCalls) {
  clk.shuffle(2);
  segmenter.pause(every(3, 2));
  events.pause(every(5, 4));
  for (std::uint32_t i = 0; i < 12; ++i) irrq.send(read(stag_of(i % 3 == 2 ? 9 : 3), 0x1000 + i, 1));
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 8u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(segmenter[i].request.src_to, 0x1000 + i / 2 * 3 + i % 2);
  EXPECT_EQ(events.size(), 4u);
}
TEST_F(ReadResponderTest, AnIdleStageIsNotCalled) {
  irrq.send_at(4000, read(stag_of(3), 0x1000, 1));
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 4u);
}

// Pages are looked up when the response is cut.
TEST_F(ReadResponderTest, ARegionInPagesIsReadByItsOffsets) {
  StagContext paged = region(0x7000, 0x100, abi::kRemoteRead);
  paged.bus = 0xf80;
  paged.log_page = 12;
  paged.pages = 2;
  contexts.write(Stag{stag_of(9)}, paged);
  contexts.write_page(0, 0x4000);
  contexts.write_page(1, 0x2000);
  contexts.commit();
  irrq.send(read(stag_of(9), 0x7010, 0xf0));
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 1u);
  EXPECT_EQ(segmenter[0].request.src_stag, stag_of(9));
  EXPECT_EQ(segmenter[0].request.src_to, 0x7010u);
}

}  // namespace
}  // namespace rnic::test
