// Tables whose rows of one index are one object: all of them are on the chip, or none.
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <tuple>

#include "model/common/prng.h"
#include "model/common/table.h"
#include "testbench/support/cache_reference.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

struct Row {
  std::uint32_t index = 0, uses = 0;
  static constexpr const char* kMessage = "row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("index", 32, m.index);
    v("uses", 32, m.uses);
  }
};
using Rows = Table<Row>;

constexpr std::uint32_t kRows = 64;
constexpr Cycle kHome = 50;   // from a miss at the home to its object
constexpr Cycle kMissed = 1;  // from the end of a read's grant to the home
constexpr TableConfig kTable{2, 1, 1};
constexpr CacheConfig kSmall{8, 2, CachePolicy::kLru, 2, 1};
constexpr Cycle kHit = kTable.read_cycles + kSmall.tag_cycles, kMiss = kMissed + kHome + kHit;

struct Ask {
  Cycle from;
  std::uint32_t index;
  Cycle stall = 0;
};

// Owns its table, and counts its uses of a row there.
class Owner final : public Stage {
 public:
  Owner(sc_core::sc_module_name nm, ClockDomain& clk, Rows& rows, std::vector<Ask> asks)
      : Stage(nm, clk), rows_(rows), plan(std::move(asks)) {
    rows.bind(reader);
    rows.owned_by(*this);
    wake(0);
  }
  Rows::Reader reader{*this, "reader"};
  Wake tick() override {
    Cycle again = kNever;
    if (reader.can_use()) {
      const Cycle due = std::max(reader.row_at(), free_from_) + plan[used.size()].stall;
      again = std::max(due, now() + 1);
      if (due <= now()) use();
    }
    if (asked_ == plan.size()) return Wake::at_cycle(again);
    if (plan[asked_].from > now()) return Wake::at_cycle(std::min(again, plan[asked_].from));
    if (reader.can_ask()) reader.ask(plan[asked_++].index), again = now() + 1;
    return Wake::at_cycle(again);
  }

 private:
  void use() {
    const std::uint32_t index = reader.front().index;
    used.push_back(now());
    ok.push_back(reader.ok());
    if (reader.ok()) {
      EXPECT_EQ(reader.row().index, index);
      EXPECT_EQ(rows_.own(index, &Row::uses)++, counted_[index]++) << "use " << used.size() << " of row " << index;
    }
    reader.drop();
    free_from_ = now() + 1;
  }
  Rows& rows_;
  std::map<std::uint32_t, std::uint32_t> counted_;
  std::size_t asked_ = 0;
  Cycle free_from_ = 0;

 public:
  const std::vector<Ask> plan;
  std::vector<Cycle> used;
  std::vector<bool> ok;
};

// Has what was changed before its object made room, and nothing else.
class Home final : public Stage {
 public:
  Home(sc_core::sc_module_name nm, ClockDomain& clk, std::vector<Rows*> tables)
      : Stage(nm, clk), tables_(std::move(tables)), changed_(tables_.size()) {
    tables_[0]->cache().connect_home(misses);
  }
  PopPort<TableMiss> misses{*this, "misses"};
  std::vector<std::pair<Cycle, std::uint32_t>> seen;
  std::vector<std::uint32_t> lost;   // indexes that fail, once each
  bool for_good = false;             // until they are renewed
  std::vector<std::uint32_t> dirty;  // of each miss

  Wake tick() override {
    if (misses->can_pop()) {
      const TableMiss miss = misses->pop();
      seen.emplace_back(now(), miss.index);
      dirty.push_back(miss.dirty);
      for (std::size_t n = 0; n < tables_.size(); ++n) {
        if ((miss.dirty >> n & 1) != 0) changed_[n][miss.leaving] = tables_[n]->leaving(miss).uses;
      }
      due_.push_back({now() + kHome, miss});
    }
    while (!due_.empty() && due_.front().first <= now()) {
      const TableMiss miss = due_.front().second;
      due_.pop_front();
      const auto bad = std::find(lost.begin(), lost.end(), miss.index);
      const bool ok = bad == lost.end();
      for (std::size_t n = 0; ok && n < tables_.size(); ++n)
        tables_[n]->fill(miss, {miss.index, changed_[n][miss.index]});
      if (!ok && for_good) tables_[0]->cache().lose(miss);
      else tables_[0]->cache().arrived(miss, ok);
      if (!ok) lost.erase(bad);
    }
    return due_.empty() ? Wake::on_traffic() : Wake::at_cycle(due_.front().first);
  }

 private:
  const std::vector<Rows*> tables_;
  std::vector<std::map<std::uint32_t, std::uint32_t>> changed_;
  std::deque<std::pair<Cycle, TableMiss>> due_;
};

// Knows ahead of the owners which rows will be used.
class Foresight final : public Stage {
 public:
  Foresight(sc_core::sc_module_name nm, ClockDomain& clk, RowCache& cache, std::vector<Ask> plan)
      : Stage(nm, clk), cache_(cache), plan_(std::move(plan)) {
    if (!plan_.empty()) wake(plan_.front().from);
  }
  Wake tick() override {
    if (next_ < plan_.size() && plan_[next_].from <= now()) cache_.prefetch(plan_[next_++].index);
    return next_ < plan_.size() ? Wake::at_cycle(std::max(plan_[next_].from, now() + 1)) : Wake::on_traffic();
  }

 private:
  RowCache& cache_;
  const std::vector<Ask> plan_;
  std::size_t next_ = 0;
};

struct Bench {
  Bench(const CacheConfig& config, std::vector<Ask> of_first, std::vector<Ask> of_second, std::uint64_t shuffle = 0,
        std::vector<Ask> ahead = {})
      : clk(sc_core::sc_gen_unique_name("clock"), {}),
        first("first", clk, kRows, kTable, config),
        second("second", clk, kRows, kTable, first.shared_cache()),
        home(sc_core::sc_gen_unique_name("home"), clk, {&first, &second}),
        a(sc_core::sc_gen_unique_name("a"), clk, first, std::move(of_first)),
        b(sc_core::sc_gen_unique_name("b"), clk, second, std::move(of_second)),
        foresight(sc_core::sc_gen_unique_name("foresight"), clk, first.cache(), std::move(ahead)) {
    if (shuffle != 0) clk.shuffle(shuffle);
  }
  const CacheCounters& counters() const { return first.cache().counters(); }
  const PrefetchCounters& prefetches() const { return first.cache().prefetches(); }
  ClockDomain clk;
  Rows first, second;
  Home home;
  Owner a, b;
  Foresight foresight;
};

class SharedCache : public StageTest {
 protected:
  void run_to(const Bench& bench, Cycle cycle) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycle * bench.clk.period_ps() - 1) - sc_core::sc_time_stamp());
  }
};

TEST_F(SharedCache, ARowOfOneTableBringsThatOfTheOther) {
  Bench bench(kSmall, {{10, 3}, {300, 4}}, {{12, 3}, {200, 3}, {310, 4}});
  run_until_idle();
  EXPECT_THAT(bench.a.used, ElementsAre(10 + kMiss, 300 + kMiss));
  EXPECT_THAT(bench.b.used, ElementsAre(10 + kMiss, 200 + kHit, 300 + kMiss));
  EXPECT_EQ(bench.home.seen.size(), 2u);
  EXPECT_EQ(bench.counters().joined, 2u);
  EXPECT_EQ(bench.counters().hits, 1u);
}

// One set of two ways. Only what was changed goes home.
TEST_F(SharedCache, AnObjectThatMakesRoomSaysInWhichTablesItWasChanged) {
  Bench bench({2, 2, CachePolicy::kLru, 1, 1}, {{10, 0}, {400, 1}, {800, 2}, {1200, 3}, {1600, 4}},
              {{600, 1}, {1000, 6}});
  run_until_idle();
  // 2 for 0, 6 for 1, 3 for 2, 4 for 6
  EXPECT_THAT(bench.home.dirty, ElementsAre(0, 0, 1, 3, 1, 2));
  EXPECT_EQ(bench.counters().evictions, 4u);
  EXPECT_EQ(bench.counters().dirty, 4u);
}

// Each is used once, and all but one change their row.
TEST_F(SharedCache, AsManyTablesAsAnObjectHasRows) {
  constexpr std::uint32_t kTables = TableMiss::kTables;
  std::vector<std::unique_ptr<Rows>> tables;
  std::vector<Rows*> all;
  for (std::uint32_t n = 0; n < kTables; ++n) {
    const std::string name = "table" + std::to_string(n);
    tables.push_back(n == 0 ? std::make_unique<Rows>(name, clk, kRows, kTable, kSmall)
                            : std::make_unique<Rows>(name, clk, kRows, kTable, tables[0]->shared_cache()));
    all.push_back(tables.back().get());
  }
  EXPECT_TRUE(tables[0]->cache().is_of({all.begin(), all.end()}));
  EXPECT_FALSE(tables[0]->cache().is_of({all.rbegin(), all.rend()}));
  Home home("home", clk, all);
  std::vector<std::unique_ptr<Owner>> owners;
  for (std::uint32_t n = 0; n < kTables; ++n) {
    std::vector<Ask> plan{{10, 3}};
    if (n == 0) plan = {{200, 11}, {300, 19}, {400, 3}};  // of the same set
    owners.push_back(std::make_unique<Owner>(("owner" + std::to_string(n)).c_str(), clk, *tables[n], plan));
  }
  run_until_idle();
  for (std::uint32_t n = 1; n < kTables; ++n) EXPECT_THAT(owners[n]->used, ElementsAre(10 + kMiss)) << n;
  EXPECT_EQ(home.seen.size(), 4u);
  EXPECT_THAT(home.dirty, ElementsAre(0u, 0u, ~1u, 1u));
}

TEST_F(SharedCache, WhatOneTableUsesDoesNotLeave) {
  Bench bench({1, 1, CachePolicy::kLru, 4, 1}, {{10, 3, 500}}, {{100, 4}, {101, 5}, {300, 3}});
  run_until_idle();
  EXPECT_EQ(bench.a.used[0], 10 + kMiss + 500);
  EXPECT_THAT(bench.b.used, ElementsAre(100 + kMiss, 100 + 2 * kMiss, 300 + kHit));
}

TEST_F(SharedCache, AnObjectThatCannotBeFetchedIsNotThereForEither) {
  Bench bench(kSmall, {{10, 3}, {300, 3}}, {{20, 3}, {400, 3}});
  bench.home.lost = {3};
  run_until_idle();
  EXPECT_THAT(bench.a.ok, ElementsAre(false, true));
  EXPECT_THAT(bench.b.ok, ElementsAre(false, true));
  EXPECT_EQ(bench.b.used[1], 400 + kHit);
}

// Its next user does not find what was lost, although the other table still holds its place.
TEST_F(SharedCache, ALostObjectThatIsRenewedIsFetchedAgain) {
  Bench bench(kSmall, {{10, 3, 300}, {600, 3}}, {{90, 3}, {220, 3}});
  bench.home.lost = {3};
  bench.home.for_good = true;
  run_to(bench, 200);
  bench.first.cache().renew(3);
  run_until_idle();
  EXPECT_THAT(bench.a.used, ElementsAre(10 + kMiss + 300, 600 + kHit));
  EXPECT_THAT(bench.a.ok, ElementsAre(false, true));
  EXPECT_THAT(bench.b.used, ElementsAre(90 + kHit, 220 + kMiss));
  EXPECT_THAT(bench.b.ok, ElementsAre(false, true));
}

// With one miss in flight and both asking for something else all the time, each has half of the fetches.
TEST_F(SharedCache, TheTablesTakeTurnsAtTheHome) {
  std::vector<Ask> even, odd;
  for (std::uint32_t n = 0; n < 32; ++n) {
    even.push_back({10, 2 * n % kRows});
    odd.push_back({10, (2 * n + 1) % kRows});
  }
  Bench bench({32, 16, CachePolicy::kLru, 1, 1}, even, odd);
  run_until_idle();
  unsigned last = 1;
  for (const auto& [at, index] : bench.home.seen) EXPECT_EQ(index % 2, 1 - std::exchange(last, index % 2));
}

// A plain cache that is fed with both traces in the order of the asks, one after the other.
TEST_F(SharedCache, HitsAreThoseOfAPlainCacheOfObjects) {
  Prng random(1);
  std::array<std::vector<Ask>, 2> plans;
  LruReference reference(4, 8);
  double hits = 0;
  for (unsigned n = 0; n < 4000; ++n) {
    const auto index = static_cast<std::uint32_t>(random.below(n % 3 == 0 ? kRows : 24));
    plans[random.below(2)].push_back({10 + n * 2 * kMiss, index});
    hits += reference.access(index);
  }
  Bench bench({32, 8, CachePolicy::kLru, 2, 1}, plans[0], plans[1]);
  run_until_idle(2'000'000);
  EXPECT_EQ(bench.counters().hits, hits);
  EXPECT_EQ(bench.counters().lookups(), 4000u);
}

// Each owner finds what it left in its row, however often the object was away, in any order of calls.
TEST_F(SharedCache, EachTableKeepsItsOwnInAnyOrderOfCalls) {
  std::vector<std::unique_ptr<Bench>> plain, shuffled;
  for (unsigned seed = 0; seed < 24; ++seed) {
    Prng random(seed);
    const auto below = [&random](unsigned n) { return static_cast<unsigned>(random.below(n)); };
    const unsigned ways = 1u << below(3);
    const CacheConfig config{ways << below(3), ways, static_cast<CachePolicy>(seed % 3), 1 + below(5), below(3)};
    std::array<std::vector<Ask>, 2> plans;
    for (auto& plan : plans) {
      for (Cycle from = below(50); plan.size() < 300; from += below(9)) {
        plan.push_back({from, below(20), below(3) == 0 ? below(80) : 0});
      }
    }
    plain.push_back(std::make_unique<Bench>(config, plans[0], plans[1]));
    shuffled.push_back(std::make_unique<Bench>(config, plans[0], plans[1], seed + 7));
  }
  run_until_idle(2'000'000);
  for (std::size_t n = 0; n < plain.size(); ++n) {
    EXPECT_EQ(plain[n]->a.used.size(), 300u);
    EXPECT_EQ(plain[n]->b.used.size(), 300u);
    EXPECT_EQ(shuffled[n]->a.used, plain[n]->a.used);
    EXPECT_EQ(shuffled[n]->b.used, plain[n]->b.used);
    EXPECT_EQ(plain[n]->counters().lookups(), 600u);
  }
}

// ---- Rows that are fetched before anybody asks for them

// In the same cycle the ask comes first.
TEST_F(SharedCache, APrefetchedRowIsThereAsMuchEarlierAsItWasAskedForBefore) {
  constexpr Cycle kAhead = 10, kFetch = kMissed + kHome;
  std::vector<std::unique_ptr<Bench>> benches;
  for (Cycle distance = 0; distance <= kFetch + 3; ++distance) {
    benches.push_back(std::make_unique<Bench>(kSmall, std::vector<Ask>{{kAhead + distance, 3}}, std::vector<Ask>{}, 0,
                                              std::vector<Ask>{{kAhead, 3}}));
  }
  run_until_idle();
  for (Cycle distance = 0; distance < benches.size(); ++distance) {
    const Bench& bench = *benches[distance];
    EXPECT_THAT(bench.a.used, ElementsAre(kAhead + std::max(kFetch, distance) + kHit)) << distance;
    EXPECT_EQ(bench.home.seen.size(), 1u);
    EXPECT_EQ(bench.prefetches().rows, distance != 0);
    EXPECT_EQ(bench.prefetches().late, distance != 0 && distance < kFetch) << distance;
    EXPECT_EQ(bench.prefetches().used, distance >= kFetch) << distance;
    EXPECT_EQ(bench.counters().misses, distance == 0) << "of reads alone";
  }
}

TEST_F(SharedCache, AnAskIsFetchedBeforeAPrefetchOfItsCycle) {
  Bench bench(kSmall, {{10, 3}}, {}, 0, {{10, 5}});
  run_until_idle();
  EXPECT_THAT(bench.home.seen, ElementsAre(std::pair(10 + kMissed, 3), std::pair(11 + kMissed, 5)));
}

// Nobody waits for it: neither for a fetch nor for a place; nor for its turn, if a further one comes.
TEST_F(SharedCache, APrefetchIsDroppedWithoutAFetchOrAPlaceForIt) {
  Bench full({8, 2, CachePolicy::kLru, 1, 1}, {{10, 3}, {200, 5}}, {}, 0, {{12, 5}});
  Bench pinned({1, 1, CachePolicy::kLru, 4, 1}, {{10, 3, 500}, {700, 5}}, {}, 0, {{100, 5}, {101, 3}});
  Bench two(kSmall, {{10, 3}}, {{10, 4}}, 0, {{10, 5}, {11, 6}});
  run_until_idle();
  for (const Bench* bench : {&full, &pinned}) {
    EXPECT_EQ(bench->prefetches().rows, 0u);
    EXPECT_EQ(bench->prefetches().dropped, 1u);
    EXPECT_EQ(bench->counters().misses, 2u);
  }
  EXPECT_THAT(full.a.used, ElementsAre(10 + kMiss, 200 + kMiss));
  EXPECT_EQ(two.prefetches().dropped, 2u) << "one waits for the home, the other finds two fetches under way";
}

TEST_F(SharedCache, APrefetchedRowStaysUntilItIsThereAndThenTakesItsTurn) {
  // One set of one way, and the spare place of each owner.
  Bench bench({1, 1, CachePolicy::kLru, 4, 1}, {{20, 4}, {200, 5}}, {}, 0, {{10, 3}, {300, 6}});
  run_until_idle();
  EXPECT_THAT(bench.a.used, ElementsAre(20 + kMiss, 200 + kMiss)) << "4 in a spare place";
  EXPECT_EQ(bench.prefetches().rows, 2u);
  EXPECT_EQ(bench.prefetches().unused, 1u) << "3, for 5; 6 is still there";
  EXPECT_NE(bench.first.peek(6), nullptr);
}

TEST_F(SharedCache, APrefetchThatFailsLeavesNothing) {
  Bench bench(kSmall, {{40, 3}, {200, 5}}, {}, 0, {{10, 3}, {100, 5}});
  bench.home.lost = {3, 5};
  run_until_idle();
  EXPECT_THAT(bench.a.used, ElementsAre(10 + kMiss, 200 + kMiss))
      << "the second one was there before: it is fetched again";
  EXPECT_THAT(bench.a.ok, ElementsAre(false, true));
  EXPECT_EQ(bench.prefetches().used, 0u);
}

TEST_F(SharedCache, ALostRowIsNotPrefetchedUntilItIsRenewed) {
  Bench bench(kSmall, {{500, 3}}, {}, 0, {{10, 3}, {100, 3}, {300, 3}});
  bench.home.lost = {3};
  bench.home.for_good = true;
  run_to(bench, 200);
  bench.first.cache().renew(3);
  run_until_idle();
  EXPECT_EQ(bench.home.seen.size(), 2u);
  EXPECT_THAT(bench.a.used, ElementsAre(500 + kHit));
  EXPECT_THAT(bench.a.ok, ElementsAre(true));
}

// A prefetch is an access of the plain cache, too.
TEST_F(SharedCache, HitsAreThoseOfAPlainCacheThatIsFedWithThePrefetchesAsWell) {
  Prng random(2);
  std::array<std::vector<Ask>, 3> plans;
  LruReference reference(4, 8);
  double hits = 0, fetched_ahead = 0;
  for (unsigned n = 0; n < 6000; ++n) {
    const auto index = static_cast<std::uint32_t>(random.below(n % 3 == 0 ? kRows : 24));
    const auto of = static_cast<std::size_t>(random.below(3));
    plans[of].push_back({10 + n * 2 * kMiss, index});
    const bool hit = reference.access(index);
    hits += of != 2 && hit;
    fetched_ahead += of == 2 && !hit;
  }
  Bench bench({32, 8, CachePolicy::kLru, 2, 1}, plans[0], plans[1], 0, plans[2]);
  run_until_idle(2'000'000);
  EXPECT_EQ(bench.counters().hits, hits);
  EXPECT_EQ(bench.prefetches().rows, fetched_ahead);
  EXPECT_EQ(bench.counters().lookups(), plans[0].size() + plans[1].size());
  EXPECT_EQ(bench.prefetches().dropped, 0u);
}

TEST_F(SharedCache, PrefetchesAreTheSameInAnyOrderOfCalls) {
  std::vector<std::unique_ptr<Bench>> plain, shuffled;
  for (unsigned seed = 0; seed < 24; ++seed) {
    Prng random(seed + 100);
    const auto below = [&random](unsigned n) { return static_cast<unsigned>(random.below(n)); };
    const unsigned ways = 1u << below(3);
    const CacheConfig config{ways << below(3), ways, static_cast<CachePolicy>(seed % 3), 1 + below(5), below(3)};
    std::array<std::vector<Ask>, 3> plans;
    for (auto& plan : plans) {
      for (Cycle from = below(50); plan.size() < 300; from += below(30)) {
        plan.push_back({from, below(20), below(3) == 0 ? below(80) : 0});
      }
    }
    plain.push_back(std::make_unique<Bench>(config, plans[0], plans[1], 0, plans[2]));
    shuffled.push_back(std::make_unique<Bench>(config, plans[0], plans[1], seed + 7, plans[2]));
  }
  run_until_idle(2'000'000);
  std::uint64_t rows = 0, dropped = 0;
  for (std::size_t n = 0; n < plain.size(); ++n) {
    const PrefetchCounters &p = plain[n]->prefetches(), &s = shuffled[n]->prefetches();
    EXPECT_EQ(plain[n]->a.used.size() + plain[n]->b.used.size(), 600u);
    EXPECT_EQ(shuffled[n]->a.used, plain[n]->a.used);
    EXPECT_EQ(shuffled[n]->b.used, plain[n]->b.used);
    EXPECT_EQ(shuffled[n]->home.seen, plain[n]->home.seen);
    EXPECT_EQ(std::tuple(s.rows, s.used, s.late, s.unused, s.dropped),
              std::tuple(p.rows, p.used, p.late, p.unused, p.dropped));
    EXPECT_LE(p.used + p.late + p.unused, p.rows);
    rows += p.rows;
    dropped += p.dropped;
  }
  EXPECT_GT(rows, 200u);
  EXPECT_GT(dropped, 500u);
}

TEST_F(SharedCache, AResetAmidFetchesLeavesNothingBehind) {
  Bench bench(kSmall, {{10, 1}, {10, 2}, {10, 3}, {200, 1}}, {{10, 1}, {11, 5}, {12, 6}}, 0, {{39, 7}});
  run_to(bench, 40);
  bench.first.reset();
  bench.second.reset();
  for (std::uint32_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(bench.first.peek(row), nullptr);
    EXPECT_EQ(bench.second.peek(row), nullptr);
  }
  EXPECT_EQ(bench.a.reader.row_at(), kNever);
  EXPECT_EQ(bench.b.reader.row_at(), kNever);
}

}  // namespace
}  // namespace rnic::test
