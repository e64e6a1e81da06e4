#include "model/rnic/completion/response_queue.h"

#include "model/common/bytes.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Cycle kStag = StagTableConfig{}.read_cycles;
constexpr Cycle kRow = OrqTableConfig{}.read_cycles;
constexpr Cycle kThrough = kToEnd + kToEnd;          // what comes leaves in the same cycle
constexpr Cycle kWritten = kThrough + kRow + kStag;  // a value: its queue pair's row is read, then its sink's entry
constexpr Cycle kEach = kStag + 1;                   // from one to the next

std::vector<Cycle> one_after_the_other(Cycle first, unsigned count) {
  std::vector<Cycle> cycles;
  for (unsigned i = 0; i < count; ++i) cycles.push_back(first + i * kEach);
  return cycles;
}

class ResponseQueueTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16);
  At firmware{"firmware", clk};
  ResponseQueue dut{"dut", clk, contexts};
  Source<AtomicIssued> segmenter = drive(dut.issued, CurrentUse(contexts));
  Source<DeliveredAtomic> dispatch = drive(dut.in);
  Sink<AtomicDone> completions = collect(dut.done);
  Sink<TxUnblock> unblocks = collect(dut.unblock);
  Sink<QpEvent> events = collect(dut.event);
  FakeDmaWrite writer{dut.dma, dut.written, memory};

  ResponseQueueTest() {
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, rts_qp(n));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, abi::kLocalWrite));
    contexts.commit();
  }
  static AtomicIssued request(std::uint32_t qpn, std::uint32_t id, std::uint64_t address) {
    return {Qpn{qpn}, id, {address, 8, stag_of(3)}};
  }
  static DeliveredAtomic response(std::uint32_t qpn, std::uint32_t id, std::uint64_t original,
                                  std::uint32_t epoch = 1) {
    return {Qpn{qpn}, {id, original}, {}, epoch, Pdn{1}};
  }
  void expect_error(wire::TerminateCause cause, QpEvent::Kind kind = QpEvent::Kind::kStreamError) {
    run_until_idle();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, kind);
    EXPECT_EQ(events[0].qpn, Qpn{1});
    EXPECT_EQ(events[0].cause, cause) << int(events[0].cause.code);
  }
};

TEST_F(ResponseQueueTest, TheOriginalValueIsInLocalMemoryBeforeTheRequestCompletes) {
  segmenter.send(request(1, 5, 0x1010));
  dispatch.send_at(20, response(1, 5, 0x1122334455667788));
  run_until_idle();
  EXPECT_EQ(load_le64(&memory[0x1010]), 0x1122334455667788u);
  EXPECT_THAT(writer.cycles(), ElementsAre(20 + kWritten));
  EXPECT_THAT(completions.cycles(), ElementsAre(20 + kWritten + writer.hold + kThrough));
  EXPECT_THAT(unblocks.cycles(), ElementsAre(20 + kWritten + writer.hold + kThrough));
  EXPECT_EQ(completions[0].qpn, Qpn{1});
  EXPECT_EQ(unblocks[0].kind, TxUnblock::Kind::kReadDone);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(ResponseQueueTest, AValueWithoutAPageIsSaid) {
  segmenter.send({request(1, 5, 0x1000), request(1, 7, 0x1010), request(1, 8, 0x1018)});
  writer.lost = {0x1010};
  dispatch.send_at(20, {response(1, 5, 50), response(1, 7, 70), response(1, 8, 80)});
  run_until_idle();
  ASSERT_EQ(completions.size(), 3u);
  EXPECT_TRUE(completions[0].ok);
  EXPECT_FALSE(completions[1].ok);
  EXPECT_TRUE(completions[2].ok);
  EXPECT_EQ(unblocks.size(), 3u);
}
TEST_F(ResponseQueueTest, TheNthResponseAnswersTheNthRequestOfItsQp) {
  segmenter.send({request(1, 5, 0x1000), request(2, 1, 0x1008), request(1, 7, 0x1010), request(1, 8, 0x1018)});
  dispatch.send_at(20, {response(1, 5, 50), response(1, 7, 70), response(2, 1, 10), response(1, 8, 80)});
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(writer.addresses(), ElementsAre(0x1000, 0x1010, 0x1008, 0x1018));
  EXPECT_EQ(writer.cycles(), one_after_the_other(20 + kWritten, 4));
  EXPECT_EQ(completions.size(), 4u);
  EXPECT_EQ(completions[2].qpn, Qpn{2});
}
TEST_F(ResponseQueueTest, AResponseThatNobodyAskedForHasNoBuffer) {
  segmenter.send(request(2, 1, 0x1000));
  dispatch.send_at(20, response(1, 1, 9));
  expect_error(wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_THAT(writer.cycles(), IsEmpty());
}
TEST_F(ResponseQueueTest, OneResponseTooMany) {
  segmenter.send(request(1, 1, 0x1000));
  dispatch.send_at(20, {response(1, 1, 9), response(1, 1, 10)});
  expect_error(wire::ddp::kInvalidMsnNoBuffer);
  EXPECT_EQ(load_le64(&memory[0x1000]), 9u);
}
TEST_F(ResponseQueueTest, TheIdentifierOfAnotherRequest) {
  segmenter.send({request(1, 1, 0x1000), request(1, 2, 0x1008)});
  dispatch.send_at(20, {response(1, 2, 9), response(1, 1, 9)});
  expect_error(wire::rdma::kOperationUnspecified);  // only once
  EXPECT_THAT(writer.cycles(), IsEmpty());
  EXPECT_THAT(completions, IsEmpty());
}
TEST_F(ResponseQueueTest, ALocalBufferThatIsGone) {
  segmenter.send(request(1, 1, 0x1000));
  firmware.at(10, [this] { contexts.write(Stag{stag_of(3)}, StagContext{}); });
  dispatch.send_at(20, response(1, 1, 9));
  expect_error(wire::rdma::kLocalCatastrophic, QpEvent::Kind::kLocalError);
  EXPECT_THAT(writer.cycles(), IsEmpty());
}
// A write counts from the check of its STag: what ends before that is not written to, and a fence sees the rest.
TEST_F(ResponseQueueTest, ABufferThatEndsInAnyCycleIsWrittenOnlyIfItsEndComesLater) {
  const StagContext before = region(0x1000, 0x100, abi::kLocalWrite);
  constexpr Cycle kJudged = kToEnd + kRow + kStag;
  std::uint32_t epoch = 1;
  for (Cycle ended = kToEnd - 1; ended <= kJudged + 1; ++ended) {
    const Cycle from = clk.now() + 20;
    const std::size_t written = writer.cycles().size();
    firmware.at(from - 10, [this, before, epoch] {
      contexts.write(Stag{stag_of(3)}, before);
      contexts.write(Qpn{1}, rts_qp(1, epoch));
    });
    segmenter.send_at(from - 5, request(1, 1, 0x1000));
    dispatch.send_at(from, response(1, 1, 9, epoch));
    StagWrites::Counts begun{}, after{};
    firmware.at(from + ended, [&] { contexts.write(Stag{stag_of(3)}, StagContext{}); });
    firmware.at(from + ended + 1, [&] { begun = contexts.in_flight.begun(); });
    run_until_idle();
    after = contexts.in_flight.begun();
    EXPECT_EQ(writer.cycles().size() - written, ended < kJudged ? 0u : 1u) << "cycle " << ended;
    EXPECT_EQ(begun, after) << "cycle " << ended << ": a write began after the end of its STag";
    ++epoch;
  }
}
// The row that was asked for belongs to the request of the queue pair before.
TEST_F(ResponseQueueTest, AQueuePairThatIsReusedWhileAnEntryIsReadStartsAnew) {
  contexts.write(Stag{stag_of(4)}, region(0x2000, 0x100, abi::kLocalWrite));
  contexts.commit();
  segmenter.send(request(1, 1, 0x1000));
  dispatch.send_at(20, {response(1, 1, 9), response(1, 1, 8, 2)});
  firmware.at(20 + kToEnd + kRow, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  segmenter.send_at(20 + kToEnd + kRow, {Qpn{1}, 1, {0x2000, 8, stag_of(4)}, 2});
  run_until_idle();
  EXPECT_THAT(writer.addresses(), ElementsAre(0x2000));
  const Cycle counted = 20 + kToEnd + kRow + kToEnd + kRow;  // the request; then each response, the first one in vain
  EXPECT_THAT(writer.cycles(), ElementsAre(counted + 1 + 1 + kStag + kToEnd));
  EXPECT_EQ(load_le64(&memory[0x2000]), 8u);
}
TEST_F(ResponseQueueTest, BackpressureLosesNothingInAnyOrderOfCalls) {
  clk.shuffle(3);
  completions.pause(every(5, 4));
  unblocks.pause(every(7, 6));
  for (std::uint32_t i = 0; i < 30; ++i) {
    segmenter.send(request(1 + i % 3, i, 0x1000 + 8 * i));
    dispatch.send_at(50, response(1 + i % 3, i, 100 + i));
  }
  dispatch.pause(window(0, 50));
  run_until_idle();
  ASSERT_EQ(completions.size(), 30u);
  EXPECT_EQ(unblocks.size(), 30u);
  for (std::uint32_t i = 0; i < 30; ++i) {
    EXPECT_EQ(completions[i].qpn, Qpn{1 + i % 3});
    EXPECT_EQ(load_le64(&memory[0x1000 + 8 * i]), 100 + i);
  }
}
TEST_F(ResponseQueueTest, AReusedQpStartsAnew) {
  segmenter.send({request(1, 1, 0x1000), request(1, 2, 0x1008)});
  dispatch.send_at(20, {response(1, 1, 9), response(1, 1, 7, 2)});
  firmware.at(20 + kWritten, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });  // while the value is being written
  segmenter.pause(window(2, 40));
  segmenter.send(request(1, 1, 0x1010));
  dispatch.pause(window(21, 60));
  run_until_idle();
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].epoch, 1u) << "sq_completion counts it for nobody";
  EXPECT_EQ(completions[1].epoch, 2u);
  EXPECT_EQ(load_le64(&memory[0x1010]), 7u);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(ResponseQueueTest, ARequestOfAnEarlierUseWaitsForNothing) {
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  AtomicIssued earlier = request(1, 1, 0x1000);
  earlier.epoch = 1;
  segmenter.send_at(20, {earlier, request(1, 1, 0x1010)});
  dispatch.send_at(40, response(1, 1, 7, 2));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(completions.size(), 1u);
  EXPECT_EQ(load_le64(&memory[0x1010]), 7u);
}
// It answers no request, and is no error of the later use.
TEST_F(ResponseQueueTest, AResponseOfAnEarlierUseHasNoEffect) {
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  dispatch.send_at(20, response(1, 1, 9));
  segmenter.send_at(30, request(1, 1, 0x1000));
  dispatch.send_at(40, {response(1, 1, 8), response(1, 1, 7, 2)});
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(completions.size(), 1u);
  EXPECT_EQ(load_le64(&memory[0x1000]), 7u);
}
TEST_F(ResponseQueueTest, AnIdleStageIsNotCalled) {
  segmenter.send(request(1, 1, 0x1000));
  dispatch.send_at(5000, response(1, 1, 9));
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 14 + 2 * kRow);
}

// Local memory in a page list: an unaligned buffer may lie in two pages, which the engine finds.
TEST_F(ResponseQueueTest, AnOriginalValueInAPageListIsOneWriteThatBringsTheList) {
  StagContext paged = region(0x7000, 0x100, abi::kLocalWrite);
  paged.bus = 0xffd;
  paged.log_page = 12;
  paged.first_page = 3;
  paged.pages = 2;
  contexts.write(Stag{stag_of(9)}, paged);
  contexts.commit();
  segmenter.send({{Qpn{1}, 5, {0x7000, 8, stag_of(9)}}, request(1, 6, 0x1010)});
  dispatch.send_at(20, {response(1, 5, 0x1122334455667788), response(1, 6, 9)});
  run_until_idle();
  EXPECT_THAT(writer.writes(), ElementsAre(std::pair(0xffd, abi::kAtomicBytes), std::pair(0x1010, abi::kAtomicBytes)));
  EXPECT_THAT(writer.lists(), ElementsAre(PageList::of(3, 12), PageList{}));
  EXPECT_EQ(writer.cycles(), one_after_the_other(20 + kWritten, 2));
  EXPECT_EQ(completions.size(), 2u);
}

}  // namespace
}  // namespace rnic::test
