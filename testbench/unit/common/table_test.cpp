#include "model/common/table.h"

#include <deque>
#include <memory>
#include <tuple>

#include "model/common/description.h"
#include "model/common/prng.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr unsigned kClients = 6;
constexpr const char* kNames[kClients] = {"r0", "r1", "r2", "r3", "r4", "r5"};

// A column for each client, and one of the table's owner.
struct Row {
  std::array<std::uint32_t, kClients> values{};
  std::uint32_t word = 0;
  std::uint32_t uses = 0;
  static constexpr const char* kMessage = "row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    for (unsigned i = 0; i < kClients; ++i) v(kNames[i], 32, m.values[i]);
    v("word", 20, m.word);
    v("uses", 32, m.uses);
  }
};
using Rows = Table<Row>;

struct Use {
  Cycle at;
  std::uint32_t index, tag;
  bool ok;
  std::array<std::uint32_t, kClients> values;
  std::uint32_t word, uses;
  bool operator==(const Use& o) const {
    return std::tie(at, index, tag, ok, values, word, uses) ==
           std::tie(o.at, o.index, o.tag, o.ok, o.values, o.word, o.uses);
  }
};
std::ostream& operator<<(std::ostream& out, const Use& u) {
  return out << "in cycle " << u.at << " row " << u.index << " tag " << u.tag << (u.ok ? "" : " outside") << " word "
             << u.word << " uses " << u.uses;
}

// What a client does: asks one after another, none before its cycle; a row waits `stall` cycles for its use.
struct Plan {
  struct Ask {
    Cycle from;
    std::uint32_t index;
    Cycle stall = 0;
  };
  struct Write {
    Cycle at;
    std::uint32_t row, value;
  };
  std::vector<Ask> asks;
  std::vector<Write> writes;
  unsigned places = 0;  // for asks on the way; 0: as many as the table's reader has without a wish
};

class Client final : public Stage {
 public:
  Client(sc_core::sc_module_name nm, ClockDomain& clk, unsigned number, Plan its_plan)
      : Stage(nm, clk), reader(*this, kNames[number], its_plan.places), plan(std::move(its_plan)), number_(number) {
    wake(0);
  }
  Rows::Reader reader;
  const Plan plan;
  Rows* table = nullptr;
  std::vector<Use> uses;
  std::vector<Cycle> asked, calls;

  std::vector<Cycle> used() const {
    std::vector<Cycle> cycles;
    for (const Use& u : uses) cycles.push_back(u.at);
    return cycles;
  }
  Wake tick() override {
    calls.push_back(now());
    for (; written_ < plan.writes.size() && plan.writes[written_].at <= now(); ++written_) write(plan.writes[written_]);
    const Cycle use_at = use(), ask_at = ask();
    const Cycle write_at = written_ < plan.writes.size() ? plan.writes[written_].at : kNever;
    return Wake::at_cycle(std::min({use_at, ask_at, write_at}));
  }

 private:
  void write(const Plan::Write& w) {
    table->write(w.row, &Row::values, number_, w.value);
    if (number_ == 1) table->write(w.row, &Row::word, w.value);
  }
  // Each returns when to call it again, if nothing else does.
  Cycle use() {
    if (!reader.can_use()) return kNever;
    const Cycle due = std::max(reader.row_at(), free_from_) + plan.asks[uses.size()].stall;
    if (due > now()) return due;
    const TableAsk a = reader.front();
    Use u{now(), a.index, a.tag, reader.ok(), {}, 0, 0};
    if (u.ok && number_ == 0) u.uses = ++table->own(a.index, &Row::uses);
    if (u.ok) u.values = reader.row().values, u.word = reader.row().word;
    uses.push_back(u);
    reader.drop();
    free_from_ = now() + 1;
    return now() + 1;
  }
  Cycle ask() {
    if (asked.size() == plan.asks.size()) return kNever;
    const Plan::Ask& next = plan.asks[asked.size()];
    if (next.from > now()) return next.from;
    if (!reader.can_ask()) return kNever;
    reader.ask(next.index, static_cast<std::uint32_t>(asked.size()) + 1000 * number_);
    asked.push_back(now());
    return now() + 1;
  }

  const unsigned number_;
  std::size_t written_ = 0;
  Cycle free_from_ = 0;
};

constexpr std::size_t kRows = 7;

struct Bench {
  Bench(const TableConfig& config, const std::vector<Plan>& plans, const ClockDomainConfig& clock = {},
        std::uint64_t shuffle = 0)
      : clk(sc_core::sc_gen_unique_name("clock"), clock), table("rows", clk, kRows, config) {
    if (shuffle != 0) clk.shuffle(shuffle);
    for (unsigned i = 0; i < plans.size(); ++i) {
      clients.push_back(std::make_unique<Client>(sc_core::sc_gen_unique_name("client"), clk, i, plans[i]));
      table.bind(clients[i]->reader);
      clients[i]->table = &table;
    }
    table.owned_by(*clients[0]);
  }
  Client& operator[](std::size_t i) { return *clients[i]; }

  ClockDomain clk;
  Rows table;
  std::vector<std::unique_ptr<Client>> clients;
};

class TableTest : public StageTest {
 protected:
  // All cycles before this one.
  void run_to(Cycle cycle) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycle * clk.period_ps() - 1) - sc_core::sc_time_stamp());
  }
};

// ---- A plain reference: each cycle of each reader, bank and port, one after another.

class Reference {
 public:
  Reference(const TableConfig& config, const std::vector<Plan>& plans)
      : config_(config), plans_(plans), readers_(plans.size()), last_(config.banks, plans.size() - 1) {}

  std::vector<std::vector<Use>> run() {
    for (Cycle now = 0; !done(); ++now) {
      for (unsigned r = 0; r < plans_.size(); ++r) step(r, now);
      for (unsigned bank = 0; bank < config_.banks; ++bank) grant(bank, now);
      for (unsigned r = 0; r < plans_.size(); ++r) write(r, now);
    }
    std::vector<std::vector<Use>> uses;
    for (const Reader& r : readers_) uses.push_back(r.uses);
    return uses;
  }

 private:
  struct Asked {
    std::uint32_t index, tag;
    Cycle visible = kNever;
    bool dropped = false;
  };
  struct Reader {
    std::vector<Asked> asks;
    std::vector<Use> uses;
    Cycle free_from = 0;
  };
  bool done() const {
    for (unsigned r = 0; r < plans_.size(); ++r) {
      if (readers_[r].uses.size() != plans_[r].asks.size()) return false;
    }
    return true;
  }
  void step(unsigned number, Cycle now) {
    Reader& r = readers_[number];
    const Plan& plan = plans_[number];
    const std::size_t places = plan.places != 0 ? plan.places : config_.read_cycles + 2;
    const bool room = r.asks.size() - r.uses.size() < places;  // a place is free in the cycle after its use
    const std::size_t next = r.uses.size();
    if (next < r.asks.size() && r.asks[next].visible != kNever &&
        std::max(r.asks[next].visible, r.free_from) + plan.asks[next].stall <= now) {
      use(number, r.asks[next], now);
    }
    if (room && r.asks.size() < plan.asks.size() && plan.asks[r.asks.size()].from <= now) {
      r.asks.push_back({plan.asks[r.asks.size()].index, static_cast<std::uint32_t>(r.asks.size()) + 1000 * number});
    }
  }
  void use(unsigned number, const Asked& a, Cycle now) {
    Use u{now, a.index, a.tag, a.index < kRows, {}, 0, 0};
    if (u.ok) {
      Row& row = memory_[a.index];
      u.values = row.values;
      u.word = row.word;
      if (number == 0) u.uses = ++row.uses;
    }
    readers_[number].uses.push_back(u);
    readers_[number].free_from = now + 1;
  }
  void grant(unsigned bank, Cycle now) {
    unsigned ports = config_.read_ports;
    const std::size_t first = last_[bank] + 1;
    for (std::size_t n = 0; n < readers_.size() && ports != 0; ++n) {
      const std::size_t r = (first + n) % readers_.size();
      auto& asks = readers_[r].asks;
      const auto waits = std::find_if(asks.begin(), asks.end(), [](const Asked& a) { return a.visible == kNever; });
      if (waits == asks.end() || waits->index % config_.banks != bank) continue;
      if (granted_at(asks, now)) continue;
      waits->visible = now + config_.read_cycles;
      last_[bank] = r;
      --ports;
    }
  }
  // A reader is granted one ask a cycle, also if its next one is for another bank.
  bool granted_at(const std::vector<Asked>& asks, Cycle now) const {
    return std::any_of(asks.begin(), asks.end(),
                       [&](const Asked& a) { return a.visible == now + config_.read_cycles; });
  }
  void write(unsigned number, Cycle now) {
    for (const Plan::Write& w : plans_[number].writes) {
      if (w.at != now) continue;
      memory_[w.row].values[number] = w.value;
      if (number == 1) memory_[w.row].word = w.value;
    }
  }

  const TableConfig config_;
  const std::vector<Plan>& plans_;
  std::array<Row, kRows> memory_{};
  std::vector<Reader> readers_;
  std::vector<std::size_t> last_;  // by bank
};

std::vector<Plan> random_plans(std::uint64_t seed, unsigned clients) {
  Prng prng(seed);
  std::vector<Plan> plans(clients);
  for (Plan& plan : plans) {
    constexpr unsigned kPlaces[] = {0, 0, 1, 2, 12};
    plan.places = kPlaces[prng.below(5)];
    const std::uint64_t gap = 1 + prng.below(5), stall = 1 + prng.below(4);
    Cycle from = prng.below(4);
    for (unsigned i = 0; i < 60; ++i, from += prng.below(10) == 0 ? 20 : prng.below(gap)) {
      const auto index = static_cast<std::uint32_t>(prng.below(kRows + 1));
      plan.asks.push_back({from, index, prng.below(3) == 0 ? prng.below(stall) : 0});
    }
    for (Cycle at = prng.below(3); at < from; at += 1 + prng.below(4)) {
      const auto row = static_cast<std::uint32_t>(prng.below(kRows));
      plan.writes.push_back({at, row, static_cast<std::uint32_t>(prng.below(1 << 20))});
    }
  }
  return plans;
}

class TableShapes : public TableTest, public testing::WithParamInterface<unsigned> {};

TEST_P(TableShapes, EveryUseIsInTheCycleAndHasTheContentOfTheReference) {
  struct Case {
    std::vector<Plan> plans;
    TableConfig config;
    std::vector<std::unique_ptr<Bench>> benches;
  };
  std::deque<Case> cases;
  for (unsigned ports = 1; ports <= 4; ++ports) {
    for (unsigned banks = 1; banks <= 4; ++banks) {
      for (unsigned readers = 1; readers <= kClients; ++readers) {
        const TableConfig config{GetParam(), ports, banks};
        Case& c = cases.emplace_back();
        c.config = config;
        c.plans = random_plans(GetParam() + 10 * ports + 100 * banks + 1000 * readers, readers);
        c.benches.push_back(std::make_unique<Bench>(config, c.plans));
        c.benches.push_back(std::make_unique<Bench>(config, c.plans, ClockDomainConfig{4000, 1, false}));
        c.benches.push_back(std::make_unique<Bench>(config, c.plans, ClockDomainConfig{4000, 16, true}, 7));
      }
    }
  }
  run_until_idle();
  std::uint64_t conflicts = 0;
  for (const Case& c : cases) {
    const std::vector<std::vector<Use>> expected = Reference(c.config, c.plans).run();
    for (const auto& bench : c.benches) {
      for (unsigned r = 0; r < c.plans.size(); ++r) {
        ASSERT_EQ(bench->clients[r]->uses, expected[r]) << c.config.read_ports << " ports, " << c.config.banks
                                                        << " banks, reader " << r << " of " << c.plans.size();
      }
      ASSERT_EQ(bench->table.counters().accesses, 60 * c.plans.size());
      ASSERT_EQ(bench->table.counters().conflicts, c.benches[0]->table.counters().conflicts);
      ASSERT_EQ(bench->table.counters().most, c.benches[0]->table.counters().most);
      conflicts += bench->table.counters().conflicts;
    }
  }
  EXPECT_GT(conflicts, 1000u);
}

INSTANTIATE_TEST_SUITE_P(ReadCycles, TableShapes, testing::Range(1u, 9u));

// ---- One thing at a time

class TableLatency : public TableTest, public testing::WithParamInterface<unsigned> {};

TEST_P(TableLatency, ARowIsUsedReadCyclesAfterItsAskWithAPortOfItsOwnAndAlone) {
  const unsigned read_cycles = GetParam();
  const Plan plan{{{10, 3}, {30, 3}}, {}};
  Bench own({read_cycles, 1, 1}, {plan}), alone({read_cycles, 1, 1}, {plan, {}});
  run_until_idle();
  EXPECT_THAT(own[0].used(), ElementsAre(10 + read_cycles, 30 + read_cycles));
  EXPECT_THAT(alone[0].used(), ElementsAre(10 + read_cycles, 30 + read_cycles));
}

TEST_P(TableLatency, AnAskInEachCycleIsAUseInEachCycle) {
  const unsigned read_cycles = GetParam();
  const Plan plan{std::vector<Plan::Ask>(20, {10, 3}), {}};
  Bench own({read_cycles, 1, 1}, {plan}), alone({read_cycles, 1, 1}, {plan, {}});
  run_until_idle();
  EXPECT_EQ(own[0].asked, in_a_row(10, 20));
  EXPECT_EQ(own[0].used(), in_a_row(10 + read_cycles, 20));
  EXPECT_EQ(alone[0].used(), own[0].used());
}

// A writer changes the row in each cycle, from before the ask until after the use.
TEST_P(TableLatency, TheContentIsThatOfTheEndOfTheCycleBeforeTheUse) {
  const unsigned read_cycles = GetParam();
  Plan writes;
  for (std::uint32_t at = 15; at < 40; ++at) writes.writes.push_back({at, 3, at});
  const Plan reads{{{20, 3}, {21, 3}, {22, 4}}, {}};
  Bench shared({read_cycles, 1, 1}, {reads, writes}), own({read_cycles, 2, 1}, {reads, writes});
  run_until_idle();
  for (Bench* bench : {&shared, &own}) {
    ASSERT_EQ((*bench)[0].used(), in_a_row(20 + read_cycles, 3));
    EXPECT_EQ((*bench)[0].uses[0].word, 19 + read_cycles);
    EXPECT_EQ((*bench)[0].uses[1].word, 20 + read_cycles);
    EXPECT_EQ((*bench)[0].uses[2].word, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(ReadCycles, TableLatency, testing::Range(1u, 9u));

TEST_F(TableTest, ReadersWithoutPortsOfTheirOwnTakeTurns) {
  const Plan plan{{{10, 3}, {30, 3}}, {}};
  const TableConfig config{2, 1, 1};
  Bench bench(config, {plan, plan, plan, plan});
  run_until_idle();
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_THAT(bench[i].used(), ElementsAre(10 + i + config.read_cycles, 30 + i + config.read_cycles)) << i;
  }
  EXPECT_EQ(bench.table.counters().conflicts, 2u * (3 + 2 + 1));
  EXPECT_EQ(bench.table.counters().most, 1u);
}

// The one granted last comes last, also when it asks again at once.
TEST_F(TableTest, ATurnGoesOnWhereTheLastOneEnded) {
  const Plan twice{{{10, 3}, {11, 3}}, {}}, once{{{10, 3}}, {}}, late{{{11, 3}}, {}};
  Bench bench({2, 1, 1}, {twice, once, late});
  run_until_idle();
  EXPECT_THAT(bench[0].used(), ElementsAre(12, 15));
  EXPECT_THAT(bench[1].used(), ElementsAre(13));
  EXPECT_THAT(bench[2].used(), ElementsAre(14));
}

TEST_F(TableTest, EachBankHasPortsOfItsOwn) {
  const TableConfig config{2, 1, 2};
  Bench bench(config, {{{{10, 0}}, {}}, {{{10, 1}}, {}}, {{{10, 2}}, {}}, {{{10, 3}}, {}}});
  run_until_idle();
  EXPECT_THAT(bench[0].used(), ElementsAre(10 + config.read_cycles));
  EXPECT_THAT(bench[1].used(), ElementsAre(10 + config.read_cycles));
  EXPECT_THAT(bench[2].used(), ElementsAre(11 + config.read_cycles));
  EXPECT_THAT(bench[3].used(), ElementsAre(11 + config.read_cycles));
  EXPECT_EQ(bench.table.counters().most, 2u);
}

TEST_F(TableTest, NobodyStarves) {
  const Plan greedy{std::vector<Plan::Ask>(200, {0, 3}), {}, 12};
  Plan modest;
  for (Cycle from = 5; from < 600; from += 13) modest.asks.push_back({from, 3});
  const TableConfig config{2, 1, 1};
  Bench bench(config, {greedy, greedy, modest, greedy, greedy, modest});
  run_until_idle();
  for (const unsigned i : {2u, 5u}) {
    for (std::size_t n = 0; n < modest.asks.size(); ++n) {
      ASSERT_EQ(bench[i].asked[n], modest.asks[n].from);
      ASSERT_LE(bench[i].used()[n], bench[i].asked[n] + config.read_cycles + kClients - 1) << i << ' ' << n;
    }
  }
}

// Losers are granted in cycles in which no stage is called.
TEST_F(TableTest, NobodyIsCalledToBeGranted) {
  const TableConfig config{8, 1, 1};
  const Plan plan{{{10, 3}}, {}};
  Bench bench(config, {plan, plan, plan, plan});
  run_until_idle();
  for (unsigned i = 0; i < 4; ++i) {
    const Cycle used = 10 + i + config.read_cycles;
    EXPECT_THAT(bench[i].calls, ElementsAre(0, 10, 11, used, used + 1)) << i;  // the client looks once more after each
  }
  EXPECT_EQ(bench.clk.activity().cycles, 1u + 4 + 5);  // 0; 10 to 13; 18 to 22
}

TEST_F(TableTest, AtRestItCostsNothing) {
  Bench bench({2, 1, 1}, {{{{10, 3}}, {}}, {{{10, 3}, {1'000'000, 3}}, {}}});
  run_until_idle();
  EXPECT_THAT(bench[1].used(), ElementsAre(13, 1'000'002));
  EXPECT_LT(bench.clk.activity().cycles, 12u);
}

TEST_F(TableTest, AskedAgainBeforeTheFirstRowIsUsedOneComesAfterTheOther) {
  Bench bench({3, 1, 1}, {{{{10, 3, 5}, {11, 4}, {12, 5}}, {}}});
  run_until_idle();
  EXPECT_THAT(bench[0].asked, ElementsAre(10, 11, 12));
  EXPECT_THAT(bench[0].used(), ElementsAre(18, 19, 20));
  EXPECT_EQ(bench[0].uses[2].index, 5u);
  EXPECT_EQ(bench[0].uses[2].tag, 2u);
}

TEST_F(TableTest, AReaderOfOneAskAsksAgainInTheCycleAfterItsUse) {
  Bench bench({3, 1, 1}, {{{{10, 3, 5}, {11, 4}}, {}, 1}});
  run_until_idle();
  EXPECT_THAT(bench[0].asked, ElementsAre(10, 19));
  EXPECT_THAT(bench[0].used(), ElementsAre(18, 22));
}

// The stage waits for a change of the row: it is called in the first cycle in which that is visible, and not for
// others.
TEST_F(TableTest, AReaderThatKeepsItsRowIsCalledAfterAWriteAndHoldsNobodyUp) {
  const Plan keeps{{{10, 3, 50}}, {}};
  const Plan writes{{}, {{20, 4, 1}, {30, 3, 7}, {40, 3, 8}}};
  Plan reads;
  for (Cycle from = 20; from < 40; ++from) reads.asks.push_back({from, 3});
  Bench bench({2, 1, 1}, {keeps, writes, reads});
  run_until_idle();
  EXPECT_THAT(bench[0].calls, ElementsAre(0, 10, 11, 12, 31, 41, 62, 63));
  EXPECT_EQ(bench[0].uses[0].word, 8u);
  EXPECT_EQ(bench[2].used(), in_a_row(22, 20));
}

// Asks for rows in a row, keeps each when it comes, and notes them in every cycle in which it is called.
class Keeper final : public Stage {
 public:
  Keeper(sc_core::sc_module_name nm, ClockDomain& clk, std::vector<std::uint32_t> asks, Cycle until)
      : Stage(nm, clk), asks_(std::move(asks)), until_(until) {
    wake(0);
  }
  Rows::Reader reader{*this, "keeper", 0, RowOrder::kAsAsked, 3};
  std::vector<std::pair<Cycle, std::vector<std::uint32_t>>> seen;  // words; kOutside: no such row
  static constexpr std::uint32_t kOutside = ~0u;

  Wake tick() override {
    if (reader.can_use()) reader.keep();
    seen.emplace_back(now(), std::vector<std::uint32_t>{});
    for (std::size_t n = 0; n < reader.kept(); ++n) {
      seen.back().second.push_back(reader.ok_kept(n) ? reader.row_kept(n).word : kOutside);
    }
    if (now() == until_) reader.release();
    if (asked_ < asks_.size() && reader.can_ask()) reader.ask(asks_[asked_++]);
    return asked_ < asks_.size() ? Wake::next_cycle() : now() < until_ ? Wake::at_cycle(until_) : Wake::on_traffic();
  }

 private:
  const std::vector<std::uint32_t> asks_;
  const Cycle until_;
  std::size_t asked_ = 0;
};
TEST_F(TableTest, RowsThatAreKeptSeeWritesUntilTheyAreReleased) {
  Rows rows("table", clk, 8, {2, 1, 1});
  Keeper keeper("keeper", clk, {5, 9, 6}, 20);
  rows.bind(keeper.reader);
  Client writer("writer", clk, 1, {{}, {{7, 5, 70}, {9, 6, 90}, {20, 5, 200}, {25, 5, 250}}});
  writer.table = &rows;
  rows.bind(writer.reader);
  run_until_idle();
  const std::uint32_t outside = Keeper::kOutside;
  const std::vector<std::pair<Cycle, std::vector<std::uint32_t>>> last(keeper.seen.end() - 4, keeper.seen.end());
  EXPECT_THAT(last, ElementsAre(std::pair(Cycle{4}, std::vector{0u, outside, 0u}),  // one comes in each cycle
                                std::pair(Cycle{8}, std::vector{70u, outside, 0u}),
                                std::pair(Cycle{10}, std::vector{70u, outside, 90u}),
                                std::pair(Cycle{20}, std::vector{70u, outside, 90u})))
      << "called after each write, and not any more when they are released";
  EXPECT_EQ(keeper.reader.kept(), 0u);
  EXPECT_TRUE(rows.links()[0]->empty());
}
TEST_F(TableTest, AResetForgetsWhatIsKept) {
  Rows rows("table", clk, 8, {1, 1, 1});
  Keeper keeper("keeper", clk, {5, 6}, 1000);
  rows.bind(keeper.reader);
  sc_core::sc_start(sc_core::sc_time::from_value(10 * clk.period_ps()));
  EXPECT_EQ(keeper.reader.kept(), 2u);
  rows.reset();
  EXPECT_EQ(keeper.reader.kept(), 0u);
}

TEST_F(TableTest, ARowOutsideIsAnsweredAsSuch) {
  Bench bench({2, 1, 2}, {{{{10, kRows}, {11, 0xffffffff}, {12, kRows - 1}}, {}}, {{{11, 0xffffffff}}, {}}});
  run_until_idle();
  ASSERT_THAT(bench[0].used(), ElementsAre(12, 14, 15));
  EXPECT_FALSE(bench[0].uses[0].ok);
  EXPECT_FALSE(bench[0].uses[1].ok);
  EXPECT_TRUE(bench[0].uses[2].ok);
  EXPECT_THAT(bench[1].used(), ElementsAre(13));  // they take a port of their bank as others do
  EXPECT_THAT([&] { bench.table.write(kRows, &Row::word, 1u); },
              ThrowsMessage<InternalError>(HasSubstr("rows: no such row")));
  EXPECT_THROW(bench.table.peek(kRows), InternalError);
}

TEST_F(TableTest, ARowOutsideHasNoContent) {
  Bench bench({2, 1, 1}, {{{{10, kRows, 1000}}, {}}});
  run_to(20);
  EXPECT_FALSE(bench[0].reader.ok());
  EXPECT_THAT([&] { bench[0].reader.row(); }, ThrowsMessage<InternalError>(HasSubstr("r0: no row to use")));
}

TEST_F(TableTest, UseBeforeTheRowIsThereIsABug) {
  Bench bench({4, 1, 1}, {{{{10, 3}}, {}}, {}});
  EXPECT_THROW(bench[0].reader.front(), InternalError);
  run_to(12);
  EXPECT_EQ(bench[0].reader.row_at(), 14u);
  EXPECT_FALSE(bench[0].reader.can_use());
  EXPECT_THAT([&] { bench[0].reader.row(); }, ThrowsMessage<InternalError>(HasSubstr("rows.r0: use before")));
}

TEST_F(TableTest, AColumnIsWrittenAloneAndVisibleFromTheNextCycleOn) {
  Bench bench({2, 1, 1}, {{}});
  bench.table.write(2, &Row::word, 5u);
  bench.table.write(2, &Row::values, 4, 6u);
  EXPECT_EQ(bench.table.peek(2)->word, 0u);
  run_to(1);
  EXPECT_EQ(bench.table.peek(2)->word, 5u);
  EXPECT_THAT(bench.table.peek(2)->values, ElementsAre(0, 0, 0, 0, 6, 0));
  EXPECT_EQ(bench.table.counters().writes, 2u);
}

// ---- Reset

TEST_F(TableTest, AResetAmidAsksLeavesNothingBehind) {
  const Plan plan{{{10, 3}, {10, 3}, {40, 3}}, {{5, 3, 9}, {11, 3, 9}}};
  Bench bench({4, 1, 1}, {plan, plan, plan});
  run_to(12);  // asks of cycle 10 and 11 were granted, four more wait
  EXPECT_EQ(bench.table.peek(3)->word, 9u);
  EXPECT_EQ(bench[1].reader.row_at(), 15u);
  bench.table.reset();
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(bench[i].reader.row_at(), kNever);
    EXPECT_TRUE(bench[i].reader.can_ask());
  }
  run_until_idle();
  for (unsigned i = 0; i < 3; ++i) EXPECT_THAT(bench[i].used(), ElementsAre(40 + i + 4)) << i;
  EXPECT_EQ(bench[1].uses[0].word, 0u);
}

// As the chip's is, at the end of the cycle: before or after the table's own commit.
TEST_F(TableTest, AResetAtTheEndOfTheCycleOfAsksAndWritesDropsThem) {
  struct Resets final : Stage, Committed {
    Resets(sc_core::sc_module_name nm, ClockDomain& c) : Stage(nm, c) { wake(10); }
    Wake tick() override {
      clock().commit_later(*this);
      return Wake::on_traffic();
    }
    void commit() override { table->reset(); }
    Rows* table = nullptr;
  };
  const Plan plan{{{10, 3}, {11, 3}}, {{10, 3, 9}}};
  std::vector<std::unique_ptr<Bench>> benches;
  std::vector<std::unique_ptr<Resets>> resets;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    benches.push_back(
        std::make_unique<Bench>(TableConfig{2, 1, 1}, std::vector<Plan>{plan, plan, plan}, ClockDomainConfig{}, seed));
    resets.push_back(std::make_unique<Resets>(sc_core::sc_gen_unique_name("resets"), benches.back()->clk));
    resets.back()->table = &benches.back()->table;
  }
  run_until_idle();
  for (auto& bench : benches) {
    EXPECT_EQ(bench->table.peek(3)->word, 0u);
    for (unsigned i = 0; i < 3; ++i) {
      ASSERT_THAT((*bench)[i].asked, ElementsAre(10, 11));
      EXPECT_THAT((*bench)[i].used(), ElementsAre(11 + i + 2));  // of the second ask
    }
  }
}

// ---- Names and figures

TEST_F(TableTest, ItsLinksAreNamedAfterTheTableAndItsReaders) {
  Bench bench({2, 1, 1}, {{}, {}});
  ASSERT_EQ(bench.table.links().size(), 2u);
  EXPECT_EQ(bench.table.links()[0]->name(), "rows.r0");
  EXPECT_EQ(bench.table.links()[1]->name(), "rows.r1");
  EXPECT_EQ(bench.table.links()[1]->kind().signals[0].name, "index");
  EXPECT_EQ(bench.clk.links(), bench.table.links());
}

TEST_F(TableTest, SaysHowLargeAndHowBusyItIs) {
  const Plan plan{{{10, 3}, {11, 4}}, {{5, 3, 9}}};
  Bench bench({2, 1, 2}, {plan, plan});
  StatsRegistry registry;
  bench.table.describe(Description(StatsGroup(registry, "rows")));
  run_until_idle();
  EXPECT_EQ(registry.value("rows.accesses"), 4);
  EXPECT_EQ(registry.value("rows.conflicts"), 1);  // then the two want different banks
  EXPECT_EQ(registry.value("rows.most_accesses"), 2);
  EXPECT_EQ(registry.value("rows.writes"), 3 + 2);  // and two rows by their owner
  EXPECT_EQ(registry.value("rows.entries"), kRows);
  EXPECT_EQ(registry.value("rows.used"), 2);
  EXPECT_EQ(registry.value("rows.bits"), kClients * 32 + 20 + 32);
  EXPECT_EQ(registry.value("rows.ports"), 1);
  EXPECT_EQ(registry.value("rows.banks"), 2);
  EXPECT_DOUBLE_EQ(registry.value("rows.size"), kRows * 244.0 / 8);
}

TEST_F(TableTest, AReaderIsBoundOnceAndNotForgotten) {
  Bench bench({2, 1, 1}, {{}});
  EXPECT_THAT([&] { bench.table.bind(bench[0].reader); }, ThrowsMessage<InternalError>(HasSubstr("rows.r0 is bound")));
  Client loose("loose", clk, 1, {});
  EXPECT_FALSE(loose.reader.bound());
  EXPECT_THROW(run_to(1), std::exception);
}

TEST_F(TableTest, NeedsAtLeastOneOfEverything) {
  EXPECT_THROW(Rows("rows", clk, 1, {0, 1, 1}), InternalError);
  EXPECT_THROW(Rows("rows", clk, 1, {1, 0, 1}), InternalError);
  EXPECT_THROW(Rows("rows", clk, 1, {1, 1, 0}), InternalError);
}

// ---- Checks that only builds with sanitizers make

class TableChecks : public TableTest {
 protected:
  // In cycle 20, while a client has row 3 in front since cycle 12.
  template <class Act>
  struct Acts final : Stage {
    Acts(sc_core::sc_module_name nm, ClockDomain& c, Act its_act) : Stage(nm, c), act(its_act) { wake(20); }
    Wake tick() override {
      act();
      return Wake::on_traffic();
    }
    Act act;
  };
  Bench bench{{2, 1, 1}, {{{{10, 3, 1000}}, {}}, {}}};
  template <class Act>
  void refused(Act act, const char* why) {
    if (!kSanitized) GTEST_SKIP() << "checked with sanitizers only";
    Acts<Act> other("other", bench.clk, act);
    try {
      run_to(30);
      FAIL() << "nobody noticed";
    } catch (const std::exception& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  }
};

TEST_F(TableChecks, AnotherStageMayNotAsk) {
  refused([this] { bench[1].reader.ask(3); }, "rows.r1: used by another stage");
}
TEST_F(TableChecks, AnotherStageMayNotUseARow) {
  refused([this] { bench[0].reader.row(); }, "rows.r0: used by another stage");
}
TEST_F(TableChecks, AnotherStageMayNotChangeARowInPlace) {
  refused([this] { bench.table.own(3, &Row::uses); }, "rows: changed in place by another stage");
}
TEST_F(TableChecks, AReaderDropsOneRowACycle) {
  if (!kSanitized) GTEST_SKIP() << "checked with sanitizers only";
  Bench two({2, 1, 1}, {{{{10, 3, 1000}, {10, 4}}, {}}});
  run_to(20);
  two[0].reader.drop();
  EXPECT_THAT([&] { two[0].reader.drop(); }, ThrowsMessage<InternalError>(HasSubstr("rows.r0: two rows are dropped")));
}
TEST_F(TableChecks, AColumnIsWrittenOnceInACycle) {
  refused(
      [this] {
        bench.table.write(3, &Row::word, 1u);
        bench.table.write(3, &Row::values, 0, 1u);
        bench.table.write(3, &Row::word, 1u);
      },
      "rows: a column is written twice in a cycle");
}

// Its owner asks for rows 3 and 4, and changes others than those that it uses.
class TableOwner : public TableTest {
 protected:
  struct Owner final : Stage {
    Owner(sc_core::sc_module_name nm, ClockDomain& c, Rows& t) : Stage(nm, c), table(t) {
      wake(10);
      table.bind(first);
      table.bind(second);
      table.owned_by(*this);
    }
    Rows& table;
    Rows::Reader first{*this, "first"}, second{*this, "second"};
    std::vector<std::uint32_t> changes;
    Wake tick() override {
      if (now() == 10) first.ask(3), second.ask(4);
      if (now() != 20) return Wake::at_cycle(std::max<Cycle>(20, now() + 1));
      for (const std::uint32_t row : changes) ++table.own(row, &Row::uses), ++table.own(row, &Row::uses);
      return Wake::at_cycle(kNever);
    }
  };
  Rows own{"own", clk, kRows, {2, 2, 1}};
  Owner owner{"owner", clk, own};
  void refused(std::vector<std::uint32_t> changes, const char* why) {
    if (!kSanitized) GTEST_SKIP() << "checked with sanitizers only";
    owner.changes = std::move(changes);
    EXPECT_THAT([&] { run_to(30); }, ThrowsMessage<std::exception>(HasSubstr(why)));
  }
};

TEST_F(TableOwner, MayChangeWhatItUses) {
  owner.changes = {4};
  run_to(30);
  EXPECT_EQ(own.peek(4)->uses, 2u);
  EXPECT_EQ(own.counters().writes, 1u);
}
TEST_F(TableOwner, MayNotChangeARowThatItHasNotRead) { refused({5}, "own: its owner has not read this row"); }
TEST_F(TableOwner, MayChangeAsManyRowsInACycleAsThereArePorts) {
  owner.changes = {3, 4};
  run_to(30);
  EXPECT_EQ(own.peek(3)->uses, 2u);
  EXPECT_EQ(own.peek(4)->uses, 2u);
  EXPECT_EQ(own.counters().writes, 2u);
}
TEST_F(TableOwner, MayNotChangeMoreRowsInACycleThanThereArePorts) {
  refused({3, 4, 5}, "own: more rows of a bank are changed in one cycle than it has ports");
}

}  // namespace
}  // namespace rnic::test
