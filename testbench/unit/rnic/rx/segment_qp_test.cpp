// The rows of queue pairs that ddp_placement asks for: when a segment is judged, to the cycle, and what of the events
// around it counts.
#include <tuple>

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

constexpr unsigned kBeatBytes = 64;
constexpr std::uint64_t kAddress = 0x1000;
constexpr std::uint32_t kBytes = 8;  // of each message
constexpr auto kStag = stag_of(2);

// The FPDU of a ULPDU.
Bytes fpdu(const std::string& header, std::uint32_t payload) {
  Bytes ulpdu = from_hex(header);
  ulpdu.resize(ulpdu.size() + payload, 0xcd);
  Bytes out(2);
  store_be16(out.data(), static_cast<std::uint16_t>(ulpdu.size()));
  out.insert(out.end(), ulpdu.begin(), ulpdu.end());
  out.resize((out.size() + 3) / 4 * 4 + 4);
  return out;
}
const Bytes kWrite = fpdu("C140 0000025A 0000000000001000", kBytes);
const Bytes kEmptyWrite = fpdu("C140 00000000 0000000000000000", 0);
const Bytes kReadResponse = fpdu("C142 0000025A 0000000000001000", kBytes);
Bytes read_request(std::uint8_t msn) {
  Bytes f =
      fpdu("4141 00000000 00000001 00000001 00000000 00000000 0000000000001000 00000008 0000025A 0000000000001000", 0);
  f[15] = msn;
  return f;
}

// Queue pairs 1 and 3 are on MPA, 2 is on SCTP. Trials come one after the other; each has connections of its own.
class SegmentQpTest : public StageTest, public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {
 protected:
  const Cycle read_cycles = std::get<0>(GetParam());
  const unsigned read_ports = std::get<1>(GetParam());

  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s{4, 4, 4, 16, 2};
    std::tie(s.rx_table.read_cycles, s.rx_table.read_ports) = GetParam();
    s.stag_table.read_cycles = 1;  // never later than the queue pair
    s.stag_table.read_ports = 8;
    return s;
  }
  ContextStore contexts{clk, sizes()};
  BufferPool pool{65536};
  At firmware{"firmware", clk};
  DdpPlacement dut{"dut", clk, contexts, llp_traits()};
  const std::shared_ptr<void> twin = stand_in(dut, contexts);
  Source<FpduBeat> mpa = drive(dut.in[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<FpduBeat> sctp = drive(dut.in[LlpId::kSctp], CurrentUse(contexts));
  Source<RqDoorbell> doorbells = drive(dut.posted);
  Source<ReadIssued> reads = drive(dut.read_issued, CurrentUse(contexts));
  Source<ReadResponseSent> answers = drive(dut.answered);
  Source<RqFlush> flushes = drive(dut.flush, CurrentUse(contexts));
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  Sink<PlacedSegment> placed = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event, {1, 1, 1});
  const Stubs others = stub(dut.rqe, dut.rqe_taken, dut.srq_arm, dut.srq_event);

  // A new trial. Returns the cycle in which the stage sees what is sent at `start`.
  Cycle begin() {
    run_until_idle();
    ++epoch_;
    for (std::uint32_t n = 1; n < 4; ++n) open(n, epoch_);
    contexts.write(Stag{kStag}, region(kAddress, 0x1000, abi::kLocalWrite | abi::kRemoteWrite));
    contexts.commit();
    writes.clear();
    placed.clear();
    events.clear();
    start = clk.now() + 20;
    return start + kToEnd;
  }
  void open(std::uint32_t n, std::uint32_t epoch, QpState state = QpState::kRts) {
    QpContext qp = rts_qp(n, epoch);
    qp.state = state;
    qp.ird = 1;
    contexts.write(Qpn{n}, qp);
  }
  void send(const Bytes& octets, Cycle after = 0, std::uint32_t flow = 1) {
    auto beats = cut_fpdu(pool, octets, kBeatBytes, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    (flow == 2 ? sctp : mpa).send_at(start + after, beats);
  }
  // The cycle after the first beat in which a segment of so many beats is judged.
  Cycle judged(unsigned beats = 1) const { return std::max<Cycle>(beats - 1, read_cycles); }
  void expect_placed(Cycle at, std::size_t n = 0) {
    ASSERT_GT(placed.size(), n);
    EXPECT_EQ(placed.cycles()[n], at + 1 + kToEnd);
  }
  void expect_error(wire::TerminateCause cause, Cycle at) {
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].cause, cause);
    EXPECT_EQ(events.cycles()[0], at + kToEnd);
  }
  // An event that comes c cycles after the first beat of a segment comes before it, if it is there when the segment is
  // judged; and is executed then. With one port, one of two rows that are asked for in a cycle comes a cycle later.
  bool comes_first(Cycle c) const { return c <= judged(); }
  Cycle with_event(Cycle c) const { return std::max(judged(), c + read_cycles) + (c == 0 && read_ports == 1); }

  Cycle start = 0;
  std::uint32_t epoch_ = 0;
};

TEST_P(SegmentQpTest, ASegmentIsJudgedWithItsLastBeatOrWhenItsRowIsThere) {
  for (unsigned beats = 1; beats <= 8; ++beats) {
    SCOPED_TRACE(beats);
    const Cycle first = begin();
    send(fpdu("C140 0000025A 0000000000001000", beats == 1 ? 0 : kBeatBytes * (beats - 1)));
    run_until_idle();
    expect_placed(first + judged(beats));
  }
}
TEST_P(SegmentQpTest, TheNextOneAsksBehindTheCheck) {
  const Cycle first = begin();
  for (int i = 0; i < 4; ++i) send(kEmptyWrite);
  run_until_idle();
  for (unsigned i = 0; i < 4; ++i) expect_placed(first + judged() + i * (1 + read_cycles), i);
}
TEST_P(SegmentQpTest, TheEndOfAStreamNeedsARowToo) {
  const Cycle first = begin();
  auto beats = cut_fpdu(pool, Bytes(kEndBytes), kBeatBytes, false, 0, FlowId{1});
  beats.back().crc_ok = true;
  beats.back().marker_lane = FpduBeat::kEnds;
  mpa.send_at(start, beats);
  run_until_idle();
  expect_placed(first + judged());
  EXPECT_TRUE(placed[0].in_order);
}

// Both ask in one cycle. With one port the second row comes a cycle later, when its segment's turn is.
TEST_P(SegmentQpTest, SegmentsOfBothLayersAreJudgedOneAfterTheOther) {
  const Cycle first = begin();
  send(kEmptyWrite, 0, 1);
  send(kEmptyWrite, 0, 2);
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  expect_placed(first + judged(), 0);
  expect_placed(first + judged() + 1, 1);
  EXPECT_NE(placed[0].qpn, placed[1].qpn);
}
// The one that waits for an event of its queue pair keeps its turn, and the other layer waits with it.
TEST_P(SegmentQpTest, ASegmentThatWaitsForAnEventKeepsItsTurn) {
  for (Cycle c = 1; c <= judged(); ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    send(kEmptyWrite, 0, 2);  // so that MPA is next
    reads.send_at(start + 20 + c, {Qpn{1}, kStag, kAddress, kBytes});
    send(kReadResponse, 20, 1);
    send(kEmptyWrite, 20, 2);
    run_until_idle();
    ASSERT_EQ(placed.size(), 3u);
    EXPECT_EQ(placed[1].qpn, Qpn{1});
    if (read_ports == 1) continue;  // three rows are asked for, one after the other
    expect_placed(first + 20 + with_event(c), 1);
    expect_placed(first + 20 + with_event(c) + 1, 2);
  }
}

// ---- Events in each cycle around a segment of their queue pair

TEST_P(SegmentQpTest, AReadAndItsResponse) {
  for (Cycle c = 0; c < judged() + 4; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    reads.send_at(start + c, {Qpn{1}, kStag, kAddress, kBytes});
    send(kReadResponse);
    run_until_idle();
    if (comes_first(c)) expect_placed(first + with_event(c));
    else expect_error(wire::rdma::kUnexpectedOpcode, first + judged());
  }
}
TEST_P(SegmentQpTest, AReadOfAnotherQueuePairDelaysNothing) {
  for (Cycle c = 0; c < judged() + 2; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    reads.send_at(start + c, {Qpn{3}, kStag, kAddress, kBytes});
    send(kWrite);
    run_until_idle();
    // With one port one of the two has it first, and one row is changed a cycle.
    const Cycle placed_at = placed.cycles().at(0) - 1 - kToEnd - first;
    if (read_ports > 1) EXPECT_EQ(placed_at, judged());
    else EXPECT_TRUE(placed_at == judged() || placed_at == judged() + 1) << placed_at;
  }
}
// The queue pair has IRD 1.
TEST_P(SegmentQpTest, AnAnswerAndTheNextRequest) {
  for (Cycle c = 0; c < judged() + 4; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin() + 20;
    send(read_request(1));
    send(read_request(2), 20);
    answers.send_at(start + 20 + c, {Qpn{1}, contexts.epoch(Qpn{1})});
    run_until_idle();
    if (comes_first(c)) expect_placed(first + with_event(c), 1);
    else expect_error(wire::ddp::kInvalidMsnNoBuffer, first + judged());
  }
}
TEST_P(SegmentQpTest, AFlushAndAWrite) {
  for (Cycle c = 0; c < judged() + 4; ++c) {
    SCOPED_TRACE(c);
    begin();
    flushes.send_at(start + c, {Qpn{1}});
    send(kWrite);
    send(kEmptyWrite, 30);
    run_until_idle();
    EXPECT_EQ(placed.size(), comes_first(c) ? 0u : 1u);
    EXPECT_THAT(events, IsEmpty());
  }
}
TEST_P(SegmentQpTest, AnOverrunAndAWrite) {
  for (Cycle c = 0; c < judged() + 4; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    doorbells.send_at(start + c, {Qpn{1}, 17});
    send(kWrite);
    send(kEmptyWrite, 30);
    run_until_idle();
    EXPECT_EQ(placed.size(), comes_first(c) ? 0u : 1u);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
    const Cycle executed = c + read_cycles + (c == 0 && read_ports == 1);
    EXPECT_EQ(events.cycles()[0], first + executed + 1 + kToEnd);
  }
}
TEST_P(SegmentQpTest, EveryEventOfAQueuePairComesBeforeTheSegment) {
  const Cycle first = begin();
  reads.send_at(start, {{Qpn{1}, kStag, kAddress + 8, kBytes}, {Qpn{1}, kStag, kAddress, kBytes}});
  send(fpdu("C142 0000025A 0000000000001008", kBytes));
  send(kReadResponse);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(placed.size(), 2u);
  const Cycle both = first + 1 + read_cycles;  // one is taken in a cycle
  if (read_ports > 1) expect_placed(both);
  else EXPECT_GE(placed.cycles()[0], both + 1 + kToEnd);
}

// ---- Numbers that are used again

// The queue pair is another one from the cycle `reuse` on: what was about the earlier one means nothing to it.
TEST_P(SegmentQpTest, AnEventOfAnEarlierUseDoesNothing) {
  for (Cycle reuse = 0; reuse < 2 * read_cycles + 4; ++reuse) {
    SCOPED_TRACE(reuse);
    const Cycle first = begin();
    reads.send_at(start + 3, {Qpn{1}, kStag, kAddress, kBytes, epoch_});
    flushes.send_at(start + 4, {Qpn{1}, epoch_});
    firmware.at(first + reuse, [this] { open(1, ++epoch_); });
    send(kReadResponse, 40);
    run_until_idle();
    EXPECT_THAT(placed, IsEmpty());
    EXPECT_EQ(events.size(), 1u) << "its stream goes on, and it has no Read";
  }
}
TEST_P(SegmentQpTest, AnOverrunOfAnEarlierUseLetsTheNextDoorbellsCome) {
  for (Cycle reuse = 0; reuse < read_cycles + 3; ++reuse) {
    SCOPED_TRACE(reuse);
    const Cycle first = begin();
    doorbells.send_at(start + 1, {{Qpn{1}, 17}, {Qpn{3}, 17}});
    firmware.at(first + reuse, [this] { open(1, ++epoch_); });
    run_until_idle();
    ASSERT_GE(events.size(), 1u);
    EXPECT_EQ(events.size(), reuse >= 1 && reuse < 1 + read_cycles ? 1u : 2u);
    EXPECT_EQ(events.back().qpn, Qpn{3});
  }
}
// Nor does a segment of the flow that it had.
TEST_P(SegmentQpTest, ASegmentOfAFlowThatItsQueuePairLeftIsDropped) {
  for (Cycle leaves = 0; leaves < read_cycles + 3; ++leaves) {
    SCOPED_TRACE(leaves);
    const Cycle first = begin();
    firmware.at(first + leaves, [this] {
      QpContext qp = rts_qp(1, epoch_);
      qp.flow = FlowId{3};
      contexts.write(Qpn{1}, qp);
    });
    send(kWrite);
    run_until_idle();
    EXPECT_EQ(placed.size(), leaves < judged() ? 0u : 1u);
    EXPECT_THAT(events, IsEmpty());
    writes.clear();
    EXPECT_EQ(pool.in_use(), 0u);
  }
}

// Nor does one that was sent to its last use, however long it was on its way: queue pair and flow have the same numbers
// again.
TEST_P(SegmentQpTest, ASegmentOfAnEarlierUseIsDropped) {
  for (const unsigned beats : {1u, 4u}) {
    const Cycle cycles = judged(beats) + 3;
    for (Cycle reuse = 0; reuse < 2 * cycles; ++reuse) {
      SCOPED_TRACE(reuse);
      const Cycle first = begin() + 20;
      const auto sent = static_cast<std::uint8_t>(epoch_);
      firmware.at(first + reuse - cycles, [this] { open(1, ++epoch_); });
      auto of_earlier = cut_fpdu(pool, fpdu("C140 0000025A 0000000000001000", kBeatBytes * beats - 22), kBeatBytes,
                                 false, 0, FlowId{1});
      for (FpduBeat& beat : of_earlier) beat.qpn = Qpn{1}, beat.life = sent;
      of_earlier.back().crc_ok = true;
      mpa.send_at(start + 20, of_earlier);
      send(kWrite, 60);
      run_until_idle();
      const bool in_time = reuse >= cycles + judged(beats);
      ASSERT_EQ(placed.size(), in_time ? 2u : 1u);
      EXPECT_EQ(placed[placed.size() - 1].bytes, kBytes);
      EXPECT_EQ(placed[placed.size() - 1].epoch, epoch_);
      EXPECT_TRUE(placed[placed.size() - 1].opens) << "of its stream it is the first";
      EXPECT_THAT(events, IsEmpty());
      writes.clear();
      EXPECT_EQ(pool.in_use(), 0u);
    }
  }
}
// Its end goes on, and says nothing of the next one.
TEST_P(SegmentQpTest, AnEndOfAnEarlierUseEndsNoOtherStream) {
  begin();
  begin();
  auto end = cut_fpdu(pool, Bytes(kEndBytes), kBeatBytes, false, 0, FlowId{1});
  end.back().crc_ok = true;
  end.back().marker_lane = FpduBeat::kEnds;
  end.back().qpn = Qpn{1};
  end.back().life = life_of(epoch_ - 1);
  mpa.send_at(start, end);
  send(kWrite, 10);
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_TRUE(placed[0].ended && !placed[0].in_order);
  EXPECT_EQ(placed[1].bytes, kBytes);
  EXPECT_THAT(events, IsEmpty());
  writes.clear();
}

// ---- Nothing waits for the firmware

// It may have to take a flush off its hands before it takes the event.
TEST_P(SegmentQpTest, EventsPassWhileTheFirmwareTakesNone) {
  begin();
  events.pause(window(0, start + 400));
  doorbells.send_at(start, {{Qpn{1}, 17}, {Qpn{2}, 17}, {Qpn{3}, 17}});
  for (unsigned i = 0; i < 40; ++i) flushes.send_at(start + 10, {Qpn{1 + i % 3}});
  for (unsigned i = 0; i < 40; ++i) reads.send_at(start + 10, {Qpn{1 + i % 3}, kStag, kAddress, kBytes});
  run_until_idle();
  EXPECT_LT(flushes.cycles().back(), start + 300);
  EXPECT_LT(reads.cycles().back(), start + 300);
  // One is on its way to the firmware, one waits for that; the doorbell behind them comes when its stream is over.
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].qpn, Qpn{1});
  EXPECT_EQ(events[1].qpn, Qpn{2});
}
// One is taken in each cycle.
TEST_P(SegmentQpTest, EventsOfManyQueuePairsKeepOneCycleEach) {
  const Cycle first = begin();
  constexpr unsigned kEach = 30;
  for (unsigned i = 0; i < kEach; ++i) {
    reads.send_at(start, {Qpn{1 + i % 3}, kStag, kAddress, kBytes});
    answers.send_at(start, {Qpn{1 + i % 3}, contexts.epoch(Qpn{1 + i % 3})});
  }
  send(kReadResponse, 2 * kEach + 20);
  run_until_idle();
  EXPECT_LE(std::max(reads.cycles().back(), answers.cycles().back()), start + 2 * kEach - 1);
  expect_placed(first + 2 * kEach + 20 + judged());
}

INSTANTIATE_TEST_SUITE_P(Tables, SegmentQpTest,
                         testing::Combine(testing::Values(1u, 2u, 3u, 5u), testing::Values(1u, 2u, 3u)),
                         [](const auto& p) {
                           return std::to_string(std::get<0>(p.param)) + "_cycles_" +
                                  std::to_string(std::get<1>(p.param)) + "_ports";
                         });

}  // namespace
}  // namespace rnic::test
