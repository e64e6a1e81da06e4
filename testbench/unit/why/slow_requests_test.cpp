#include "testbench/unit/why/hand_made_run.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using why::Symptom;

std::uint64_t sum(const std::vector<why::Wait>& waits) {
  std::uint64_t sum = 0;
  for (const why::Wait& w : waits) sum += w.ps;
  return sum;
}
std::uint64_t wait(const why::Answer& answer, const std::string& name) {
  for (const why::Wait& w : answer.waits) {
    if (w.name == name) return w.ps;
  }
  return 0;
}

TEST(SlowRequestTest, HasNoCauseIfNothingHoldsItAndItsPartsAreThoseOfTheStages) {
  HandMadeRun run;
  run.write(1, 1000);
  const why::Answer answer = run.answer(Symptom::kSlow);
  EXPECT_FALSE(answer.cause);
  EXPECT_EQ(answer.request, "a.0.1");
  EXPECT_EQ(sum(answer.waits), 1'000'000u);
  EXPECT_EQ(wait(answer, "wire"), 320'000u);
  EXPECT_EQ(wait(answer, "acknowledgement of b"), 400'000u);
  EXPECT_EQ(wait(answer, "poll"), 20'000u);
}

TEST(SlowRequestTest, ThePollingIntervalIfItsCompletionWaitedForThat) {
  HandMadeRun run;
  run.setting("a", "host.cpu.poll_interval_ns", 60);
  run.write(1, 1000, 70);
  EXPECT_EQ(run.cause(Symptom::kSlow), "") << "70 ns are no tenth of it";
  HandMadeRun slow;
  slow.setting("a", "host.cpu.poll_interval_ns", 150);
  slow.write(1, 1000, 80);
  EXPECT_EQ(slow.cause(Symptom::kSlow), "");
  HandMadeRun slower;
  slower.setting("a", "host.cpu.poll_interval_ns", 150);
  slower.write(1, 1000, 80);
  slower.event(2400, a, TraceKind::kPolled, {HandMadeRun::send(a, 1)});
  EXPECT_THAT(slower.cause(Symptom::kSlow), "") << "1,480 ns are not those 150";
  HandMadeRun slowest;
  slowest.setting("a", "host.cpu.poll_interval_ns", 2000);
  slowest.write(1, 1000, 80);
  slowest.event(2400, a, TraceKind::kPolled, {HandMadeRun::send(a, 1)});
  EXPECT_THAT(slowest.cause(Symptom::kSlow), HasSubstr("setting poll_interval: its completion waited 0.480 us"));
}

TEST(SlowRequestTest, TheTimerOfDelayedAcknowledgementsOnlyIfItCanHaveEnded) {
  for (const auto& [delay, caused] : {std::pair(300u, true), std::pair(301u, false)}) {
    HandMadeRun run;
    run.setting("b", "rnic.tcp.ack_delay_ns", delay);
    run.setting("b", "link.delay_ns", 100);
    run.write(1, 1000);
    EXPECT_EQ(run.cause(Symptom::kSlow).rfind("setting ack_delay", 0) == 0, caused) << delay;
  }
}

TEST(SlowRequestTest, TheTurnsOfOtherQueuePairs) {
  HandMadeRun run;
  run.write(1, 1000);
  for (std::uint32_t i = 0; i < 3; ++i) {
    run.event(1101 + i, a, TraceKind::kSegmented, {HandMadeRun::send(a, 0, 1 + i % 2), "", 0, 100});
  }
  EXPECT_EQ(run.cause(Symptom::kSlow), "") << "20 ns are no tenth";
  HandMadeRun late;
  late.write(1, 1000);
  for (std::uint32_t i = 0; i < 3; ++i) {
    late.event(1101 + i, a, TraceKind::kSegmented, {HandMadeRun::send(a, 0, 1 + i % 2), "", 0, 100});
  }
  late.event(1150, a, TraceKind::kSegmented, {HandMadeRun::send(a, 1), "", 0, 100});
  late.event(1300, a, TraceKind::kSegmented, {HandMadeRun::send(a, 1), "", 50, 100});
  EXPECT_THAT(late.cause(Symptom::kSlow),
              HasSubstr("program other_queue_pairs: turns of 2 other queues of a: 3 of 6 segments"));
}

// A Read that comes at 1,300 and is answered from 1,900 on, while the peer answers what is before it.
TEST(SlowRequestTest, WhoseAnswersThePeerCutFirst) {
  for (const bool own : {true, false}) {
    HandMadeRun run;
    const RequestId id = HandMadeRun::send(a, 5);
    run.event(1000, a, TraceKind::kPosted, {id});
    run.event(1010, a, TraceKind::kWqeFetched, {id, "read"});
    run.event(1020, a, TraceKind::kSegmented, {id, "", 0, 46});
    run.event(1030, a, TraceKind::kFrameSent, {id, "", 0, 100});
    run.event(1300, b, TraceKind::kFrameReceived, {id, "", 0, 100});
    for (std::uint32_t i = 0; i < 4; ++i) {
      const bool is_own = own ? i < 2 : i < 1;  // half of them, or a quarter
      run.event(1400 + 100 * i, b, TraceKind::kSegmented, {HandMadeRun::send(a, i, is_own ? 0 : 1), "", 0, 1000});
    }
    run.event(1900, b, TraceKind::kSegmented, {id, "", 0, 1000});
    run.event(1950, b, TraceKind::kFrameSent, {id, "", 0, 1100});
    run.event(2000, a, TraceKind::kCompleted, {id, "", TraceEvent::kNone, 1000});
    run.event(2010, a, TraceKind::kPolled, {id});
    const why::Answer answer = run.answer(Symptom::kSlow);
    EXPECT_EQ(
        HandMadeRun::text_of(answer),
        own ? "program own_queue: b worked for 2 earlier requests of its queue first: 2 of 4 segments that it cut "
              "meanwhile were theirs"
            : "program other_queue_pairs: b worked for 1 other queue first: 3 of 4 segments that it cut "
              "meanwhile were theirs");
    ASSERT_EQ(answer.chain.size(), 2u);
    EXPECT_EQ(answer.chain[0].ps, 1'300'000u);
    EXPECT_EQ(answer.chain[1].ps, 1'900'000u);
  }
}

// Reads of one tag, each of which takes 200 ns.
TEST(SlowRequestTest, TagsThatAreAllInUseUntilItsLastReadIsSent) {
  for (const unsigned tags : {1u, 2u}) {
    HandMadeRun run;
    run.setting("a", "rnic.pcie.dma_read.max_tags", tags);
    run.setting("a", "rnic.tx.payload_fetch.jobs", 32);
    run.setting("a", "host.root_complex.memory_read_ns", 50);
    const RequestId id = HandMadeRun::send(a, 1);
    run.event(1000, a, TraceKind::kPosted, {id});
    run.event(1010, a, TraceKind::kWqeFetched, {id, "write"});
    run.event(1020, a, TraceKind::kSegmented, {id, "", 0, 114});
    for (std::uint64_t n = 0; n < 2; ++n) {
      run.event(1030 + 200 * n, a, TraceKind::kTlpRead, {id, "", TraceEvent::kNone, 50, "pcie.upstream", {}, 7});
      run.event(1220 + 200 * n, a, TraceKind::kTlpCompletion,
                {id, "", TraceEvent::kNone, 50, "pcie.downstream", {}, 7});
    }
    run.event(1430, a, TraceKind::kPayloadRead, {id, "", 0, 114});
    run.event(1440, a, TraceKind::kFrameSent, {id, "", 0, 154});
    run.event(1500, a, TraceKind::kCompleted, {id});
    run.event(1520, a, TraceKind::kPolled, {id});
    const why::Answer answer = run.answer(Symptom::kSlow);
    if (tags == 2) {
      EXPECT_FALSE(answer.cause);
      continue;
    }
    EXPECT_THAT(HandMadeRun::text_of(answer),
                HasSubstr("setting tags: PCIe tags of a: all 1 were in use for 0.190 us"));
    EXPECT_EQ(answer.cause->setting, "nodes.a.rnic.pcie.dma_read.max_tags");
  }
}

TEST(SlowRequestTest, MemoryIfReadsSpendMostOfTheirTimeThere) {
  for (const auto& [memory_ns, caused] : {std::pair(100u, true), std::pair(80u, false)}) {
    HandMadeRun run;
    run.setting("a", "rnic.pcie.dma_read.max_tags", 256);
    run.setting("a", "rnic.tx.payload_fetch.jobs", 32);
    run.setting("a", "host.root_complex.memory_read_ns", memory_ns);
    const RequestId id = HandMadeRun::send(a, 1);
    run.event(1000, a, TraceKind::kPosted, {id});
    run.event(1010, a, TraceKind::kWqeFetched, {id, "write"});
    run.event(1020, a, TraceKind::kSegmented, {id, "", 0, 114});
    run.event(1030, a, TraceKind::kTlpRead, {id, "", TraceEvent::kNone, 100, "pcie.upstream", {}, 7});
    run.event(1220, a, TraceKind::kTlpCompletion, {id, "", TraceEvent::kNone, 100, "pcie.downstream", {}, 7});
    run.event(1230, a, TraceKind::kPayloadRead, {id, "", 0, 114});
    run.event(1500, a, TraceKind::kCompleted, {id});
    run.event(1520, a, TraceKind::kPolled, {id});
    EXPECT_EQ(run.cause(Symptom::kSlow).rfind("setting memory: ", 0) == 0, caused) << memory_ns;
  }
}

// Its queue pair's context is away from 1,110 to 1,410 ns, and was evicted before.
TEST(SlowRequestTest, TheContextOfItsQueuePairWasNotOnTheChip) {
  HandMadeRun run;
  const RequestId context{1, RequestId::Kind::kContext, 3, 0, 5}, other{1, RequestId::Kind::kContext, 3, 0, 6},
      id = HandMadeRun::send(a, 1, 5);
  run.setting("a", "rnic.context.cache.qp.entries", 1);
  run.event(500, a, TraceKind::kEvicted,
            {context, "row 5, for row 6", TraceEvent::kNone, TraceEvent::kNone, "tx_table"});
  run.event(1000, a, TraceKind::kPosted, {id, "", TraceEvent::kNone, TraceEvent::kNone, "driver", {}, 0, 5});
  run.event(1100, a, TraceKind::kWqeFetched, {id, "write"});
  run.event(1105, a, TraceKind::kMissed, {other, "row 6, by tx", TraceEvent::kNone, TraceEvent::kNone, "x.tx_table"});
  run.event(1110, a, TraceKind::kMissed, {context, "row 5, by tx", TraceEvent::kNone, TraceEvent::kNone, "x.tx_table"});
  run.event(1410, a, TraceKind::kTlpCompletion, {context, "", TraceEvent::kNone, 64, "pcie.downstream", {}, 3});
  run.event(1500, a, TraceKind::kTlpCompletion, {other, "", TraceEvent::kNone, 64, "pcie.downstream", {}, 4});
  run.event(1600, a, TraceKind::kPolled, {id});
  const why::Answer answer = run.answer(Symptom::kSlow);
  EXPECT_EQ(
      HandMadeRun::text_of(answer),
      "setting cache: the context of queue pair 5 of a was not on the chip: 1 times, for 0.300 us in all; 2 queue "
      "pairs missed theirs, and 1 have room");
  EXPECT_EQ(answer.chain.front().ps, 500'000u);
}

// A window that only SCTP could have used up.
TEST(SlowRequestTest, WhatIsNotRecordedIsSaidApart) {
  HandMadeRun run;
  run.write(1, 1000);
  run.event(900, a, TraceKind::kWaits, {{}, "credit", TraceEvent::kNone, TraceEvent::kNone, "segmenter", {}, 0, 0});
  run.event(1300, a, TraceKind::kWaits, {{}, "nothing", TraceEvent::kNone, TraceEvent::kNone, "segmenter", {}, 0, 0});
  const why::Answer answer = run.answer(Symptom::kSlow);
  ASSERT_TRUE(answer.cause);
  EXPECT_EQ(answer.cause->end, why::End::kNotRecorded);
  EXPECT_THAT(answer.not_recorded, ElementsAre(answer.cause->text));
}

TEST(SlowRequestTest, OneRequestAlone) {
  HandMadeRun run;
  run.write(1, 1000);
  run.write(2, 3000);
  const why::Report report = run.explain("a.0.2");
  ASSERT_EQ(report.answers.size(), 1u);
  EXPECT_EQ(report.answers.front().request, "a.0.2");
  EXPECT_FALSE(report.cable);
}

}  // namespace
}  // namespace rnic::test
