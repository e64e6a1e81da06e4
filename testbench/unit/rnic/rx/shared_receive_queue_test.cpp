// Shared receive queues in ddp_placement: three queue pairs, one ring.
#include "model/rnic/rx/ddp_placement.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/llps.h"
#include "testbench/support/placement_twin.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Srqn kSrq{2};

SrqContext srq_of(std::uint32_t epoch = 1, std::uint8_t log_entries = 3) {
  SrqContext c;
  c.valid = true;
  c.log_entries = log_entries;
  c.pd = Pdn{1};
  c.epoch = epoch;
  return c;
}
QpContext sharing_qp(std::uint32_t n, std::uint32_t epoch = 1) {
  QpContext c = rts_qp(n, epoch);
  c.shares_rq = true;
  c.srq = kSrq;
  return c;
}

// From the last beat of an FPDU that is judged with it to its write, or to the dispatcher; from a message's start to
// its report; from an ask for an STag's entry to its use.
constexpr Cycle kRow = StagTableConfig{}.read_cycles;
constexpr Cycle kThrough = kToEnd + 1 + kToEnd, kTold = kToEnd + kToEnd;

// QPs 1 to 3 share the queue of eight entries; entry i has wr_id i and the 256 octets at 0x8000 + 256 i.
class SharedReceiveQueueTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16, 4}};
  BufferPool pool{65536};
  At firmware{"firmware", clk};
  DdpPlacement dut{"dut", clk, contexts, llp_traits()};
  const std::shared_ptr<void> twin = stand_in(dut, contexts);
  Source<FpduBeat> wire = drive(dut.in[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<RqDoorbell> doorbells = drive(dut.posted);
  Source<FetchedRqe> fetch = drive(dut.rqe, CurrentUse(contexts));
  Source<SrqArm> arms = drive(dut.srq_arm);
  Source<RqFlush> flushes = drive(dut.flush, CurrentUse(contexts));
  Sink<RqeTaken> given_back = collect(dut.rqe_taken);
  Sink<SrqEvent> srq_events = collect(dut.srq_event);
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  Sink<PlacedSegment> placed = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others = stub(dut.in[LlpId::kSctp], dut.read_issued, dut.answered);

  SharedReceiveQueueTest() {
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, sharing_qp(n));
    contexts.write(kSrq, srq_of());
    contexts.write(Stag{stag_of(4)}, region(0x8000, 0x1000, abi::kLocalWrite));
    contexts.commit();
  }
  // Announces entries up to `producer`; the oldest `fetched` of them arrive.
  void post(std::uint32_t producer, std::uint64_t fetched) {
    doorbells.send({kSrq, producer});
    arrive(fetched);
  }
  void arrive(std::uint64_t entries, Cycle from = 0) {
    for (; entries != 0; --entries) {
      abi::Wqe w;
      w.wr_id = next_++;
      w.num_sge = 1;
      w.sge[0] = {0x8000 + 256 * w.wr_id, 256, stag_of(4)};
      fetch.send_at(from, {kSrq, true, w});
    }
  }
  // A segment of a Send, ULPDU and FPDU of RFC 5041 figure 4 and RFC 5044 figure 3.
  void send(std::uint32_t flow, std::uint32_t msn, std::size_t payload, std::uint32_t mo = 0, bool last = true,
            Cycle from = 0) {
    Bytes fpdu(2 + 18 + payload, 0xab);
    store_be16(fpdu.data(), static_cast<std::uint16_t>(18 + payload));
    const Bytes header = from_hex(std::string(last ? "41" : "01") + "43 00000000 00000000 00000000 00000000");
    std::copy(header.begin(), header.end(), fpdu.begin() + 2);
    store_be32(&fpdu[12], msn);
    store_be32(&fpdu[16], mo);
    fpdu.resize((fpdu.size() + 3) / 4 * 4 + 4);
    auto beats = cut_fpdu(pool, fpdu, 64, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    for (FpduBeat& beat : beats) wire.send_at(from, std::move(beat));
  }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> completed() const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> list;
    for (const PlacedSegment& s : placed) {
      if (s.last || s.flushed) list.emplace_back(s.qpn.v, s.wr_id);
    }
    return list;
  }
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> list;
    for (const DmaWriteRequest& w : writes) list.push_back(w.address);
    return list;
  }
  std::uint64_t next_ = 0;
};

// RFC 5040 section 5.1.1, RFC 5041 section 5.3: the message that starts first gets the first request of the queue.
TEST_F(SharedReceiveQueueTest, RequestsAreTakenInTheOrderInWhichMessagesStart) {
  post(4, 4);
  send(2, 1, 8, 0, false, 10);
  send(1, 1, 4);
  send(3, 1, 4);
  send(2, 1, 8, 8);
  send(2, 2, 4);
  run_until_idle();
  EXPECT_THAT(completed(), ElementsAre(std::pair(1, 1), std::pair(3, 2), std::pair(2, 0), std::pair(2, 3)));
  EXPECT_THAT(addresses(), ElementsAre(0x8000, 0x8100, 0x8200, 0x8008, 0x8300));
  EXPECT_THAT(events, IsEmpty());
}

// As with a QP's own ring: sharing delays nothing.
TEST_F(SharedReceiveQueueTest, MessagesPassAsFast) {
  post(6, 6);
  for (std::uint32_t i = 0; i < 6; ++i) send(1 + i % 3, 1 + i / 3, 4, 0, true, 10);
  run_until_idle();
  for (std::size_t i = 0; i < placed.size(); ++i) {
    EXPECT_EQ(placed.cycles()[i], 10 + kThrough + kRow + i * (1 + kRow)) << i;
  }
  EXPECT_THAT(completed(), ElementsAre(std::pair(1, 0), std::pair(2, 1), std::pair(3, 2), std::pair(1, 3),
                                       std::pair(2, 4), std::pair(3, 5)));
}

// A place in the prefetch is free when a stream takes its request, not when the message is complete.
TEST_F(SharedReceiveQueueTest, APlaceIsGivenBackWhenTheMessageStarts) {
  post(2, 2);
  send(1, 1, 8, 0, false, 10);
  send(1, 1, 8, 8, true, 60);
  run_until_idle();
  EXPECT_THAT(given_back.cycles(), ElementsAre(10 + kTold + kRow));
  EXPECT_EQ(given_back[0].rqn, Rqn(kSrq));
}

TEST_F(SharedReceiveQueueTest, AnEmptyQueueEndsTheStreamThatFindsItSoAndNoOther) {
  post(1, 1);
  send(1, 1, 8, 0, false, 10);
  send(2, 1, 4);
  send(1, 1, 8, 8);
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].qpn, Qpn{2});
  EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_THAT(completed(), ElementsAre(std::pair(1, 0)));
}

TEST_F(SharedReceiveQueueTest, AnAnnouncedRequestIsAwaited) {
  post(1, 0);
  arrive(1, 50);
  send(3, 1, 4, 0, true, 10);
  run_until_idle();
  EXPECT_THAT(placed.cycles(), ElementsAre(50 + kThrough + kRow));
  EXPECT_THAT(events, IsEmpty());
}

// The stream owns only the request that its half-received message has taken; the others serve any stream.
TEST_F(SharedReceiveQueueTest, TheEndOfAStreamFlushesWhatItHasTakenAndNothingElse) {
  post(4, 4);
  send(1, 1, 8, 0, false, 10);
  send(2, 1, 8, 0, false);
  for (const std::uint32_t n : {1, 3}) flushes.send_at(30, {Qpn{n}});
  send(2, 1, 8, 8, true, 40);
  send(2, 2, 4);
  send(2, 3, 4);
  run_until_idle();
  EXPECT_THAT(completed(), ElementsAre(std::pair(1, 0), std::pair(2, 1), std::pair(2, 2), std::pair(2, 3)));
  EXPECT_TRUE(placed[2].flushed);
  EXPECT_EQ(placed[2].qpn, Qpn{1});
  EXPECT_EQ(given_back.size(), 4u);
}

// The first segment takes its request even if it does not fit: the request ends with the stream.
TEST_F(SharedReceiveQueueTest, AMessageThatIsTooLongTakesItsRequestWithIt) {
  post(2, 2);
  send(1, 1, 257, 0, true, 10);
  send(2, 1, 4);
  flushes.send_at(50, {Qpn{1}});
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, wire::ddp::kMessageTooLong);
  EXPECT_THAT(completed(), ElementsAre(std::pair(2, 1), std::pair(1, 0)));
}

TEST_F(SharedReceiveQueueTest, ImmediateDataTakesARequestToo) {
  post(2, 2);
  Bytes fpdu = from_hex("001a 4148 00000000 00000000 00000001 00000000 0102030405060708 00000000");
  auto beats = cut_fpdu(pool, fpdu, 64, false, 0, FlowId{1});
  beats.back().crc_ok = true;
  for (FpduBeat& beat : beats) wire.send_at(10, std::move(beat));
  send(2, 1, 4);
  run_until_idle();
  EXPECT_THAT(completed(), ElementsAre(std::pair(1, 0), std::pair(2, 1)));
}

// The limit: one event when fewer requests are left, then it is disarmed.
TEST_F(SharedReceiveQueueTest, TheLimitTellsOnceThatFewerRequestsAreLeft) {
  post(6, 6);
  arms.send_at(8, {kSrq, 4, 9});
  for (std::uint32_t i = 1; i <= 4; ++i) send(1, i, 4, 0, true, 20 * i);
  run_until_idle();
  EXPECT_THAT(srq_events.cycles(), ElementsAre(60 + kTold + kRow));  // the third message leaves three
  EXPECT_EQ(srq_events[0].kind, SrqEvent::Kind::kLimit);
  EXPECT_EQ(srq_events[0].srqn, kSrq);
  EXPECT_EQ(srq_events[0].serial, 9u);
}
TEST_F(SharedReceiveQueueTest, TheStartOfAMessageCountsNotItsEnd) {
  post(2, 2);
  arms.send_at(8, {kSrq, 2, 1});
  send(1, 1, 8, 0, false, 20);
  run_until_idle();
  EXPECT_THAT(srq_events.cycles(), ElementsAre(20 + kTold + kRow));
}
TEST_F(SharedReceiveQueueTest, ALimitThatIsNotReachedAnyMoreWhenItIsArmedIsToldAtOnce) {
  post(2, 2);
  arms.send_at(10, {kSrq, 3, 1});
  run_until_idle();
  EXPECT_THAT(srq_events.cycles(), ElementsAre(10 + kTold));
}
TEST_F(SharedReceiveQueueTest, ALimitArmedAnewTellsAgainAndZeroDisarms) {
  post(4, 4);
  arms.send_at(8, {kSrq, 5, 1});
  arms.send_at(12, {kSrq, 4, 2});
  arms.send_at(16, {kSrq, 0, 3});
  send(1, 1, 4, 0, true, 30);
  run_until_idle();
  ASSERT_EQ(srq_events.size(), 1u);
  EXPECT_EQ(srq_events[0].serial, 1u);
}
TEST_F(SharedReceiveQueueTest, OnlyWhatIsPostedCountsNotWhatIsFetched) {
  post(4, 2);
  arms.send_at(8, {kSrq, 4, 1});
  run_until_idle();
  EXPECT_THAT(srq_events, IsEmpty());
}

// A reused number: nothing of the earlier queue remains.
TEST_F(SharedReceiveQueueTest, AReusedQueueStartsAnew) {
  post(3, 3);
  arms.send_at(8, {kSrq, 3, 1});
  firmware.at(20, [this] { contexts.write(kSrq, srq_of(2)); });
  send(1, 1, 4, 0, true, 30);
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_THAT(srq_events, IsEmpty());
}
TEST_F(SharedReceiveQueueTest, NumbersOfTheHostThatNameNoQueueAreDropped) {
  for (const Rqn rqn : {Rqn(Srqn{1}), Rqn(Srqn{4}), Rqn(Srqn{0xfffff}), Rqn(Qpn{1})}) doorbells.send({rqn, 1});
  arms.send({Srqn{1}, 1, 1});
  send(1, 1, 4, 0, true, 20);
  run_until_idle();
  ASSERT_EQ(events.size(), 1u) << "a queue pair that shares has no ring of its own";
  EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_THAT(srq_events, IsEmpty());
}

// More than the ring holds: the queue is unusable from then on.
TEST_F(SharedReceiveQueueTest, AnOverrunIsToldOnceAndNothingIsTakenAfterwards) {
  post(8, 4);
  send(1, 1, 8, 0, false, 10);
  doorbells.send_at(30, {kSrq, 10});
  doorbells.send_at(31, {kSrq, 11});
  send(2, 1, 4, 0, true, 50);
  send(1, 1, 8, 8);
  run_until_idle();
  EXPECT_THAT(srq_events.cycles(), ElementsAre(30 + kTold));
  EXPECT_EQ(srq_events[0].kind, SrqEvent::Kind::kOverrun);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].qpn, Qpn{2});
  EXPECT_EQ(events[0].cause, wire::rdma::kLocalCatastrophic);
  EXPECT_THAT(completed(), ElementsAre(std::pair(1, 0)));
}
TEST_F(SharedReceiveQueueTest, AFullRingIsNoOverrun) {
  post(8, 4);
  send(1, 1, 8, 0, false, 10);
  doorbells.send_at(30, {kSrq, 9});
  run_until_idle();
  EXPECT_THAT(srq_events, IsEmpty());
}

class ShuffledSharingTest : public SharedReceiveQueueTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledSharingTest, BackpressureAndTheOrderOfCallsChangeNothing) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  given_back.pause(every(7, 6));
  writes.pause(every(5, 3));
  placed.pause(every(7, 4));
  post(8, 8);
  arms.send_at(12, {kSrq, 2, 1});
  for (std::uint32_t i = 0; i < 8; ++i) send(1 + i % 3, 1 + i / 3, 4, 0, true, 20);
  run_until_idle();
  std::vector<std::pair<std::uint32_t, std::uint64_t>> expected;
  for (std::uint32_t i = 0; i < 8; ++i) expected.emplace_back(1 + i % 3, i);
  EXPECT_EQ(completed(), expected);
  EXPECT_EQ(given_back.size(), 8u);
  EXPECT_EQ(srq_events.size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledSharingTest, testing::Values(0, 1, 2));

}  // namespace
}  // namespace rnic::test
