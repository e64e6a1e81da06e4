#include "model/common/link.h"

#include <numeric>
#include <tuple>

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<int> counting(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

class LinkTest : public StageTest {
 protected:
  Source<int> source{"source", clk};
  Sink<int> sink{"sink", clk};
  void join(Link<int>& link) {
    source.out(link);
    sink.in(link);
  }
};

TEST_F(LinkTest, ABeatIsVisibleLatencyCyclesLater) {
  Link<int> link("link", clk, {4, 3, 1});
  join(link);
  source.send_at(10, {1, 2, 3});
  run_until_idle();
  EXPECT_THAT(source.cycles(), ElementsAre(10, 11, 12));
  EXPECT_THAT(sink.cycles(), ElementsAre(13, 14, 15));
  EXPECT_THAT(sink, ElementsAre(1, 2, 3));
}

TEST_F(LinkTest, DepthOneMovesABeatPerRoundTrip) {
  Link<int> link("link", clk, {1, 1, 1});
  join(link);
  source.send({1, 2, 3});
  run_until_idle();
  EXPECT_THAT(source.cycles(), ElementsAre(0, 2, 4));
  EXPECT_THAT(sink.cycles(), ElementsAre(1, 3, 5));
}

TEST_F(LinkTest, CreditLatencyHoldsTheProducerBack) {
  Link<int> link("link", clk, {2, 1, 5});
  join(link);
  source.send({1, 2, 3, 4});
  run_until_idle();
  EXPECT_THAT(source.cycles(), ElementsAre(0, 1, 6, 7));  // popped at 1 and 2, credits back at 6 and 7
  EXPECT_THAT(sink.cycles(), ElementsAre(1, 2, 7, 8));
}

TEST_F(LinkTest, AStalledProducerIsCalledWhenTheCreditIsBackAndNotBefore) {
  Link<int> link("link", clk, {1, 1, 1});
  join(link);
  sink.pause(window(0, 50));
  source.send({1, 2});
  run_until_idle();
  EXPECT_THAT(source.cycles(), ElementsAre(0, 51));
  EXPECT_THAT(sink.cycles(), ElementsAre(50, 52));
}

struct Piece {
  int number = 0;
  bool first = false, last = false;
};
// The beats that a tap gets.
struct Told final : LinkTap {
  void filled(const void* beat, Cycle, Cycle) override { numbers.push_back(static_cast<const Piece*>(beat)->number); }
  std::vector<int> numbers;
};
struct Watching final : LinkObserver {
  void filled(const void* beat, Cycle, Cycle) override { numbers.push_back(static_cast<const Piece*>(beat)->number); }
  void reserved(Cycle, Cycle) override {}
  void popped(Cycle, Cycle) override {}
  void emptied(Cycle) override {}
  std::vector<int> numbers;
};

class LinkTaps : public StageTest {};

// Other beats are skipped, unless another observer needs them.
TEST_F(LinkTaps, ATapOfMessagesIsToldOfTheirLastBeats) {
  Link<Piece> link("link", clk, {8, 1, 1});
  Told messages, beats;
  Watching wave;
  const auto step = [&](int first) {
    link.reset();
    link.push_at({first, true, false}, 0);
    link.push_at({first + 1, false, true}, 1);
  };
  link.tap_messages(messages);
  step(10);
  EXPECT_THAT(messages.numbers, ElementsAre(11));
  link.observe(wave);
  step(20);
  EXPECT_THAT(wave.numbers, ElementsAre(20, 21));
  link.forget(wave);
  messages.numbers.clear();
  step(30);
  EXPECT_THAT(messages.numbers, ElementsAre(31));
  link.tap(beats);
  step(40);
  EXPECT_THAT(beats.numbers, ElementsAre(40, 41));
  EXPECT_THAT(wave.numbers, ElementsAre(20, 21));
}

TEST_F(LinkTest, AResetDropsWhatIsInFlightAndGivesAllCreditsBack) {
  Link<int> link("link", clk, {2, 5, 3});
  join(link);
  source.send_at(10, {1, 2, 3});
  sc_core::sc_start(sc_core::sc_time::from_value(13 * clk.period_ps()));
  EXPECT_EQ(link.used(), 2u);
  link.reset();
  EXPECT_TRUE(link.empty());
  EXPECT_TRUE(link.can_push());
  source.wake(clk.now() + 1);
  run_until_idle();
  EXPECT_THAT(sink, ElementsAre(3));
  EXPECT_EQ(sink.cycles()[0], source.cycles()[2] + 5);
}

TEST_F(LinkTest, PushWithoutCreditAndPopOfNothingAreBugs) {
  Link<int> link("link", clk, {1, 1, 1});
  link.push(1);
  EXPECT_FALSE(link.can_push());
  EXPECT_THAT([&] { link.push(2); }, ThrowsMessage<InternalError>(HasSubstr(": link: push without credit")));
  EXPECT_FALSE(link.can_pop());
  EXPECT_THAT([&] { link.pop(); }, ThrowsMessage<InternalError>(EndsWith(": link: pop of nothing")));
}

TEST_F(LinkTest, OneProducerAndOneConsumer) {
  Link<int> link("link", clk, {1, 1, 1});
  join(link);
  Sink<int> other{"other", clk};
  EXPECT_THROW(other.in(link), InternalError);
  Link<int> second("second", clk, {1, 1, 1});
  EXPECT_THROW(sink.in(second), InternalError);
}

TEST_F(LinkTest, LatencyZeroIsRefused) {
  EXPECT_THROW(Link<int>("l", clk, {1, 0, 1}), InternalError);
  EXPECT_THROW(Link<int>("l", clk, {1, 1, 0}), InternalError);
  EXPECT_THROW(Link<int>("l", clk, {0, 1, 1}), InternalError);
  EXPECT_THROW(Link<int>("l", clk, {1, 64, 1}), InternalError);
}

// A second, straightforward model of the same link, run cycle by cycle.
std::vector<Cycle> reference_pops(LinkConfig cfg, int beats, Pattern produce, Pattern consume) {
  std::deque<Cycle> visible_at, free_at(cfg.depth, 0);
  std::vector<Cycle> pops;
  int pushed = 0;
  for (Cycle c = 0; pops.size() < static_cast<std::size_t>(beats); ++c) {
    const bool can_push = !free_at.empty() && free_at.front() <= c;
    const bool can_pop = !visible_at.empty() && visible_at.front() <= c;
    if (can_pop && !consume.pauses(c)) {
      visible_at.pop_front();
      free_at.push_back(c + cfg.credit_latency);
      pops.push_back(c);
    }
    if (can_push && pushed < beats && !produce.pauses(c)) {
      free_at.pop_front();
      visible_at.push_back(c + cfg.latency);
      ++pushed;
    }
  }
  return pops;
}

TEST_F(LinkTest, AnEndInTheAirIsNamedBeforeTheRunBegins) {
  Link<int> link("link", clk, {1, 1, 1});
  source.out(link);
  try {
    run_until_idle();
    FAIL() << "nobody noticed";
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("sink.in is not bound"));
  }
}

// Pushes twice in a cycle whenever the link lets it.
class Greedy final : public Stage {
 public:
  PushPort<int> out{*this, "out"};
  Greedy(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  int sent = 0;
  std::vector<bool> second;
  Wake tick() override {
    if (sent == 3 || !out->can_push()) return Wake::on_traffic();
    out->push(sent++);
    second.push_back(out->can_push());
    return Wake::on_traffic();
  }
};

TEST_F(LinkTest, CarriesOneBeatACycleAndCallsWhoWantsToPushMore) {
  Link<int> link("link", clk, {8, 1, 1}), unused("unused", clk, {1, 1, 1});
  source.out(unused);
  Greedy greedy("greedy", clk);
  greedy.out(link);
  sink.in(link);
  greedy.wake(5);
  run_until_idle();
  EXPECT_EQ(greedy.second, std::vector<bool>(3, false));
  EXPECT_THAT(sink.cycles(), testing::ElementsAre(6, 7, 8));
}

using Shape = std::tuple<LinkConfig, Pattern, Pattern>;
class LinkShapes : public LinkTest, public testing::WithParamInterface<Shape> {};

TEST_P(LinkShapes, LosesNothingReordersNothingAndKeepsEveryCycle) {
  const auto& [cfg, produce, consume] = GetParam();
  Link<int> link("link", clk, cfg);
  join(link);
  source.pause(produce);
  sink.pause(consume);
  source.send(counting(500));
  run_until_idle();
  EXPECT_EQ(sink.messages(), counting(500));
  EXPECT_EQ(sink.cycles(), reference_pops(cfg, 500, produce, consume));
  EXPECT_TRUE(link.empty());
}

TEST_P(LinkShapes, ShuffledCallOrderGivesTheSameCycles) {
  const auto& [cfg, produce, consume] = GetParam();
  clk.shuffle(4711);
  Link<int> link("link", clk, cfg);
  join(link);
  source.pause(produce);
  sink.pause(consume);
  source.send(counting(500));
  run_until_idle();
  EXPECT_EQ(sink.cycles(), reference_pops(cfg, 500, produce, consume));
}

INSTANTIATE_TEST_SUITE_P(Depths, LinkShapes,
                         testing::Combine(testing::Values(LinkConfig{1, 1, 1}, LinkConfig{2, 1, 1}, LinkConfig{3, 4, 2},
                                                          LinkConfig{8, 4, 4}, LinkConfig{16, 63, 63}),
                                          testing::Values(Pattern{}, every(4, 1), at_random(1, 50)),
                                          testing::Values(Pattern{}, every(4, 3), at_random(2, 50), window(20, 200))));

}  // namespace
}  // namespace rnic::test
