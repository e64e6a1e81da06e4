// Stages that run ahead move every beat in the cycle in which they would have been called for it.
#include "model/common/burst.h"

#include <memory>
#include <tuple>

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// A beat a cycle, as crc_insert does.
class Relay final : public Stage, public RunsAhead {
 public:
  PopPort<int> in{*this, "in"};
  PushPort<int> out{*this, "out"};
  Relay(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  void run_ahead() override { tick(); }
  Wake tick() override {
    return for_each_beat(*in, *out, next_, horizon(), [](int) {});
  }

 private:
  Cycle next_ = 0;
};

struct Moves final : LinkObserver {
  explicit Moves(Link<int>& link) { link.observe(*this); }
  std::vector<Cycle> pushes, visible, pops;
  void reserved(Cycle now, Cycle) override { pushes.push_back(now); }
  void filled(const void*, Cycle, Cycle at) override { visible.push_back(at); }
  void popped(Cycle now, Cycle) override { pops.push_back(now); }
  void emptied(Cycle) override {}
};

// Source, three relays, sink.
struct Chain {
  static constexpr std::size_t kRelays = 3;
  Chain(ClockDomain& clk, const std::string& name, const LinkConfig& cfg, const Pattern& produce,
        const Pattern& consume)
      : source((name + "_source").c_str(), clk), sink((name + "_sink").c_str(), clk) {
    for (std::size_t i = 0; i <= kRelays; ++i) {
      links.push_back(std::make_unique<Link<int>>(name + std::to_string(i), clk, cfg));
      moves.push_back(std::make_unique<Moves>(*links[i]));
    }
    for (std::size_t i = 0; i < kRelays; ++i) {
      relays.push_back(std::make_unique<Relay>((name + "_relay" + std::to_string(i)).c_str(), clk));
      relays[i]->in(*links[i]);
      relays[i]->out(*links[i + 1]);
    }
    source.out(*links.front());
    sink.in(*links.back());
    source.pause(produce);
    sink.pause(consume);
  }
  Source<int> source;
  Sink<int> sink;
  std::vector<std::unique_ptr<Link<int>>> links;
  std::vector<std::unique_ptr<Moves>> moves;
  std::vector<std::unique_ptr<Relay>> relays;
};

std::vector<int> counting(int n) {
  std::vector<int> beats(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) beats[static_cast<std::size_t>(i)] = i;
  return beats;
}

class BurstTest : public StageTest {
 protected:
  ClockDomain stepped_clk{"stepped_clk", {4000, 1, false}};
};

TEST_F(BurstTest, OneCallMovesWhatTheStampsAllow) {
  Chain chain(clk, "ahead", {2, 1, 1}, {}, {});
  chain.source.send(counting(4));
  run_until_idle();
  EXPECT_THAT(chain.moves[1]->pushes, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(chain.moves[3]->pushes, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(chain.sink.cycles(), ElementsAre(4, 5, 6, 7));
}

using Shape = std::tuple<LinkConfig, Pattern, Pattern>;
class BurstShapes : public BurstTest, public testing::WithParamInterface<Shape> {};

TEST_P(BurstShapes, EveryMoveOfEveryLinkIsInTheCycleOfTheCalendar) {
  const auto& [cfg, produce, consume] = GetParam();
  Chain ahead(clk, "ahead", cfg, produce, consume), stepped(stepped_clk, "stepped", cfg, produce, consume);
  for (Chain* chain : {&ahead, &stepped}) chain->source.send(counting(500));
  run_until_idle();
  EXPECT_EQ(ahead.sink.messages(), counting(500));
  EXPECT_EQ(ahead.sink.cycles(), stepped.sink.cycles());
  EXPECT_EQ(ahead.source.cycles(), stepped.source.cycles());
  for (std::size_t i = 0; i <= Chain::kRelays; ++i) {
    EXPECT_EQ(ahead.moves[i]->pushes, stepped.moves[i]->pushes) << "link " << i;
    EXPECT_EQ(ahead.moves[i]->visible, stepped.moves[i]->visible) << "link " << i;
    EXPECT_EQ(ahead.moves[i]->pops, stepped.moves[i]->pops) << "link " << i;
    EXPECT_TRUE(ahead.links[i]->empty());
  }
  EXPECT_LE(clk.activity().ticks, stepped_clk.activity().ticks);
}

INSTANTIATE_TEST_SUITE_P(Depths, BurstShapes,
                         testing::Combine(testing::Values(LinkConfig{1, 1, 1}, LinkConfig{2, 1, 1}, LinkConfig{3, 4, 2},
                                                          LinkConfig{8, 4, 4}, LinkConfig{16, 63, 63}),
                                          testing::Values(Pattern{}, every(4, 1), at_random(1, 50)),
                                          testing::Values(Pattern{}, every(4, 3), at_random(2, 50), window(20, 200))));

}  // namespace
}  // namespace rnic::test
