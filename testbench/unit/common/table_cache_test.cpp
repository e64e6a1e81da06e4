// A table whose rows have a home elsewhere.
#include <deque>
#include <map>
#include <memory>

#include "model/common/prng.h"
#include "model/common/table.h"
#include "testbench/support/cache_reference.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  std::uint32_t value = 0;
  static constexpr const char* kMessage = "row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("value", 32, m.value);
  }
};
using Rows = Table<Row>;

constexpr std::uint32_t kRows = 64;
constexpr Cycle kHome = 50;   // from a miss at the home to its row
constexpr Cycle kMissed = 1;  // from the end of a read's grant to the home
constexpr TableConfig kTable{2, 1, 1};
constexpr std::uint32_t content(std::uint32_t index) { return 1000 + index; }

struct Ask {
  Cycle from;
  std::uint32_t index;
  Cycle stall = 0;
};
struct Use {
  Cycle at;
  std::uint32_t index;
  bool ok;
  std::uint32_t value;
};

class Client final : public Stage {
 public:
  Client(sc_core::sc_module_name nm, ClockDomain& clk, Rows& rows, std::vector<Ask> asks, RowOrder order)
      : Stage(nm, clk), reader(*this, "reader", 0, order), plan(std::move(asks)) {
    rows.bind(reader);
    wake(0);
  }
  Rows::Reader reader;
  const std::vector<Ask> plan;
  std::vector<Use> uses;
  std::size_t asked = 0;

  std::vector<Cycle> used() const {
    std::vector<Cycle> cycles;
    for (const Use& u : uses) cycles.push_back(u.at);
    return cycles;
  }
  Wake tick() override {
    Cycle again = kNever;
    if (reader.can_use()) {
      const Cycle due = std::max(reader.row_at(), free_from_) + plan[uses.size()].stall;
      if (due <= now()) {
        uses.push_back({now(), reader.front().index, reader.ok(), reader.ok() ? reader.row().value : 0});
        reader.drop();
        free_from_ = again = now() + 1;
      } else {
        again = due;
      }
    }
    if (asked == plan.size()) return Wake::at_cycle(again);
    if (plan[asked].from > now()) return Wake::at_cycle(std::min(again, plan[asked].from));
    if (reader.can_ask()) reader.ask(plan[asked++].index), again = now() + 1;
    return Wake::at_cycle(again);
  }

 private:
  Cycle free_from_ = 0;
};

// Answers each miss after a fixed time.
class Home final : public Stage {
 public:
  Home(sc_core::sc_module_name nm, ClockDomain& clk, Rows& rows) : Stage(nm, clk), rows_(rows) {
    rows.cache().connect_home(misses);
  }
  PopPort<TableMiss> misses{*this, "misses"};
  std::map<std::uint32_t, std::uint32_t> changed;  // what is not content()
  std::vector<std::uint32_t> lost;                 // indexes that fail, once each
  std::vector<std::pair<Cycle, std::uint32_t>> seen;
  unsigned most = 0;

  Wake tick() override {
    if (misses->can_pop()) {
      const TableMiss miss = misses->pop();
      seen.emplace_back(now(), miss.index);
      due_.push_back({now() + kHome, miss});
      most = std::max(most, static_cast<unsigned>(due_.size()));
    }
    while (!due_.empty() && due_.front().first <= now()) {
      const TableMiss miss = due_.front().second;
      due_.pop_front();
      const auto bad = std::find(lost.begin(), lost.end(), miss.index);
      const auto other = changed.find(miss.index);
      const Row row{other == changed.end() ? content(miss.index) : other->second};
      if (bad == lost.end()) rows_.fill(miss, row);
      rows_.cache().arrived(miss, bad == lost.end());
      if (bad != lost.end()) lost.erase(bad);
    }
    return due_.empty() ? Wake::on_traffic() : Wake::at_cycle(due_.front().first);
  }

 private:
  Rows& rows_;
  std::deque<std::pair<Cycle, TableMiss>> due_;
};

struct CacheBench {
  CacheBench(const CacheConfig& config, const std::vector<std::vector<Ask>>& plans, std::uint64_t shuffle = 0,
             const TableConfig& table = kTable, RowOrder order = RowOrder::kAsAsked)
      : clk(sc_core::sc_gen_unique_name("clock"), {}), rows("rows", clk, kRows, table, config) {
    if (shuffle != 0) clk.shuffle(shuffle);
    home = std::make_unique<Home>(sc_core::sc_gen_unique_name("home"), clk, rows);
    for (const std::vector<Ask>& plan : plans) {
      clients.push_back(std::make_unique<Client>(sc_core::sc_gen_unique_name("client"), clk, rows, plan, order));
    }
  }
  Client& operator[](std::size_t i) { return *clients[i]; }
  const CacheCounters& counters() const { return rows.cache().counters(); }

  ClockDomain clk;
  Rows rows;
  std::unique_ptr<Home> home;
  std::vector<std::unique_ptr<Client>> clients;
};

class TableCache : public StageTest {
 protected:
  void run_to(Cycle cycle) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycle * clk.period_ps() - 1) - sc_core::sc_time_stamp());
  }
  std::vector<std::unique_ptr<CacheBench>> benches_;
  std::vector<std::unique_ptr<Stage>> stages_;
  const CacheConfig small{8, 2, CachePolicy::kLru, 2, 1};
  const Cycle hit = kTable.read_cycles + small.tag_cycles;
  const Cycle miss = kMissed + kHome + hit;
};

TEST_F(TableCache, AHitCostsTheTagsAndAMissTheWayToTheHome) {
  CacheBench bench(small, {{{10, 3}, {200, 3}}});
  run_until_idle();
  EXPECT_THAT(bench[0].used(), ElementsAre(10 + miss, 200 + hit));
  EXPECT_EQ(bench[0].uses[0].value, content(3));
  EXPECT_EQ(bench[0].uses[1].value, content(3));
  EXPECT_EQ(bench.counters().hits, 1u);
  EXPECT_EQ(bench.counters().misses, 1u);
}

TEST_F(TableCache, AsManyEntriesAsRowsAreNoCache) {
  const CacheConfig all{kRows, 4, CachePolicy::kLru, 2, 1};
  Rows rows("all", clk, kRows, kTable, all);
  EXPECT_FALSE(rows.cached());
}

TEST_F(TableCache, ReadsUnderAMissPassOfOtherReadersAndWaitInOrderOfItsOwn) {
  CacheBench bench(small, {{{10, 3}}, {{100, 5}, {101, 3}}, {{100, 3}}});
  run_until_idle();
  EXPECT_THAT(bench[2].used(), ElementsAre(101 + hit)) << "the port was the other one's in cycle 100";
  EXPECT_THAT(bench[1].used(), ElementsAre(100 + miss, 100 + miss + 1));
}

// Two misses, and hits between them: those of one row keep their order.
TEST_F(TableCache, RowsThatComeInAnyOrderPassTheMissesOfTheirReader) {
  CacheBench bench(small, {{{10, 5}, {100, 3}, {101, 5}, {102, 4}, {103, 3}, {104, 5}}}, 0, kTable,
                   RowOrder::kAsTheyCome);
  run_until_idle();
  const Client& client = bench[0];
  std::vector<std::uint32_t> order;
  for (const Use& use : client.uses) order.push_back(use.index);
  EXPECT_THAT(order, ElementsAre(5, 5, 5, 3, 3, 4));
  EXPECT_THAT(client.used(), ElementsAre(10 + miss, 101 + hit, 104 + hit, 100 + miss, 101 + miss, 102 + miss));
  for (const Use& use : client.uses) EXPECT_EQ(use.value, content(use.index));
}
TEST_F(TableCache, ARowThatIsNotThereAtAllPassesToo) {
  CacheBench bench(small, {{{100, 3}, {101, kRows}}}, 0, kTable, RowOrder::kAsTheyCome);
  run_until_idle();
  EXPECT_THAT(bench[0].used(), ElementsAre(101 + hit, 100 + miss));
  EXPECT_FALSE(bench[0].uses[0].ok);
}

TEST_F(TableCache, ARowThatIsFetchedIsFetchedOnce) {
  CacheBench bench(small, {{{10, 3}}, {{12, 3}}, {{20, 3}, {21, 3}}});
  run_until_idle();
  EXPECT_THAT(bench.home->seen, ElementsAre(std::pair<Cycle, std::uint32_t>(10 + kMissed, 3)));
  for (std::size_t reader = 0; reader < 3; ++reader) EXPECT_EQ(bench[reader].used()[0], 10 + miss);
  EXPECT_EQ(bench[2].used()[1], 10 + miss + 1);
  EXPECT_EQ(bench.counters().joined, 3u);
}

TEST_F(TableCache, AsManyMissesAsMayBeInFlightOverlapAndTheNextOneWaits) {
  CacheBench bench(small, {{{10, 1}, {10, 2}, {10, 3}, {10, 4}}});
  run_until_idle();
  const Cycle second = 10 + miss + (miss - hit);  // the third was refused until the first one's row came
  EXPECT_THAT(bench[0].used(), ElementsAre(10 + miss, 11 + miss, second, second + 1));
  EXPECT_EQ(bench.home->most, small.misses_in_flight);
  EXPECT_EQ(bench.counters().waits, 1u);
}

// A reader that has other rows to use first waits: until a way is free, or until it has used them.
TEST_F(TableCache, AReadAheadThatFindsAllWaysOfItsSetPinnedWaits) {
  CacheBench bench({8, 2, CachePolicy::kLru, 4, 1},
                   {{{10, 0, 500}}, {{10, 4, 300}}, {{100, 1, 400}, {100, 8}, {100, 2}}, {{100, 1}, {101, 12}}});
  run_until_idle();
  const Cycle unpinned = 11 + miss + 300;
  EXPECT_EQ(bench[1].used()[0], unpinned);
  EXPECT_EQ(bench[2].used()[0], 100 + miss + 400);
  EXPECT_EQ(bench[2].used()[1], 100 + miss + 401) << "it came at the end of the pin, but in order";
  EXPECT_EQ(bench[3].used()[1], 100 + miss + miss) << "in a spare place, when the first one was used";
  EXPECT_EQ(bench.counters().evictions, 1u);
  EXPECT_EQ(bench.counters().waits, 2u);
}
// There is a spare place for each reader: none waits for the pins of another one.
TEST_F(TableCache, TheNextRowOfAReaderFindsASparePlace) {
  const Cycle long_time = 5000;
  CacheBench bench({1, 1, CachePolicy::kLru, 8, 1}, {{{10, 0, long_time}},
                                                     {{10, 1, long_time}},
                                                     {{10, 2, long_time}},
                                                     {{100, 3}, {300, 1}, {500, 3}, {700, 4}, {900, 5}}});
  run_until_idle();
  for (std::uint32_t n = 0; n < 3; ++n) EXPECT_EQ(bench[n].used()[0], 10 + n + miss + long_time);
  EXPECT_THAT(bench[3].used(), ElementsAre(100 + miss, 300 + hit, 500 + hit, 700 + miss, 900 + miss));
  EXPECT_EQ(bench.counters().evictions, 1u) << "3 for 5";
}
// Two readers miss a row in one cycle, and the second one asks again before it has told the home.
TEST_F(TableCache, ReadersThatMissInOneCycleTellTheHomeOneAfterTheOther) {
  CacheBench bench(small, {{{100, 1}}, {{100, 2}, {101, 5}, {300, 2}}}, 0, {2, 2, 1});
  run_until_idle();
  EXPECT_THAT(bench.home->seen, ElementsAre(std::pair<Cycle, std::uint32_t>(100 + kMissed, 1),
                                            std::pair<Cycle, std::uint32_t>(101 + kMissed, 2),
                                            std::pair<Cycle, std::uint32_t>(100 + kMissed + kHome + 1, 5)));
  EXPECT_EQ(bench[0].used()[0], 100 + miss);
  EXPECT_THAT(bench[1].used(), ElementsAre(101 + miss, 100 + kHome + miss + 1, 300 + hit));
  EXPECT_EQ(bench.counters().lookups(), 4u);
}
// A row that is kept is not one that its reader has to use first.
TEST_F(TableCache, TheRowAfterOneThatIsKeptFindsASparePlace) {
  struct Keeper final : Stage {
    Keeper(sc_core::sc_module_name nm, ClockDomain& clk, Rows& rows) : Stage(nm, clk) {
      rows.bind(reader);
      wake(0);
    }
    Rows::Reader reader{*this, "reader", 0, RowOrder::kAsAsked, 2};
    std::uint32_t asked = 0;
    std::vector<Cycle> kept;
    Wake tick() override {
      if (asked < 3 && reader.can_ask()) reader.ask(asked++);
      if (!reader.can_use()) return asked < 3 ? Wake::next_cycle() : Wake::on_traffic();
      kept.push_back(now());
      if (kept.size() < 3) reader.keep();
      else reader.drop();
      return Wake::next_cycle();
    }
  };
  auto bench =
      std::make_unique<CacheBench>(CacheConfig{1, 1, CachePolicy::kLru, 2, 1}, std::vector<std::vector<Ask>>{});
  auto keeper = std::make_unique<Keeper>(sc_core::sc_gen_unique_name("keeper"), bench->clk, bench->rows);
  const std::vector<Cycle>& kept = keeper->kept;
  benches_.push_back(std::move(bench));
  stages_.push_back(std::move(keeper));
  run_until_idle();
  EXPECT_THAT(kept, ElementsAre(miss, miss + miss, miss + miss + miss));
}
// Two stages that each hold a row of one reader while they wait for one of another: in every order, also with one way.
TEST_F(TableCache, ARowThatIsHeldForAnotherOneNeverBlocks) {
  struct Pair final : Stage {
    Pair(sc_core::sc_module_name nm, ClockDomain& clk, Rows& rows, std::uint64_t seed) : Stage(nm, clk), random(seed) {
      rows.bind(first);
      rows.bind(second);
      wake(0);
    }
    Rows::Reader first{*this, "first"}, second{*this, "second"};
    Prng random;
    unsigned asked = 0, used = 0;
    bool behind = false;  // the second row is asked for when the first one is there
    Wake tick() override {
      if (asked < 2000 && first.can_ask()) first.ask(static_cast<std::uint32_t>(random.below(4))), ++asked;
      if (first.can_use() && !behind && second.can_ask()) {
        second.ask(static_cast<std::uint32_t>(random.below(4)));
        behind = true;
      }
      if (first.can_use() && behind && second.can_use()) {
        first.drop();
        second.drop();
        behind = false;
        ++used;
      }
      return used < 2000 ? Wake::next_cycle() : Wake::on_traffic();
    }
  };
  for (const CacheConfig& config :
       {CacheConfig{1, 1, CachePolicy::kLru, 2, 1}, CacheConfig{2, 1, CachePolicy::kLru, 1, 0},
        CacheConfig{2, 2, CachePolicy::kRandom, 8, 1}}) {
    auto bench = std::make_unique<CacheBench>(config, std::vector<std::vector<Ask>>{});
    std::vector<std::unique_ptr<Pair>> pairs;
    for (std::uint64_t n = 0; n < 4; ++n) {
      pairs.push_back(std::make_unique<Pair>(sc_core::sc_gen_unique_name("pair"), bench->clk, bench->rows, n));
    }
    benches_.emplace_back(std::move(bench));
    for (auto& pair : pairs) stages_.emplace_back(std::move(pair));
  }
  run_until_idle(1'000'000);
}

TEST_F(TableCache, TheRowUsedLongestAgoMakesRoom) {
  CacheBench bench(small, {{{10, 0}, {200, 4}, {400, 0}, {600, 8}, {800, 0}, {1000, 4}}});
  run_until_idle();
  EXPECT_THAT(bench[0].used(), ElementsAre(10 + miss, 200 + miss, 400 + hit, 600 + miss, 800 + hit, 1000 + miss));
  EXPECT_EQ(bench.counters().evictions, 2u);
}

TEST_F(TableCache, ARowThatCannotBeFetchedIsNotOkAndIsTriedAgainAfterItsUses) {
  CacheBench bench(small, {{{10, 3, 100}, {200, 3}}, {{20, 3}, {100, 3}}});
  bench.home->lost = {3};
  run_until_idle();
  EXPECT_FALSE(bench[0].uses[0].ok);
  EXPECT_FALSE(bench[1].uses[0].ok);
  EXPECT_FALSE(bench[1].uses[1].ok) << "reader 0 had it still";
  EXPECT_EQ(bench[1].uses[1].at, 100 + hit);
  EXPECT_TRUE(bench[0].uses[1].ok);
  EXPECT_EQ(bench[0].uses[1].at, 200 + miss);
  EXPECT_EQ(bench.counters().failed, 1u);
}

TEST_F(TableCache, ARowOutsideIsAnsweredAtOnce) {
  CacheBench bench(small, {{{10, kRows}, {11, 0xffffffff}}});
  run_until_idle();
  EXPECT_THAT(bench[0].used(), ElementsAre(10 + hit, 11 + hit));
  EXPECT_FALSE(bench[0].uses[0].ok);
  EXPECT_THAT(bench.home->seen, IsEmpty());
}

TEST_F(TableCache, AWriteChangesARowOnTheChipOnly) {
  CacheBench bench(small, {{{10, 3}, {200, 3}, {300, 4}}});
  run_to(100);
  bench.rows.write(3, &Row::value, 7u);
  bench.rows.write(4, &Row::value, 7u);
  EXPECT_EQ(bench.rows.peek(4), nullptr);
  run_until_idle();
  EXPECT_EQ(bench[0].uses[1].value, 7u);
  EXPECT_EQ(bench[0].uses[2].value, content(4)) << "its home has not heard of it";
}

TEST_F(TableCache, AResetAmidMissesLeavesNothingBehind) {
  const std::vector<Ask> plan{{10, 1}, {10, 2}, {10, 3}, {10, 9, 200}, {400, 1}, {400, 9}};
  CacheBench bench(small, {plan, plan});
  run_to(30);
  bench.rows.reset();
  for (std::uint32_t row = 0; row < kRows; ++row) EXPECT_EQ(bench.rows.peek(row), nullptr);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(bench[i].reader.row_at(), kNever);
}

// The trace of one reader against a cache that knows neither pins nor cycles: what is on its way counts as there.
TEST_F(TableCache, HitsAreThoseOfAPlainCacheFedWithTheSameTrace) {
  constexpr unsigned kAsks = 20000, kEntries = 32, kWays = 8;
  Prng random(1);
  std::vector<Ask> plan;
  for (unsigned n = 0; n < kAsks; ++n) {
    plan.push_back({10, static_cast<std::uint32_t>(random.below(n % 2 == 0 ? kRows : 1 + random.below(kRows)))});
  }
  CacheBench lru({kEntries, kWays, CachePolicy::kLru, 4, 1}, {plan}),
      plru({kEntries, kWays, CachePolicy::kPlru, 4, 1}, {plan});
  run_until_idle();
  LruReference lru_reference(kEntries / kWays, kWays);
  PlruReference plru_reference(kEntries / kWays, kWays);
  double lru_hits = 0, plru_hits = 0;
  for (const Ask& a : plan) {
    lru_hits += lru_reference.access(a.index);
    plru_hits += plru_reference.access(a.index);
  }
  const auto found = [](const CacheBench& bench) { return bench.counters().hits + bench.counters().joined; };
  EXPECT_NEAR(found(lru), lru_hits, 0.01 * kAsks);
  EXPECT_NEAR(found(plru), plru_hits, 0.01 * kAsks);
  EXPECT_GT(lru_hits, 0.5 * kAsks);
  EXPECT_LT(lru_hits, 0.8 * kAsks);
}

// What each reader sees depends on its own asks only, whatever makes room for what, and in whatever order stages are
// called: also where two places serve six readers.
TEST_F(TableCache, AnyTraceGivesEachReaderItsRowsInOrderInAnyOrderOfCalls) {
  struct Case {
    CacheConfig config;
    std::vector<std::vector<Ask>> plans;
    std::unique_ptr<CacheBench> plain, shuffled;
  };
  std::vector<Case> cases;
  for (const CachePolicy policy : {CachePolicy::kLru, CachePolicy::kPlru, CachePolicy::kRandom}) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      Prng random(seed);
      const auto below = [&random](unsigned n) { return static_cast<unsigned>(random.below(n)); };
      const unsigned ways = 1u << below(3);
      Case c{{ways << below(3), ways, policy, 1 + below(5), below(3)}, {}, {}, {}};
      c.plans.resize(1 + below(6));
      for (auto& plan : c.plans) {
        for (Cycle from = below(50); plan.size() < 60; from += below(9)) {
          plan.push_back({from, below(20), below(3) == 0 ? below(80) : 0});
        }
      }
      const TableConfig table{1 + below(4), 1 + below(7), 1 + below(2)};
      c.plain = std::make_unique<CacheBench>(c.config, c.plans, 0, table);
      c.shuffled = std::make_unique<CacheBench>(c.config, c.plans, 5, table);
      cases.push_back(std::move(c));
    }
  }
  run_until_idle();
  for (const Case& c : cases) {
    for (std::size_t i = 0; i < c.plans.size(); ++i) {
      const std::vector<Use>& uses = (*c.plain)[i].uses;
      ASSERT_EQ(uses.size(), c.plans[i].size());
      for (std::size_t n = 0; n < uses.size(); ++n) {
        ASSERT_EQ(uses[n].index, c.plans[i][n].index);
        ASSERT_EQ(uses[n].value, content(uses[n].index));
      }
      EXPECT_EQ((*c.shuffled)[i].used(), (*c.plain)[i].used());
    }
    EXPECT_EQ(c.plain->counters().lookups(), c.plans.size() * 60);
    EXPECT_LE(c.plain->home->most, c.config.misses_in_flight);
  }
}

}  // namespace
}  // namespace rnic::test
