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
  return {Qpn{1}, {0x100, 0x2000, size, stag, to}, {}, 1, Pdn{1}};
}

constexpr Cycle kStag = StagTableConfig{}.read_cycles;
constexpr Cycle kJudged = kToEnd + kStag;     // a request that comes in cycle 0
constexpr Cycle kThrough = kJudged + kToEnd;  // and its work

class ReadResponderTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  ReadResponder dut{"dut", clk, contexts};
  Source<QueuedRead> irrq = drive(dut.in);
  Sink<ReadWork> segmenter = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  At firmware{"firmware", clk};

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

TEST_F(ReadResponderTest, WorkLeavesWhenTheEntryIsThereOneACycle) {
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
  EXPECT_EQ(segmenter.cycles()[0], kToEnd + kToEnd) << "and waits for nothing";
}
TEST_F(ReadResponderTest, ZeroLengthStaysBehindThoseBefore) {
  irrq.send({read(stag_of(3), 0x1000, 1), read(0xffffffff, 0, 0), read(stag_of(3), 0x1000, 2)});
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(segmenter[i].request.size, (i + 2) % 3 == 2 ? 1 : i == 1 ? 0 : 2);
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kThrough, kThrough + 1, kThrough + 2 + kStag));
}
// Neither an answer nor an error is one of the later use, whenever that begins.
TEST_F(ReadResponderTest, ARequestOfAnEarlierUseHasNoEffect) {
  for (const std::uint32_t stag : {stag_of(3), stag_of(99)}) {
    for (Cycle reused = 0; reused <= kJudged; ++reused) {
      const Cycle from = clk.now() + 10;
      const auto epoch = contexts.epoch(Qpn{1});
      const std::size_t before = segmenter.size() + events.size();
      QueuedRead r = read(stag, 0x1000, 2);
      r.epoch = epoch;
      irrq.send_at(from, r);
      firmware.at(from + reused, [this, epoch] { contexts.write(Qpn{1}, rts_qp(1, epoch + 1)); });
      run_until_idle();
      EXPECT_EQ(segmenter.size() + events.size() - before, reused < kJudged ? 0u : 1u) << "cycle " << reused;
    }
  }
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
TEST_F(ReadResponderTest, AWindowIsJudgedWhenTheEntryOfItsRegionIsThereToo) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  irrq.send({read(stag_of(8), 0x1000, 2), read(stag_of(3), 0x1000, 2)});
  run_until_idle();
  EXPECT_THAT(segmenter.cycles(), ElementsAre(kThrough + kStag, kThrough + kStag + 1));
}
// What counts is the entry in the cycle before the judgement, whenever it was asked for.
TEST_F(ReadResponderTest, AnStagThatEndsInAnyCycleAllowsNothingFromTheNextOneOn) {
  const StagContext before = region(0x1000, 0x100, abi::kRemoteRead);
  StagContext after = before;
  after.valid = false;
  for (Cycle ended = kToEnd - 1; ended <= kJudged + 1; ++ended) {
    const Cycle from = clk.now() + 10;
    const std::size_t works = segmenter.size(), refused = events.size();
    irrq.send_at(from, read(stag_of(3), 0x1000, 2));
    firmware.at(from + ended, [this, after] { contexts.write(Stag{stag_of(3)}, after); });
    firmware.at(from + 50, [this, before] { contexts.write(Stag{stag_of(3)}, before); });
    run_until_idle();
    EXPECT_EQ(segmenter.size() - works, ended < kJudged ? 0u : 1u) << "cycle " << ended;
    EXPECT_EQ(events.size() - refused, ended < kJudged ? 1u : 0u) << "cycle " << ended;
  }
}
TEST_F(ReadResponderTest, AWindowAllowsNothingFromTheCycleAfterTheEndOfItsRegionOn) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  const StagContext before = region(0x1000, 0x100, abi::kRemoteRead);
  for (Cycle ended = kToEnd - 1; ended <= kJudged + kStag + 1; ++ended) {
    const Cycle from = clk.now() + 10;
    const std::size_t works = segmenter.size();
    irrq.send_at(from, read(stag_of(8), 0x1000, 2));
    firmware.at(from + ended, [this] { contexts.write(Stag{stag_of(3)}, StagContext{}); });
    firmware.at(from + 50, [this, before] { contexts.write(Stag{stag_of(3)}, before); });
    run_until_idle();
    EXPECT_EQ(segmenter.size() - works, ended < kJudged + kStag ? 0u : 1u) << "cycle " << ended;
  }
}
// The row of the region to which it was bound is dropped when it comes.
TEST_F(ReadResponderTest, AWindowThatIsBoundAnewMeanwhileIsJudgedByItsNewRegion) {
  contexts.write(Stag{stag_of(6)}, region(0x1000, 0x100, abi::kRemoteRead));
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  StagContext anew = window_of(1);
  anew.region = stag_of(6);
  for (Cycle bound = kJudged; bound < kJudged + kStag; ++bound) {
    const Cycle from = clk.now() + 10;
    irrq.send_at(from, read(stag_of(8), 0x1000, 2));
    firmware.at(from + bound, [this, anew] {
      contexts.write(Stag{stag_of(8)}, anew);
      contexts.write(Stag{stag_of(3)}, StagContext{});
    });
    firmware.at(from + 50, [this] {
      contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, abi::kRemoteRead));
      contexts.write(Stag{stag_of(8)}, window_of(1));
    });
    run_until_idle();
    EXPECT_EQ(segmenter.cycles().back(), from + kThrough + 2 * kStag) << "cycle " << bound;
  }
  EXPECT_EQ(segmenter.size(), kStag);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(ReadResponderTest, ARequestOfItsOwnEndsTheWaitForAWindowThatIsGone) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  irrq.send({read(stag_of(8), 0x1000, 2), read(stag_of(3), 0x1000, 2)});
  firmware.at(kJudged, [this] { contexts.write(Stag{stag_of(8)}, StagContext{}); });
  run_until_idle();
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(segmenter.size(), 1u);
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
  EXPECT_LE(clk.activity().cycles, 6u);
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
