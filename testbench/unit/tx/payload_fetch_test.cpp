#include "model/rnic/tx/payload_fetch.h"

#include <numeric>

#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/fpdu_beats.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PayloadFetchTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  BufferPool pool{4096};
  Link<UlpduJob> in{"in", clk, {2, 1, 1}};
  Link<DmaReadRequest> request{"request", clk, {2, 1, 1}};
  Link<DmaReadDone> answer{"answer", clk, {2, 1, 1}};
  Link<Ulpdu> out{"out", clk, {2, 1, 1}};
  Link<QpEvent> event{"event", clk, {2, 1, 1}};
  Link<WqeLost> lost{"lost", clk, {2, 1, 1}};
  Source<UlpduJob> segmenter{"segmenter", clk};
  FakeDma dma{"dma", clk};
  Sink<Ulpdu> framer{"framer", clk};
  Sink<QpEvent> events{"events", clk};
  Sink<WqeLost> losses{"losses", clk};
  At firmware{"firmware", clk};
  PayloadFetch dut{"dut", clk, contexts, {4}};

  PayloadFetchTest() {
    segmenter.out(in);
    dut.in(in);
    dut.dma(request);
    dma.in(request);
    dma.out(answer);
    dut.dma_done(answer);
    dut.out(out);
    dut.event(event);
    dut.lost(lost);
    losses.in(lost);
    framer.in(out);
    events.in(event);
    open_qp(contexts, 1, rts_qp(1));
    open_qp(contexts, 2, rts_qp(2));
    for (std::size_t i = 0; i < dma.memory.size(); ++i) dma.memory[i] = static_cast<std::uint8_t>(i ^ i >> 8);
  }
  UlpduJob job(std::initializer_list<UlpduJob::Piece> pieces, std::uint32_t qpn = 1) {
    UlpduJob j;
    j.qpn = Qpn{qpn};
    j.header_bytes = 18;
    j.ulpdu.buf = pool.take();
    j.ulpdu.flow = FlowId{qpn};
    j.ulpdu.bytes = 18;
    for (const UlpduJob::Piece& p : pieces) {
      j.piece[j.pieces++] = p;
      j.ulpdu.bytes = static_cast<std::uint16_t>(j.ulpdu.bytes + p.bytes);
    }
    return j;
  }
  static Bytes payload(const Ulpdu& u) {
    const std::uint8_t* at = u.buf->bytes() + Ulpdu::kOffset + 18;
    return {at, at + u.bytes - 18};
  }
};

TEST_F(PayloadFetchTest, PayloadArrivesAndLeavesTheCycleAfter) {
  segmenter.script({job({{0x100, 8}})});
  run_until_idle();
  EXPECT_THAT(dma.cycles(), ElementsAre(2));      // asked for in the cycle in which the job came
  EXPECT_THAT(framer.cycles(), ElementsAre(15));  // 2 + 10, 1 in the link, 1 in the stage, 1 in the link
  EXPECT_EQ(payload(framer.beats()[0]), Bytes(&dma.memory[0x100], &dma.memory[0x108]));
}

TEST_F(PayloadFetchTest, WithoutPayloadOneCycle) {
  segmenter.script({job({}), job({}), job({})});
  run_until_idle();
  EXPECT_THAT(framer.cycles(), ElementsAre(3, 4, 5));
  EXPECT_THAT(dma.requests(), IsEmpty());
}

TEST_F(PayloadFetchTest, PiecesAreRequestedOneACycleAndLieBehindEachOther) {
  segmenter.script({job({{0x100, 3}, {0x2001, 5}, {0x300, 1}})});
  run_until_idle();
  EXPECT_THAT(dma.cycles(), ElementsAre(2, 3, 4));
  Bytes expected(&dma.memory[0x100], &dma.memory[0x103]);
  expected.insert(expected.end(), &dma.memory[0x2001], &dma.memory[0x2006]);
  expected.push_back(dma.memory[0x300]);
  EXPECT_EQ(payload(framer.beats()[0]), expected);
}

TEST_F(PayloadFetchTest, AnswersInAnyOrderLeaveInOrder) {
  dma.latency_of = {{0, 40}, {1, 5}, {2, 20}};
  segmenter.script({job({{0x100, 4}}), job({{0x200, 4}, {0x300, 4}}), job({})});
  run_until_idle();
  EXPECT_THAT(framer.cycles(), ElementsAre(45, 46, 47));
  EXPECT_EQ(payload(framer.beats()[0]), Bytes(&dma.memory[0x100], &dma.memory[0x104]));
}

TEST_F(PayloadFetchTest, NoMoreJobsThanConfigured) {
  dma.latency = 100;
  for (std::uint32_t i = 0; i < 6; ++i) segmenter.script({job({{0x100 * i, 4}})});
  run_until_idle();
  EXPECT_THAT(dma.cycles(), ElementsAre(2, 3, 4, 5, 105, 106));
  EXPECT_EQ(framer.beats().size(), 6u);
}

TEST_F(PayloadFetchTest, BackpressureOnEveryOutputLosesNothing) {
  framer.pause(every(9, 7));
  events.pause(every(5, 4));
  dma.fails = {30};
  for (std::uint32_t i = 0; i < 20; ++i) segmenter.script({job({{0x100 * i, 40}, {0x100 * i + 64, 8}})});
  run_until_idle();
  ASSERT_EQ(framer.beats().size(), 15u);
  for (std::uint32_t i = 0; i < 15; ++i) {
    EXPECT_EQ(payload(framer.beats()[i])[40], dma.memory[0x100 * i + 64]);
  }
  EXPECT_EQ(events.beats().size(), 1u);
}

TEST_F(PayloadFetchTest, AFailedReadEndsItsStreamAndNoOther) {
  dma.fails = {1};
  segmenter.script({job({{0x100, 4}}), job({{0x200, 4}}), job({{0x300, 4}}), job({}), job({{0x400, 4}}, 2)});
  run_until_idle();
  ASSERT_EQ(framer.beats().size(), 2u);
  EXPECT_EQ(framer.beats()[0].flow, FlowId{1});
  EXPECT_EQ(framer.beats()[1].flow, FlowId{2});  // nothing of QP 1 follows the hole
  ASSERT_EQ(events.beats().size(), 1u);
  EXPECT_EQ(events.beats()[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events.beats()[0].qpn, Qpn{1});
  EXPECT_EQ(pool.in_use(), 2u);  // the two that the framer has
}

TEST_F(PayloadFetchTest, TheTerminateOfABrokenStreamPasses) {
  dma.fails = {0};
  UlpduJob terminate = job({});
  terminate.ulpdu.buf->bytes()[Ulpdu::kOffset + 1] = 0x47;
  segmenter.script({job({{0x100, 4}}), job({}), terminate, job({})});
  run_until_idle();
  ASSERT_EQ(framer.beats().size(), 1u);
  EXPECT_EQ(framer.beats()[0].buf->bytes()[Ulpdu::kOffset + 1], 0x47);
}

TEST_F(PayloadFetchTest, SendsAndWritesThatAreGivenUpAreReported) {
  dma.fails = {1};
  losses.pause(every(20, 19));
  std::vector<UlpduJob> jobs = {job({{0x100, 4}}), job({{0x200, 4}}), job({{0x300, 4}}), job({}), job({})};
  for (const unsigned i : {0u, 1u, 3u, 4u}) jobs[i].ulpdu.completes_wqe = true;
  segmenter.script(jobs);
  jobs.clear();
  run_until_idle();
  EXPECT_EQ(framer.beats().size(), 1u);
  EXPECT_EQ(losses.beats().size(), 3u);  // the second, the fourth and the fifth
}

TEST_F(PayloadFetchTest, AReusedQpIsWholeAgain) {
  dma.fails = {0};
  segmenter.script({job({{0x100, 4}}), job({{0x100, 4}})});
  segmenter.pause(window(1, 50));
  firmware.at(30, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  run_until_idle();
  EXPECT_EQ(framer.beats().size(), 1u);
}

TEST_F(PayloadFetchTest, TheOrderOfCallsChangesNothing) {
  clk.shuffle(3);
  dma.latency_of = {{0, 40}, {1, 5}, {2, 20}};
  segmenter.script({job({{0x100, 4}}), job({{0x200, 4}, {0x300, 4}}), job({})});
  run_until_idle();
  EXPECT_THAT(framer.cycles(), ElementsAre(45, 46, 47));
}

TEST_F(PayloadFetchTest, AnIdleStageIsNotCalled) {
  segmenter.script({job({})}, 5000);
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 5u);
}

// Two pieces of region 1: across a page whose neighbour is elsewhere, and inside the second page.
TEST_F(PayloadFetchTest, APieceInAPageListIsAReadForEachPage) {
  contexts.write_page(0, 0x2000);
  contexts.write_page(1, 0x0);
  StagContext c = region(0x7000, 0x2000, 0);
  c.bus = 0;
  c.log_page = 12;
  c.pages = 2;
  contexts.write(Stag{stag_of(1)}, c);
  contexts.commit();
  segmenter.script({job({{0xffe, 4, stag_of(1)}, {0x1010, 2, stag_of(1)}})});
  segmenter.script({job({{0x100, 1, 0}})});
  run_until_idle();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> reads;
  for (const DmaReadRequest& r : dma.requests()) reads.emplace_back(r.address, r.bytes);
  EXPECT_THAT(reads, ElementsAre(std::pair(0x2ffe, 2), std::pair(0x0, 2), std::pair(0x10, 2), std::pair(0x100, 1)));
  EXPECT_THAT(dma.cycles(), ElementsAre(2, 3, 4, 5));
  ASSERT_EQ(framer.beats().size(), 2u);
  const std::uint8_t* octets = framer.beats()[0].buf->bytes() + Ulpdu::kOffset + 18;
  const auto at = [](unsigned i) { return static_cast<std::uint8_t>(i ^ i >> 8); };
  EXPECT_THAT(std::vector(octets, octets + 6), ElementsAre(at(0x2ffe), at(0x2fff), at(0), at(1), at(0x10), at(0x11)));
}
TEST_F(PayloadFetchTest, APageListThatIsGoneEndsTheStream) {
  segmenter.script({job({{0xffe, 4, stag_of(1)}})});
  dma.fails = {0};  // the bus has nothing there
  run_until_idle();
  EXPECT_EQ(dma.requests()[0].address, kNowhere);
  EXPECT_EQ(events.beats().size(), 1u);
  EXPECT_THAT(framer.beats(), IsEmpty());
}

}  // namespace
}  // namespace rnic::test
