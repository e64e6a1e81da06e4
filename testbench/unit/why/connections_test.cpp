#include "testbench/unit/why/hand_made_run.h"

namespace rnic::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using why::Symptom;
constexpr std::uint8_t kRst = 4;

At firmware(const char* words) { return {{}, words, TraceEvent::kNone, TraceEvent::kNone, "firmware"}; }

TEST(LostConnectionTest, ByAnRstAndByWhatItsSenderHadRefusedBefore) {
  HandMadeRun run;
  run.event(100, b, TraceKind::kRefused, {{}, "2/0/02 (MPA: CRC error)"});
  run.frame(300, b, {}, {7, 100, 0, TraceEvent::kNone, kRst});
  run.event(400, a, TraceKind::kHandled, firmware("tcp_reset, 180 cycles"));
  const why::Answer answer = run.answer(Symptom::kLostConnection);
  EXPECT_THAT(HandMadeRun::text_of(answer),
              HasSubstr("peer reset: b has reset it, after refused 2/0/02 (MPA: CRC error) at 0.100 us"));
  EXPECT_EQ(answer.cause->frame, 1u);
  EXPECT_EQ(answer.chain.front().ps, 100'000u);
  EXPECT_EQ(answer.chain.back().ps, 400'000u);
}

TEST(LostConnectionTest, ByAnRstOfAPeerOutsideOfTheModel) {
  HandMadeRun run;
  run.frame(300, std::nullopt, {}, {7, 100, 0, TraceEvent::kNone, kRst});
  run.event(400, a, TraceKind::kHandled, firmware("tcp_reset, 180 cycles"));
  EXPECT_THAT(run.cause(Symptom::kLostConnection), HasSubstr("peer reset: a peer outside of the model has reset it"));
}

TEST(LostConnectionTest, ByAnRstOfANodeAtWhichNothingHadFailed) {
  HandMadeRun run;
  run.frame(300, b, {}, {7, 100, 0, TraceEvent::kNone, kRst});
  run.event(400, a, TraceKind::kHandled, firmware("tcp_reset, 180 cycles"));
  EXPECT_THAT(run.cause(Symptom::kLostConnection), HasSubstr("program reset: b knew no such connection"));
}

TEST(LostConnectionTest, ByTheSegmentWhoseRetriesAreUsedUp) {
  HandMadeRun run;
  const RequestId id = HandMadeRun::send(a, 1);
  const auto lost = [&](std::uint64_t ns) { run.frame(ns, a, id, {100, 7, 100, 0, 16, "lost: frame 1, down_us"}); };
  lost(1000);
  run.event(1200, a, TraceKind::kRetransmitted, {id, "timeout", 0});
  lost(1200);
  run.event(1600, a, TraceKind::kRetransmitted, {id, "timeout", 0});
  lost(1600);
  run.event(2400, a, TraceKind::kHandled, firmware("tcp_reset, 180 cycles"));
  const why::Answer answer = run.answer(Symptom::kLostConnection);
  EXPECT_THAT(HandMadeRun::text_of(answer), HasSubstr("cable lost: lost, down_us; sent again 2 times"));
  EXPECT_EQ(answer.cause->frame, 1u);
  EXPECT_EQ(answer.request, "a.0.1");
}

// Of two segments, the one that was sent again twice; then the other one, once it was, too.
TEST(LostConnectionTest, OnlyASegmentWhoseRetriesAreUsedUpAndOnlyOnce) {
  HandMadeRun run;
  run.setting("a", "rnic.tcp.max_retries", 2);
  const RequestId one = HandMadeRun::send(a, 1), other = HandMadeRun::send(a, 1, 5);
  for (const RequestId id : {one, other}) run.frame(1000, a, id, {100, 7, 100, 0, 16, "lost: frame 1, down_us"});
  for (const auto& [ns, id] : {std::pair(1200u, one), std::pair(1500u, one), std::pair(1600u, other)}) {
    run.event(ns, a, TraceKind::kRetransmitted, {id, "timeout", 0});
  }
  run.event(2000, a, TraceKind::kHandled, firmware("tcp_reset, 180 cycles"));
  run.event(2100, a, TraceKind::kRetransmitted, {other, "timeout", 0});
  run.event(2500, a, TraceKind::kHandled, firmware("tcp_reset, 181 cycles"));
  std::vector<std::string> requests;
  for (const why::Answer& answer : run.explain().answers) {
    if (answer.symptom == Symptom::kLostConnection) requests.push_back(answer.request);
  }
  EXPECT_THAT(requests, testing::ElementsAre("a.0.1", "a.5.1"));
}

// One RST is one lost connection.
TEST(LostConnectionTest, AnRstThatAnotherOneHasUsedIsNoCause) {
  HandMadeRun run;
  run.frame(300, b, {}, {7, 100, 0, TraceEvent::kNone, kRst});
  run.event(400, a, TraceKind::kHandled, firmware("tcp_reset, 180 cycles"));
  run.event(500, a, TraceKind::kHandled, firmware("tcp_reset, 181 cycles"));
  std::vector<std::string> causes;
  for (const why::Answer& answer : run.explain().answers) causes.push_back(HandMadeRun::text_of(answer));
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_THAT(causes[1], HasSubstr("not recorded connection_lost"));
}

TEST(LostConnectionTest, NoneIfTheFirmwareHasHandledOtherEvents) {
  HandMadeRun run;
  run.event(400, a, TraceKind::kHandled, firmware("tcp_closed, 44 cycles"));
  EXPECT_THAT(run.explain().answers, IsEmpty());
}

}  // namespace
}  // namespace rnic::test
