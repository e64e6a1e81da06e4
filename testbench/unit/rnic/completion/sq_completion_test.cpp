#include "model/rnic/completion/sq_completion.h"

#include "testbench/support/contexts.h"
#include "testbench/support/stag_work_beside.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;
using testing::IsEmpty;

WqeIssued issue(std::uint64_t wr_id, WrOpcode op = WrOpcode::kSend, std::uint32_t qpn = 1) {
  WqeIssued w;
  w.qpn = Qpn{qpn};
  w.wr_id = wr_id;
  w.opcode = op;
  w.bytes = 100;
  return w;
}

// An acknowledgement waits for its queue pair's row, and so does the turn of that. The entry leaves with the turn.
constexpr Cycle kRow = SqcTableConfig{}.read_cycles, kThrough = kToEnd + 2 * kRow + kToEnd;

class SqCompletionTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 8}};
  At firmware{"firmware", clk};
  SqCompletion dut{"dut", clk, contexts};
  Source<WqeIssued> segmenter = drive(dut.issued, CurrentUse(contexts));
  Source<WqesAcked> tcp = drive(dut.acked[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<WqesAcked> sctp = drive(dut.acked[LlpId::kSctp], CurrentUse(contexts));
  Source<WqeLost> payload_fetch = drive(dut.lost, CurrentUse(contexts));
  Source<ReadDone> dispatch = drive(dut.read_done, CurrentUse(contexts));
  Source<AtomicDone> response_queue = drive(dut.atomic_done, CurrentUse(contexts));
  Sink<TxUnblock> unblocks = collect(dut.unblock);
  Sink<CqeRequest> cqes = collect(dut.cqe);
  Sink<QpEvent> events = collect(dut.event);
  StagWorkBeside stag_work{contexts, dut.sink, dut.sink_ended};
  // Of a sink, from the end of its Read on: until its STag ends, and until stag_work has answered.
  const Cycle ends = kToEnd + kRow + StagWorkBeside::executed(contexts);
  const Cycle ended = kToEnd + kRow + StagWorkBeside::answered(contexts, true);

  SqCompletionTest() {
    open_qp(contexts, 1, rts_qp(1));
    open_qp(contexts, 2, rts_qp(2));
  }
  // Reads with Invalidate of the regions 1, 2, ...
  WqeIssued read_with_inv(std::uint64_t wr_id, std::uint32_t index) {
    contexts.write(Stag{stag_of(index)}, region(0, 100, abi::kLocalWrite | abi::kMwBind));
    contexts.commit();
    WqeIssued w = issue(wr_id, WrOpcode::kRdmaReadWithInv);
    w.ends = Stag{stag_of(index)};
    return w;
  }
  bool valid(std::uint32_t index) const { return contexts.stag(Stag{stag_of(index)})->valid; }
  std::vector<std::uint64_t> wr_ids() const {
    std::vector<std::uint64_t> ids;
    for (const CqeRequest& c : cqes) ids.push_back(c.cqe.wr_id);
    return ids;
  }
};

TEST_F(SqCompletionTest, ACompletionLeavesWhenItsRowWasThereTwice) {
  segmenter.send({issue(1), issue(2, WrOpcode::kRdmaWrite), issue(3, WrOpcode::kSendWithInv)});
  tcp.send_at(50, {FlowId{1}, 3});
  run_until_idle();
  EXPECT_EQ(cqes.cycles(), in_a_row(50 + kThrough, 3));  // one per cycle
  const CqeRequest& c = cqes[1];
  EXPECT_EQ(c.cqn, Cqn{1});
  EXPECT_EQ(c.cqe.wr_id, 2u);
  EXPECT_EQ(c.cqe.byte_len, 100u);
  EXPECT_EQ(c.cqe.qpn, 1u);
  EXPECT_EQ(c.cqe.opcode, abi::WcOpcode::kRdmaWrite);
  EXPECT_EQ(c.cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes[2].cqe.opcode, abi::WcOpcode::kSend);
}

TEST_F(SqCompletionTest, AReadThatIsDoneWaitsForTheSendBeforeIt) {
  segmenter.send({issue(1), issue(2, WrOpcode::kRdmaRead)});
  dispatch.send_at(20, {Qpn{1}});
  tcp.send_at(40, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2));
  EXPECT_THAT(cqes.cycles(), ElementsAre(40 + kThrough, 41 + kThrough));
}
TEST_F(SqCompletionTest, PostingOrderWhateverFinishesFirst) {
  segmenter.send({issue(1, WrOpcode::kRdmaRead), issue(2), issue(3, WrOpcode::kRdmaRead), issue(4)});
  tcp.send_at(20, {FlowId{1}, 2});
  dispatch.send_at(40, {{Qpn{1}}, {Qpn{1}}});
  dispatch.pause(window(41, 60));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cqes.cycles(), ElementsAre(40 + kThrough, 41 + kThrough, 60 + kThrough, 61 + kThrough));
}

TEST_F(SqCompletionTest, AnUnsignaledRequestIsRetiredSilently) {
  WqeIssued quiet = issue(1);
  quiet.signaled = false;
  WqeIssued rtr = issue(0, WrOpcode::kRdmaRead);
  rtr.internal = true;
  segmenter.send({quiet, rtr, issue(2)});
  tcp.send_at(20, {FlowId{1}, 2});
  dispatch.send_at(20, {Qpn{1}});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(2));
}

TEST_F(SqCompletionTest, AnErrorCompletesInItsTurnSignaledOrNot) {
  WqeIssued bad = issue(2, WrOpcode::kRdmaRead);
  bad.status = WcStatus::kLocProtErr;
  bad.signaled = false;
  segmenter.send({issue(1), bad});
  tcp.send_at(30, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2));
  EXPECT_EQ(cqes[1].cqe.status, WcStatus::kLocProtErr);
  EXPECT_THAT(cqes.cycles(), ElementsAre(30 + kThrough, 31 + kThrough));
}

TEST_F(SqCompletionTest, ADrainIsAnsweredWhenAllBeforeItIsComplete) {
  WqeIssued drain;
  drain.qpn = Qpn{1};
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.send({issue(1), drain});
  tcp.send_at(30, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(30 + kThrough));
  EXPECT_THAT(events.cycles(), ElementsAre(31 + kThrough));
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kSendDrained);
}

TEST_F(SqCompletionTest, AFlushCompletesInOrderWhatIsNotDoneWithAnError) {
  WqeIssued quiet = issue(2, WrOpcode::kRdmaRead);
  quiet.signaled = false;
  WqeIssued flush;
  flush.qpn = Qpn{1};
  flush.marker = WqeIssued::Marker::kFlush;
  segmenter.send({issue(1), quiet, issue(3), flush, issue(4)});
  segmenter.pause(window(3, 30));
  tcp.send_at(10, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(cqes[0].cqe.status, WcStatus::kSuccess);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(cqes[i].cqe.status, WcStatus::kWrFlushErr);
}

// After the Terminate nothing answers a Read. Requests that TCP acknowledges were sent, and the drain waits for the
// Terminate.
TEST_F(SqCompletionTest, ATerminateEndsReadsAndIsAwaitedByTheDrain) {
  WqeIssued terminate, drain;
  terminate.qpn = drain.qpn = Qpn{1};
  terminate.marker = WqeIssued::Marker::kTerminate;
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.send({issue(1), issue(2, WrOpcode::kRdmaRead), issue(3), issue(4, WrOpcode::kRdmaRead), terminate, drain});
  tcp.send_at(20, {FlowId{1}, 1});
  tcp.send_at(20, {FlowId{1}, 1});
  tcp.send_at(20, {FlowId{1}, 1});
  tcp.pause(every(20, 19));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(cqes[0].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes[1].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(cqes[2].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes[3].cqe.status, WcStatus::kWrFlushErr);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kSendDrained);
  EXPECT_GT(events.cycles()[0], tcp.cycles()[2]);
}

// The peer's FIN: a drain does not wait for responses that cannot come (RFC 5041 section 6.2).
TEST_F(SqCompletionTest, ThePeersFinEndsReadsAndTheDrainGoesOn) {
  WqeIssued drain;
  drain.qpn = Qpn{1};
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.send({issue(1), issue(2, WrOpcode::kRdmaRead), issue(3), drain});
  tcp.send({FlowId{1}, 2});
  dispatch.send_at(50, {Qpn{1}, true});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes[1].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(cqes[2].cqe.status, WcStatus::kSuccess);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kSendDrained);
  EXPECT_THAT(events.cycles(), ElementsAre(52 + kThrough));
}
TEST_F(SqCompletionTest, AReadThatWasAnsweredBeforeTheFinIsComplete) {
  segmenter.send({issue(1), issue(2, WrOpcode::kRdmaRead)});
  dispatch.send_at(20, {{Qpn{1}}, {Qpn{1}, true}});
  tcp.send_at(50, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2));
  EXPECT_EQ(cqes[1].cqe.status, WcStatus::kSuccess);
}

// Host memory could not be read: the Terminate's acknowledgement does not count for a Send that never left.
TEST_F(SqCompletionTest, WhatNeverLeftEndsWithAnErrorBehindWhatDid) {
  WqeIssued terminate, drain;
  terminate.qpn = drain.qpn = Qpn{1};
  terminate.marker = WqeIssued::Marker::kTerminate;
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.send({issue(1), issue(2), issue(3), terminate, drain});
  payload_fetch.send_at(10, {{Qpn{1}}, {Qpn{1}}});
  tcp.send_at(30, {FlowId{1}, 2});  // for the first one and the Terminate
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes[0].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes[1].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(cqes[2].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(events.size(), 1u);
}

TEST_F(SqCompletionTest, AReadResponseThatNobodyAskedForCompletesNoLaterRead) {
  dispatch.send({Qpn{1}});
  segmenter.send_at(20, issue(1, WrOpcode::kRdmaRead));
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
  EXPECT_EQ(dut.counters().unsolicited, 1u);
  EXPECT_EQ(dut.waiting_for(), "QP 1 read response");
}

TEST_F(SqCompletionTest, AnAcknowledgementOfAFlowThatItsQpLeftCountsForNobody) {
  segmenter.send(issue(1));
  tcp.send_at(20, {FlowId{3}, 1});  // its context names QP 0
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
  EXPECT_EQ(dut.waiting_for(), "QP 1 acknowledgement");
}

TEST_F(SqCompletionTest, AcknowledgementsOfBothLayersCount) {
  segmenter.send({issue(1), issue(2), issue(3, WrOpcode::kSend, 2), issue(4, WrOpcode::kSend, 2)});
  tcp.send_at(20, {FlowId{1}, 1});
  sctp.send_at(20, {FlowId{2}, 2});
  tcp.send_at(40, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(cqes.cycles(), ElementsAre(20 + kThrough, 21 + kThrough, 22 + kThrough, 40 + kThrough));
}
TEST_F(SqCompletionTest, SctpAcknowledgesOnEveryCycle) {
  for (std::uint64_t i = 0; i < 4; ++i) segmenter.send(issue(i));
  for (Cycle i = 0; i < 4; ++i) sctp.send_at(20, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_EQ(cqes.cycles(), in_a_row(20 + kThrough, 4));
}

TEST_F(SqCompletionTest, QpsTakeTurns) {
  segmenter.send({issue(1), issue(2), issue(3, WrOpcode::kSend, 2), issue(4, WrOpcode::kSend, 2)});
  tcp.send_at(20, {{FlowId{1}, 2}, {FlowId{2}, 2}});
  cqes.pause(window(0, 40));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 3, 2, 4));
}

TEST_F(SqCompletionTest, BackpressureAndTheOrderOfCalls) {
  clk.shuffle(11);
  cqes.pause(every(4, 3));
  for (std::uint64_t i = 0; i < 20; ++i) {
    segmenter.send(issue(i, i % 3 == 0 ? WrOpcode::kRdmaRead : WrOpcode::kSend));
    if (i % 3 == 0) dispatch.send_at(3, {Qpn{1}});
    else tcp.send_at(3, {FlowId{1}, 1});
  }
  dispatch.pause(window(0, 60));
  run_until_idle();
  ASSERT_EQ(cqes.size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(wr_ids()[i], i);
  EXPECT_EQ(cqes.cycles().front(), 61 + kThrough);
  EXPECT_EQ(cqes.cycles().back(), 61 + kThrough + 19 * 4);
}

TEST_F(SqCompletionTest, AReusedQpStartsAnew) {
  segmenter.send({issue(1), issue(2)});
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  segmenter.pause(window(2, 20));
  segmenter.send(issue(3));
  tcp.send_at(40, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(3));
}
// Neither a request nor what answers one, however late it comes.
TEST_F(SqCompletionTest, WhatIsLeftOfAnEarlierUseCompletesNothing) {
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  WqeIssued earlier = issue(1, WrOpcode::kRdmaRead);
  earlier.epoch = 1;
  segmenter.send_at(20, {issue(2, WrOpcode::kRdmaRead), earlier, issue(3, WrOpcode::kFetchAdd), issue(4)});
  dispatch.send_at(40, {{Qpn{1}, false, 1}, {Qpn{1}, true, 1}});
  response_queue.send_at(40, {Qpn{1}, true, 1});
  payload_fetch.send_at(40, {Qpn{1}, 1});
  firmware.at(90, [this] { EXPECT_THAT(wr_ids(), IsEmpty()); });
  dispatch.send_at(100, {Qpn{1}, false, 2});
  response_queue.send_at(100, {Qpn{1}, true, 2});
  tcp.send_at(100, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(2, 3, 4));
  for (const CqeRequest& c : cqes) EXPECT_EQ(c.cqe.status, WcStatus::kSuccess);
}

TEST_F(SqCompletionTest, AnIdleStageIsNotCalled) {
  segmenter.send(issue(1));
  tcp.send_at(9000, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 10u);
}

// The Read's response comes second, and its data is there before the atomic's value.
TEST_F(SqCompletionTest, AtomicsAndReadsCompleteInPostingOrder) {
  segmenter.send({issue(1, WrOpcode::kFetchAdd), issue(2, WrOpcode::kRdmaRead), issue(3, WrOpcode::kCmpSwap),
                  issue(4, WrOpcode::kImmediate)});
  tcp.send_at(20, {FlowId{1}, 1});
  dispatch.send_at(40, {Qpn{1}});
  response_queue.send_at(60, {{Qpn{1}}, {Qpn{1}}});
  response_queue.pause(window(61, 80));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cqes.cycles(), ElementsAre(60 + kThrough, 61 + kThrough, 80 + kThrough, 81 + kThrough));
  std::vector<abi::WcOpcode> opcodes;
  for (const CqeRequest& c : cqes) opcodes.push_back(c.cqe.opcode);
  EXPECT_THAT(opcodes, ElementsAre(abi::WcOpcode::kFetchAdd, abi::WcOpcode::kRdmaRead, abi::WcOpcode::kCompSwap,
                                   abi::WcOpcode::kRdmaWrite));
}

// The answers come before the first of the requests retires.
TEST_F(SqCompletionTest, AnAtomicWhoseOriginalValueIsLostFailsAndNoneBeforeIt) {
  segmenter.send(
      {issue(1), issue(2, WrOpcode::kFetchAdd), issue(3, WrOpcode::kFetchAdd), issue(4, WrOpcode::kFetchAdd)});
  response_queue.send_at(40, {{Qpn{1}}, {Qpn{1}, false}, {Qpn{1}}});
  tcp.send_at(60, {FlowId{1}, 1});
  run_until_idle();
  std::vector<abi::WcStatus> statuses;
  for (const CqeRequest& c : cqes) statuses.push_back(c.cqe.status);
  EXPECT_THAT(statuses, ElementsAre(WcStatus::kSuccess, WcStatus::kSuccess, WcStatus::kLocQpOpErr, WcStatus::kSuccess));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
}

TEST_F(SqCompletionTest, AnAtomicDoesNotCompleteOnAcknowledgements) {
  segmenter.send(issue(1, WrOpcode::kFetchAdd));
  tcp.send_at(20, {FlowId{1}, 1});
  dispatch.send_at(20, {Qpn{1}});
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
  EXPECT_EQ(dut.waiting_for(), "QP 1 atomic response");
}

// Reads that end their sinks.
TEST_F(SqCompletionTest, TheSinkEndsAfterItsReadAndBeforeItsCompletion) {
  segmenter.send(read_with_inv(1, 1));
  dispatch.send_at(50, {Qpn{1}});
  std::vector<bool> seen;
  for (const Cycle c : {50 + ends, 50 + ends + 1}) firmware.at(c, [&] { seen.push_back(valid(1)); });
  run_until_idle();
  EXPECT_THAT(seen, ElementsAre(true, false));
  EXPECT_THAT(cqes.cycles(), ElementsAre(50 + ended + 2 * kRow + kToEnd));
  ASSERT_EQ(unblocks.size(), 1u) << "for a fenced request";
  EXPECT_EQ(unblocks[0].kind, TxUnblock::Kind::kSinkEnded);
  EXPECT_EQ(unblocks[0].qpn, Qpn{1});
  EXPECT_EQ(unblocks.cycles()[0], 50 + ended + kToEnd);
  EXPECT_EQ(cqes[0].cqe.opcode, abi::WcOpcode::kRdmaRead);
  EXPECT_EQ(cqes[0].cqe.status, WcStatus::kSuccess);
}
// RFC 5040 section 8.1.1. Other queue pairs do not wait, and later Reads of this one stay in order.
TEST_F(SqCompletionTest, AReadThatEndsItsSinkWaitsForTheWritesUnderWay) {
  segmenter.send({read_with_inv(1, 1), issue(2, WrOpcode::kRdmaRead)});
  WqeIssued of_another = issue(3, WrOpcode::kRdmaRead);
  of_another.qpn = Qpn{2};
  segmenter.send(of_another);
  firmware.at(20, [&] { contexts.in_flight.begin(StagWrites::kAtomic); });
  firmware.at(60, [&] { contexts.in_flight.begin(StagWrites::kAtomic); });  // after the end: not through that STag
  firmware.at(90, [&] { contexts.in_flight.end(StagWrites::kAtomic); });
  dispatch.send_at(50, {{Qpn{1}}, {Qpn{1}}, {Qpn{2}}});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(3, 1, 2));
  EXPECT_THAT(cqes.cycles(), ElementsAre(52 + kThrough, 91 + kThrough, 92 + kThrough + kRow));
}
TEST_F(SqCompletionTest, AReadThatWaitsForWritesUnderWayIsForgottenWithItsQp) {
  segmenter.send(read_with_inv(1, 1));
  firmware.at(20, [&] { contexts.in_flight.begin(StagWrites::kAtomic); });
  dispatch.send_at(50, {Qpn{1}});
  firmware.at(60, [&] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  segmenter.send_at(70, issue(2, WrOpcode::kRdmaRead));
  firmware.at(90, [&] { contexts.in_flight.end(StagWrites::kAtomic); });
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
}
TEST_F(SqCompletionTest, TheSinkEndsWithItsOwnReadAlsoWhereItsCompletionHasToWait) {
  segmenter.send({issue(1), read_with_inv(2, 1), issue(3, WrOpcode::kRdmaRead), read_with_inv(4, 2)});
  dispatch.send_at(50, {Qpn{1}});
  dispatch.send_at(50, {Qpn{1}});
  firmware.at(60, [&] {
    EXPECT_FALSE(valid(1));
    EXPECT_TRUE(valid(2)) << "its Read is the third";
  });
  tcp.send_at(100, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes.cycles(), in_a_row(100 + kThrough, 3));
  EXPECT_TRUE(valid(2));
}
TEST_F(SqCompletionTest, AReadWhoseSinkCannotEndFailsAndItsStreamWithIt) {
  segmenter.send({issue(1, WrOpcode::kRdmaRead), read_with_inv(2, 1), read_with_inv(3, 2)});
  StagContext window;
  window.valid = true;
  window.kind = StagKind::kWindow2;
  window.region = stag_of(1);
  contexts.write(Stag{stag_of(5)}, window);
  contexts.commit();
  dispatch.send_at(50, {{Qpn{1}}, {Qpn{1}}, {Qpn{1}}});
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes[0].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes[1].cqe.status, WcStatus::kMwBindErr);
  EXPECT_EQ(cqes[2].cqe.status, WcStatus::kSuccess);
  EXPECT_TRUE(valid(1));
  EXPECT_FALSE(valid(2));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events[0].qpn, Qpn{1});
}
TEST_F(SqCompletionTest, AReadThatIsFlushedLeavesItsSinkAlone) {
  WqeIssued flush;
  flush.qpn = Qpn{1};
  flush.marker = WqeIssued::Marker::kFlush;
  segmenter.send({read_with_inv(1, 1), flush});
  run_until_idle();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_TRUE(valid(1));
}
TEST_F(SqCompletionTest, AReusedQpHasNoSinksLeft) {
  segmenter.send(read_with_inv(1, 1));
  firmware.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  segmenter.send(issue(2, WrOpcode::kRdmaRead));
  dispatch.send_at(50, {Qpn{1}});
  segmenter.pause(window(1, 30));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(2));
  EXPECT_TRUE(valid(1));
}

// Places for requests are given back when these retire, and those of the firmware have none.
class OutstandingPlaces : public SqCompletionTest {
 protected:
  OutstandingPlaces() { dut.bound_by(outstanding); }
  // That the segmenter has taken.
  void take(std::uint32_t qpn, unsigned requests) {
    for (unsigned i = 0; i < requests; ++i) outstanding.take(Qpn{qpn});
  }
  void expect_held(Cycle at, std::uint32_t qpn, std::uint32_t requests) {
    look.at(at, [this, at, qpn, requests] { EXPECT_EQ(outstanding.held(Qpn{qpn}).records, requests) << at; });
  }
  OutstandingRequests outstanding{clk, 100, 4};
  At look{"look", clk};
};

TEST_F(OutstandingPlaces, EachIsGivenBackInTheCycleAfterItsRequestRetires) {
  take(1, 3);
  WqeIssued quiet = issue(2);
  quiet.signaled = false;
  WqeIssued rtr = issue(0, WrOpcode::kRdmaRead);
  rtr.internal = true;
  WqeIssued drain;
  drain.qpn = Qpn{1};
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.send({issue(1), quiet, rtr, drain, issue(3)});
  tcp.send_at(50, {FlowId{1}, 3});
  dispatch.send_at(60, {Qpn{1}});
  const Cycle retires = 50 + kToEnd + 2 * kRow;
  for (unsigned i = 0; i < 2; ++i) expect_held(retires + i, 1, 3 - i);
  expect_held(retires + 2, 1, 1);
  run_until_idle();
  EXPECT_EQ(cqes.cycles()[0], retires + kToEnd);
  EXPECT_EQ(outstanding.used().records, 0u);
}

TEST_F(OutstandingPlaces, AFlushGivesAllOfThemBack) {
  take(1, 2);
  take(2, 1);
  WqeIssued flush;
  flush.qpn = Qpn{1};
  flush.marker = WqeIssued::Marker::kFlush;
  segmenter.send({issue(1), issue(2, WrOpcode::kRdmaRead), issue(3, WrOpcode::kSend, 2), flush});
  run_until_idle();
  EXPECT_EQ(outstanding.held(Qpn{1}).records, 0u);
  EXPECT_EQ(outstanding.held(Qpn{2}).records, 1u);
}

// Of its last use, one is outstanding, and one comes when that is over.
TEST_F(OutstandingPlaces, SoDoesTheNextUseOfTheNumber) {
  take(1, 3);
  segmenter.send(issue(1));
  firmware.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  WqeIssued late = issue(2);
  late.epoch = rts_qp(1).epoch;
  segmenter.send_at(30, {late, issue(3)});
  const Cycle executed = 30 + kToEnd + kRow;
  expect_held(executed, 1, 3);
  expect_held(executed + 1, 1, 2);
  expect_held(executed + 2, 1, 1);
  run_until_idle();
}

}  // namespace
}  // namespace rnic::test
