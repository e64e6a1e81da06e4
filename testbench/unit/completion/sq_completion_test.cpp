#include "model/rnic/completion/sq_completion.h"

#include "testbench/support/contexts.h"
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

class SqCompletionTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 8}};
  Link<WqeIssued> issued{"issued", clk, {2, 1, 1}};
  Link<WqesAcked> acked{"acked", clk, {2, 1, 1}};
  Link<WqeLost> lost{"lost", clk, {2, 1, 1}};
  Link<ReadDone> read_done{"read_done", clk, {2, 1, 1}};
  Link<AtomicDone> atomic_done{"atomic_done", clk, {2, 1, 1}};
  Link<CqeRequest> cqe{"cqe", clk, {2, 1, 1}};
  Link<QpEvent> event{"event", clk, {2, 1, 1}};
  Source<WqeIssued> segmenter{"segmenter", clk};
  Source<WqesAcked> tcp{"tcp", clk};
  Source<WqeLost> payload_fetch{"payload_fetch", clk};
  Source<ReadDone> dispatch{"dispatch", clk};
  Source<AtomicDone> response_queue{"response_queue", clk};
  Sink<CqeRequest> cqes{"cqes", clk};
  Sink<QpEvent> events{"events", clk};
  At firmware{"firmware", clk};
  SqCompletion dut{"dut", clk, contexts};

  SqCompletionTest() {
    segmenter.out(issued);
    tcp.out(acked);
    payload_fetch.out(lost);
    dispatch.out(read_done);
    response_queue.out(atomic_done);
    dut.issued(issued);
    dut.acked(acked);
    dut.lost(lost);
    dut.read_done(read_done);
    dut.atomic_done(atomic_done);
    dut.cqe(cqe);
    dut.event(event);
    cqes.in(cqe);
    events.in(event);
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
    for (const CqeRequest& c : cqes.beats()) ids.push_back(c.cqe.wr_id);
    return ids;
  }
};

TEST_F(SqCompletionTest, ACompletionLeavesInTheCycleOfItsAcknowledgement) {
  segmenter.script({issue(1), issue(2, WrOpcode::kRdmaWrite), issue(3, WrOpcode::kSendWithInv)});
  tcp.script({{FlowId{1}, 3}}, 50);
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(52, 53, 54));  // 1 in each link, 0 in the stage; then one a cycle
  const CqeRequest& c = cqes.beats()[1];
  EXPECT_EQ(c.cqn, Cqn{1});
  EXPECT_EQ(c.cqe.wr_id, 2u);
  EXPECT_EQ(c.cqe.byte_len, 100u);
  EXPECT_EQ(c.cqe.qpn, 1u);
  EXPECT_EQ(c.cqe.opcode, abi::WcOpcode::kRdmaWrite);
  EXPECT_EQ(c.cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes.beats()[2].cqe.opcode, abi::WcOpcode::kSend);
}

TEST_F(SqCompletionTest, AReadThatIsDoneWaitsForTheSendBeforeIt) {
  segmenter.script({issue(1), issue(2, WrOpcode::kRdmaRead)});
  dispatch.script({{Qpn{1}}}, 20);
  tcp.script({{FlowId{1}, 1}}, 40);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2));
  EXPECT_THAT(cqes.cycles(), ElementsAre(42, 43));
}
TEST_F(SqCompletionTest, PostingOrderWhateverFinishesFirst) {
  segmenter.script({issue(1, WrOpcode::kRdmaRead), issue(2), issue(3, WrOpcode::kRdmaRead), issue(4)});
  tcp.script({{FlowId{1}, 2}}, 20);
  dispatch.script({{Qpn{1}}, {Qpn{1}}}, 40);
  dispatch.pause(window(41, 60));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cqes.cycles(), ElementsAre(42, 43, 62, 63));
}

TEST_F(SqCompletionTest, AnUnsignaledRequestIsRetiredSilently) {
  WqeIssued quiet = issue(1);
  quiet.signaled = false;
  WqeIssued rtr = issue(0, WrOpcode::kRdmaRead);
  rtr.internal = true;
  segmenter.script({quiet, rtr, issue(2)});
  tcp.script({{FlowId{1}, 2}}, 20);
  dispatch.script({{Qpn{1}}}, 20);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(2));
}

TEST_F(SqCompletionTest, AnErrorCompletesInItsTurnSignaledOrNot) {
  WqeIssued bad = issue(2, WrOpcode::kRdmaRead);
  bad.status = WcStatus::kLocProtErr;
  bad.signaled = false;
  segmenter.script({issue(1), bad});
  tcp.script({{FlowId{1}, 1}}, 30);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2));
  EXPECT_EQ(cqes.beats()[1].cqe.status, WcStatus::kLocProtErr);
  EXPECT_THAT(cqes.cycles(), ElementsAre(32, 33));
}

TEST_F(SqCompletionTest, ADrainIsAnsweredWhenAllBeforeItIsComplete) {
  WqeIssued drain;
  drain.qpn = Qpn{1};
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.script({issue(1), drain});
  tcp.script({{FlowId{1}, 1}}, 30);
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(32));
  EXPECT_THAT(events.cycles(), ElementsAre(33));
  EXPECT_EQ(events.beats()[0].kind, QpEvent::Kind::kSendDrained);
}

TEST_F(SqCompletionTest, AFlushCompletesInOrderWhatIsNotDoneWithAnError) {
  WqeIssued quiet = issue(2, WrOpcode::kRdmaRead);
  quiet.signaled = false;
  WqeIssued flush;
  flush.qpn = Qpn{1};
  flush.marker = WqeIssued::Marker::kFlush;
  segmenter.script({issue(1), quiet, issue(3), flush, issue(4)});
  segmenter.pause(window(3, 30));
  tcp.script({{FlowId{1}, 1}}, 10);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(cqes.beats()[0].cqe.status, WcStatus::kSuccess);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(cqes.beats()[i].cqe.status, WcStatus::kWrFlushErr);
}

// Behind the Terminate nothing answers a Read; what TCP acknowledges was sent, and the drain waits for the Terminate.
TEST_F(SqCompletionTest, ATerminateEndsReadsAndIsAwaitedByTheDrain) {
  WqeIssued terminate, drain;
  terminate.qpn = drain.qpn = Qpn{1};
  terminate.marker = WqeIssued::Marker::kTerminate;
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.script(
      {issue(1), issue(2, WrOpcode::kRdmaRead), issue(3), issue(4, WrOpcode::kRdmaRead), terminate, drain});
  tcp.script({{FlowId{1}, 1}}, 20);
  tcp.script({{FlowId{1}, 1}}, 20);
  tcp.script({{FlowId{1}, 1}}, 20);
  tcp.pause(every(20, 19));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(cqes.beats()[0].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes.beats()[1].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(cqes.beats()[2].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes.beats()[3].cqe.status, WcStatus::kWrFlushErr);
  ASSERT_EQ(events.beats().size(), 1u);
  EXPECT_EQ(events.beats()[0].kind, QpEvent::Kind::kSendDrained);
  EXPECT_GT(events.cycles()[0], tcp.cycles()[2]);
}

// The peer's FIN: a drain does not wait for what cannot come (RFC 5041 section 6.2).
TEST_F(SqCompletionTest, ThePeersFinEndsReadsAndTheDrainGoesOn) {
  WqeIssued drain;
  drain.qpn = Qpn{1};
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.script({issue(1), issue(2, WrOpcode::kRdmaRead), issue(3), drain});
  tcp.script({{FlowId{1}, 2}});
  dispatch.script({{Qpn{1}, true}}, 50);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes.beats()[1].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(cqes.beats()[2].cqe.status, WcStatus::kSuccess);
  ASSERT_EQ(events.beats().size(), 1u);
  EXPECT_EQ(events.beats()[0].kind, QpEvent::Kind::kSendDrained);
  EXPECT_THAT(events.cycles(), ElementsAre(54));
}
TEST_F(SqCompletionTest, AReadThatWasAnsweredBeforeTheFinIsComplete) {
  segmenter.script({issue(1), issue(2, WrOpcode::kRdmaRead)});
  dispatch.script({{Qpn{1}}, {Qpn{1}, true}}, 20);
  tcp.script({{FlowId{1}, 1}}, 50);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2));
  EXPECT_EQ(cqes.beats()[1].cqe.status, WcStatus::kSuccess);
}

// Host memory could not be read: the Terminate's acknowledgement is not taken for that of a Send that never left.
TEST_F(SqCompletionTest, WhatNeverLeftEndsWithAnErrorBehindWhatDid) {
  WqeIssued terminate, drain;
  terminate.qpn = drain.qpn = Qpn{1};
  terminate.marker = WqeIssued::Marker::kTerminate;
  drain.marker = WqeIssued::Marker::kDrain;
  segmenter.script({issue(1), issue(2), issue(3), terminate, drain});
  payload_fetch.script({{Qpn{1}}, {Qpn{1}}}, 10);
  tcp.script({{FlowId{1}, 2}}, 30);  // of the first and of the Terminate
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes.beats()[0].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes.beats()[1].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(cqes.beats()[2].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_EQ(events.beats().size(), 1u);
}

TEST_F(SqCompletionTest, AReadResponseThatNobodyAskedForCompletesNoLaterRead) {
  dispatch.script({{Qpn{1}}});
  segmenter.script({issue(1, WrOpcode::kRdmaRead)}, 20);
  run_until_idle();
  EXPECT_THAT(cqes.beats(), IsEmpty());
  EXPECT_EQ(dut.counters().unsolicited, 1u);
  EXPECT_EQ(dut.waiting_for(), "QP 1 read response");
}

TEST_F(SqCompletionTest, AnAcknowledgementOfAFlowThatItsQpLeftCountsForNobody) {
  segmenter.script({issue(1)});
  tcp.script({{FlowId{3}, 1}}, 20);  // its context names QP 0
  run_until_idle();
  EXPECT_THAT(cqes.beats(), IsEmpty());
  EXPECT_EQ(dut.waiting_for(), "QP 1 TCP acknowledgement");
}

TEST_F(SqCompletionTest, QpsTakeTurns) {
  segmenter.script({issue(1), issue(2), issue(3, WrOpcode::kSend, 2), issue(4, WrOpcode::kSend, 2)});
  tcp.script({{FlowId{1}, 2}, {FlowId{2}, 2}}, 20);
  cqes.pause(window(0, 40));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));  // the link took the first two before the second flow's news
}

TEST_F(SqCompletionTest, BackpressureAndTheOrderOfCalls) {
  clk.shuffle(11);
  cqes.pause(every(4, 3));
  for (std::uint64_t i = 0; i < 20; ++i) {
    segmenter.script({issue(i, i % 3 == 0 ? WrOpcode::kRdmaRead : WrOpcode::kSend)});
    if (i % 3 == 0) dispatch.script({{Qpn{1}}}, 3);
    else tcp.script({{FlowId{1}, 1}}, 3);
  }
  dispatch.pause(window(0, 60));
  run_until_idle();
  ASSERT_EQ(cqes.beats().size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(wr_ids()[i], i);
  EXPECT_EQ(cqes.cycles().front(), 63u);
  EXPECT_EQ(cqes.cycles().back(), 63u + 19 * 4);
}

TEST_F(SqCompletionTest, AReusedQpStartsAnew) {
  segmenter.script({issue(1), issue(2)});
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  segmenter.pause(window(2, 20));
  segmenter.script({issue(3)});
  tcp.script({{FlowId{1}, 1}}, 40);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(3));
}

TEST_F(SqCompletionTest, AnIdleStageIsNotCalled) {
  segmenter.script({issue(1)});
  tcp.script({{FlowId{1}, 1}}, 9000);
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 8u);
}

// The Read's response is the second, and its data is there before the atomic's value is.
TEST_F(SqCompletionTest, AtomicsAndReadsCompleteInPostingOrder) {
  segmenter.script({issue(1, WrOpcode::kFetchAdd), issue(2, WrOpcode::kRdmaRead), issue(3, WrOpcode::kCmpSwap),
                    issue(4, WrOpcode::kImmediate)});
  tcp.script({{FlowId{1}, 1}}, 20);
  dispatch.script({{Qpn{1}}}, 40);
  response_queue.script({{Qpn{1}}, {Qpn{1}}}, 60);
  response_queue.pause(window(61, 80));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cqes.cycles(), ElementsAre(62, 63, 82, 83));
  std::vector<abi::WcOpcode> opcodes;
  for (const CqeRequest& c : cqes.beats()) opcodes.push_back(c.cqe.opcode);
  EXPECT_THAT(opcodes, ElementsAre(abi::WcOpcode::kFetchAdd, abi::WcOpcode::kRdmaRead, abi::WcOpcode::kCompSwap,
                                   abi::WcOpcode::kRdmaWrite));
}

TEST_F(SqCompletionTest, AnAtomicDoesNotCompleteOnAcknowledgements) {
  segmenter.script({issue(1, WrOpcode::kFetchAdd)});
  tcp.script({{FlowId{1}, 1}}, 20);
  dispatch.script({{Qpn{1}}}, 20);
  run_until_idle();
  EXPECT_THAT(cqes.beats(), IsEmpty());
  EXPECT_EQ(dut.waiting_for(), "QP 1 atomic response");
}

// Reads that end their sinks.
TEST_F(SqCompletionTest, TheSinkEndsInTheCycleAfterTheReadAndBeforeItsCompletion) {
  segmenter.script({read_with_inv(1, 1)});
  dispatch.script({{Qpn{1}}}, 50);
  std::vector<bool> seen;
  for (Cycle c = 50; c < 54; ++c) firmware.at(c, [&] { seen.push_back(valid(1)); });
  run_until_idle();
  EXPECT_THAT(seen, ElementsAre(true, true, false, false));  // 1 in the link, and the write's own cycle
  EXPECT_THAT(cqes.cycles(), ElementsAre(52));
  EXPECT_EQ(cqes.beats()[0].cqe.opcode, abi::WcOpcode::kRdmaRead);
  EXPECT_EQ(cqes.beats()[0].cqe.status, WcStatus::kSuccess);
}
TEST_F(SqCompletionTest, TheSinkEndsWithItsOwnReadAlsoWhereItsCompletionHasToWait) {
  segmenter.script({issue(1), read_with_inv(2, 1), issue(3, WrOpcode::kRdmaRead), read_with_inv(4, 2)});
  dispatch.script({{Qpn{1}}}, 50);
  dispatch.script({{Qpn{1}}}, 50);
  firmware.at(60, [&] {
    EXPECT_FALSE(valid(1));
    EXPECT_TRUE(valid(2)) << "its Read is the third";
  });
  tcp.script({{FlowId{1}, 1}}, 100);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_THAT(cqes.cycles(), ElementsAre(102, 103, 104));
  EXPECT_TRUE(valid(2));
}
TEST_F(SqCompletionTest, AReadWhoseSinkCannotEndFailsAndItsStreamWithIt) {
  segmenter.script({issue(1, WrOpcode::kRdmaRead), read_with_inv(2, 1), read_with_inv(3, 2)});
  StagContext window;
  window.valid = true;
  window.kind = StagKind::kWindow2;
  window.region = stag_of(1);
  contexts.write(Stag{stag_of(5)}, window);
  contexts.commit();
  dispatch.script({{Qpn{1}}, {Qpn{1}}, {Qpn{1}}}, 50);
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cqes.beats()[0].cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(cqes.beats()[1].cqe.status, WcStatus::kMwBindErr);
  EXPECT_EQ(cqes.beats()[2].cqe.status, WcStatus::kSuccess);
  EXPECT_TRUE(valid(1));
  EXPECT_FALSE(valid(2));
  ASSERT_EQ(events.beats().size(), 1u);
  EXPECT_EQ(events.beats()[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events.beats()[0].qpn, Qpn{1});
}
TEST_F(SqCompletionTest, AReadThatIsFlushedLeavesItsSinkAlone) {
  WqeIssued flush;
  flush.qpn = Qpn{1};
  flush.marker = WqeIssued::Marker::kFlush;
  segmenter.script({read_with_inv(1, 1), flush});
  run_until_idle();
  ASSERT_EQ(cqes.beats().size(), 1u);
  EXPECT_EQ(cqes.beats()[0].cqe.status, WcStatus::kWrFlushErr);
  EXPECT_TRUE(valid(1));
}
TEST_F(SqCompletionTest, AReusedQpHasNoSinksLeft) {
  segmenter.script({read_with_inv(1, 1)});
  firmware.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  segmenter.script({issue(2, WrOpcode::kRdmaRead)});
  dispatch.script({{Qpn{1}}}, 50);
  segmenter.pause(window(1, 30));
  run_until_idle();
  EXPECT_THAT(wr_ids(), ElementsAre(2));
  EXPECT_TRUE(valid(1));
}

}  // namespace
}  // namespace rnic::test
