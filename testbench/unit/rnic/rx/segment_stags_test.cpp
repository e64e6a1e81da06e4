// The entries of STags that ddp_placement asks for: when a segment is judged, to the cycle, and by which content.
#include <functional>
#include <optional>
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
using wire::Opcode;

constexpr unsigned kBeatBytes = 64;
constexpr std::uint8_t kAllRights = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteInvalidate;
// Region n, of this size, is at n times this address; kWindow is bound to kRegion.
constexpr std::uint32_t kRegion = 2, kOther = 3, kElement = 4, kWindow = 12;
constexpr std::uint64_t kSize = 0x1000;

// The octets of an FPDU that fills so many beats.
Bytes fpdu(Bytes header, unsigned beats, unsigned beat_bytes = kBeatBytes) {
  header.resize(beats * beat_bytes - 2 - 4, 0xcd);
  Bytes out(2);
  store_be16(out.data(), static_cast<std::uint16_t>(header.size()));
  out.insert(out.end(), header.begin(), header.end());
  out.resize(beats * beat_bytes);
  return out;
}
constexpr std::uint32_t octets_of_send(unsigned beats) {
  return beats * kBeatBytes - 2 - 4 - wire::DdpUntaggedHeader::kBytes;
}
Bytes write_header(std::uint32_t index, std::uint64_t to) {
  Bytes h = from_hex("C140 00000000 0000000000000000");
  store_be32(&h[2], stag_of(index));
  store_be64(&h[6], to);
  return h;
}
Bytes send_header(std::uint32_t msn, std::uint32_t mo = 0, bool last = true, std::uint32_t invalidates = 0) {
  Bytes h = from_hex(std::string(last ? "41" : "01") + (invalidates != 0 ? "44" : "43") +
                     "00000000 00000000 00000000 00000000");
  if (invalidates != 0) store_be32(&h[2], stag_of(invalidates));
  store_be32(&h[10], msn);
  store_be32(&h[14], mo);
  return h;
}

// Queue pairs 1 and 3 are on MPA, 2 is on SCTP. Trials come one after the other; each has connections of its own.
class SegmentStagsTest : public StageTest, public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {
 protected:
  const unsigned read_cycles = std::get<0>(GetParam()), read_ports = std::get<1>(GetParam());

  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s{4, 4, 4, 16, 2};
    std::tie(s.stag_table.read_cycles, s.stag_table.read_ports) = GetParam();
    s.rx_table.read_cycles = s.stag_table.read_cycles;  // the queue pair's row is there as early
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
  Source<FetchedRqe> fetch = drive(dut.rqe, CurrentUse(contexts));
  Source<RqFlush> flushes = drive(dut.flush, CurrentUse(contexts));
  Sink<RqeTaken> given_back = collect(dut.rqe_taken);
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  Sink<PlacedSegment> placed = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others = stub(dut.srq_arm, dut.srq_event, dut.read_issued, dut.answered);

  // A new trial. Returns the cycle in which the first beat comes, if it is sent from `start` on.
  Cycle begin() {
    run_until_idle();
    ++epoch_;
    for (std::uint32_t n = 1; n < 4; ++n) contexts.write(Qpn{n}, rts_qp(n, epoch_));
    for (std::uint32_t n = kRegion; n < kWindow; ++n)
      contexts.write(Stag{stag_of(n)}, region(n * kSize, kSize, kAllRights));
    contexts.write(Stag{stag_of(kWindow)}, window(kRegion));
    contexts.commit();
    writes.clear();
    placed.clear();
    events.clear();
    start = clk.now() + 20;
    return start + kToEnd;
  }
  StagContext window(std::uint32_t of) const {
    StagContext w = region(kRegion * kSize, kSize, kAllRights);
    w.kind = StagKind::kWindow2;
    w.region = stag_of(of);
    w.qpn = Qpn{1};
    w.qp_epoch = epoch_;
    return w;
  }
  void send(const Bytes& octets, std::uint32_t flow = 1, Cycle after = 0, unsigned beat_bytes = kBeatBytes) {
    auto beats = cut_fpdu(pool, octets, beat_bytes, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    (flow == 2 ? sctp : mpa).send_at(start + after, beats);
  }
  // A receive request with so many elements that its buffer is full after so many octets.
  static abi::Wqe buffer(unsigned elements, std::uint32_t bytes, std::uint32_t first = kElement) {
    abi::Wqe w;
    for (std::uint32_t left = bytes; w.num_sge < elements; ++w.num_sge) {
      const std::uint32_t length = w.num_sge + 1u == elements ? left : bytes / elements;
      const std::uint32_t n = first + w.num_sge;
      w.sge[w.num_sge] = {n * kSize, length, stag_of(n)};
      left -= length;
    }
    return w;
  }
  void post(const abi::Wqe& w, Rqn rqn = Qpn{1}) { post(w, rqn, start - 10); }
  void post(const abi::Wqe& w, Rqn rqn, Cycle at, unsigned producer = 1) {
    doorbells.send_at(start - 12, {rqn, producer});
    fetch.send_at(at, {rqn, true, w});
  }
  void change(Cycle cycle, std::uint32_t index, const StagContext& c) {
    firmware.at(cycle, [this, index, c] { contexts.write(Stag{stag_of(index)}, c); });
  }
  // Whether the segment is judged in this cycle. `write`: the first one of it.
  void expect_judged(Cycle judged, std::size_t write = 0) {
    ASSERT_GT(writes.size(), write);
    EXPECT_EQ(writes.cycles()[write], judged + 1 + kToEnd);
  }
  // Placed, or refused with the cause.
  void expect_outcome(bool is_placed, wire::TerminateCause cause) {
    EXPECT_EQ(writes.empty(), !is_placed);
    EXPECT_EQ(events.size(), is_placed ? 0u : 1u);
    if (!events.empty()) {
      EXPECT_EQ(events[0].cause, cause);
    }
  }
  // Nothing of the table is left on its way.
  void TearDown() override {
    run_until_idle();
    for (const LinkBase* link : contexts.stag_table.links()) EXPECT_TRUE(link->empty()) << link->name();
  }

  Cycle start = 0;

 private:
  std::uint32_t epoch_ = 0;
};

// ---- Cycles

TEST_P(SegmentStagsTest, AWriteIsJudgedWithItsLastBeatOrWhenItsEntryIsThere) {
  for (unsigned beats = 1; beats <= 4 + read_cycles; ++beats) {
    SCOPED_TRACE(beats);
    const Cycle first = begin();
    send(fpdu(write_header(kRegion, kRegion * kSize), beats));
    run_until_idle();
    expect_judged(first + std::max(beats - 1, read_cycles));
  }
}
TEST_P(SegmentStagsTest, AWindowsRegionIsAskedForWhenItsEntryIsThere) {
  for (unsigned beats = 1; beats <= 4 + 2 * read_cycles; ++beats) {
    SCOPED_TRACE(beats);
    const Cycle first = begin();
    send(fpdu(write_header(kWindow, kRegion * kSize), beats));
    run_until_idle();
    expect_judged(first + std::max(beats - 1, 2 * read_cycles));
  }
}
TEST_P(SegmentStagsTest, ASendWaitsForTheEntriesOfTheElementsThatItUses) {
  for (unsigned elements = 1; elements <= abi::kMaxSge; ++elements) {
    for (unsigned beats = 1; beats <= 4; ++beats) {
      SCOPED_TRACE(testing::Message() << elements << " elements, " << beats << " beats");
      const Cycle first = begin();
      post(buffer(elements, octets_of_send(beats)));
      send(fpdu(send_header(1), beats));
      run_until_idle();
      expect_judged(first + std::max(beats - 1, read_cycles + elements - 1));
      EXPECT_EQ(writes.size(), elements);
      EXPECT_EQ(placed.size(), 1u);
    }
  }
}
// A segment's part of the list is known when the one before it is judged.
TEST_P(SegmentStagsTest, TheSegmentsOfAMessageUseTheListInTurn) {
  const Cycle first = begin();
  const std::uint32_t bytes = octets_of_send(1);
  post(buffer(3, 3 * bytes));
  send(fpdu(send_header(1, 0, false), 1));
  send(fpdu(send_header(1, bytes, false), 1));
  send(fpdu(send_header(1, 2 * bytes), 1));
  run_until_idle();
  ASSERT_EQ(writes.size(), 3u);
  for (unsigned i = 0; i < 3; ++i) {
    expect_judged(first + read_cycles + i * (read_cycles + 1), i);
    EXPECT_EQ(writes[i].address, (kElement + i) * kSize);
  }
}
TEST_P(SegmentStagsTest, BackToBackSegmentsOfTwoBeats) {
  const Cycle first = begin(), each = std::max(2u, read_cycles + 1);
  for (unsigned i = 0; i < 6; ++i) send(fpdu(write_header(kRegion, kRegion * kSize), 2));
  run_until_idle();
  ASSERT_EQ(writes.size(), 6u);
  for (unsigned i = 0; i < 6; ++i) expect_judged(first + (i + 1) * each - 1, i);
}
TEST_P(SegmentStagsTest, WhatASendInvalidatesIsAskedForBesideItsList) {
  const Cycle first = begin();
  post(buffer(2, octets_of_send(1)));
  send(fpdu(send_header(1, 0, true, kOther), 1));
  run_until_idle();
  expect_judged(first + read_cycles + 1 + (read_ports == 1));  // three entries, at one port
  EXPECT_EQ(named(contexts, stag_of(kOther)), nullptr);
}
// Beats of 16 octets: of an untagged header the second one has the end. The twin is for beats of 64.
TEST_P(SegmentStagsTest, TheAskLeavesWithTheBeatThatCompletesTheHeader) {
  if (dut.in_order()) GTEST_SKIP();
  for (unsigned beats = 2; beats <= 4 + read_cycles; ++beats) {
    SCOPED_TRACE(beats);
    Cycle first = begin();
    send(fpdu(write_header(kRegion, kRegion * kSize), beats, 16), 1, 0, 16);
    run_until_idle();
    expect_judged(first + std::max(beats - 1, read_cycles));
    first = begin();
    post(buffer(1, 1000));
    send(fpdu(send_header(1), beats, 16), 1, 0, 16);
    run_until_idle();
    expect_judged(first + std::max(beats - 1, 1 + read_cycles));
  }
}
TEST_P(SegmentStagsTest, BothInputsAskAtOnce) {
  const Cycle first = begin();
  for (const std::uint32_t n : {1u, 2u}) {
    post(buffer(3, octets_of_send(1)), Qpn{n}, start - 8 + n);
    send(fpdu(send_header(1), 1), n);
  }
  run_until_idle();
  const Cycle judged = first + read_cycles + (read_ports == 1 ? 4 : 2);  // with one port, they take turns
  ASSERT_EQ(writes.size(), 6u);
  expect_judged(judged);
  expect_judged(judged + 3, 3);  // after the writes of the other one
}
TEST_P(SegmentStagsTest, ARequestThatComesLateIsUsedWhenItsEntriesAreThere) {
  for (unsigned beats = 1; beats <= 3; ++beats) {
    for (Cycle late = 0; late < 6; ++late) {
      SCOPED_TRACE(testing::Message() << beats << " beats, " << late << " cycles behind the header");
      const Cycle first = begin();
      post(buffer(2, octets_of_send(beats)), Qpn{1}, start + late);
      send(fpdu(send_header(1), beats));
      run_until_idle();
      // When the segment can be judged but for its entries.
      const Cycle asks = late == 0 ? 0 : std::max<Cycle>({beats - 1, late, read_cycles});
      expect_judged(first + std::max<Cycle>(beats - 1, asks + read_cycles + 1));
    }
  }
}

// ---- What is judged is the content of the cycle before

TEST_P(SegmentStagsTest, AnEntryThatEndsBeforeTheCheckAllowsNothing) {
  for (unsigned beats = 1; beats <= 4; ++beats) {
    const Cycle judged = std::max(beats - 1, read_cycles);
    for (Cycle c = 0; c < judged + 3; ++c) {
      SCOPED_TRACE(testing::Message() << beats << " beats, ends in cycle " << c);
      const Cycle first = begin();
      send(fpdu(write_header(kRegion, kRegion * kSize), beats));
      change(first + c, kRegion, StagContext{});
      run_until_idle();
      expect_outcome(c >= judged, wire::ddp::kInvalidStag);
      if (c >= judged) expect_judged(first + judged);
    }
  }
}
TEST_P(SegmentStagsTest, AnEntryThatBeginsBeforeTheCheckAllowsIt) {
  for (Cycle c = 0; c < read_cycles + 3; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    contexts.write(Stag{stag_of(kRegion)}, StagContext{});
    contexts.commit();
    send(fpdu(write_header(kRegion, kRegion * kSize), 1));
    change(first + c, kRegion, region(kRegion * kSize, kSize, kAllRights));
    run_until_idle();
    expect_outcome(c < read_cycles, wire::ddp::kInvalidStag);
  }
}
// Also of those entries that came before the last one.
TEST_P(SegmentStagsTest, EachEntryOfAListCountsAsItIsAtTheCheck) {
  const Cycle judged = read_cycles + 2;
  for (std::uint32_t element = 0; element < 3; ++element) {
    for (Cycle c = 0; c < judged + 3; ++c) {
      SCOPED_TRACE(testing::Message() << "element " << element << " ends in cycle " << c);
      const Cycle first = begin();
      post(buffer(3, octets_of_send(1)));
      send(fpdu(send_header(1), 1));
      change(first + c, kElement + element, StagContext{});
      run_until_idle();
      expect_outcome(c >= judged, wire::ddp::kLocalCatastrophic);
    }
  }
}
TEST_P(SegmentStagsTest, WhatASendInvalidatesMayGoBeforeTheCheckButNotBehindIt) {
  const Cycle judged = read_cycles + (read_ports == 1);
  for (Cycle c = 0; c < judged + 3; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    post(buffer(1, octets_of_send(1)));
    send(fpdu(send_header(1, 0, true, kOther), 1));
    change(first + c, kOther, StagContext{});
    run_until_idle();
    expect_outcome(c >= judged, wire::rdma::kUnknownStagCannotBeInvalidated);
  }
}
TEST_P(SegmentStagsTest, ARegionToWhichAWindowIsBoundBeforeTheCheckIsNotInvalidated) {
  const Cycle judged = read_cycles + (read_ports == 1);
  for (Cycle c = 0; c < judged + 3; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    post(buffer(1, octets_of_send(1)));
    send(fpdu(send_header(1, 0, true, kOther), 1));
    change(first + c, kWindow, window(kOther));
    run_until_idle();
    expect_outcome(c >= judged, wire::rdma::kForeignStagCannotBeInvalidated);
  }
}
TEST_P(SegmentStagsTest, AWindowEndsWithItsRegion) {
  const Cycle judged = 2 * read_cycles;
  for (Cycle c = 0; c < judged + 3; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    send(fpdu(write_header(kWindow, kRegion * kSize), 1));
    change(first + c, kRegion, StagContext{});
    run_until_idle();
    expect_outcome(c >= judged, wire::ddp::kInvalidStag);
  }
}
// Another region's entry is asked for, behind the one that is on its way.
TEST_P(SegmentStagsTest, AWindowMayBeBoundToAnotherRegionMeanwhile) {
  for (Cycle c = 0; c < 2 * read_cycles + 3; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin();
    send(fpdu(write_header(kWindow, kRegion * kSize), 1));
    change(first + c, kWindow, window(kOther));
    run_until_idle();
    const bool asked_again = c >= read_cycles && c < 2 * read_cycles;
    expect_judged(first + (asked_again ? 3 : 2) * read_cycles);
  }
}

// ---- Rows that were asked for in vain

TEST_P(SegmentStagsTest, ASharedRequestThatAnotherStreamTakesFirstIsAnotherOne) {
  constexpr Srqn kSrq{1};
  for (unsigned elements = 1; elements <= 3; ++elements) {
    SCOPED_TRACE(elements);
    const Cycle first = begin();
    SrqContext shared;
    shared.valid = true;
    shared.log_entries = 4;
    shared.epoch = static_cast<std::uint32_t>(elements);
    contexts.write(kSrq, shared);
    for (const std::uint32_t n : {1u, 2u}) {
      QpContext qp = rts_qp(n, contexts.epoch(Qpn{n}));
      qp.shares_rq = true;
      qp.srq = kSrq;
      contexts.write(Qpn{n}, qp);
    }
    contexts.commit();
    const unsigned beats = 4 + read_cycles + 2;  // so that the other one is judged before
    post(buffer(elements, octets_of_send(beats), kElement), kSrq, start - 11, 2);
    post(buffer(elements, octets_of_send(beats), kElement + 3), kSrq, start - 10, 2);
    send(fpdu(send_header(1), beats));
    send(fpdu(send_header(1), 1), 2);
    run_until_idle();
    ASSERT_EQ(placed.size(), 2u);
    EXPECT_THAT(std::vector({placed[0].qpn, placed[1].qpn}), ElementsAre(Qpn{2}, Qpn{1}));
    const Cycle asks = first + beats - 1;  // as it is judged first
    expect_judged(asks + read_cycles + elements - 1, writes.size() - elements);
    EXPECT_EQ(writes[writes.size() - elements].address, (kElement + 3) * kSize);
  }
}
TEST_P(SegmentStagsTest, ADroppedSegmentLeavesNothingToTheNextOne) {
  for (unsigned beats = 1; beats <= 3; ++beats) {
    for (Cycle c = 0; c < beats + 1; ++c) {
      SCOPED_TRACE(testing::Message() << beats << " beats, the stream ends in cycle " << c);
      const Cycle first = begin();
      post(buffer(3, octets_of_send(beats)));  // it has to wait for the third one until then
      send(fpdu(send_header(1, 0, true, kOther), beats));
      send(fpdu(write_header(kRegion, kRegion * kSize), 1), 3);
      flushes.send_at(start + c, {Qpn{1}});
      run_until_idle();
      const Cycle dropped = first + std::max<Cycle>(beats - 1, c + read_cycles);
      expect_judged(dropped + 1 + read_cycles);
      EXPECT_EQ(writes.size(), 1u);
      EXPECT_THAT(events, IsEmpty());
      EXPECT_NE(named(contexts, stag_of(kOther)), nullptr);
    }
  }
}
TEST_P(SegmentStagsTest, AnErrorInTheHeaderWaitsForNoEntry) {
  const Cycle first = begin();
  post(buffer(3, octets_of_send(1)));
  send(fpdu(send_header(7), 1));
  send(fpdu(write_header(kRegion, kRegion * kSize), 1), 3);
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnRange);
  const Cycle judged = first + read_cycles;  // with its queue pair's row
  EXPECT_EQ(events.cycles()[0], judged + kToEnd);
  expect_judged(judged + 1 + read_cycles);
}
TEST_P(SegmentStagsTest, AnIndexOutsideOfTheTableIsNoStag) {
  for (const bool in_list : {false, true}) {
    begin();
    abi::Wqe w = buffer(1, octets_of_send(1));
    w.sge[0].lkey = 0xffffff00;
    if (in_list) post(w);
    Bytes header = write_header(0, 0);
    store_be32(&header[2], 0xffffff5a);
    send(fpdu(in_list ? send_header(1) : header, 1));
    run_until_idle();
    expect_outcome(false, in_list ? wire::ddp::kLocalCatastrophic : wire::ddp::kInvalidStag);
  }
}
// A segment of the number's earlier use is dropped, the receive request of that is gone, and so is what was asked for
// it.
TEST_P(SegmentStagsTest, ANumberThatIsReusedMeanwhileHasNoReceiveRequest) {
  for (Cycle c = 0; c < read_cycles + 3; ++c) {
    SCOPED_TRACE(c);
    const Cycle first = begin(), judged = read_cycles + 1;
    post(buffer(2, octets_of_send(1)));
    send(fpdu(send_header(1), 1));
    firmware.at(first + c, [this] { contexts.write(Qpn{1}, rts_qp(1, contexts.epoch(Qpn{1}) + 1000)); });
    send(fpdu(write_header(kRegion, kRegion * kSize), 1), 3);
    run_until_idle();
    EXPECT_EQ(writes.size(), c < judged ? 1u : 3u);
    EXPECT_TRUE(events.empty());
    start = clk.now() + 20;
    send(fpdu(send_header(1), 1));
    run_until_idle();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].cause, wire::ddp::kInvalidMsnNoBuffer);
  }
}
TEST_P(SegmentStagsTest, AResetForgetsWhatWasAskedFor) {
  for (Cycle c = 0; c < read_cycles + 4; ++c) {
    SCOPED_TRACE(c);
    Cycle first = begin();
    post(buffer(3, octets_of_send(1)));
    send(fpdu(send_header(1, 0, true, kWindow), 1));
    const Cycle until = first + c + 1;
    sc_core::sc_start(sc_core::sc_time::from_value(until * clk.period_ps()) - sc_core::sc_time_stamp());
    mpa.out->reset();
    dut.dma->reset();
    clk.reset(dut);
    contexts.reset();
    first = begin();
    send(fpdu(write_header(kRegion, kRegion * kSize), 1));
    run_until_idle();
    expect_judged(first + read_cycles);
    EXPECT_EQ(writes.size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, SegmentStagsTest,
                         testing::Combine(testing::Values(1u, 2u, 3u, 5u), testing::Values(1u, 2u, 8u)),
                         [](const auto& table) {
                           return fmt::format("{}_cycles_{}_ports", std::get<0>(table.param), std::get<1>(table.param));
                         });

}  // namespace
}  // namespace rnic::test
