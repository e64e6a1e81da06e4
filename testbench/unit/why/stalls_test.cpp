#include "testbench/unit/why/hand_made_run.h"

namespace rnic::test {
namespace {

using testing::HasSubstr;
using why::Symptom;

class StallTest : public testing::Test {
 protected:
  HandMadeRun run;
  StallTest() {
    run.fact("end", "hung");
    run.fact("sim_time_ps", "10000000");
  }
  void waits(std::uint64_t ns, HandMadeRun::Node node, const char* reason) {
    run.event(ns, node, TraceKind::kWaits, {{}, reason, TraceEvent::kNone, TraceEvent::kNone, "segmenter", {}, 0, 0});
  }
  void fetched(std::uint64_t ns, RequestId id, HandMadeRun::Node node) {
    run.event(ns, node, TraceKind::kPosted, {id});
    run.event(ns + 10, node, TraceKind::kWqeFetched, {id, "write"});
  }
  std::string cause() { return run.cause(Symptom::kStalled); }
};

TEST_F(StallTest, ALostFrameThatNothingRepaired) {
  const RequestId id = HandMadeRun::send(a, 1);
  run.frame(900, a, HandMadeRun::send(a, 0), {0, 7, 100, 0, 16, "lost: frame 1, loss"});
  run.frame(950, a, HandMadeRun::send(a, 0), {0, 7, 100, 0});
  run.event(990, a, TraceKind::kFrameSent, {id, "", 0});
  run.frame(1000, a, id, {100, 7, 100, 0, 16, "lost: frame 3, loss"});
  const why::Answer answer = run.answer(Symptom::kStalled);
  EXPECT_EQ(HandMadeRun::text_of(answer), "cable lost: lost, loss");
  EXPECT_EQ(answer.cause->frame, 3u);
}

TEST_F(StallTest, ACompletionThatNobodyPolled) {
  const RequestId id = HandMadeRun::send(a, 1);
  fetched(100, id, a);
  run.event(500, a, TraceKind::kCqeWritten, {id});
  EXPECT_THAT(cause(), HasSubstr("program not_polled: a.0.1: its completion was written"));
}

TEST_F(StallTest, UnsignaledRequestsAreCompleteWithALaterOne) {
  fetched(100, HandMadeRun::send(a, 1), a);
  run.write(2, 200);
  EXPECT_THAT(cause(), HasSubstr("not recorded waits: no request is unfinished"));
}

TEST_F(StallTest, WhatAnswersItMayBeLost) {
  const RequestId id = HandMadeRun::send(a, 1);
  fetched(100, id, a);
  run.event(200, b, TraceKind::kFrameReceived, {id, "", 0});
  run.frame(300, b, {}, {7, 100, 0, TraceEvent::kNone, 16, "lost: frame 1, loss"});
  EXPECT_EQ(cause(), "cable lost: what answers it: lost, loss");
}

TEST_F(StallTest, AnAnswerThatNeverCameIsNotGuessed) {
  const RequestId id = HandMadeRun::send(a, 1);
  fetched(100, id, a);
  run.event(200, b, TraceKind::kFrameReceived, {id, "", 0});
  EXPECT_THAT(cause(), HasSubstr("not recorded answer: a.0.1: b has it"));
}

TEST_F(StallTest, QueuePairsThatWaitForEachOther) {
  fetched(100, HandMadeRun::send(a, 1), a);
  fetched(200, HandMadeRun::send(b, 1), b);
  waits(300, a, "credit");
  waits(310, b, "credit");
  const why::Answer answer = run.answer(Symptom::kStalled);
  EXPECT_THAT(HandMadeRun::text_of(answer),
              HasSubstr("program circle: requests that wait for each other: a.0.1 again"));
  EXPECT_THAT(answer.chain.at(1).text,
              HasSubstr("b.0.1: it was fetched, and not cut, as its queue pair waits for credit"));
}

TEST_F(StallTest, OneOfSeveralPeersIsNotGuessed) {
  fetched(100, HandMadeRun::send(a, 1), a);
  fetched(200, HandMadeRun::send(b, 1), b);
  fetched(210, HandMadeRun::send(b, 1, 5), b);
  waits(300, a, "credit");
  waits(310, b, "credit");
  EXPECT_EQ(cause(), "not recorded turn: a.0.1: it was fetched, and not cut, as its queue pair waits for credit");
}

TEST_F(StallTest, AWaitThatIsOverIsNone) {
  fetched(100, HandMadeRun::send(a, 1), a);
  fetched(200, HandMadeRun::send(b, 1), b);
  waits(300, a, "credit");
  waits(305, a, "nothing");
  waits(310, b, "credit");
  EXPECT_EQ(cause(), "not recorded turn: a.0.1: it was fetched, and not cut");
}

TEST_F(StallTest, AMessageThatWasNeverSent) {
  run.event(100, b, TraceKind::kPosted, {HandMadeRun::receive(b, 3)});
  EXPECT_THAT(cause(), HasSubstr("program message: a message for b.rq0.3 was never sent"));
}

TEST_F(StallTest, EndsWithWhatTheRunSaidItself) {
  run.fact("waiting", "b.cpu waits for the final Send\na.tcp_tx waits for flow 0\n");
  const why::Answer answer = run.answer(Symptom::kStalled);
  ASSERT_EQ(answer.chain.size(), 2u);
  EXPECT_EQ(answer.chain[1].text, "a.tcp_tx waits for flow 0");
  EXPECT_EQ(answer.chain[1].ps, 10'000'000u);
}

TEST(TimeLimitTest, IsTheCauseIfRequestsStillCompleted) {
  for (const auto& [ns, caused] : {std::pair(8200u, true), std::pair(7900u, false)}) {
    HandMadeRun run;
    run.fact("end", "time limit");
    run.fact("sim_time_ps", "10000000");
    run.write(1, ns);
    EXPECT_EQ(run.cause(Symptom::kStalled).rfind("setting time: ", 0) == 0, caused) << ns;
  }
}

}  // namespace
}  // namespace rnic::test
