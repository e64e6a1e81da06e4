#include "model/rnic/tx/payload_fetch.h"

#include <memory>
#include <numeric>

#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/sizes.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A job's reads leave in the cycle in which it comes, one per cycle; the job leaves in the cycle after it is complete.
constexpr Cycle kAsked = kToEnd + kToEnd, kThrough = kToEnd + 1 + kToEnd;
constexpr Cycle after_read(Cycle latency) { return kAsked + latency + kThrough; }

class PayloadFetchTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  static constexpr std::uint16_t kHeaderBytes = 18;
  BufferPool pool{Ulpdu::kOffset + kLargestUlpdu};
  std::uint32_t epoch = 1;  // of the jobs
  PayloadFetch dut{"dut", clk, contexts.qps(), {4}};
  Source<UlpduJob> segmenter = drive(dut.in);
  Sink<Ulpdu> framer = collect(dut.out[LlpId::kMpaTcp]);
  Sink<Ulpdu> sctp = collect(dut.out[LlpId::kSctp]);
  Sink<QpEvent> events = collect(dut.event);
  Sink<WqeLost> losses = collect(dut.lost);
  FakeDma dma{dut.dma, dut.dma_done};

  PayloadFetchTest() {
    open_qp(contexts, 1, rts_qp(1));
    open_qp(contexts, 2, rts_qp(2));
    for (std::size_t i = 0; i < dma.memory.size(); ++i) dma.memory[i] = static_cast<std::uint8_t>(i ^ i >> 8);
  }
  UlpduJob of_sctp(std::initializer_list<UlpduJob::Piece> pieces) {
    UlpduJob j = job(pieces, 2);
    j.ulpdu.llp = LlpId::kSctp;
    return j;
  }
  UlpduJob job(std::initializer_list<UlpduJob::Piece> pieces, std::uint32_t qpn = 1) {
    UlpduJob j;
    j.qpn = Qpn{qpn};
    j.epoch = epoch;
    j.header_bytes = kHeaderBytes;
    j.ulpdu.buf = pool.take();
    j.ulpdu.flow = FlowId{qpn};
    j.ulpdu.bytes = kHeaderBytes;
    for (const UlpduJob::Piece& p : pieces) {
      j.piece[j.pieces++] = p;
      j.ulpdu.bytes = static_cast<std::uint16_t>(j.ulpdu.bytes + p.bytes);
    }
    return j;
  }
  static Bytes payload(const Ulpdu& u) {
    const std::uint8_t* at = u.buf->bytes() + Ulpdu::kOffset + kHeaderBytes;
    return {at, at + u.bytes - kHeaderBytes};
  }
};

TEST_F(PayloadFetchTest, PayloadArrivesAndLeavesTheCycleAfter) {
  segmenter.send(job({{0x100, 8}}));
  run_until_idle();
  EXPECT_THAT(dma.cycles(), ElementsAre(kAsked));
  EXPECT_THAT(framer.cycles(), ElementsAre(after_read(dma.latency)));
  EXPECT_EQ(payload(framer[0]), Bytes(&dma.memory[0x100], &dma.memory[0x108]));
}

TEST_F(PayloadFetchTest, WithoutPayloadOneCycle) {
  segmenter.send({job({}), job({}), job({})});
  run_until_idle();
  EXPECT_EQ(framer.cycles(), in_a_row(kThrough, 3));
  EXPECT_THAT(dma.requests(), IsEmpty());
}

TEST_F(PayloadFetchTest, PiecesAreRequestedOneACycleAndLieBehindEachOther) {
  segmenter.send(job({{0x100, 3}, {0x2001, 5}, {0x300, 1}}));
  run_until_idle();
  EXPECT_EQ(dma.cycles(), in_a_row(kAsked, 3));
  Bytes expected(&dma.memory[0x100], &dma.memory[0x103]);
  expected.insert(expected.end(), &dma.memory[0x2001], &dma.memory[0x2006]);
  expected.push_back(dma.memory[0x300]);
  EXPECT_EQ(payload(framer[0]), expected);
}

TEST_F(PayloadFetchTest, AnswersInAnyOrderLeaveInOrder) {
  dma.latency_of = {{0, 40}, {1, 5}, {2, 20}};
  segmenter.send({job({{0x100, 4}}), job({{0x200, 4}, {0x300, 4}}), job({})});
  run_until_idle();
  EXPECT_EQ(framer.cycles(), in_a_row(after_read(40), 3));
  EXPECT_EQ(payload(framer[0]), Bytes(&dma.memory[0x100], &dma.memory[0x104]));
}

TEST_F(PayloadFetchTest, NoMoreJobsThanConfigured) {
  dma.latency = 100;
  for (std::uint32_t i = 0; i < 6; ++i) segmenter.send(job({{0x100 * i, 4}}));
  run_until_idle();
  EXPECT_THAT(dma.cycles(),
              ElementsAre(kAsked, kAsked + 1, kAsked + 2, kAsked + 3, after_read(100), after_read(100) + 1));
  EXPECT_EQ(framer.size(), 6u);
  // The first answer arrives in cycle 103; the fetch does not cause later waits.
  const Account::Totals jobs = dut.jobs().totals(300);
  EXPECT_EQ(jobs.blocked, 103 - 5);
  EXPECT_EQ(jobs.busy + jobs.blocked + jobs.empty, 300);
  EXPECT_EQ(dut.jobs().cycles_at()[4], 106 - 4);
}

TEST_F(PayloadFetchTest, BackpressureOnEveryOutputLosesNothing) {
  framer.pause(every(9, 7));
  events.pause(every(5, 4));
  dma.fails = {30};
  for (std::uint32_t i = 0; i < 20; ++i) segmenter.send(job({{0x100 * i, 40}, {0x100 * i + 64, 8}}));
  run_until_idle();
  ASSERT_EQ(framer.size(), 15u);
  for (std::uint32_t i = 0; i < 15; ++i) {
    EXPECT_EQ(payload(framer[i])[40], dma.memory[0x100 * i + 64]);
  }
  EXPECT_EQ(events.size(), 1u);
}

TEST_F(PayloadFetchTest, AFailedReadEndsItsStreamAndNoOther) {
  dma.fails = {1};
  segmenter.send({job({{0x100, 4}}), job({{0x200, 4}}), job({{0x300, 4}}), job({}), job({{0x400, 4}}, 2)});
  run_until_idle();
  ASSERT_EQ(framer.size(), 2u);
  EXPECT_EQ(framer[0].flow, FlowId{1});
  EXPECT_EQ(framer[1].flow, FlowId{2});  // nothing of QP 1 follows the hole
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events[0].qpn, Qpn{1});
  EXPECT_EQ(pool.in_use(), 2u);  // held by the framer
}

TEST_F(PayloadFetchTest, TheTerminateOfABrokenStreamPasses) {
  dma.fails = {0};
  UlpduJob terminate = job({});
  terminate.ulpdu.buf->bytes()[Ulpdu::kOffset + 1] = 0x47;
  std::vector<UlpduJob> jobs = {job({{0x100, 4}}), job({}), terminate, job({})};
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].ulpdu.position = static_cast<std::uint16_t>(100 + 28 * i);
  segmenter.send(jobs);
  run_until_idle();
  ASSERT_EQ(framer.size(), 1u);
  EXPECT_EQ(framer[0].buf->bytes()[Ulpdu::kOffset + 1], 0x47);
  EXPECT_EQ(framer[0].position, 100u) << "nothing was sent after the place of the failed one";
}

// What it drops is kept by nobody.
TEST_F(PayloadFetchTest, FpdusThatAreDroppedGiveTheirRoomBackInTheNextCycle) {
  llp::TransmitMemory memory(clk, {10'000, 100}, FlowId{0}, 4);
  dut.keep_in(LlpId::kMpaTcp, memory);
  dma.fails = {1};
  std::vector<UlpduJob> jobs = {job({{0x100, 4}}), job({{0x200, 4}}), job({}), job({{0x400, 4}}, 2)};
  for (UlpduJob& j : jobs) {
    j.octets = static_cast<std::uint16_t>(wire::fpdu_bytes(j.ulpdu.bytes));
    memory.take(j.ulpdu.flow, j.octets);
  }
  const std::uint32_t all = memory.used().octets;
  segmenter.send(jobs);
  jobs.clear();
  run_until_idle();
  EXPECT_EQ(framer.size(), 2u);
  EXPECT_EQ(all - memory.used().octets, 28u + 24u);
  EXPECT_EQ(memory.held(FlowId{1}).octets, 28u);
  EXPECT_EQ(memory.held(FlowId{1}).records, 1u);
  EXPECT_EQ(memory.held(FlowId{2}).octets, 28u);
}

// A Terminate whose stream has lost octets: its FPDU begins where they would have been.
struct MovedTerminate {
  MovedTerminate(std::uint16_t place, std::uint16_t bytes, UlpduJob lost, UlpduJob terminate)
      : at(place), length(bytes) {
    dut.keep_in(LlpId::kMpaTcp, memory);
    dma.fails = {0};
    terminate.ulpdu.buf->bytes()[Ulpdu::kOffset + 1] = 0x47;
    lost.ulpdu.position = place;
    terminate.ulpdu.bytes = length;
    terminate.ulpdu.position = static_cast<std::uint16_t>((place + 36) % 512);
    for (UlpduJob* j : {&lost, &terminate}) {
      j->ulpdu.markers = true;
      j->octets = static_cast<std::uint16_t>(wire::marked_fpdu_bytes(j->ulpdu.position, j->ulpdu.bytes));
      memory.take(FlowId{1}, j->octets);
    }
    jobs.push_back(std::move(lost));
    jobs.push_back(std::move(terminate));
  }
  // With its length field, padded, with its CRC; a marker at each multiple of 512.
  std::uint32_t octets() const {
    std::uint32_t all = (2u + length + 3) / 4 * 4 + 4;
    for (std::uint32_t i = 0; i < all; i += 4) all += (at + i) % 512 == 0 ? 4 : 0;
    return all;
  }
  const std::uint16_t at, length;
  std::vector<UlpduJob> jobs;
  ClockDomain clk{sc_core::sc_gen_unique_name("clock"), {}};
  llp::TransmitMemory memory{clk, {10'000, 100}, FlowId{0}, 4};
  PayloadFetch dut{sc_core::sc_gen_unique_name("dut"), clk, 4, {4}};
  FakeDma dma{dut.dma, dut.dma_done};
  Source<UlpduJob> segmenter = drive(dut.in);
  Sink<Ulpdu> framer = collect(dut.out[LlpId::kMpaTcp]);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others = stub(dut.out[LlpId::kSctp], dut.lost);
};

TEST_F(PayloadFetchTest, ATerminateThatMovesTakesTheRoomOfItsNewPlace) {
  std::vector<std::unique_ptr<MovedTerminate>> cases;
  for (std::uint16_t place = 0; place < 512; place = static_cast<std::uint16_t>(place + 4)) {
    for (const std::uint16_t length : {24, 508}) {
      cases.push_back(std::make_unique<MovedTerminate>(place, length, job({{0x100, 4}}), job({})));
    }
  }
  for (const auto& c : cases) c->segmenter.send(c->jobs);
  run_until_idle();
  for (const auto& c : cases) {
    EXPECT_EQ(c->framer.size(), 1u);
    EXPECT_EQ(c->memory.used().octets, c->octets()) << c->at << ' ' << c->length;
    EXPECT_EQ(c->memory.used().records, 1u);
  }
}

TEST_F(PayloadFetchTest, SendsAndWritesThatAreGivenUpAreReported) {
  dma.fails = {1};
  losses.pause(every(20, 19));
  std::vector<UlpduJob> jobs = {job({{0x100, 4}}), job({{0x200, 4}}), job({{0x300, 4}}), job({}), job({})};
  for (const unsigned i : {0u, 1u, 3u, 4u}) jobs[i].ulpdu.completes_wqe = true;
  segmenter.send(jobs);
  jobs.clear();
  run_until_idle();
  EXPECT_EQ(framer.size(), 1u);
  EXPECT_EQ(losses.size(), 3u);  // the second, the fourth and the fifth
}

TEST_F(PayloadFetchTest, AReusedQpIsWholeAgain) {
  dma.fails = {0};
  segmenter.send(job({{0x100, 4}}));
  epoch = 2;
  segmenter.send(job({{0x100, 4}}));
  run_until_idle();
  EXPECT_EQ(framer.size(), 1u);
}

TEST_F(PayloadFetchTest, TheOrderOfCallsChangesNothing) {
  clk.shuffle(3);
  dma.latency_of = {{0, 40}, {1, 5}, {2, 20}};
  segmenter.send({job({{0x100, 4}}), job({{0x200, 4}, {0x300, 4}}), job({})});
  run_until_idle();
  EXPECT_EQ(framer.cycles(), in_a_row(after_read(40), 3));
}

TEST_F(PayloadFetchTest, UlpdusLeaveToTheLowerLayerOfTheirFlow) {
  segmenter.send({job({}), of_sctp({}), of_sctp({{0x100, 4}}), job({})});
  run_until_idle();
  EXPECT_THAT(framer.cycles(), ElementsAre(kThrough, 2 + after_read(dma.latency) + 1));
  EXPECT_THAT(sctp.cycles(), ElementsAre(kThrough + 1, 2 + after_read(dma.latency)));
  EXPECT_EQ(payload(sctp[1]), Bytes(&dma.memory[0x100], &dma.memory[0x104]));
  EXPECT_EQ(dut.counters().ulpdus, 4u);
}
TEST_F(PayloadFetchTest, OneThatItsLowerLayerCannotTakeHoldsUpTheOthers) {
  sctp.pause(window(0, 100));
  segmenter.send({of_sctp({}), of_sctp({}), of_sctp({}), of_sctp({}), of_sctp({}), job({})});
  run_until_idle();
  EXPECT_EQ(sctp.size(), 5u);
  ASSERT_EQ(framer.size(), 1u);
  EXPECT_EQ(framer.cycles()[0], 100 + 1 + kThrough - 1);  // the fifth gets its slot in cycle 101
}

TEST_F(PayloadFetchTest, AnIdleStageIsNotCalled) {
  segmenter.send_at(5000, job({}));
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 5u);
}

// The engine finds the pages.
TEST_F(PayloadFetchTest, APieceInAPageListIsOneReadThatBringsTheListAndNamesItsRegion) {
  constexpr PageList kList = PageList::of(3, 12);
  segmenter.send(job({{0xffe, 4, kList, stag_of(1)}, {0x1010, 2, kList, stag_of(1)}}));
  segmenter.send(job({{0x100, 1}}));
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(std::pair(0xffe, 4), std::pair(0x1010, 2), std::pair(0x100, 1)));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> named;
  for (const DmaReadRequest& r : dma.requests()) named.emplace_back(r.list.v, r.region);
  EXPECT_THAT(named, ElementsAre(std::pair(kList.v, stag_of(1)), std::pair(kList.v, stag_of(1)), std::pair(0, 0)));
  EXPECT_EQ(dma.cycles(), in_a_row(kAsked, 3));
  EXPECT_EQ(framer.size(), 2u);
}

class PayloadSizes : public PayloadFetchTest, public testing::WithParamInterface<Traffic> {};
TEST_P(PayloadSizes, EveryOctetArrivesInOrder) {
  segmenter.pause(GetParam().produce);
  framer.pause(GetParam().consume);
  dma.pause = GetParam().consume;
  const std::vector<std::size_t> all = sizes(DatapathConfig{}.beat_bytes, kLargestUlpdu - kHeaderBytes);
  std::vector<Bytes> expected;
  for (const std::size_t n : all) {
    const std::uint32_t at = static_cast<std::uint32_t>(dma.memory.size() - n),
                        head = static_cast<std::uint32_t>(n / 3);
    const auto rest = static_cast<std::uint32_t>(n - head);
    if (n < 3) segmenter.send(n == 0 ? job({}) : job({{at, static_cast<std::uint32_t>(n)}}));
    else segmenter.send(job({{at, head}, {at + head, rest}}));
    expected.emplace_back(dma.memory.begin() + at, dma.memory.end());
  }
  run_until_idle();
  ASSERT_EQ(framer.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(payload(framer[i]), expected[i]) << all[i] << " octets";
  EXPECT_THAT(events, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Datapath, PayloadSizes, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
