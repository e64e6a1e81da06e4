#include "model/why/cable_summary.h"
#include "testbench/unit/why/hand_made_run.h"

namespace rnic::test {
namespace {

using testing::HasSubstr;
using why::Symptom;

class LimitTest : public testing::Test {
 protected:
  HandMadeRun run;
  void limit(const char* name, const char* where) {
    run.fact("bottleneck", std::string("bottleneck: ") + name);
    run.fact("bottleneck.name", name);
    run.fact("bottleneck.where", where);
  }
  // From its cut to its completion.
  void read(std::uint32_t n, std::uint64_t from_ns, std::uint64_t to_ns, std::uint32_t bytes) {
    const RequestId id = HandMadeRun::send(a, n);
    run.event(from_ns - 20, a, TraceKind::kPosted, {id});
    run.event(from_ns - 10, a, TraceKind::kWqeFetched, {id, "read"});
    run.event(from_ns, a, TraceKind::kSegmented, {id, "", 0});
    run.event(to_ns, a, TraceKind::kCompleted, {id, "", TraceEvent::kNone, bytes});
    run.event(to_ns, a, TraceKind::kPolled, {id});
  }
};

TEST_F(LimitTest, AWireIsNoCause) {
  limit("wire a to b", "");
  const why::Answer answer = run.answer(Symptom::kThroughput);
  EXPECT_FALSE(answer.cause);
  EXPECT_EQ(answer.text, "bottleneck: wire a to b");
}

// Two at a time, each 1,000 octets in 500 ns: 32 Gb/s. Measured: 4,000 octets in 1,020 ns.
TEST_F(LimitTest, ReadsThatWereOutTimesTheirSizeByTheirTime) {
  limit("ORD", "node a");
  read(1, 1000, 1500, 1000);
  read(2, 1000, 1500, 1000);
  read(3, 1500, 2000, 1000);
  read(4, 1500, 2000, 1000);
  const why::Answer answer = run.answer(Symptom::kThroughput);
  EXPECT_EQ(HandMadeRun::text_of(answer),
            "setting ORD: ORD: 2 Reads x 1000 octets / 0.500 us of one = 32.00 Gb/s at most, measured 31.37 Gb/s");
  EXPECT_EQ(answer.cause->setting, "connections.*.ord");
}

// 1,000 octets in each 780 ns from the segmenter to the acknowledgement: 10.26 Gb/s.
TEST_F(LimitTest, TheWindowByItsRoundTrip) {
  limit("TCP window", "node a");
  run.setting("b", "rnic.tcp.window_bytes", 1000);
  for (std::uint32_t n = 1; n < 4; ++n) run.write(n, 1000 * n);
  const why::Answer answer = run.answer(Symptom::kThroughput);
  EXPECT_EQ(
      HandMadeRun::text_of(answer),
      "setting TCP window: TCP window: window of 1000 octets / 0.780 us from the segmenter to the acknowledgement = "
      "10.26 Gb/s at most, measured 0.80 Gb/s");
  EXPECT_EQ(answer.cause->setting, "nodes.b.rnic.tcp.window_bytes");
}

TEST_F(LimitTest, ASettingIsThatOfTheNodeThatIsNamed) {
  limit("receive datapath, b", "");
  EXPECT_EQ(run.answer(Symptom::kThroughput).cause->setting, "nodes.b.rnic.datapath.beat_bytes");
}

TEST_F(LimitTest, ALongerNameComesBeforeTheShorterOneThatItBeginsWith) {
  limit("requests outstanding", "node a");
  EXPECT_EQ(run.answer(Symptom::kThroughput).cause->setting, "nodes.a.rnic.tx.rdmap_segmenter.outstanding");
}

TEST_F(LimitTest, ACacheByTheFirstWordOfItsName) {
  limit("STag cache misses", "node b");
  EXPECT_EQ(run.answer(Symptom::kThroughput).cause->setting, "nodes.b.rnic.context.cache.stag.misses_in_flight");
}

TEST_F(LimitTest, ANameThatNobodyKnowsIsSaid) {
  limit("flux capacitor", "node a");
  EXPECT_THAT(run.cause(Symptom::kThroughput), HasSubstr("not recorded bottleneck: "));
}

TEST_F(LimitTest, LossesByTheFirstThatWasSentAgain) {
  limit("losses", "node a");
  const RequestId id = HandMadeRun::send(a, 1);
  run.frame(1000, a, id, {100, 7, 100, 0, 16, "lost: frame 1, loss"});
  run.event(1200, a, TraceKind::kRetransmitted, {id, "fast", 0});
  run.frame(1300, a, id, {100, 7, 100, 0});
  const why::Answer answer = run.answer(Symptom::kThroughput);
  EXPECT_EQ(HandMadeRun::text_of(answer), "cable lost: the first of 1 that were sent again: lost, loss");
  EXPECT_EQ(answer.cause->frame, 1u);
}

TEST(CableSummaryTest, CountsByDirectionKindAndSetting) {
  HandMadeRun run;
  const auto at = [](const char* where, const char* words) {
    return At{{}, words, TraceEvent::kNone, TraceEvent::kNone, where};
  };
  run.event(100, a, TraceKind::kLost, at("cable.a_to_b", "frame 1, loss"));
  run.event(200, a, TraceKind::kLost, at("cable.a_to_b", "frame 2, down_us"));
  run.event(300, a, TraceKind::kLost, at("cable.a_to_b", "frame 3, loss"));
  run.event(400, b, TraceKind::kCorrupted, at("cable.b_to_a", "frame 1, corrupt: bit 3 of octet 20"));
  run.event(500, b, TraceKind::kInjected, at("cable.b_to_a", "frame 2, invalid_stag"));
  run.event(600, a, TraceKind::kLost, at("elsewhere", "frame 3, loss"));
  EXPECT_EQ(text_of(*run.explain().cable),
            "cable: a to b: 1 lost (down_us), 2 lost (loss); b to a: 1 corrupted (corrupt), 1 injected (inject)");
}

TEST(CableSummaryTest, SaysThatItDidNothing) {
  HandMadeRun run;
  EXPECT_EQ(text_of(*run.explain().cable), "cable: delivered every frame as it was sent");
}

}  // namespace
}  // namespace rnic::test
