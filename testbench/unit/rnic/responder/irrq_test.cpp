#include "model/rnic/responder/irrq.h"

#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

QueuedRequest read(std::uint32_t qpn, std::uint32_t size, std::uint32_t epoch = 1) {
  return QueuedRead{Qpn{qpn}, {1, 2, size, 3, 4}, {}, epoch, Pdn{1}};
}
QueuedRequest atomic(std::uint32_t qpn, std::uint64_t add) {
  return QueuedAtomic{Qpn{qpn}, wire::AtomicRequest::fetch_add(add, 0), {}, 1, Pdn{1}};
}

// A request is passed on when the row of its queue pair is there, and so is the next one after a response.
constexpr Cycle kThrough = kToEnd + TableConfig{}.read_cycles + kToEnd;

class IrrqTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  At firmware{"firmware", clk};
  Irrq dut{"dut", clk, contexts};
  Source<QueuedRequest> peer = drive(dut.in);
  Source<ReadResponseSent> segmenter = drive(dut.sent);
  Sink<QueuedRead> responder = collect(dut.out);
  Sink<QueuedAtomic> alu = collect(dut.atomic);
  Sink<QpEvent> events = collect(dut.event);

  IrrqTest() {
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, rts_qp(n));  // IRD 4
  }
  std::vector<std::uint64_t> added() const {
    std::vector<std::uint64_t> a;
    for (const QueuedAtomic& r : alu) a.push_back(r.request.data);
    return a;
  }
  std::vector<std::uint32_t> sizes() const {
    std::vector<std::uint32_t> s;
    for (const QueuedRead& r : responder) s.push_back(r.request.size);
    return s;
  }
};

TEST_F(IrrqTest, ARequestLeavesTheCycleAfterItCame) {
  peer.send({read(1, 10), read(2, 20), read(3, 30)});
  run_until_idle();
  EXPECT_EQ(responder.cycles(), in_a_row(kThrough, 3));
  EXPECT_THAT(sizes(), ElementsAre(10, 20, 30));
}

TEST_F(IrrqTest, OneRequestOfAQpAtATimeInOrder) {
  peer.send({read(1, 10), read(1, 11), read(1, 12), read(2, 20)});
  segmenter.send_at(50, {{Qpn{1}, 1}, {Qpn{1}, 1}});
  segmenter.pause(window(51, 80));
  run_until_idle();
  EXPECT_THAT(sizes(), ElementsAre(10, 20, 11, 12));
  EXPECT_THAT(responder.cycles(), ElementsAre(kThrough, kThrough + 3, 50 + kThrough, 80 + kThrough));
  EXPECT_EQ(dut.waiting_for(), "responses of QP 1 to be sent");
}

TEST_F(IrrqTest, IrdRequestsAreHeldTheOneInServiceIncluded) {
  for (std::uint32_t i = 0; i < 4; ++i) peer.send(read(1, i));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(IrrqTest, OneMoreThanIrdEndsTheStreamOnce) {
  for (std::uint32_t i = 0; i < 7; ++i) {
    auto r = std::get<QueuedRead>(read(1, i));
    r.segment.octets[0] = static_cast<std::uint8_t>(i);
    peer.send(r);
  }
  peer.send(read(2, 9));
  segmenter.send_at(50, {Qpn{1}, 1});
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(events[0].qpn, Qpn{1});
  EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_EQ(events[0].failed.octets[0], 4u);  // IRD is 4: the fifth
  EXPECT_THAT(sizes(), ElementsAre(0, 9, 1));
}

TEST_F(IrrqTest, IrdZeroTakesNone) {
  QpContext c = rts_qp(1);
  c.ird = 0;
  open_qp(contexts, 1, c);
  peer.send(read(1, 0));
  run_until_idle();
  EXPECT_EQ(events.size(), 1u);
}

TEST_F(IrrqTest, ASlotFreedInACycleServesTheRequestOfThatCycle) {
  for (std::uint32_t i = 0; i < 4; ++i) peer.send(read(1, i));
  segmenter.send_at(20, {Qpn{1}, 1});
  peer.pause(window(4, 20));
  peer.send(read(1, 4));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(IrrqTest, BackpressureOnBothOutputs) {
  responder.pause(every(7, 5));
  events.pause(every(9, 8));
  for (std::uint32_t i = 0; i < 5; ++i) peer.send({read(1, i), read(2, 100 + i), read(3, 200 + i)});
  run_until_idle();
  EXPECT_THAT(sizes(), ElementsAre(0, 100, 200));
  EXPECT_EQ(events.size(), 3u);
}

TEST_F(IrrqTest, TheOrderOfCallsChangesNothing) {
  clk.shuffle(9);
  peer.send({read(1, 10), read(1, 11), read(1, 12), read(2, 20)});
  segmenter.send_at(50, {{Qpn{1}, 1}, {Qpn{1}, 1}});
  segmenter.pause(window(51, 80));
  run_until_idle();
  EXPECT_THAT(responder.cycles(), ElementsAre(kThrough, kThrough + 3, 50 + kThrough, 80 + kThrough));
}

TEST_F(IrrqTest, AReusedQpStartsAnewAndADestroyedOneIsSilent) {
  for (std::uint32_t i = 0; i < 5; ++i) peer.send(read(1, i));
  firmware.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  peer.pause(window(5, 30));
  peer.send(read(1, 70, 2));
  peer.send(read(0, 1));  // no QP
  run_until_idle();
  EXPECT_EQ(events.size(), 1u);
  EXPECT_THAT(sizes(), ElementsAre(0, 70));
}

TEST_F(IrrqTest, WhatIsLeftOfAnEarlierUseHasNoEffect) {
  peer.send(read(1, 10));
  firmware.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  peer.send_at(30, {read(1, 20, 2), read(1, 11), read(1, 21, 2)});
  segmenter.send_at(50, {Qpn{1}, 1});  // the response to the first one
  segmenter.send_at(100, {Qpn{1}, 2});
  run_until_idle();
  EXPECT_THAT(sizes(), ElementsAre(10, 20, 21));
  EXPECT_THAT(responder.cycles(), ElementsAre(kThrough, 30 + kThrough, 100 + kThrough)) << "it frees no slot";
  EXPECT_EQ(dut.counters().accepted, 3u);
}

TEST_F(IrrqTest, AnIdleStageIsNotCalled) {
  peer.send_at(4000, read(1, 10));
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 4 + TableConfig{}.read_cycles);
}

TEST_F(IrrqTest, ReadsAndAtomicsOfAQpAreOneQueueInOneOrder) {
  peer.send({atomic(1, 10), read(1, 11), atomic(1, 12), atomic(2, 20)});
  segmenter.send_at(50, {{Qpn{1}, 1}, {Qpn{1}, 1}});
  segmenter.pause(window(51, 80));
  run_until_idle();
  EXPECT_THAT(sizes(), ElementsAre(11));
  EXPECT_THAT(responder.cycles(), ElementsAre(50 + kThrough));  // only after the answer to the atomic before it
  ASSERT_EQ(alu.size(), 3u);
  EXPECT_THAT(alu.cycles(), ElementsAre(kThrough, kThrough + 3, 80 + kThrough));
  EXPECT_EQ(alu[0].request.data, 10u);
  EXPECT_EQ(alu[1].qpn, Qpn{2});
  EXPECT_EQ(alu[2].request.data, 12u);
}

TEST_F(IrrqTest, IrdCountsBothKinds) {
  peer.send({read(1, 1), atomic(1, 2), read(1, 3), atomic(1, 4)});
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  peer.send({atomic(1, 5), read(1, 6)});
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnNoBuffer);
}

TEST_F(IrrqTest, AnAluThatWaitsHoldsBackAtomicsOnly) {
  alu.pause(window(0, 100));
  peer.send({atomic(1, 1), atomic(2, 2), read(3, 30), atomic(1, 3)});
  segmenter.send_at(50, {Qpn{3}, 1});
  peer.send_at(60, atomic(3, 4));
  run_until_idle();
  EXPECT_THAT(responder.cycles(), ElementsAre(kThrough + 2));
  EXPECT_EQ(alu.cycles(), in_a_row(100, 3));
  EXPECT_THAT(added(), ElementsAre(1, 2, 4)) << "in the order in which they were due";
}

TEST_F(IrrqTest, ReadsWaitForAPlaceInTheirOrder) {
  responder.pause(window(0, 100));
  peer.send({read(1, 10), read(2, 20), read(3, 30), atomic(2, 1)});
  firmware.at(40, [this] { contexts.write(Qpn{2}, rts_qp(2, 2)); });  // the atomic behind its Read is gone
  peer.send_at(50, {read(2, 21, 2), read(1, 11)});
  segmenter.send_at(200, {{Qpn{1}, 1}, {Qpn{2}, 2}});
  run_until_idle();
  EXPECT_THAT(sizes(), ElementsAre(10, 20, 30, 21, 11)) << "that of an earlier use keeps its place";
  const std::vector<Cycle> first = in_a_row(100, 4);
  EXPECT_THAT(responder.cycles(), ElementsAre(first[0], first[1], first[2], first[3], 200 + kThrough));
  EXPECT_THAT(alu, IsEmpty());
}

TEST_F(IrrqTest, TheOrderOfCallsChangesNothingOfThoseThatWait) {
  clk.shuffle(11);
  responder.pause(window(0, 100));
  peer.send({read(1, 10), read(2, 20), read(3, 30), atomic(1, 1)});
  segmenter.send_at(110, {Qpn{1}, 1});
  run_until_idle();
  EXPECT_EQ(responder.cycles(), in_a_row(100, 3));
  EXPECT_THAT(alu.cycles(), ElementsAre(110 + kThrough));
}

// More requests than events have places: what is behind them is taken all the same.
TEST_F(IrrqTest, NothingBehindRequestsThatWaitIsHeldUp) {
  ContextStore many(clk, {32, 32, 4, 4});
  Irrq queue("many", clk, many);
  Source<QueuedRequest> requests = drive(queue.in);
  Source<ReadResponseSent> sent = drive(queue.sent);
  Sink<QueuedRead> reads = collect(queue.out);
  Sink<QueuedAtomic> atomics = collect(queue.atomic);
  Sink<QpEvent> ends = collect(queue.event);
  for (std::uint32_t n = 0; n < 32; ++n) open_qp(many, n, rts_qp(n));
  atomics.pause(window(0, 200));
  for (std::uint32_t n = 0; n < 31; ++n) requests.send(atomic(n, n));
  requests.send(read(31, 70));
  run_until_idle();
  EXPECT_THAT(reads.cycles(), ElementsAre(kThrough + 31));
  EXPECT_EQ(atomics.cycles(), in_a_row(200, 31));
}

// Requests of earlier uses are due as well; with as many as there are queue pairs the next one waits.
TEST_F(IrrqTest, NoMoreAreDueThanThereAreQueuePairs) {
  responder.pause(window(0, 500));
  for (std::uint32_t use = 1; use < 8; ++use) {
    firmware.at(20 * use, [this, use] { contexts.write(Qpn{1}, rts_qp(1, use)); });
    peer.send_at(20 * use + 5, read(1, use, use));
  }
  run_until_idle();
  EXPECT_THAT(sizes(), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(dut.counters().accepted, 7u);
}

}  // namespace
}  // namespace rnic::test
