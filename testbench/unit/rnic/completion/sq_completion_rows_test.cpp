// The rows of queue pairs that sq_completion asks for: in which cycle requests retire, and that nothing else changes.
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "model/common/prng.h"
#include "model/rnic/completion/sq_completion.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WrOpcode;
using testing::ElementsAre;
using testing::IsEmpty;

WqeIssued issue(std::uint32_t qpn, std::uint64_t wr_id, WrOpcode op = WrOpcode::kSend) {
  WqeIssued w;
  w.qpn = Qpn{qpn};
  w.wr_id = wr_id;
  w.opcode = op;
  return w;
}
WqeIssued marker(std::uint32_t qpn, WqeIssued::Marker what) {
  WqeIssued w;
  w.qpn = Qpn{qpn};
  w.marker = what;
  return w;
}

class SqCompletionRowsTest : public StageTest, public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {
 protected:
  static constexpr unsigned kQps = 8;
  const Cycle read_cycles = std::get<0>(GetParam());
  const unsigned read_ports = std::get<1>(GetParam());

  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s{kQps, kQps, kQps, 8};
    std::tie(s.sqc_table.read_cycles, s.sqc_table.read_ports) = GetParam();
    return s;
  }
  ContextStore contexts{clk, sizes()};
  At firmware{"firmware", clk};
  SqCompletion dut{"dut", clk, contexts};
  Source<WqeIssued> segmenter = drive(dut.issued, CurrentUse(contexts));
  Source<WqesAcked> tcp = drive(dut.acked[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<WqesAcked> sctp = drive(dut.acked[LlpId::kSctp], CurrentUse(contexts));
  Source<ReadDone> dispatch = drive(dut.read_done, CurrentUse(contexts));
  Source<AtomicDone> response_queue = drive(dut.atomic_done, CurrentUse(contexts));
  Sink<SinkEnd> sinks = collect(dut.sink, {1, 1, 1});
  Source<SinkEnded> stag_work = drive(dut.sink_ended);
  Sink<TxUnblock> unblocks = collect(dut.unblock);
  Sink<CqeRequest> cqes = collect(dut.cqe);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others = stub(dut.lost);

  SqCompletionRowsTest() {
    for (std::uint32_t n = 1; n < kQps; ++n) open_qp(contexts, n, rts_qp(n));
  }
  std::uint32_t epoch_ = 1;  // of QP 1
  std::vector<std::uint64_t> completed(std::uint32_t qpn) const {
    std::vector<std::uint64_t> ids;
    for (const CqeRequest& c : cqes) {
      if (c.cqe.qpn == qpn) ids.push_back(c.cqe.wr_id);
    }
    return ids;
  }
};

TEST_P(SqCompletionRowsTest, ARequestRetiresTwoReadsAfterItsAcknowledgementAndTheNextInTheNextCycle) {
  for (std::uint64_t i = 0; i < 5; ++i) segmenter.send(issue(1, i));
  tcp.send_at(50, {FlowId{1}, 5});
  run_until_idle();
  EXPECT_EQ(cqes.cycles(), in_a_row(50 + kToEnd + 2 * read_cycles + kToEnd, 5));
}
TEST_P(SqCompletionRowsTest, QueuePairsTakeTurns) {
  for (std::uint32_t n = 1; n < 5; ++n) {
    for (std::uint64_t i = 0; i < 3; ++i) segmenter.send(issue(n, i));
  }
  for (std::uint32_t n = 1; n < 5; ++n) tcp.send_at(80, {FlowId{n}, 3});
  cqes.pause(window(0, 120));
  run_until_idle();
  ASSERT_EQ(cqes.size(), 12u);
  for (std::uint32_t n = 1; n < 5; ++n) EXPECT_THAT(completed(n), ElementsAre(0, 1, 2));
  // A queue pair that has retired one goes after the others that wait.
  std::map<std::uint32_t, Cycle> last;
  for (std::size_t i = 0; i < cqes.size(); ++i) {
    const std::uint32_t n = cqes[i].cqe.qpn;
    EXPECT_TRUE(i < 4 || last.count(n) == 0 || i - last[n] >= 2) << "QP " << n;
    last[n] = i;
  }
}
TEST_P(SqCompletionRowsTest, BothLowerLayersAreServedInTurn) {
  for (std::uint32_t n = 1; n < 7; ++n) segmenter.send(issue(n, 0));
  for (std::uint32_t n = 1; n < 4; ++n) {
    tcp.send_at(80, {FlowId{n}, 1});
    sctp.send_at(80, {FlowId{n + 3}, 1});
  }
  run_until_idle();
  std::vector<std::uint32_t> order;
  for (const CqeRequest& c : cqes) order.push_back(c.cqe.qpn);
  EXPECT_THAT(order, ElementsAre(1, 4, 2, 5, 3, 6));
  // With one port, turns and events wait for each other.
  if (read_ports == 1) return;
  EXPECT_EQ(cqes.cycles(), in_a_row(80 + kToEnd + 2 * read_cycles + kToEnd, 6));
}
// A drain, or a Terminate, is a turn as well.
TEST_P(SqCompletionRowsTest, MarkersKeepTheirPlace) {
  segmenter.send({issue(1, 1), marker(1, WqeIssued::Marker::kDrain), issue(1, 2, WrOpcode::kRdmaRead),
                  marker(1, WqeIssued::Marker::kTerminate), marker(1, WqeIssued::Marker::kDrain)});
  tcp.send_at(50, {FlowId{1}, 1});
  tcp.send_at(100, {FlowId{1}, 1});
  run_until_idle();
  const Cycle first = 50 + kToEnd + 2 * read_cycles + kToEnd, second = first + 50;
  EXPECT_THAT(cqes.cycles(), ElementsAre(first, first + 2));
  EXPECT_EQ(cqes[1].cqe.status, abi::WcStatus::kWrFlushErr);
  EXPECT_THAT(events.cycles(), ElementsAre(first + 1, second + 1));
}
// A request that retires without its response, because no more may come, takes that with it, should it come all the
// same: the next request of its kind has no part in it.
TEST_P(SqCompletionRowsTest, AResponseThatIsLateCountsForNoOtherRequest) {
  for (const WrOpcode op : {WrOpcode::kFetchAdd, WrOpcode::kRdmaRead, WrOpcode::kRdmaReadWithInv}) {
    SCOPED_TRACE(static_cast<int>(op));
    cqes.clear();
    contexts.write(Qpn{1}, rts_qp(1, ++epoch_));
    contexts.commit();
    const Cycle start = clk.now() + 10;
    WqeIssued first = issue(1, 1, op);
    if (op == WrOpcode::kRdmaReadWithInv) first.ends = Stag{stag_of(1)};
    segmenter.send_at(start, first);
    segmenter.send_at(start, issue(1, 2));
    segmenter.send_at(start, issue(1, 3, op == WrOpcode::kFetchAdd ? op : WrOpcode::kRdmaRead));
    if (op == WrOpcode::kRdmaReadWithInv) {
      dispatch.send_at(start + 30, {Qpn{1}});
      dispatch.send_at(start + 60, {Qpn{1}, true});
      stag_work.send_at(start + 100, SinkEnded{});
    } else {
      dispatch.send_at(start + 30, {Qpn{1}, true});
      if (op == WrOpcode::kFetchAdd) response_queue.send_at(start + 100, {Qpn{1}});
      else dispatch.send_at(start + 100, {Qpn{1}});
    }
    tcp.send_at(start + 160, {FlowId{1}, 1});
    run_until_idle();
    ASSERT_EQ(cqes.size(), 3u);
    EXPECT_EQ(cqes[0].cqe.status, abi::WcStatus::kWrFlushErr);
    EXPECT_EQ(cqes[1].cqe.status, abi::WcStatus::kSuccess);
    EXPECT_EQ(cqes[2].cqe.status, abi::WcStatus::kWrFlushErr);
  }
}
// The stream ends when some of it is acknowledged: what is acknowledged in time has succeeded, and nothing after the
// first one that has not.
TEST_P(SqCompletionRowsTest, AnAcknowledgementThatIsLateCountsForNoOtherRequest) {
  unsigned in_time = 0;
  const Cycle turns = 2 * read_cycles + 6;
  for (Cycle ack = 0; ack < turns; ++ack) {
    SCOPED_TRACE(ack);
    cqes.clear();
    contexts.write(Qpn{1}, rts_qp(1, ++epoch_));
    contexts.commit();
    const Cycle start = clk.now() + 10;
    for (std::uint64_t i = 0; i < 4; ++i) segmenter.send_at(start, issue(1, i));
    segmenter.send_at(start + 30, marker(1, WqeIssued::Marker::kFlush));
    tcp.send_at(start + 28 + ack, {FlowId{1}, 1});
    run_until_idle();
    ASSERT_EQ(cqes.size(), 4u);
    in_time += cqes[0].cqe.status == abi::WcStatus::kSuccess;
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(cqes[i].cqe.status, abi::WcStatus::kWrFlushErr) << i;
  }
  EXPECT_GT(in_time, 0u);
  EXPECT_LT(in_time, turns);
}
// The number is used again while an acknowledgement waits for its row, or a turn does.
TEST_P(SqCompletionRowsTest, NothingOfAnEarlierUseCounts) {
  for (Cycle reuse = 0; reuse < 3 * read_cycles + 4; ++reuse) {
    SCOPED_TRACE(reuse);
    const std::uint32_t epoch = 2 * static_cast<std::uint32_t>(reuse) + 10;
    contexts.write(Qpn{1}, rts_qp(1, epoch));
    contexts.commit();
    cqes.clear();
    const Cycle start = clk.now() + 30;
    segmenter.send_at(start, issue(1, 1));
    tcp.send_at(start + 20, {FlowId{1}, 1});
    firmware.at(start + 20 + kToEnd + reuse, [=] { contexts.write(Qpn{1}, rts_qp(1, epoch + 1)); });
    segmenter.send_at(start + 80, issue(1, 2));
    run_until_idle();
    EXPECT_EQ(completed(1).size(), reuse < 2 * read_cycles ? 0u : 1u) << "what it was issued was not acknowledged";
    tcp.send_at(clk.now() + 10, {FlowId{1}, 1});
    run_until_idle();
    EXPECT_EQ(completed(1).back(), 2u);
  }
}
// One that was on its way for longer than the use it is about: number and flow are the same again, with a request that
// could take it.
TEST_P(SqCompletionRowsTest, AnAcknowledgementOfAnEarlierUseCountsForNobody) {
  const Cycle turns = 2 * read_cycles + 8;
  for (Cycle ack = 0; ack < 2 * turns; ++ack) {
    SCOPED_TRACE(ack);
    cqes.clear();
    const std::uint32_t earlier = epoch_++;
    const Cycle reuse = clk.now() + 10 + turns;
    firmware.at(reuse, [this] { contexts.write(Qpn{1}, rts_qp(1, epoch_)); });
    segmenter.send_at(reuse + 1, issue(1, 1));
    tcp.send_at(reuse + ack - turns, {FlowId{1}, 1, Qpn{1}, earlier});
    run_until_idle();
    EXPECT_THAT(cqes, IsEmpty());
    tcp.send_at(clk.now() + 10, {FlowId{1}, 1});
    run_until_idle();
    EXPECT_THAT(completed(1), ElementsAre(1));
  }
}
// stag_work may have to hand its answer over before it takes the next one.
TEST_P(SqCompletionRowsTest, OthersGoOnWhileNoSinkIsTaken) {
  sinks.pause(window(0, 600));
  for (std::uint64_t i = 0; i < 40; ++i) {
    WqeIssued w = issue(1, i, WrOpcode::kRdmaReadWithInv);
    w.ends = Stag{stag_of(static_cast<std::uint32_t>(i) % 8)};
    segmenter.send(w);
    dispatch.send_at(100, {Qpn{1}});
  }
  segmenter.send_at(200, issue(2, 7));
  tcp.send_at(300, {FlowId{2}, 1});
  for (unsigned i = 0; i < 40; ++i) stag_work.send_at(700, SinkEnded{});
  run_until_idle();
  ASSERT_EQ(cqes.size(), 41u);
  EXPECT_EQ(cqes[0].cqe.wr_id, 7u);
  EXPECT_EQ(cqes.cycles()[0], 300 + kToEnd + 2 * read_cycles + kToEnd);
  EXPECT_EQ(completed(1).back(), 39u);
  EXPECT_EQ(unblocks.size(), 40u);
}
// The first one's sink has ended just before, or after, the second one is over.
TEST_P(SqCompletionRowsTest, AReadBehindASinkThatEndsStaysBehindIt) {
  for (Cycle answer = 0; answer < 3 * read_cycles + 6; ++answer) {
    SCOPED_TRACE(answer);
    cqes.clear();
    const Cycle start = clk.now() + 10;
    WqeIssued with_inv = issue(1, 1, WrOpcode::kRdmaReadWithInv);
    with_inv.ends = Stag{stag_of(1)};
    segmenter.send_at(start, with_inv);
    segmenter.send_at(start, issue(1, 2, WrOpcode::kRdmaRead));
    dispatch.send_at(start + 30, {Qpn{1}});
    dispatch.send_at(start + 30 + read_cycles + 2, {Qpn{1}});
    stag_work.send_at(start + 30 + read_cycles + 2 + answer, SinkEnded{abi::WcStatus::kMwBindErr});
    run_until_idle();
    ASSERT_EQ(cqes.size(), 2u);
    EXPECT_EQ(cqes[0].cqe.status, abi::WcStatus::kMwBindErr);
    EXPECT_EQ(cqes[1].cqe.status, abi::WcStatus::kSuccess);
    EXPECT_THAT(completed(1), ElementsAre(1, 2));
  }
}

// Against what each queue pair has to complete in the end, and in which order.
TEST_P(SqCompletionRowsTest, EachQueuePairCompletesInPostingOrderWhateverComesWhen) {
  constexpr unsigned kEach = 40;
  Prng rng(7 + 10 * read_cycles + read_ports);
  clk.shuffle(3);
  cqes.pause(every(3, 1));
  const WrOpcode kinds[] = {WrOpcode::kSend, WrOpcode::kRdmaRead, WrOpcode::kFetchAdd};
  std::vector<unsigned> left(kQps, kEach);
  for (unsigned i = 0; i < kEach * (kQps - 1); ++i) {
    std::uint32_t n = 0;
    do n = 1 + static_cast<std::uint32_t>(rng.below(kQps - 1));
    while (left[n] == 0);
    const WrOpcode kind = kinds[rng.below(3)];
    segmenter.send(issue(n, kEach - left[n]--, kind));
    // No response comes before its request is known.
    const Cycle after = 40 + 4 * i + rng.below(200);
    if (kind == WrOpcode::kSend) (n % 2 == 0 ? tcp : sctp).send_at(after, {FlowId{n}, 1});
    else if (kind == WrOpcode::kRdmaRead) dispatch.send_at(after, {Qpn{n}});
    else response_queue.send_at(after, {Qpn{n}});
  }
  run_until_idle();
  std::vector<std::uint64_t> all(kEach);
  for (unsigned i = 0; i < kEach; ++i) all[i] = i;
  for (std::uint32_t n = 1; n < kQps; ++n) EXPECT_EQ(completed(n), all) << "QP " << n;
  EXPECT_EQ(dut.counters().unsolicited, 0u);
  EXPECT_THAT(events, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Tables, SqCompletionRowsTest,
                         testing::Combine(testing::Values(1u, 2u, 3u, 5u), testing::Values(1u, 2u)), [](const auto& p) {
                           return std::to_string(std::get<0>(p.param)) + "_cycles_" +
                                  std::to_string(std::get<1>(p.param)) + "_ports";
                         });

}  // namespace
}  // namespace rnic::test
