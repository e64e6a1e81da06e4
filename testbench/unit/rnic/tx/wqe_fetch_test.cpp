#include "model/rnic/tx/wqe_fetch.h"

#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t ring_base(std::uint32_t qpn) { return 0x1000 * qpn; }

// A read leaves when the row of its ring is there, which a doorbell asks for; entries leave when they come.
constexpr Cycle kRow = TableConfig{}.read_cycles;
constexpr Cycle kEntry = kToEnd + kToEnd, kThrough = kToEnd + kRow + kToEnd;

// Rings of 16 entries; entry i of QP n has wr_id 100 n + i.
class WqeFetchTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  At firmware{"firmware", clk};
  WqeFetch<SqDoorbell> dut{"dut", clk, contexts, {8, 4, 4}};
  Source<SqDoorbell> host = drive(dut.doorbell);
  Source<WqeTaken> back = drive(dut.taken, CurrentUse(contexts));
  Sink<FetchedWqe> segmenter = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  FakeDma dma{dut.dma, dut.dma_done};

  WqeFetchTest() {
    for (std::uint32_t n = 1; n < 4; ++n) {
      QpContext c = rts_qp(n);
      c.sq_base = ring_base(n);
      open_qp(contexts, n, c);
      for (std::uint32_t i = 0; i < 16; ++i) {
        abi::Wqe w;
        w.wr_id = 100 * n + i;
        std::memcpy(&dma.memory[ring_base(n) + i * abi::kWqeBytes], &w, sizeof w);
      }
    }
  }
  void give_back(unsigned entries, std::uint32_t qpn = 1) {
    for (; entries != 0; --entries) back.send({Qpn{qpn}});
  }
  std::vector<std::uint64_t> wr_ids() const {
    std::vector<std::uint64_t> ids;
    for (const FetchedWqe& f : segmenter) ids.push_back(f.wqe.wr_id);
    return ids;
  }
};

TEST_F(WqeFetchTest, DoorbellToReadAndAnswerToWqe) {
  host.send({Qpn{1}, 3});
  run_until_idle();
  EXPECT_THAT(dma.cycles(), ElementsAre(kThrough));
  EXPECT_EQ(segmenter.cycles(), in_a_row(kThrough + dma.latency + kEntry, 3));
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0x1000, 3 * 128)));
  EXPECT_THAT(wr_ids(), ElementsAre(100, 101, 102));
}

TEST_F(WqeFetchTest, ABatchIsOneReadAndPrefetchIsTheLimit) {
  host.send({Qpn{1}, 11});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0x1000, 512), std::pair(0x1200, 512)));  // batch 4, prefetch 8
  EXPECT_EQ(segmenter.size(), 8u);
  const Account::Totals places = dut.places().totals(20);
  EXPECT_EQ(places.empty, 1 + kRow);
  EXPECT_EQ(places.blocked, 13 - 2);
  EXPECT_EQ(places.busy, 1 + 7 - kRow);
  EXPECT_EQ(places.taken, 4 + (18 - kRow) * 8);
}

TEST_F(WqeFetchTest, APlaceGivenBackIsFilled) {
  host.send({Qpn{1}, 11});
  back.send_at(50, {Qpn{1}});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0x1000, 512), std::pair(0x1200, 512), std::pair(0x1400, 128)));
  EXPECT_THAT(dma.cycles(), ElementsAre(kThrough, kThrough + 1, 50 + kThrough));
}

TEST_F(WqeFetchTest, TheRingWrapsAndNoReadCrossesItsEnd) {
  host.send({Qpn{1}, 14});
  back.pause(every(10, 9));
  give_back(14);
  run_until_idle();
  host.send({Qpn{1}, 21});
  run_until_idle();
  const auto r = dma.reads();
  EXPECT_THAT(std::vector(r.end() - 3, r.end()),
              ElementsAre(std::pair(0x1000 + 14 * 128, 256), std::pair(0x1000, 512), std::pair(0x1200, 128)));
  const auto ids = wr_ids();
  ASSERT_EQ(ids.size(), 21u);
  EXPECT_THAT(std::vector(ids.begin() + 14, ids.end()), ElementsAre(114, 115, 100, 101, 102, 103, 104));
}

TEST_F(WqeFetchTest, QpsTakeTurnsByBatch) {
  host.send({{Qpn{1}, 8}, {Qpn{2}, 8}, {Qpn{3}, 1}});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0x1000, 512), std::pair(0x2000, 512), std::pair(0x3000, 128),
                                       std::pair(0x1200, 512), std::pair(0x2200, 512)));
  EXPECT_THAT(dma.cycles(), ElementsAre(kThrough, kThrough + 1, kThrough + 2, kThrough + 3, kThrough + 15))
      << "the fifth when one of the four reads is over";
}

TEST_F(WqeFetchTest, AnswersInAnyOrderLeaveInOrder) {
  dma.latency_of = {{0, 30}, {1, 5}};
  host.send({{Qpn{1}, 1}, {Qpn{2}, 1}});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(100, 200));
  EXPECT_THAT(segmenter.cycles(), ElementsAre(34 + kRow, 35 + kRow));
}

TEST_F(WqeFetchTest, NoMoreReadsThanConfigured) {
  dma.latency = 50;
  host.send({{Qpn{1}, 8}, {Qpn{2}, 8}, {Qpn{3}, 8}});
  run_until_idle();
  EXPECT_EQ(dma.requests().size(), 6u);
  EXPECT_EQ(dma.cycles()[3], kThrough + 3);
  EXPECT_EQ(dma.cycles()[4], kThrough + 50 + 5);  // the first read's four entries have left
}

TEST_F(WqeFetchTest, AFailedReadIsAFailureOfEachOfItsEntries) {
  dma.fails = {0};
  host.send({{Qpn{1}, 2}, {Qpn{2}, 1}});
  run_until_idle();
  ASSERT_EQ(segmenter.size(), 3u);
  EXPECT_FALSE(segmenter[0].ok);
  EXPECT_FALSE(segmenter[1].ok);
  EXPECT_TRUE(segmenter[2].ok);
}

TEST_F(WqeFetchTest, DoorbellsThatNameNoQpAreDropped) {
  host.send({{Qpn{0}, 1}, {Qpn{4}, 1}, {Qpn{0xfffff}, 4095}, {Qpn{1}, 1}});
  run_until_idle();
  EXPECT_EQ(dut.counters().stray_doorbells, 3u);
  EXPECT_THAT(wr_ids(), ElementsAre(100));
}

// Rings have 16 entries, of which 8 fit the prefetch buffer.
TEST_F(WqeFetchTest, ADoorbellMayFillTheRingAndNoMore) {
  host.send({{Qpn{1}, 16}, {Qpn{2}, 17}});
  run_until_idle();
  EXPECT_EQ(wr_ids().size(), 8u);
  EXPECT_EQ(wr_ids()[0], 100u);
  EXPECT_THAT(events.cycles(), ElementsAre(1 + kEntry));
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events[0].qpn, Qpn{2});
  EXPECT_EQ(events[0].cause, wire::rdma::kLocalCatastrophic);
  EXPECT_EQ(dut.counters().overruns, 1u);
}
TEST_F(WqeFetchTest, WhatWasGivenBackMakesRoomForAsMuch) {
  host.send({Qpn{1}, 16});
  give_back(3);
  back.pause(window(0, 50));
  host.pause(window(1, 100));
  host.send({{Qpn{1}, 19}, {Qpn{1}, 20}});
  run_until_idle();
  EXPECT_THAT(events.cycles(), ElementsAre(101 + kEntry));
  EXPECT_EQ(wr_ids().size(), 11u);
}
TEST_F(WqeFetchTest, ADoorbellThatGoesBackwardsAnnouncesNothing) {
  host.send({{Qpn{1}, 5}, {Qpn{1}, 4}});
  give_back(5);
  back.pause(window(0, 50));
  run_until_idle();
  EXPECT_EQ(events.size(), 1u);
  EXPECT_THAT(wr_ids(), ElementsAre(100, 101, 102, 103, 104)) << "what was announced before";
}
TEST_F(WqeFetchTest, BehindAnOverrunNoOldEntryIsFetched) {
  host.send({Qpn{1}, 2});
  give_back(2);
  back.pause(window(0, 50));
  host.pause(window(1, 100));
  for (std::uint32_t pi : {1u, 0u, 19u, 2048u, 4095u}) host.send({Qpn{1}, pi});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(100, 101));
  EXPECT_EQ(events.size(), 5u);
}

TEST_F(WqeFetchTest, ARepeatedDoorbellFetchesNothingTwice) {
  host.send({{Qpn{1}, 2}, {Qpn{1}, 2}, {Qpn{1}, 2 + 4096}});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(100, 101));
}

TEST_F(WqeFetchTest, AReusedQpStartsAnew) {
  host.send({{Qpn{1}, 2}, {Qpn{1}, 1}});
  host.pause(window(1, 40));
  firmware.at(5, [this] {  // its read is in flight
    QpContext c = rts_qp(1, 2);
    c.sq_base = ring_base(2);
    contexts.write(Qpn{1}, c);
  });
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0x1000, 256), std::pair(0x2000, 128)));
  EXPECT_THAT(wr_ids(), ElementsAre(200));
}

TEST_F(WqeFetchTest, AnEntryOfAnEarlierUseMakesNoRoom) {
  firmware.at(5, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  host.send_at(20, {Qpn{1}, 12});
  for (int i = 0; i < 4; ++i) back.send_at(60, {Qpn{1}, 1});
  run_until_idle();
  EXPECT_EQ(segmenter.size(), 8u);
  for (const FetchedWqe& f : segmenter) EXPECT_EQ(f.epoch, 2u);
}

class ShuffledFetchTest : public WqeFetchTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledFetchTest, BackpressureAndTheOrderOfCallsChangeNoEntry) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  segmenter.pause(every(3, 2));
  host.send({{Qpn{1}, 6}, {Qpn{2}, 6}});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(100, 101, 102, 103, 200, 201, 202, 203, 104, 105, 204, 205));
  const Cycle there = kThrough + dma.latency + kEntry;
  const Cycle first = there + (5 - there % 3) % 3;  // taken each third cycle, from 2 on
  EXPECT_EQ(segmenter.cycles().front(), first);
  EXPECT_EQ(segmenter.cycles().back(), first + 11 * 3);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledFetchTest, testing::Values(0, 1, 2));

TEST_F(WqeFetchTest, AnIdleStageIsNotCalled) {
  run_until_idle();
  EXPECT_EQ(clk.activity().ticks, 0u);
}

// The receive side: the rings of queue pairs and shared ones have separate turns and places.
class RqeFetchTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4, 4}};
  WqeFetch<RqDoorbell> dut{"dut", clk, contexts, {8, 4, 4}};
  Source<RqDoorbell> host = drive(dut.doorbell);
  Source<RqeTaken> back = drive(dut.taken, CurrentUse(contexts));
  Sink<FetchedRqe> placement = collect(dut.out);
  Sink<RqDoorbell> posted = collect(dut.posted);
  FakeDma dma{dut.dma, dut.dma_done};
  RqeFetchTest() {
    QpContext own = rts_qp(1), sharing = rts_qp(2);
    own.rq_base = ring_base(1);
    sharing.rq_base = ring_base(2);
    sharing.shares_rq = true;
    open_qp(contexts, 1, own);
    open_qp(contexts, 2, sharing);
    SrqContext srq;
    srq.valid = true;
    srq.log_entries = 3;
    srq.base = ring_base(3);
    srq.epoch = 1;
    contexts.write(Srqn{1}, srq);
    contexts.commit();
  }
};
TEST_F(RqeFetchTest, ASharedRingAndAQpOfTheSameNumberAreTwo) {
  host.send({{Srqn{1}, 6}, {Qpn{1}, 1}});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0x3000, 512), std::pair(0x1000, 128), std::pair(0x3200, 256)));
  ASSERT_EQ(placement.size(), 7u);
  EXPECT_EQ(placement[0].rqn, Rqn(Srqn{1}));
  EXPECT_EQ(placement[4].rqn, Rqn(Qpn{1}));
  EXPECT_EQ(dma.cycles(), in_a_row(kThrough, 3));
}
TEST_F(RqeFetchTest, ASharedRingWrapsAtItsOwnEnd) {
  host.send({Srqn{1}, 8});
  for (int i = 0; i < 6; ++i) back.send({Srqn{1}});
  back.pause(window(0, 40));
  run_until_idle();
  host.send({Srqn{1}, 10});
  run_until_idle();
  EXPECT_EQ(dma.requests().back().address, 0x3000u);
  EXPECT_EQ(dma.requests().back().bytes, 256u);
}
TEST_F(RqeFetchTest, DoorbellsThatNameNoRingAreDropped) {
  host.send({{Srqn{0}, 1}, {Srqn{4}, 1}, {Srqn{0xfffff}, 1}, {Qpn{2}, 1}, {Qpn{4}, 1}});
  run_until_idle();
  EXPECT_EQ(dut.counters().stray_doorbells, 5u);
  EXPECT_TRUE(dma.requests().empty());
}

}  // namespace
}  // namespace rnic::test
