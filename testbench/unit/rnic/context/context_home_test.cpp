#include "model/rnic/context/context_home.h"

#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "model/common/prng.h"
#include "model/rnic/context/stag_work.h"
#include "testbench/support/bits.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"

namespace rnic::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t page_of(std::uint32_t index) { return std::uint64_t{0x1000} * (index + 7); }

TEST(HomeEntry, IsAnAddressWithItsCheck) {
  for (const std::uint64_t address : {std::uint64_t{0}, page_of(3), std::uint64_t{0xfffffffffffff000}}) {
    for (std::uint32_t number = 0; number < 20000; ++number) {
      const std::uint64_t entry = HomeEntry::pack(address, number);
      ASSERT_TRUE(HomeEntry::is_whole(entry, number));
      ASSERT_EQ(HomeEntry::address(entry), address);
      ASSERT_NE(entry, 0u);
      ASSERT_FALSE(HomeEntry::is_whole(0, number));
    }
  }
}

TEST(HomeEntry, UpToThreeWrongBitsAreSeen) {
  const std::uint64_t entry = HomeEntry::pack(page_of(3), 3);
  for (unsigned a = 0; a < 64; ++a) {
    for (unsigned b = a; b < 64; ++b) {
      for (unsigned c = b; c < 64; ++c) {
        const std::uint64_t wrong = std::uint64_t{1} << a ^ std::uint64_t{1} << b ^ std::uint64_t{1} << c;
        ASSERT_EQ(HomeEntry::is_whole(entry ^ wrong, 3), wrong == 0) << a << ' ' << b << ' ' << c;
      }
    }
  }
}

TEST(HomeEntry, AnEntryOfAnotherPlaceIsSeen) {
  unsigned taken = 0;
  for (std::uint32_t number = 1; number < 20000; ++number)
    taken += HomeEntry::is_whole(HomeEntry::pack(page_of(0), 0), number);
  EXPECT_LE(taken, 20u);  // by chance 5
}

// Asks for rows at given cycles, and uses each at once.
class Reader final : public Stage {
 public:
  struct Use {
    Cycle at;
    bool ok;
    std::array<std::uint64_t, 4> page;
  };
  Reader(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts) : Stage(nm, clk) {
    contexts.page_table.bind(rows_);
  }
  std::vector<std::pair<Cycle, std::uint32_t>> asks;
  std::vector<Use> uses;
  Wake tick() override {
    if (rows_.can_use()) {
      uses.push_back({now(), rows_.ok(), rows_.ok() ? rows_.row().page : std::array<std::uint64_t, 4>{}});
      rows_.drop();
    }
    if (asked_ == asks.size()) return Wake::on_traffic();
    if (asks[asked_].first > now()) return Wake::at_cycle(asks[asked_].first);
    if (!rows_.can_ask()) return Wake::on_traffic();
    rows_.ask(asks[asked_++].second);
    return Wake::next_cycle();
  }

 private:
  PageTable::Reader rows_{*this, "reader"};
  std::size_t asked_ = 0;
};

class ContextHomeTest : public StageTest {
 protected:
  static constexpr unsigned kPages = 64;
  static constexpr CacheConfig kCache{4, 2, CachePolicy::kLru, 2, 1};
  static ContextStore::Sizes sizes(HomeKind kind) {
    ContextStore::Sizes s{4, 4, 4, 16, 4, kPages};
    s.page_cache = kCache;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  struct Bench {
    explicit Bench(ContextHomeConfig config = {})
        : clk(sc_core::sc_gen_unique_name("clock"), {}),
          contexts(clk, sizes(config.kind)),
          reader(sc_core::sc_gen_unique_name("reader"), clk, contexts),
          dut(sc_core::sc_gen_unique_name("context_home"), clk, contexts, config) {
      reader.wake(0);
    }
    ClockDomain clk;
    ContextStore contexts;
    Reader reader;
    ContextHome dut;
    Source<HomeOp> ops = drive(dut.ops);
    Sink<HomeEvent> events = collect(dut.events);
    FakeDma dma{dut.read, dut.read_done};
    FakeDmaWrite writes{dut.write, dut.write_done, dma.memory};
  };
  static HomeOp write(std::uint32_t index, std::uint64_t page) { return {HomeOp::Kind::kWritePage, index, page}; }
  // As if the host had given its first 2 MiB, and the firmware written the entries.
  static void fill(Bench& b, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = first; i < first + count; ++i)
      store_le64(&b.dma.memory[8 * i], HomeEntry::pack(page_of(i), i));
  }
  const HomeOp home{HomeOp::Kind::kHomePage, 0, 0};
  const unsigned row_cycles = TableConfig{}.read_cycles + kCache.tag_cycles;
  // A miss reaches the unit a cycle after its ask, its read memory a cycle later, and the answer the unit a cycle after
  // it; the row is on the chip in the next one.
  Cycle missed(const Bench& b) const { return 1 + 1 + b.dma.latency + 1 + row_cycles; }
};

TEST_F(ContextHomeTest, AMissIsARowOfFourEntriesFromTheHome) {
  Bench b;
  fill(b, 0, kPages);
  b.ops.send(home);
  b.reader.asks = {{20, 3}, {200, 3}, {400, 15}};
  run_until_idle();
  EXPECT_THAT(b.dma.reads(), ElementsAre(std::pair(96u, 32u), std::pair(480u, 32u)));
  ASSERT_EQ(b.reader.uses.size(), 3u);
  EXPECT_EQ(b.reader.uses[0].at, 20 + missed(b));
  EXPECT_EQ(b.reader.uses[1].at, 200 + row_cycles);
  EXPECT_THAT(b.reader.uses[0].page, ElementsAre(page_of(12), page_of(13), page_of(14), page_of(15)));
  EXPECT_THAT(b.reader.uses[2].page, ElementsAre(page_of(60), page_of(61), page_of(62), page_of(63)));
  EXPECT_EQ(b.dut.counters().fetched_bytes, 64u);
}

TEST_F(ContextHomeTest, AnEntryIsWrittenToTheHomeAndToTheChipWhereItsRowIs) {
  Bench b;
  fill(b, 0, 8);
  b.ops.send(home);
  b.ops.send_at(100, write(1, page_of(40)));  // on the chip
  b.ops.send_at(101, write(6, page_of(41)));  // not
  b.reader.asks = {{20, 0}, {200, 0}, {300, 1}};
  run_until_idle();
  EXPECT_THAT(b.writes.writes(), ElementsAre(std::pair(8u, 8u), std::pair(48u, 8u)));
  EXPECT_EQ(load_le64(&b.dma.memory[8]), HomeEntry::pack(page_of(40), 1));
  EXPECT_THAT(b.reader.uses[1].page, ElementsAre(page_of(0), page_of(40), page_of(2), page_of(3)));
  EXPECT_THAT(b.reader.uses[2].page, ElementsAre(page_of(4), page_of(5), page_of(41), page_of(7)));
  EXPECT_EQ(b.dut.counters().fetches, 2u) << "the row that was on the chip is still there";
}

// The write in each cycle around the fetch: the reader never sees the old entry after it.
TEST_F(ContextHomeTest, AFetchDoesNotPassAWriteOfItsRow) {
  std::vector<std::unique_ptr<Bench>> benches;
  constexpr Cycle kAsk = 50;
  for (Cycle at = kAsk - 10; at < kAsk + 25; ++at) {
    benches.push_back(std::make_unique<Bench>());
    Bench& b = *benches.back();
    fill(b, 0, 8);
    b.writes.hold = 7;
    b.ops.send(home);
    b.ops.send_at(at, write(2, page_of(50)));
    b.reader.asks = {{kAsk, 0}, {300, 0}};
  }
  run_until_idle();
  std::uint64_t refetches = 0;
  for (const auto& b : benches) {
    ASSERT_EQ(b->reader.uses.size(), 2u);
    const Reader::Use& use = b->reader.uses[0];
    const Cycle written = b->writes.cycles()[0];
    EXPECT_TRUE(use.page[2] == page_of(50) || use.at <= written) << "an old entry";
    EXPECT_EQ(b->reader.uses[1].page[2], page_of(50));
    refetches += b->dut.counters().refetches;
  }
  EXPECT_GT(refetches, 5u);
}

TEST_F(ContextHomeTest, AWrongBitIsReportedAndItsEntryIsNoAddress) {
  ContextHomeConfig config;
  config.flip_fetch = 2;
  Bench b(config);
  fill(b, 0, kPages);
  b.ops.send(home);
  b.reader.asks = {{20, 0}, {100, 1}};
  run_until_idle();
  EXPECT_TRUE(b.reader.uses[1].ok);
  EXPECT_THAT(b.reader.uses[1].page, ElementsAre(page_of(4), kNowhere, page_of(6), page_of(7)));
  ASSERT_EQ(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].kind, HomeEvent::Kind::kLost);
  EXPECT_EQ(b.events[0].index, 1u);
  EXPECT_EQ(b.dut.counters().corrupt, 1u);
}

TEST_F(ContextHomeTest, AnEntryThatWasNeverWrittenIsNoAddressAndNoError) {
  Bench b;
  fill(b, 4, 1);
  b.ops.send(home);
  b.reader.asks = {{20, 1}};
  run_until_idle();
  EXPECT_THAT(b.reader.uses[0].page, ElementsAre(page_of(4), kNowhere, kNowhere, kNowhere));
  EXPECT_THAT(b.events, IsEmpty());
}

TEST_F(ContextHomeTest, ARowThatCannotBeReadIsReportedAndTriedAgain) {
  Bench b;
  fill(b, 0, kPages);
  b.dma.fails = {0};
  b.ops.send(home);
  b.reader.asks = {{20, 3}, {200, 3}};
  run_until_idle();
  EXPECT_FALSE(b.reader.uses[0].ok);
  EXPECT_TRUE(b.reader.uses[1].ok);
  EXPECT_EQ(b.reader.uses[1].at, 200 + missed(b));
  ASSERT_EQ(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].index, 3u);
  EXPECT_EQ(b.dut.counters().failed, 1u);
}

// The firmware takes nothing until cycle 5000. Four events are in the link, and further rows wait, each once.
TEST_F(ContextHomeTest, RowsDoNotWaitForAFirmwareThatIsBusy) {
  Bench b;
  b.events.pause(Pattern::window(0, 5000));
  b.ops.send(home);
  for (unsigned n = 0; n < 30; ++n) b.dma.fails.insert(n), b.reader.asks.emplace_back(20 + 40 * n, n % 15);
  run_until_idle();
  ASSERT_EQ(b.reader.uses.size(), 30u);
  for (const Reader::Use& use : b.reader.uses) EXPECT_FALSE(use.ok);
  EXPECT_LT(b.reader.uses.back().at, 2000u);
  EXPECT_EQ(b.dut.counters().failed, 30u);
  EXPECT_EQ(b.events.size(), Netlist::kFew.depth + ContextHome::kReports);
}

TEST_F(ContextHomeTest, TheHomeIsReleasedWhenNothingOfItIsUnderWay) {
  Bench b;
  fill(b, 0, 8);
  b.ops.send(home);
  b.ops.send_at(60, write(1, page_of(9)));
  b.ops.send_at(61, {HomeOp::Kind::kRelease});
  b.writes.hold = 30;
  b.reader.asks = {{20, 0}, {58, 1}, {300, 0}};
  run_until_idle();
  ASSERT_EQ(b.events.size(), 1u) << "and nothing is lost";
  EXPECT_EQ(b.events[0].kind, HomeEvent::Kind::kReleased);
  EXPECT_GT(b.events.cycles()[0], b.writes.cycles()[0] + b.writes.hold);
  EXPECT_TRUE(b.reader.uses[0].ok);
  EXPECT_FALSE(b.reader.uses[2].ok) << "row 0 was on the chip, but its home is gone";
  EXPECT_EQ(b.dma.requests().size(), 2u) << "without a home there is nothing to be read";
}

TEST_F(ContextHomeTest, TheBoardsMemoryHasLatencyBanksAndABus) {
  ContextHomeConfig config;
  config.kind = HomeKind::kBoard;
  config.board.latency_ns = 200;   // 50 cycles of 4 ns
  config.board.bank_busy_ns = 80;  // 20
  config.board.banks = 2;
  config.board.gbps = 6.4;  // 32 octets in 10 cycles
  Bench b(config);
  EXPECT_EQ(b.contexts.home_pages(), 0u);
  for (std::uint32_t i = 0; i < kPages; ++i) b.ops.send(write(i, page_of(i)));
  // Rows 0 and 1 at once, then two of one bank.
  b.reader.asks = {{3000, 0}, {3001, 1}, {4000, 2}, {4001, 4}};
  run_until_idle();
  const auto at = [&](std::size_t n) { return b.reader.uses.at(n).at; };
  const Cycle alone = 1 + 50 + row_cycles;  // sent in the cycle of the miss
  EXPECT_EQ(at(0), 3000 + alone);
  EXPECT_EQ(at(1), 3001 + alone);
  EXPECT_EQ(at(2), 4000 + alone);
  EXPECT_EQ(at(3), 4000 + alone + 20);
  EXPECT_THAT(b.reader.uses[3].page, ElementsAre(page_of(16), page_of(17), page_of(18), page_of(19)));
  EXPECT_THAT(b.dma.requests(), IsEmpty());
  EXPECT_EQ(b.dut.counters().writes, kPages);
}

// ---- Completion queues: rows that a stage changes

// Uses rows of a table at given cycles: notes what it sees, and counts in its column.
template <class Row, auto kState, auto kCount>
class RowUser final : public Stage {
 public:
  struct Use {
    Cycle at;
    bool ok;
    Row row;
  };
  RowUser(sc_core::sc_module_name nm, ClockDomain& clk, Table<Row>& table) : Stage(nm, clk), table_(table) {
    table.bind(rows_);
    table.owned_by(*this);
    wake(0);
  }
  std::vector<std::pair<Cycle, std::uint32_t>> asks;
  std::vector<Use> uses;
  bool changes = true;
  // Of the uses, `what` of each.
  template <class F>
  auto each(F&& what) const {
    std::vector<std::decay_t<decltype(what(uses.front()))>> all;
    for (const Use& use : uses) all.push_back(what(use));
    return all;
  }
  std::vector<Cycle> used() const {
    return each([](const Use& use) { return use.at; });
  }
  std::vector<bool> ok() const {
    return each([](const Use& use) { return use.ok; });
  }
  std::uint32_t count(std::size_t use) const { return uses.at(use).row.*kState.*kCount; }
  Wake tick() override {
    if (rows_.can_use()) use();
    if (asked_ == asks.size()) return Wake::on_traffic();
    if (asks[asked_].first > now()) return Wake::at_cycle(asks[asked_].first);
    if (!rows_.can_ask()) return Wake::on_traffic();
    rows_.ask(asks[asked_++].second);
    return Wake::next_cycle();
  }

 private:
  void use() {
    uses.push_back({now(), rows_.ok(), rows_.ok() ? rows_.row() : Row{}});
    if (rows_.ok() && changes) ++(table_.own(rows_.front().index, kState).*kCount);
    rows_.drop();
  }
  Table<Row>& table_;
  typename Table<Row>::Reader rows_{*this, "user"};
  std::size_t asked_ = 0;
};
using CqUser = RowUser<CqRow, &CqRow::state, &CqState::produced>;
using TxUser = RowUser<TxRow, &TxRow::state, &QpTx::position>;
using RxUser = RowUser<RxRow, &RxRow::state, &QpRx::tagged_bytes>;

class CqHomeTest : public StageTest {
 protected:
  static constexpr unsigned kCqs = 16;
  static constexpr CacheConfig kCache{2, 2, CachePolicy::kLru, 2, 1};
  static constexpr CacheConfig kThrough{2, 2, CachePolicy::kLru, 2, 1, false};
  static ContextStore::Sizes sizes(HomeKind kind, const CacheConfig& cache) {
    ContextStore::Sizes s{4, 4, kCqs, 16, 4, 64};
    s.cq_cache = cache;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  struct Bench {
    explicit Bench(ContextHomeConfig config = {}, const CacheConfig& cache = kCache)
        : clk(sc_core::sc_gen_unique_name("clock"), {}),
          contexts(clk, sizes(config.kind, cache)),
          user(sc_core::sc_gen_unique_name("user"), clk, contexts.cq_table),
          dut(sc_core::sc_gen_unique_name("context_home"), clk, contexts, config) {}
    ClockDomain clk;
    ContextStore contexts;
    CqUser user;
    ContextHome dut;
    Source<HomeOp> ops = drive(dut.ops);
    Sink<HomeEvent> events = collect(dut.events);
    FakeDma dma{dut.read, dut.read_done};
    FakeDmaWrite writes{dut.write, dut.write_done, dma.memory};
    std::uint32_t produced(std::size_t use) const { return user.count(use); }
  };
  static ContextHomeConfig of(HomeKind kind, unsigned flip_fetch = 0) {
    ContextHomeConfig config;
    config.kind = kind;
    config.flip_fetch = flip_fetch;
    return config;
  }
  static CqContext context(std::uint32_t n, std::uint32_t epoch = 1) {
    return {true, 7, std::uint64_t{0x123456789a0000} + 0x1000 * n, epoch, 0x1234, 5000};
  }
  static HomeOp write(std::uint32_t n, const CqContext& c) { return {HomeOp::Kind::kWriteCq, n, 0, c}; }
  const HomeOp home{HomeOp::Kind::kHomePage, 0, 0};
  const unsigned row_cycles = TableConfig{}.read_cycles + kCache.tag_cycles;
};

// Octet for octet, by hand: valid and log_entries are bits 0 to 4, and so the base begins with bit 5.
TEST_F(CqHomeTest, TheTwoPartsOfARowAreWhereTheyBelong) {
  Bench b;
  b.ops.send({home, write(3, {true, 10, 0x80000, 2, 0, 0})});
  b.user.asks = {{50, 3}, {100, 5}, {150, 6}};  // the third makes the first one leave
  run_until_idle();
  EXPECT_THAT(b.writes.writes(), ElementsAre(std::pair(3u * 64, 64u), std::pair(3u * 64 + 32, 32u)));
  const std::vector<std::uint8_t> cq(&b.dma.memory[3 * 64], &b.dma.memory[3 * 64 + 28]);
  EXPECT_EQ(cq, (std::vector<std::uint8_t>{0x15, 0, 0, 1, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0,  //
                                           0,    0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0}));
  const std::vector<std::uint8_t> state(&b.dma.memory[3 * 64 + 32], &b.dma.memory[3 * 64 + 60]);
  EXPECT_EQ(state, (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(b.contexts.cq_table.cache().counters().dirty, 1u);
  EXPECT_EQ(b.dut.counters().write_backs, 1u);
}

TEST_F(CqHomeTest, ACleanRowIsNotWrittenBack) {
  Bench b;
  b.user.changes = false;
  b.ops.send(home);
  b.user.asks = {{50, 3}, {100, 5}, {150, 6}};
  run_until_idle();
  EXPECT_THAT(b.writes.writes(), IsEmpty());
  EXPECT_EQ(b.contexts.cq_table.cache().counters().evictions, 1u);
}

class CqHomeOfEachKind : public CqHomeTest, public testing::WithParamInterface<HomeKind> {};
TEST_P(CqHomeOfEachKind, ARowThatLeftComesBackAsItWas) {
  Bench b(of(GetParam()));
  b.writes.hold = 20;
  if (GetParam() == HomeKind::kHost) b.ops.send(home);
  for (std::uint32_t n = 0; n < kCqs; ++n) b.ops.send(write(n, context(n)));
  for (unsigned i = 0; i < 200; ++i) b.user.asks.emplace_back(500, (i * 7 + i / 5) % kCqs);
  run_until_idle();
  std::map<std::uint32_t, std::uint32_t> used;
  ASSERT_EQ(b.user.uses.size(), 200u);
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint32_t n = b.user.asks[i].second;
    ASSERT_TRUE(b.user.uses[i].ok);
    ASSERT_EQ(b.produced(i), used[n]++) << "use " << i << " of CQ " << n;
    ASSERT_EQ(b.user.uses[i].row.cq.base, context(n).base);
    ASSERT_EQ(b.user.uses[i].row.cq.moderation_count, 0x1234u);
  }
  EXPECT_GT(b.dut.counters().write_backs, 50u);
  EXPECT_THAT(b.events, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Kinds, CqHomeOfEachKind, testing::Values(HomeKind::kHost, HomeKind::kBoard));

// What the firmware writes in each cycle around a row's way out and back: neither part is lost.
TEST_F(CqHomeTest, TheFirmwareAndAStageNeverWriteEachOthersPart) {
  std::vector<std::unique_ptr<Bench>> benches;
  for (Cycle at = 40; at < 140; ++at) {
    for (const CacheConfig& cache : {kCache, kThrough}) {
      Bench& b = *benches.emplace_back(std::make_unique<Bench>(ContextHomeConfig{}, cache));
      b.writes.hold = 7;
      b.ops.send({home, write(1, context(1))});
      b.ops.send_at(at, write(1, context(1, 2)));
      b.user.asks = {{50, 1}, {51, 2}, {80, 3}, {81, 1}, {300, 1}};
    }
  }
  run_until_idle();
  for (const auto& b : benches) {
    ASSERT_EQ(b->user.uses.size(), 5u);
    EXPECT_EQ(b->produced(3), 1u);
    EXPECT_EQ(b->produced(4), 2u);
    EXPECT_EQ(b->user.uses[4].row.cq.epoch, 2u);
  }
}

TEST_F(CqHomeTest, AMissWaitsUntilItsRowsLastChangeIsOut) {
  Bench b;
  b.writes.hold = 40;
  b.ops.send(home);
  b.user.asks = {{50, 1}, {51, 2}, {100, 3}, {101, 1}};
  run_until_idle();
  EXPECT_EQ(b.produced(3), 1u);
  EXPECT_GT(b.user.uses[3].at, b.writes.cycles()[0] + b.writes.hold);
}

// An octet of either part is wrong; and then the row stays lost: no entry may follow one that was not delivered.
class CqHomeOctets : public CqHomeTest, public testing::WithParamInterface<unsigned> {};
TEST_P(CqHomeOctets, ARowThatIsNotWhatWasWrittenIsLostUntilItsQueueIsDestroyed) {
  const unsigned octet = GetParam();
  Bench b;
  At meanwhile("meanwhile", b.clk);
  meanwhile.at(350, [&] { b.dma.memory[64 + octet] ^= 4; });
  b.ops.send({home, write(1, context(1))});
  b.user.asks = {{50, 1}, {51, 2}, {100, 3}, {400, 1}, {500, 1}, {700, 1}, {900, 1}};
  b.ops.send_at(600, write(1, context(1)));  // as when it is modified
  b.ops.send_at(800, write(1, {}));
  b.ops.send_at(801, write(1, context(1, 2)));
  run_until_idle();
  ASSERT_EQ(b.user.uses.size(), 7u);
  EXPECT_FALSE(b.user.uses[3].ok);
  EXPECT_FALSE(b.user.uses[4].ok);
  EXPECT_EQ(b.user.uses[4].at, 500 + row_cycles) << "it is not fetched again";
  ASSERT_GE(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].kind, HomeEvent::Kind::kLost);
  EXPECT_EQ(b.events[0].context, abi::ContextKind::kCq);
  EXPECT_EQ(b.events[0].index, 1u);
  EXPECT_FALSE(b.user.uses[5].ok);
  EXPECT_TRUE(b.user.uses[6].ok);
  EXPECT_EQ(b.produced(6), 0u);
  EXPECT_EQ(b.user.uses[6].row.cq.epoch, 2u);
}
INSTANTIATE_TEST_SUITE_P(Wrong, CqHomeOctets, testing::Values(2, 30, 36, 63));

TEST_F(CqHomeTest, ARowThatCannotBeReadIsLostUntilItsQueueIsDestroyed) {
  Bench b;
  b.dma.fails = {0};
  b.ops.send(home);
  b.user.asks = {{50, 1}, {100, 1}, {200, 1}};
  b.ops.send_at(150, write(1, {}));
  run_until_idle();
  EXPECT_FALSE(b.user.uses[0].ok);
  EXPECT_FALSE(b.user.uses[1].ok);
  EXPECT_TRUE(b.user.uses[2].ok);
  EXPECT_EQ(b.dma.requests().size(), 2u);
}

// ---- Without write-back: each change goes to the home at once

class WrittenThrough : public CqHomeTest {
 protected:
  // The values that each write of a queue's state had, in the order in which they landed.
  struct Home : Bench {
    explicit Home(HomeKind kind = HomeKind::kHost, unsigned flip_fetch = 0) : Bench(of(kind, flip_fetch), kThrough) {
      writes.on_landing = [this](std::uint64_t address, const std::uint8_t* octets, std::uint32_t bytes) {
        if (address % 64 == 32 && bytes == 32) produced_in[address / 64].push_back(load_le32(octets + 4));
      };
      if (kind == HomeKind::kHost) ops.send({HomeOp::Kind::kHomePage, 0, 0});
    }
    RowCache& cache() { return contexts.cq_table.cache(); }
    std::map<std::uint64_t, std::vector<std::uint32_t>> produced_in;  // by queue
  };
  static constexpr Cycle kToHome = 1;       // from a change to the unit
  static constexpr Cycle kToWrite = 1;      // and on to dma_write
  static constexpr std::uint32_t kOut = 6;  // that leave while nothing is taken: four for dma_write, two for the unit
  std::vector<std::uint32_t> out_and(std::initializer_list<std::uint32_t> others) const {
    std::vector<std::uint32_t> values(kOut);
    std::iota(values.begin(), values.end(), 1u);
    values.insert(values.end(), others);
    return values;
  }
};

TEST_F(WrittenThrough, AChangeIsOnItsWayInTheNextCycle) {
  Home b;
  b.user.asks = {{50, 3}, {100, 3}, {150, 4}, {200, 5}};
  run_until_idle();
  std::vector<Cycle> cycles;
  for (const CqUser::Use& use : b.user.uses) cycles.push_back(use.at + kToHome + kToWrite);
  EXPECT_EQ(b.writes.cycles(), cycles);
  EXPECT_THAT(b.writes.writes(), ElementsAre(std::pair(3u * 64 + 32, 32u), std::pair(3u * 64 + 32, 32u),
                                             std::pair(4u * 64 + 32, 32u), std::pair(5u * 64 + 32, 32u)));
  EXPECT_THAT(b.produced_in[3], ElementsAre(1, 2));
  EXPECT_EQ(b.dut.counters().write_throughs, 4u);
  EXPECT_EQ(b.dut.counters().write_backs, 0u);
  EXPECT_EQ(b.cache().counters().evictions, 1u);
  EXPECT_EQ(b.cache().counters().dirty, 0u);
  EXPECT_FALSE(b.cache().has_changes());
}

TEST_F(WrittenThrough, ARowThatIsOnlyReadIsNotWritten) {
  Home b;
  b.user.changes = false;
  b.user.asks = {{50, 3}, {100, 5}, {150, 6}};
  run_until_idle();
  EXPECT_THAT(b.writes.writes(), IsEmpty());
}

// All changes of the row behind those that are out are one.
TEST_F(WrittenThrough, ChangesThatCannotLeaveAreWrittenOnce) {
  Home b;
  b.writes.pause = window(0, 500);
  for (unsigned i = 0; i < 20; ++i) b.user.asks.emplace_back(50 + i, 3);
  run_until_idle();
  EXPECT_EQ(b.produced_in[3], out_and({20}));
  EXPECT_EQ(b.dut.counters().write_throughs, kOut + 1);
}

// Changes in each cycle, and the last one in each cycle around that in which a waiting write leaves: before it, it is
// in that write; in it, too; after it, it has one of its own.
TEST_F(WrittenThrough, AChangeInTheCycleInWhichItsWriteLeavesIsInItOrHasItsOwn) {
  std::vector<std::unique_ptr<Home>> benches;
  for (Cycle at = 490; at < 520; ++at) {
    benches.push_back(std::make_unique<Home>());
    Home& b = *benches.back();
    b.writes.pause = window(0, 500);
    for (unsigned i = 0; i < 10; ++i) b.user.asks.emplace_back(50 + i, 3);
    b.user.asks.emplace_back(at - row_cycles, 3);
  }
  run_until_idle();
  unsigned own = 0;
  Cycle last_within = 0, first_own = kNever;
  for (const auto& b : benches) {
    const Cycle changed = b->user.uses.back().at;
    const auto& values = b->produced_in[3];
    EXPECT_EQ(load_le32(&b->dma.memory[3 * 64 + 32 + 4]), 11u);
    if (values == out_and({11})) {
      last_within = std::max(last_within, changed);
    } else {
      first_own = std::min(first_own, changed);
      ++own;
      EXPECT_EQ(values, out_and({10, 11}));
    }
  }
  EXPECT_EQ(first_own, last_within + 1);
  EXPECT_GT(own, 5u);
  EXPECT_LT(own, benches.size() - 5);
}

// Two places, and a spare one: no row that was changed makes room before its write is on its way.
TEST_F(WrittenThrough, ARowStaysUntilItsWriteIsOut) {
  Home b;
  b.writes.pause = window(0, 500);
  for (std::uint32_t n = 1; n < 10; ++n) b.user.asks.emplace_back(40 + 10 * n, n);
  run_until_idle();
  ASSERT_EQ(b.user.uses.size(), 9u);
  // Four are at dma_write, the other two and one that has not left have the places.
  EXPECT_LT(b.user.uses[kOut].at, 500u);
  EXPECT_GT(b.user.uses[kOut + 1].at, 500u);
  EXPECT_GT(b.cache().counters().waits, 0u);
  for (std::uint32_t n = 1; n < 10; ++n) EXPECT_THAT(b.produced_in[n], ElementsAre(1)) << n;
}

// A row that has been written may leave; its fetch waits until that write is in the link.
TEST_F(WrittenThrough, AFetchWaitsForTheWriteOfItsRow) {
  Home b;
  b.writes.hold = 100;
  b.user.asks = {{50, 1}, {70, 2}, {90, 3}, {110, 4}, {115, 1}};
  run_until_idle();
  ASSERT_EQ(b.user.uses.size(), 5u);
  EXPECT_EQ(b.produced(4), 1u);
  EXPECT_GT(b.user.uses[4].at, b.writes.cycles()[0] + b.writes.hold);
}

class WrittenThroughToEachKind : public WrittenThrough, public testing::WithParamInterface<HomeKind> {};
TEST_P(WrittenThroughToEachKind, RowsThatLeaveComeBackAsTheyWere) {
  Home plain(GetParam()), shuffled(GetParam());
  shuffled.clk.shuffle(5);
  for (Home* const b : {&plain, &shuffled}) {
    b->writes.hold = 20;
    for (std::uint32_t n = 0; n < kCqs; ++n) b->ops.send(write(n, context(n)));
    for (unsigned i = 0; i < 300; ++i) b->user.asks.emplace_back(500 + i / 3, (i * 7 + i / 5) % kCqs);
  }
  run_until_idle();
  for (Home* const b : {&plain, &shuffled}) {
    std::map<std::uint32_t, std::uint32_t> used;
    ASSERT_EQ(b->user.uses.size(), 300u);
    for (unsigned i = 0; i < 300; ++i) {
      const std::uint32_t n = b->user.asks[i].second;
      ASSERT_TRUE(b->user.uses[i].ok);
      ASSERT_EQ(b->produced(i), used[n]++) << "use " << i << " of CQ " << n;
      ASSERT_EQ(b->user.uses[i].at, plain.user.uses[i].at) << "in any order of calls";
    }
    EXPECT_EQ(b->dut.counters().write_backs, 0u);
    EXPECT_GT(b->dut.counters().write_throughs, 200u);
    EXPECT_THAT(b->events, IsEmpty());
    EXPECT_EQ(b->writes.cycles(), plain.writes.cycles());
    for (std::uint32_t n = 0; n < kCqs; ++n) EXPECT_FALSE(b->contexts.cq_table.is_dirty(n));
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, WrittenThroughToEachKind, testing::Values(HomeKind::kHost, HomeKind::kBoard));

// The home is given back when all that was changed is there.
TEST_F(WrittenThrough, ItIsReleasedBehindTheLastWrite) {
  Home b;
  b.writes.pause = window(0, 500);
  for (unsigned i = 0; i < 8; ++i) b.user.asks.emplace_back(50 + i, 3);
  b.ops.send_at(100, {HomeOp::Kind::kRelease});
  run_until_idle();
  EXPECT_EQ(b.produced_in[3], out_and({8}));
  ASSERT_EQ(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].kind, HomeEvent::Kind::kReleased);
  EXPECT_GT(b.events.cycles()[0], b.writes.cycles().back() + b.writes.hold);
}

// A change of the cycle in which the home is given back has none to go to.
TEST_F(WrittenThrough, AReleaseInEachCycleAroundAChangeWritesNothingBehindIt) {
  std::vector<std::unique_ptr<Home>> benches;
  for (Cycle at = 180; at < 240; ++at) {
    Home& b = *benches.emplace_back(std::make_unique<Home>());
    b.user.asks = {{50, 3}, {200, 3}};
    b.ops.send_at(at, {HomeOp::Kind::kRelease});
  }
  run_until_idle();
  std::set<std::size_t> written;
  for (const auto& b : benches) {
    ASSERT_EQ(b->events.size(), 1u);
    EXPECT_EQ(b->events[0].kind, HomeEvent::Kind::kReleased);
    EXPECT_LT(b->writes.cycles().back(), b->events.cycles()[0]);
    EXPECT_FALSE(b->cache().has_changes());
    EXPECT_FALSE(b->contexts.cq_table.is_dirty(3));
    written.insert(b->writes.cycles().size());
  }
  EXPECT_THAT(written, ElementsAre(1u, 2u));
}

// Changes of other rows wait meanwhile. What is lost is not written until its number is used again.
TEST_F(WrittenThrough, ARowThatIsLostAmidChangesTakesNoneWithIt) {
  Home b(HomeKind::kHost, 3);
  b.writes.pause = window(0, 500);
  b.user.asks = {{50, 1}, {60, 2}, {70, 3}, {80, 4}, {81, 1}, {600, 3}, {900, 3}};
  b.ops.send_at(700, {write(3, {}), write(3, context(3, 2))});
  run_until_idle();
  EXPECT_EQ(b.user.ok(), (std::vector<bool>{true, true, false, true, true, false, true}));
  for (const std::uint32_t n : {2u, 3u, 4u}) EXPECT_THAT(b.produced_in[n], ElementsAre(1)) << n;
  EXPECT_THAT(b.produced_in[1], ElementsAre(1, 2));
  EXPECT_EQ(b.user.uses.back().row.cq.epoch, 2u);
  ASSERT_EQ(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].index, 3u);
}

// A queue is destroyed and its number used again in each cycle around a change: what was on its way leaves a whole row.
TEST_F(WrittenThrough, ANumberThatIsUsedAgainHasAWholeRow) {
  std::vector<std::unique_ptr<Home>> benches;
  for (Cycle at = 40; at < 130; ++at) {
    Home& b = *benches.emplace_back(std::make_unique<Home>());
    b.writes.pause = window(80, 100);
    b.ops.send(write(1, context(1)));
    b.ops.send_at(at, {write(1, {}), write(1, context(1, 2))});
    b.user.asks = {{50, 1}, {70, 1}, {75, 1}, {90, 1}, {200, 2}, {210, 3}, {220, 4}, {300, 1}};
  }
  run_until_idle();
  for (const auto& b : benches) {
    EXPECT_THAT(b->user.ok(), Each(true));
    EXPECT_EQ(b->user.uses.back().row.cq.epoch, 2u);
    EXPECT_EQ(b->user.uses.back().row.cq.base, context(1).base);
    EXPECT_THAT(b->events, IsEmpty());
  }
}

// Nothing of what was changed before is written after it.
TEST_F(WrittenThrough, AResetAmidChangesDropsThem) {
  struct Trial : Home {
    Trial() : Home(HomeKind::kBoard) {}
    At reset{sc_core::sc_gen_unique_name("reset"), clk};
    std::size_t uses_before = 0;
    std::uint64_t written_before = 0;
  };
  std::vector<std::unique_ptr<Trial>> benches;
  for (Cycle at = 250; at < 300; ++at) {
    Trial& b = *benches.emplace_back(std::make_unique<Trial>());
    for (unsigned i = 0; i < 400; ++i) b.user.asks.emplace_back(50 + i, i % 2);
    b.reset.at(at, [&b] {
      b.contexts.reset();
      b.dut.reset();
      b.uses_before = b.user.uses.size();
      b.written_before = b.dut.counters().write_throughs;
    });
  }
  run_until_idle();
  unsigned dropped = 0;
  for (const auto& b : benches) {
    ASSERT_LE(b->written_before, b->uses_before);
    dropped += b->written_before < b->uses_before;
    EXPECT_EQ(b->dut.counters().write_throughs - b->written_before, b->user.uses.size() - b->uses_before);
    EXPECT_FALSE(b->cache().has_changes());
  }
  EXPECT_EQ(dropped, benches.size());
}

TEST_F(CqHomeTest, TablesFollowEachOtherInTheirHome) {
  ContextStore::Sizes s{4, 4, kCqs, 16, 4, 65};
  s.cq_cache = kCache;
  s.page_cache = kCache;
  s.stag_cache = kCache;
  s.qp_cache = {{kCache}, QpFetch::kObject};
  s.homed_flows = 9;
  s.srq_cache = kCache;
  ContextStore contexts(clk, s);
  const HomeLayout layout = contexts.home_layout();
  EXPECT_EQ(layout[abi::ContextKind::kPages].base, 0u);
  EXPECT_EQ(layout[abi::ContextKind::kCq].base, 4096u);  // behind 17 rows of 32 octets
  EXPECT_EQ(layout[abi::ContextKind::kStag].base, 8192u);
  EXPECT_EQ(layout[abi::ContextKind::kQp].base, 12288u);
  EXPECT_EQ(layout[abi::ContextKind::kFlow].base, 16384u);
  EXPECT_EQ(layout[abi::ContextKind::kSrq].base, 24576u);  // behind 9 rows of 512 octets
  EXPECT_EQ(layout.bytes(), 7u * 4096);
  EXPECT_EQ(layout.kinds(), 63u);
  EXPECT_EQ(contexts.home_pages(), 1u);
}

// ---- Queue pairs as objects: rows of several tables, two of which are changed here by a stage of their own

class QpHomeTest : public StageTest {
 protected:
  static constexpr unsigned kQps = 16;
  static constexpr CacheConfig kCache{2, 2, CachePolicy::kLru, 2, 1};
  static ContextStore::Sizes sizes(HomeKind kind, bool write_back) {
    ContextStore::Sizes s{kQps, 4, 4, 16, 4, 64};
    s.qp_cache = {{kCache}, QpFetch::kObject};
    s.qp_cache.write_back = write_back;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  struct Bench {
    explicit Bench(HomeKind kind = HomeKind::kHost, bool write_back = true)
        : clk(sc_core::sc_gen_unique_name("clock"), {}),
          contexts(clk, sizes(kind, write_back)),
          tx(sc_core::sc_gen_unique_name("tx"), clk, contexts.tx_table),
          rx(sc_core::sc_gen_unique_name("rx"), clk, contexts.rx_table),
          dut(sc_core::sc_gen_unique_name("context_home"), clk, contexts, of(kind)) {
      if (kind == HomeKind::kHost) ops.send({HomeOp::Kind::kHomePage, 0, 0});
    }
    static ContextHomeConfig of(HomeKind kind) {
      ContextHomeConfig config;
      config.kind = kind;
      return config;
    }
    // Ordinary uses that make whatever is on the chip leave: there are two places and a spare one for each table.
    void others(Cycle from) {
      for (std::uint32_t n = 10; n < 14; ++n) tx.asks.emplace_back(from + 5 * n, n);
    }
    ClockDomain clk;
    ContextStore contexts;
    TxUser tx;
    RxUser rx;
    ContextHome dut;
    Source<HomeOp> ops = drive(dut.ops);
    Sink<HomeEvent> events = collect(dut.events);
    FakeDma dma{dut.read, dut.read_done};
    FakeDmaWrite writes{dut.write, dut.write_done, dma.memory};
  };
  static HomeOp write(std::uint32_t n, std::uint32_t epoch = 1) {
    HomeOp op{HomeOp::Kind::kWriteQp, n};
    op.qp = rts_qp(n, epoch);
    return op;
  }
  const unsigned tx_cycles = TxTableConfig{}.read_cycles + kCache.tag_cycles;
  const unsigned rx_cycles = RxTableConfig{}.read_cycles + kCache.tag_cycles;
};

TEST_F(QpHomeTest, AQueuePairIsFetchedAtOnceForBothTables) {
  Bench b;
  b.ops.send(write(3));
  b.tx.asks = {{50, 3}};
  b.rx.asks = {{52, 3}, {200, 3}};
  run_until_idle();
  EXPECT_THAT(b.dma.reads(), ElementsAre(std::pair(3u * 512, 400u)));
  const Cycle here = 50 + 1 + 1 + b.dma.latency + 1;
  EXPECT_THAT(b.tx.used(), ElementsAre(here + tx_cycles));
  EXPECT_THAT(b.rx.used(), ElementsAre(here + rx_cycles, 200 + rx_cycles));
  EXPECT_EQ(b.tx.uses[0].row.qp.epoch, 1u);
  for (const RxUser::Use& use : b.rx.uses) EXPECT_EQ(use.row.qp.epoch, 1u);
  EXPECT_EQ(b.dut.counters().fetches, 1u);
}

// What each stage changed goes home, one part a cycle, before the fetch; and neither goes if it was not changed.
class QpHomeChanges : public QpHomeTest, public testing::WithParamInterface<std::pair<bool, bool>> {};
TEST_P(QpHomeChanges, EachChangedPartIsWrittenBackWhereItBelongs) {
  const auto [sends, receives] = GetParam();
  Bench b;
  b.tx.changes = sends;
  b.rx.changes = receives;
  b.ops.send(write(3));
  b.tx.asks = {{50, 3}, {100, 4}, {150, 5}};  // one set of two ways
  b.rx.asks = {{60, 3}};
  run_until_idle();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> expected{{3 * 512 + 208, 124}};
  if (sends) expected.emplace_back(3 * 512, 136);
  if (receives) expected.emplace_back(3 * 512 + 332, 48);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;
  for (const auto& [address, bytes] : b.writes.writes()) seen.emplace_back(address, bytes);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(b.dut.counters().write_backs, unsigned{sends || receives});
  EXPECT_EQ(b.contexts.tx_table.cache().counters().dirty, unsigned{sends || receives});
  const Cycle parts = sends && receives ? 1 : 0;
  EXPECT_EQ(b.tx.uses[2].at - b.tx.uses[1].at, 50 + parts);
  if (receives) {
    EXPECT_EQ(load_le32(&b.dma.memory[3 * 512 + 332 + 20]), 1u);
  }
}
INSTANTIATE_TEST_SUITE_P(Of, QpHomeChanges,
                         testing::Values(std::pair(false, false), std::pair(false, true), std::pair(true, false),
                                         std::pair(true, true)));

// Two stages change the parts of one object in the same cycle: a write each, in the order of the tables. It stays until
// both are out.
TEST_F(QpHomeTest, WithoutWriteBackEachPartThatWasChangedIsAWrite) {
  Bench b(HomeKind::kHost, false);
  b.tx.asks = {{50, 3}, {100, 4}, {150, 5}, {200, 3}};
  b.rx.asks = {{50 + tx_cycles - rx_cycles, 3}, {250, 3}};
  run_until_idle();
  ASSERT_EQ(b.rx.uses[0].at, b.tx.uses[0].at);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> seen(b.writes.writes().begin(), b.writes.writes().begin() + 2);
  EXPECT_THAT(seen, ElementsAre(std::pair(3u * 512, 136u), std::pair(3u * 512 + 332, 48u)));
  EXPECT_EQ(b.writes.cycles()[0], b.tx.uses[0].at + 2);
  EXPECT_EQ(b.writes.cycles()[1], b.tx.uses[0].at + 3);
  EXPECT_EQ(b.tx.count(3), 1u);
  EXPECT_EQ(b.rx.count(1), 1u);
  EXPECT_EQ(b.dut.counters().write_backs, 0u);
  EXPECT_EQ(b.dut.counters().write_throughs, 6u);
}

// A queue's changes are written at once, those of a queue pair when it makes room; both wait for dma_write all the
// time.
TEST_F(QpHomeTest, ChangesAndRowsThatMakeRoomTakeTurns) {
  ContextStore::Sizes sizes_of_both = sizes(HomeKind::kHost, true);
  sizes_of_both.cq_cache = {2, 2, CachePolicy::kLru, 2, 1, false};
  ContextStore contexts(clk, sizes_of_both);
  CqUser cq("cq", clk, contexts.cq_table);
  TxUser tx("tx", clk, contexts.tx_table);
  ContextHome dut("dut", clk, contexts, {});
  Source<HomeOp> ops = drive(dut.ops);
  const Sink<HomeEvent> events = collect(dut.events);
  FakeDma dma(dut.read, dut.read_done);
  FakeDmaWrite writes(dut.write, dut.write_done, dma.memory);
  ops.send({HomeOp::Kind::kHomePage, 0, 0});
  writes.pause = Pattern::every(40, 39);
  for (unsigned i = 0; i < 4000; ++i) cq.asks.emplace_back(50 + i, 1 + i % 2);
  for (unsigned i = 0; i < 30; ++i) tx.asks.emplace_back(50, i % kQps);
  run_until_idle();
  ASSERT_EQ(tx.uses.size(), 30u);
  EXPECT_LT(tx.uses.back().at, 4000u);  // while the queues are still changed
  EXPECT_GT(dut.counters().write_throughs, 50u);
  EXPECT_GT(dut.counters().write_backs, 20u);
}

// What the firmware writes in each cycle around an object's way out and back: nobody undoes what another one wrote.
TEST_F(QpHomeTest, TheFirmwareAndTheStagesNeverWriteEachOthersPart) {
  std::vector<std::unique_ptr<Bench>> benches;
  for (Cycle at = 40; at < 180; ++at) {
    for (const auto& [kind, write_back] : {std::pair(HomeKind::kHost, true), std::pair(HomeKind::kBoard, true),
                                           std::pair(HomeKind::kHost, false), std::pair(HomeKind::kBoard, false)}) {
      benches.push_back(std::make_unique<Bench>(kind, write_back));
      Bench& b = *benches.back();
      b.writes.hold = 7;
      b.ops.send(write(1));
      b.ops.send_at(at, write(1, 2));
      b.tx.asks = {{50, 1}, {51, 2}, {80, 3}, {81, 1}, {110, 4}, {120, 5}, {300, 1}};
      b.rx.asks = {{50, 1}, {82, 1}, {301, 1}};
    }
  }
  run_until_idle();
  for (const auto& b : benches) {
    ASSERT_EQ(b->tx.uses.size(), 7u);
    ASSERT_EQ(b->rx.uses.size(), 3u);
    for (unsigned n = 0; n < 3; ++n) EXPECT_EQ(b->rx.count(n), n);
    EXPECT_EQ(b->tx.count(0), 0u);
    EXPECT_EQ(b->tx.count(3), 1u);
    EXPECT_EQ(b->tx.count(6), 2u);
    EXPECT_EQ(b->tx.uses[6].row.qp.epoch, 2u);
    EXPECT_EQ(b->rx.uses[2].row.qp.epoch, 2u);
  }
}

// A part that is not what was written is the end of the whole object, until its number is used again.
class QpHomeOctets : public QpHomeTest, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(QpHomeOctets, AWrongOneOfEitherHalfLosesBoth) {
  Bench b;
  At meanwhile("meanwhile", b.clk);
  meanwhile.at(800, [&] { b.dma.memory[512 + GetParam()] ^= 4; });
  b.ops.send(write(1));
  b.tx.asks = {{50, 1}};
  b.rx.asks = {{50, 1}, {900, 1}, {1300, 1}};
  b.others(300);
  b.tx.asks.emplace_back(1000, 1);
  b.tx.asks.emplace_back(1301, 1);
  b.ops.send_at(1200, write(1, 2));
  run_until_idle();
  EXPECT_THAT(b.rx.ok(), ElementsAre(true, false, true));
  EXPECT_THAT(b.tx.ok(), ElementsAre(true, true, true, true, true, false, true));
  EXPECT_EQ(b.tx.uses.back().row.qp.epoch, 2u);
  EXPECT_EQ(b.rx.uses.back().row.qp.epoch, 2u);
  EXPECT_EQ(b.tx.count(6), 0u) << "as of a number never used";
  EXPECT_EQ(b.rx.count(2), 0u);
  EXPECT_EQ(b.dut.counters().corrupt, 1u);
  ASSERT_EQ(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].context, abi::ContextKind::kQp);
  EXPECT_EQ(b.events[0].index, 1u);
}
INSTANTIATE_TEST_SUITE_P(Wrong, QpHomeOctets,
                         testing::Values(5, 140, 190, 210, 245, 257, 270, 285, 310, 322, 335, 381));

// ---- STags: stag_work changes their entries on the chip

class StagHomeTest : public StageTest {
 protected:
  static constexpr unsigned kStags = 16;
  static constexpr CacheConfig kCache{2, 2, CachePolicy::kLru, 2, 1};
  static ContextStore::Sizes sizes(HomeKind kind, const CacheConfig& cache) {
    ContextStore::Sizes s{4, 4, 4, kStags, 4, 64};
    s.stag_cache = cache;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  struct Bench {
    explicit Bench(ContextHomeConfig config = {}, const CacheConfig& cache = kCache)
        : clk(sc_core::sc_gen_unique_name("clock"), {}),
          contexts(clk, sizes(config.kind, cache)),
          stag_work(sc_core::sc_gen_unique_name("stag_work"), clk, contexts),
          dut(sc_core::sc_gen_unique_name("context_home"), clk, contexts, config) {
      for (std::uint32_t n = 1; n < 3; ++n) contexts.write(Qpn{n}, rts_qp(n));
      contexts.commit();
      if (contexts.home_pages() != 0) ops.send({HomeOp::Kind::kHomePage, 0, 0});
    }
    ClockDomain clk;
    ContextStore contexts;
    StagWork stag_work;
    ContextHome dut;
    Source<HomeOp> ops = drive(dut.ops);
    Sink<HomeEvent> events = collect(dut.events);
    Source<StagRequest> queues = drive(stag_work.request);
    Sink<StagRequestDone> done = collect(stag_work.request_done);
    Source<SinkEnd> reads = drive(stag_work.sink);
    Sink<SinkEnded> ended = collect(stag_work.sink_ended);
    Source<StagWrite> firmware = drive(stag_work.write);
    Sink<StagWritten> written = collect(stag_work.written);
    FakeDma dma{dut.read, dut.read_done};
    FakeDmaWrite writes{dut.write, dut.write_done, dma.memory};

    std::vector<abi::WcStatus> statuses() const {
      std::vector<abi::WcStatus> all;
      for (const StagRequestDone& d : done) all.push_back(d.status);
      return all;
    }
  };
  static StagWrite write(std::uint32_t index, const StagContext& c) { return {Stag{stag_of(index)}, c}; }
  static StagRequest invalidate(std::uint32_t stag) {
    abi::Wqe w;
    w.opcode = abi::WrOpcode::kLocalInv;
    w.invalidate_stag = stag;
    return {Qpn{1}, 1, w, Pdn{1}};
  }
};

// Octet for octet, by hand: allocated, valid, kind, zero_based are bits 0 to 4, then key and access, 8 bits each.
TEST_F(StagHomeTest, AnEntryIsWhereItBelongsWhenItMakesRoom) {
  Bench b;
  StagContext c = region(0x8000, 0x1000, 0x1f, 9);
  c.address = 0x123;
  for (const std::uint32_t index : {3u, 5u, 6u}) b.firmware.send(write(index, c));
  run_until_idle();
  EXPECT_THAT(b.writes.writes(), ElementsAre(std::pair(3u * 64, 64u)));
  const std::uint8_t* const octets = &b.dma.memory[3 * 64];
  const auto bits = [octets](unsigned first, unsigned width) { return bits_of(octets, first, width); };
  EXPECT_EQ(bits(0, 5), 2u);
  EXPECT_EQ(bits(5, 8), 0x5au);
  EXPECT_EQ(bits(13, 8), 0x1fu);
  EXPECT_EQ(bits(21, 32), 9u);               // pd
  EXPECT_EQ(bits(21 + 4 * 32, 64), 0x123u);  // behind region, qpn, qp_epoch
  EXPECT_EQ(bits(21 + 4 * 32 + 64, 64), 0x1000u);
  EXPECT_EQ(bits(21 + 4 * 32 + 128, 64), 0x8000u);
  EXPECT_EQ(b.dut.counters().write_backs, 1u);
  EXPECT_EQ(b.contexts.stag_table.peek(3), nullptr);
}

// Asks for an entry at a given cycle, and keeps what it sees.
class StagReader final : public Stage {
 public:
  StagReader(sc_core::sc_module_name nm, ClockDomain& clk, StagTable& table) : Stage(nm, clk) {
    table.bind(rows_);
    wake(0);
  }
  std::vector<std::pair<Cycle, std::uint32_t>> asks;
  std::vector<StagContext> seen;
  Wake tick() override {
    if (rows_.can_use()) {
      seen.push_back(rows_.ok() ? rows_.row().stag : StagContext{});
      rows_.drop();
    }
    if (asked_ == asks.size()) return Wake::on_traffic();
    if (asks[asked_].first > now()) return Wake::at_cycle(asks[asked_].first);
    rows_.ask(asks[asked_++].second);
    return Wake::next_cycle();
  }

 private:
  StagTable::Reader rows_{*this, "reader"};
  std::size_t asked_ = 0;
};

// stag_work drops an entry in the cycle in which it writes it. Another one is missed in each cycle around that, in any
// order of calls.
class StagHomeWrites : public StagHomeTest, public testing::WithParamInterface<bool> {};
TEST_P(StagHomeWrites, AnEntryMakesNoRoomBeforeWhatItsWriterHasWritten) {
  struct Read : Bench {
    Read() : Bench({}, {1, 1, CachePolicy::kLru, 1, 1, GetParam()}) {}
    StagReader reader{sc_core::sc_gen_unique_name("reader"), clk, contexts.stag_table};
  };
  std::vector<std::unique_ptr<Read>> benches;
  for (Cycle at = 195; at < 215; ++at) {
    for (unsigned seed = 1; seed < 5; ++seed) {
      Read& b = *benches.emplace_back(std::make_unique<Read>());
      b.clk.shuffle(seed);
      b.firmware.send(write(3, region(0x8000, 0x1000, 0x1f)));
      b.firmware.send_at(200, write(3, region(0x8000, 0x2000, 0x1f)));
      b.reader.asks = {{at, 5}, {600, 6}, {1000, 3}};
    }
  }
  run_until_idle();
  for (const auto& b : benches) {
    ASSERT_EQ(b->reader.seen.size(), 3u);
    EXPECT_EQ(b->reader.seen[2].length, 0x2000u);
  }
}
INSTANTIATE_TEST_SUITE_P(Homes, StagHomeWrites, testing::Bool());

// Whatever the requests are and wherever the entries: each has the outcome that it has on a chip with all of them.
class StagHomeOfEachKind : public StagHomeTest, public testing::WithParamInterface<HomeKind> {};
TEST_P(StagHomeOfEachKind, RequestsHaveTheSameOutcomesAsWithAllEntriesOnTheChip) {
  ContextHomeConfig config;
  config.kind = GetParam();
  Bench all(config, CacheConfig{}), one(config, {1, 1, CachePolicy::kLru, 1, 0}), two(config, kCache);
  Bench through(config, {1, 1, CachePolicy::kLru, 2, 1, false});
  through.clk.shuffle(3);
  Prng random(3);
  for (unsigned n = 0; n < 1500; ++n) {
    const auto index = static_cast<std::uint32_t>(random.below(6));
    const std::uint32_t stag = stag_of(index, static_cast<std::uint8_t>(0x5a + random.below(2)));
    const auto of = static_cast<std::uint32_t>(random.below(6));
    abi::Wqe w;
    w.rkey = w.invalidate_stag = stag;
    const std::uint64_t kind = random.below(9);
    w.opcode = kind < 3 ? abi::WrOpcode::kBindMw : kind < 5 ? abi::WrOpcode::kRegMr : abi::WrOpcode::kLocalInv;
    abi::Registration r{0x1000, 0x100, stag_of(of), abi::kRemoteRead};
    if (kind < 5) r.put(w);
    StagContext c;
    switch (random.below(4)) {
      case 0:
        c = region(0x1000, 0x1000, abi::kLocalWrite | abi::kMwBind);
        break;
      case 1:
      case 2:
        c.allocated = true;
        c.pd = Pdn{1};
        c.kind = static_cast<StagKind>(random.below(3));
        break;
      default:
        break;
    }
    const std::uint64_t from = random.below(10);
    for (Bench* b : {&all, &one, &two, &through}) {
      if (from < 7) b->queues.send({Qpn{1}, 1, w, Pdn{1}});
      else if (from < 9) b->firmware.send(write(index, c));
      else b->reads.send({Stag{stag}});
    }
    run_until_idle();
  }
  unsigned succeeded = 0;
  for (const abi::WcStatus status : all.statuses()) succeeded += status == abi::WcStatus::kSuccess;
  EXPECT_GT(succeeded, 60u);
  for (Bench* b : {&one, &two, &through}) {
    EXPECT_EQ(b->statuses(), all.statuses());
    ASSERT_EQ(b->ended.size(), all.ended.size());
    for (std::size_t n = 0; n < all.ended.size(); ++n) EXPECT_EQ(b->ended[n].status, all.ended[n].status);
    const ContextHomeCounters& home = b->dut.counters();
    EXPECT_GT(b == &through ? home.write_throughs : home.write_backs, 50u);
    EXPECT_EQ(b == &through ? home.write_backs : home.write_throughs, 0u);
    EXPECT_EQ(b->contexts.stag_table.cache().counters().dirty, home.write_backs);
    EXPECT_THAT(b->events, IsEmpty());
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, StagHomeOfEachKind, testing::Values(HomeKind::kHost, HomeKind::kBoard));

// Many at once, from all inputs, with one place: nobody waits for another one's rows.
TEST_F(StagHomeTest, EveryRequestIsAnsweredHoweverManyThereAre) {
  Bench b({}, {1, 1, CachePolicy::kLru, 2, 1});
  b.writes.hold = 9;
  Prng random(5);
  for (unsigned n = 0; n < 300; ++n) {
    abi::Wqe w;
    w.opcode = abi::WrOpcode::kBindMw;
    w.rkey = stag_of(static_cast<std::uint32_t>(random.below(kStags)));
    abi::Registration{0x1000, 0x100, stag_of(static_cast<std::uint32_t>(random.below(kStags))), abi::kRemoteRead}.put(
        w);
    b.queues.send({Qpn{1}, 1, w, Pdn{1}});
    b.reads.send({Stag{stag_of(static_cast<std::uint32_t>(random.below(kStags)))}});
    StagContext c = region(0x1000, 0x1000, abi::kMwBind);
    c.allocated = random.below(2) != 0;
    c.kind = static_cast<StagKind>(random.below(3));
    b.firmware.send(write(static_cast<std::uint32_t>(random.below(kStags)), c));
  }
  run_until_idle();
  EXPECT_EQ(b.done.size() + b.ended.size() + b.written.size(), 900u);
}

// A wrong octet in the home, or a read that fails: the STag names nothing, until the firmware writes its entry again.
class StagHomeOctets : public StagHomeTest, public testing::WithParamInterface<int> {};
TEST_P(StagHomeOctets, AnEntryThatIsLostNamesNothingUntilItIsWrittenAgain) {
  Bench b;
  At meanwhile("meanwhile", b.clk);
  if (GetParam() >= 0) meanwhile.at(350, [&] { b.dma.memory[64 + static_cast<unsigned>(GetParam())] ^= 4; });
  else b.dma.fails = {3};
  b.firmware.send({write(1, region(0, 100, 0)), write(2, {}), write(3, {})});
  b.queues.send_at(400, invalidate(stag_of(1)));
  b.firmware.send_at(600, write(1, region(0, 200, 0)));
  b.queues.send_at(800, invalidate(stag_of(1)));
  run_until_idle();
  EXPECT_THAT(b.statuses(), ElementsAre(abi::WcStatus::kMwBindErr, abi::WcStatus::kSuccess));
  ASSERT_GE(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].kind, HomeEvent::Kind::kLost);
  EXPECT_EQ(b.events[0].context, abi::ContextKind::kStag);
  EXPECT_EQ(b.events[0].index, 1u);
}
INSTANTIATE_TEST_SUITE_P(Wrong, StagHomeOctets, testing::Values(-1, 0, 7, 59, 60, 63));

}  // namespace
}  // namespace rnic::test
