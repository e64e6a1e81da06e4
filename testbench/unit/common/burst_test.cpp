// Stages that run ahead move every beat in the same cycle as if called for it.
#include <deque>
#include <memory>
#include <numeric>
#include <tuple>

#include "model/common/beat_stage.h"
#include "model/common/prng.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// One beat a cycle, as in crc_insert.
class Relay final : public Passes<int, Relay> {
 public:
  Relay(sc_core::sc_module_name nm, ClockDomain& clk) : Passes(nm, clk) {}
  void on(int) {}
  void forget() {}
};

struct Moves final : LinkObserver {
  explicit Moves(LinkBase& link) { link.observe(*this); }
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

// ---- Runs

// A message of some words, several of which can form a run.
struct Word {
  std::uint32_t number = 0;
  bool first = false, last = false;
  void advance(unsigned words) {
    number += words;
    first = false;
  }
  static constexpr const char* kMessage = "word";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("number", 32, m.number);
    v("first", 1, m.first);
    v("last", 1, m.last);
  }
};

// Sends messages of these lengths, a word a cycle, as mpa_framer does. With marks, each word whose number is a multiple
// of `marks` travels alone, like mpa_deframer's beats with a marker.
class Cutter final : public Stage {
 public:
  PushPort<Word> out{*this, "out"};
  Cutter(sc_core::sc_module_name nm, ClockDomain& clk, std::vector<unsigned> lengths, unsigned marks)
      : Stage(nm, clk), lengths_(std::move(lengths)), marks_(marks) {
    wake(0);
  }
  Wake tick() override {
    Burst to(*out);
    const Wake wake = cut(to);
    to.finish();
    return wake;
  }

 private:
  Wake cut(Burst<Word>& to) {
    while (message_ != lengths_.size()) {
      const Cycle at = std::max(to.credit_at(), next_);
      if (at > horizon()) return Wake::at_cycle(at);
      const unsigned left = lengths_[message_] - sent_;
      const Word word{number_, sent_ == 0, left == 1};
      const unsigned words = word.last ? 1 : to.room(word, at, std::min(left - 1, to_mark()), horizon());
      to.push(word, at, words);
      number_ += words;
      next_ = at + words;
      sent_ = word.last ? 0 : sent_ + words;
      message_ += word.last;
    }
    return Wake::on_traffic();
  }
  unsigned to_mark() const { return marks_ == 0 ? ~0u : number_ % marks_ == 0 ? 1 : marks_ - number_ % marks_; }

  const std::vector<unsigned> lengths_;
  const unsigned marks_;
  std::size_t message_ = 0;
  unsigned sent_ = 0;
  std::uint32_t number_ = 0;
  Cycle next_ = 0;
};

class WordRelay final : public Passes<Word, WordRelay> {
 public:
  WordRelay(sc_core::sc_module_name nm, ClockDomain& clk) : Passes(nm, clk) {}
  void on(const Word&) { ++calls; }
  void forget() {}
  unsigned calls = 0;
};

// Refuses at most a message's last word, as tcp_tx does.
class WordIn final : public Collects<Word, WordIn> {
 public:
  using Collects::Collects;
  void on_run(const Word& first, unsigned words) {
    for (unsigned i = 0; i < words; ++i) taken.emplace_back(beat_at() + i, first.number + i);
  }
  std::vector<std::pair<Cycle, std::uint32_t>> taken;
};
class Collector final : public Stage {
 public:
  WordIn in{*this, "in"};
  Collector(sc_core::sc_module_name nm, ClockDomain& clk, const Pattern& pattern) : Stage(nm, clk), pattern_(pattern) {}
  std::vector<std::pair<Cycle, std::uint32_t>>& taken = in.taken;
  Wake tick() override {
    in.collect(now());
    if (in.beat_at() <= now() && !pattern_.pauses(now())) {
      RNIC_CHECK(in->front().last);
      taken.emplace_back(now(), in.take_last().number);
    }
    in.collect(horizon());
    if (in->empty()) return Wake::on_traffic();
    return Wake::at_cycle(std::max(in.beat_at(), now() + 1));
  }

 private:
  const Pattern pattern_;
};

struct WordChain {
  WordChain(ClockDomain& clk, const std::string& name, const std::vector<LinkConfig>& links,
            const std::vector<unsigned>& lengths, const Pattern& pattern, unsigned marks = 0)
      : cutter((name + "_cutter").c_str(), clk, lengths, marks),
        collector((name + "_collector").c_str(), clk, pattern) {
    PushPort<Word>* from = &cutter.out;
    for (std::size_t i = 0; i + 1 < links.size(); ++i) {
      relays.push_back(std::make_unique<WordRelay>((name + "_relay" + std::to_string(i)).c_str(), clk));
      net.connect(*from, relays.back()->in, name + std::to_string(i), links[i]);
      from = &relays.back()->out;
    }
    net.connect(*from, collector.in, name + "_last", links.back());
  }
  Cutter cutter;
  Collector collector;
  Netlist net{"net", cutter.clock()};
  std::vector<std::unique_ptr<WordRelay>> relays;
};

// A whole message at once if nothing is in its way.
TEST_F(BurstTest, ARunPassesInOneCall) {
  WordChain chain(clk, "ahead", {LinkConfig::pipeline(1), LinkConfig::pipeline(4)}, {100}, {});
  run_until_idle();
  ASSERT_EQ(chain.collector.taken.size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(chain.collector.taken[i], std::pair(Cycle{5} + i, i));
  EXPECT_EQ(chain.relays[0]->calls, 2u);  // the run, and the last word
}

using RunShape = std::tuple<std::vector<LinkConfig>, Pattern, unsigned, unsigned>;
class RunShapes : public BurstTest, public testing::WithParamInterface<RunShape> {};

TEST_P(RunShapes, EveryWordIsTakenInTheCycleOfTheCalendar) {
  const auto& [links, pattern, longest, marks] = GetParam();
  Prng prng(longest);
  std::vector<unsigned> lengths(300);
  for (unsigned& length : lengths) length = static_cast<unsigned>(prng.between(1, longest));
  WordChain ahead(clk, "ahead", links, lengths, pattern, marks),
      stepped(stepped_clk, "stepped", links, lengths, pattern, marks);
  std::vector<std::unique_ptr<Moves>> moves;  // on every second link, as nothing may depend on it
  for (std::size_t i = 0; i < links.size(); i += 2) {
    for (const WordChain* chain : {&ahead, &stepped}) moves.push_back(std::make_unique<Moves>(*chain->net.links()[i]));
  }
  run_until_idle();
  for (std::size_t i = 0; i < moves.size(); i += 2) {
    EXPECT_EQ(moves[i]->pushes, moves[i + 1]->pushes);
    EXPECT_EQ(moves[i]->visible, moves[i + 1]->visible);
    EXPECT_EQ(moves[i]->pops, moves[i + 1]->pops);
  }
  EXPECT_EQ(ahead.collector.taken.size(), std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  EXPECT_EQ(ahead.collector.taken, stepped.collector.taken);
}

INSTANTIATE_TEST_SUITE_P(
    Links, RunShapes,
    testing::Combine(testing::Values(std::vector<LinkConfig>(4, LinkConfig::pipeline(1)),
                                     std::vector{LinkConfig::pipeline(1), LinkConfig::pipeline(1),
                                                 LinkConfig::pipeline(4)},
                                     std::vector{LinkConfig{2, 1, 1}, LinkConfig{1, 1, 1}, LinkConfig{2, 1, 1}},
                                     std::vector{LinkConfig{8, 4, 4}, LinkConfig{7, 4, 4}, LinkConfig{9, 1, 3}}),
                     testing::Values(Pattern{}, every(4, 3), at_random(2, 50), at_random(3, 5), window(20, 200)),
                     testing::Values(2u, 30u, 200u), testing::Values(0u, 3u, 5u, 9u)));

// ---- Credits

// A second, straightforward model: when each free slot can be taken.
TEST(CreditsTest, AreThoseOfSlotBySlot) {
  for (const unsigned depth : {1u, 2u, 5u, 16u}) {
    Prng prng(depth);
    Credits credits(depth);
    std::deque<Cycle> slots(depth, 0);
    Cycle next_take = 0, next_give = 0;
    for (int step = 0; step < 5000; ++step) {
      if (slots.size() < depth && prng.between(0, 1) == 0) {
        const auto n = static_cast<unsigned>(prng.between(1, depth - slots.size()));
        next_give = std::max(next_give, next_take) + prng.between(0, 3);
        credits.give(next_give, n);
        for (unsigned i = 0; i < n; ++i) slots.push_back(next_give + i);
        next_give += n;
      } else if (!slots.empty()) {
        const Cycle at = std::max(next_take, slots.front()) + prng.between(0, 2);
        unsigned in_row = 0;
        while (in_row < slots.size() && slots[in_row] <= at + in_row) ++in_row;
        EXPECT_EQ(credits.in_row(at), in_row);
        const auto n = static_cast<unsigned>(prng.between(1, in_row));
        credits.take(n);
        slots.erase(slots.begin(), slots.begin() + n);
        next_take = at + n;
      }
      ASSERT_EQ(credits.empty(), slots.empty());
      if (!slots.empty()) {
        ASSERT_EQ(std::max(credits.first(), next_take), std::max(slots.front(), next_take));
      }
    }
  }
}

}  // namespace
}  // namespace rnic::test
