#include "model/rnic/completion/response_queue.h"

#include "model/common/bytes.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/responder/atomic_memory.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ResponseQueueTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16);
  Link<AtomicIssued> issued{"issued", clk, {2, 1, 1}};
  Link<DeliveredAtomic> in{"in", clk, {2, 1, 1}};
  Link<DmaWriteRequest> dma{"dma", clk, {2, 1, 1}};
  Link<DmaWriteDone> written{"written", clk, {2, 1, 1}};
  Link<AtomicDone> done{"done", clk, {2, 1, 1}};
  Link<TxUnblock> unblock{"unblock", clk, {2, 1, 1}};
  Link<QpEvent> event{"event", clk, {2, 1, 1}};
  Source<AtomicIssued> segmenter{"segmenter", clk};
  Source<DeliveredAtomic> dispatch{"dispatch", clk};
  FakeDmaWrite writer{"writer", clk, memory};
  Sink<AtomicDone> completions{"completions", clk};
  Sink<TxUnblock> unblocks{"unblocks", clk};
  Sink<QpEvent> events{"events", clk};
  At firmware{"firmware", clk};
  ResponseQueue dut{"dut", clk, contexts};

  ResponseQueueTest() {
    segmenter.out(issued);
    dispatch.out(in);
    dut.issued(issued);
    dut.in(in);
    dut.dma(dma);
    dut.written(written);
    dut.done(done);
    dut.unblock(unblock);
    dut.event(event);
    writer.in(dma);
    writer.out(written);
    completions.in(done);
    unblocks.in(unblock);
    events.in(event);
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, rts_qp(n));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, abi::kLocalWrite));
    contexts.commit();
  }
  static AtomicIssued request(std::uint32_t qpn, std::uint32_t id, std::uint64_t address) {
    return {Qpn{qpn}, id, {address, 8, stag_of(3)}};
  }
  static DeliveredAtomic response(std::uint32_t qpn, std::uint32_t id, std::uint64_t original) {
    return {Qpn{qpn}, {id, original}};
  }
  void expect_error(wire::TerminateCause cause, QpEvent::Kind kind = QpEvent::Kind::kStreamError) {
    run_until_idle();
    ASSERT_EQ(events.beats().size(), 1u);
    EXPECT_EQ(events.beats()[0].kind, kind);
    EXPECT_EQ(events.beats()[0].qpn, Qpn{1});
    EXPECT_EQ(events.beats()[0].cause, cause) << int(events.beats()[0].cause.code);
  }
};

TEST_F(ResponseQueueTest, TheOriginalValueIsInLocalMemoryBeforeTheRequestCompletes) {
  segmenter.script({request(1, 5, 0x1010)});
  dispatch.script({response(1, 5, 0x1122334455667788)}, 20);
  run_until_idle();
  EXPECT_EQ(load_le64(&memory[0x1010]), 0x1122334455667788u);
  EXPECT_THAT(writer.cycles(), ElementsAre(22));  // 1 in each link, 0 in the stage
  EXPECT_THAT(completions.cycles(), ElementsAre(22 + 3 + 2));
  EXPECT_THAT(unblocks.cycles(), ElementsAre(22 + 3 + 2));
  EXPECT_EQ(completions.beats()[0].qpn, Qpn{1});
  EXPECT_EQ(unblocks.beats()[0].kind, TxUnblock::Kind::kReadDone);
  EXPECT_THAT(events.beats(), IsEmpty());
}
TEST_F(ResponseQueueTest, TheNthResponseAnswersTheNthRequestOfItsQp) {
  segmenter.script({request(1, 5, 0x1000), request(2, 1, 0x1008), request(1, 7, 0x1010), request(1, 8, 0x1018)});
  dispatch.script({response(1, 5, 50), response(1, 7, 70), response(2, 1, 10), response(1, 8, 80)}, 20);
  run_until_idle();
  EXPECT_THAT(events.beats(), IsEmpty());
  EXPECT_THAT(writer.addresses(), ElementsAre(0x1000, 0x1010, 0x1008, 0x1018));
  EXPECT_THAT(writer.cycles(), ElementsAre(22, 23, 24, 25));
  EXPECT_EQ(completions.beats().size(), 4u);
  EXPECT_EQ(completions.beats()[2].qpn, Qpn{2});
}
TEST_F(ResponseQueueTest, AResponseThatNobodyAskedForHasNoBuffer) {
  segmenter.script({request(2, 1, 0x1000)});
  dispatch.script({response(1, 1, 9)}, 20);
  expect_error(wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_THAT(writer.cycles(), IsEmpty());
}
TEST_F(ResponseQueueTest, OneResponseTooMany) {
  segmenter.script({request(1, 1, 0x1000)});
  dispatch.script({response(1, 1, 9), response(1, 1, 10)}, 20);
  expect_error(wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_EQ(load_le64(&memory[0x1000]), 9u);
}
TEST_F(ResponseQueueTest, TheIdentifierOfAnotherRequest) {
  segmenter.script({request(1, 1, 0x1000), request(1, 2, 0x1008)});
  dispatch.script({response(1, 2, 9), response(1, 1, 9)}, 20);
  expect_error(wire::rdma::kOperationUnspecified);  // once
  EXPECT_THAT(writer.cycles(), IsEmpty());
  EXPECT_THAT(completions.beats(), IsEmpty());
}
TEST_F(ResponseQueueTest, ALocalBufferThatIsGone) {
  segmenter.script({request(1, 1, 0x1000)});
  firmware.at(10, [this] { contexts.write(Stag{stag_of(3)}, StagContext{}); });
  dispatch.script({response(1, 1, 9)}, 20);
  expect_error(wire::rdma::kLocalCatastrophic, QpEvent::Kind::kLocalError);
  EXPECT_THAT(writer.cycles(), IsEmpty());
}
TEST_F(ResponseQueueTest, BackpressureLosesNothingInAnyOrderOfCalls) {
  clk.shuffle(3);
  completions.pause(every(5, 4));
  unblocks.pause(every(7, 6));
  for (std::uint32_t i = 0; i < 30; ++i) {
    segmenter.script({request(1 + i % 3, i, 0x1000 + 8 * i)});
    dispatch.script({response(1 + i % 3, i, 100 + i)}, 50);
  }
  dispatch.pause(window(0, 50));
  run_until_idle();
  ASSERT_EQ(completions.beats().size(), 30u);
  EXPECT_EQ(unblocks.beats().size(), 30u);
  for (std::uint32_t i = 0; i < 30; ++i) {
    EXPECT_EQ(completions.beats()[i].qpn, Qpn{1 + i % 3});
    EXPECT_EQ(load_le64(&memory[0x1000 + 8 * i]), 100 + i);
  }
}
TEST_F(ResponseQueueTest, AReusedQpStartsAnew) {
  segmenter.script({request(1, 1, 0x1000), request(1, 2, 0x1008)});
  dispatch.script({response(1, 1, 9), response(1, 1, 7)}, 20);
  firmware.at(22, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });  // while the value is being written
  segmenter.pause(window(2, 40));
  segmenter.script({request(1, 1, 0x1010)});
  dispatch.pause(window(21, 60));
  run_until_idle();
  EXPECT_EQ(completions.beats().size(), 1u);
  EXPECT_EQ(load_le64(&memory[0x1010]), 7u);
  EXPECT_THAT(events.beats(), IsEmpty());
}
TEST_F(ResponseQueueTest, AnIdleStageIsNotCalled) {
  segmenter.script({request(1, 1, 0x1000)});
  dispatch.script({response(1, 1, 9)}, 5000);
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 16u);
}

// Local memory in a page list: a buffer that is not aligned may lie in two pages.
TEST_F(ResponseQueueTest, AnOriginalValueAcrossTwoPagesIsWrittenInTwoPartsAndCompletesOnce) {
  StagContext paged = region(0x7000, 0x100, abi::kLocalWrite);
  paged.bus = 0xffd;
  paged.log_page = 12;
  paged.pages = 2;
  contexts.write(Stag{stag_of(9)}, paged);
  contexts.write_page(0, 0x4000);
  contexts.write_page(1, 0x2000);
  contexts.commit();
  segmenter.script({{Qpn{1}, 5, {0x7000, 8, stag_of(9)}}, request(1, 6, 0x1010)});
  dispatch.script({response(1, 5, 0x1122334455667788), response(1, 6, 9)}, 20);
  run_until_idle();
  EXPECT_THAT(writer.addresses(), ElementsAre(0x4ffd, 0x2000, 0x1010));
  EXPECT_THAT(writer.cycles(), ElementsAre(22, 23, 24));
  const std::vector<std::uint8_t> octets = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  EXPECT_EQ(std::vector<std::uint8_t>(&memory[0x4ffd], &memory[0x5000]),
            std::vector(octets.begin(), octets.begin() + 3));
  EXPECT_EQ(std::vector<std::uint8_t>(&memory[0x2000], &memory[0x2005]), std::vector(octets.begin() + 3, octets.end()));
  EXPECT_EQ(completions.beats().size(), 2u);
}

}  // namespace
}  // namespace rnic::test
