// Contexts of every kind that go to their home with each change.
#include "testbench/support/home_check.h"
#include "testbench/system/few_rows.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

struct Through {
  const char* name;
  unsigned entries;
  HomeKind kind = HomeKind::kHost;
  QpFetch fetch = QpFetch::kHalf;
  friend std::ostream& operator<<(std::ostream& out, const Through& t) { return out << t.name; }
};

class WriteThroughEndToEnd : public TwoNodeBench, public testing::WithParamInterface<Through> {
 protected:
  static constexpr std::size_t kStreams = 32;  // more than there are places, with the spare ones
  static constexpr std::uint64_t kRounds = 6;
  static constexpr std::uint32_t kBytes = 64;
  static NodeConfig config() {
    NodeConfig c;
    const CacheConfig few{GetParam().entries, 1, CachePolicy::kLru, 2, 1, false};
    CachesConfig& cache = c.rnic.context.cache;
    cache.cq = cache.stag = cache.flow = {few};
    cache.qp = {{few}, GetParam().fetch};
    c.rnic.context.home.kind = GetParam().kind;
    return c;
  }
  WriteThroughEndToEnd() : TwoNodeBench(config(), config()) {}
  static std::uint8_t octet(std::size_t stream, std::uint64_t round, std::uint32_t i) {
    return static_cast<std::uint8_t>(41 * stream + 13 * round + i);
  }
  static std::uint32_t at(std::size_t stream, std::uint64_t round) {
    return static_cast<std::uint32_t>((stream * kRounds + round) * kBytes);
  }
  // At rest each row on the chip is what its home has.
  void expect_home_is_the_chip(Node& node) {
    const ContextStore& contexts = node.chip.contexts();
    const auto all_clean = [](const TableBase& table) {
      for (std::uint32_t n = 0; n < table.rows(); ++n) EXPECT_FALSE(table.is_dirty(n)) << table.name() << ' ' << n;
    };
    const TableBase* const changed[] = {&contexts.cq_table,  &contexts.stag_table,       &contexts.tx_table,
                                        &contexts.rx_table,  &contexts.sqc_table,        &contexts.irrq_table,
                                        &contexts.orq_table, &node.chip.flow_tx_table(), &node.chip.flow_rx_table()};
    for (const TableBase* table : changed) {
      all_clean(*table);
      EXPECT_FALSE(table->cache().has_changes()) << table->name();
      EXPECT_EQ(table->cache().counters().dirty, 0u) << table->name();
      if (table != &contexts.stag_table) {  // whose only region stays
        EXPECT_GT(table->cache().counters().evictions, 10u) << table->name();
      }
    }
    const ContextHomeCounters& home = node.chip.context_home.counters();
    EXPECT_EQ(home.write_backs, 0u);
    EXPECT_GT(home.write_throughs, 500u);
    EXPECT_EQ(home.failed + home.corrupt, 0u);
    if (node.context.home() == nullptr) return;
    const HomeLayout layout = contexts.home_layout();
    EXPECT_GT(check_cq_home(node, layout[abi::ContextKind::kCq].base), 0u);
    EXPECT_GT(check_stag_home(node, layout[abi::ContextKind::kStag].base), 0u);
    EXPECT_GT(check_qp_home(node, layout[abi::ContextKind::kQp].base), 0u);
    EXPECT_GT(check_qp_rx_home(node, layout[abi::ContextKind::kQp].base), 0u);
    EXPECT_GT(check_qp_rows_home(node, layout[abi::ContextKind::kQp].base), 0u);
    EXPECT_GT(check_flow_home(node, layout[abi::ContextKind::kFlow].base), 0u);
  }
};

// A Write, a Read back of what was written in the round before, and a Send on each stream in each round.
TEST_P(WriteThroughEndToEnd, DataIsRightAndNoEvictionWrites) {
  for (std::size_t n = 0; n < kStreams; ++n) client.create(64), server.create(64);
  connect(kStreams);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    server.run([this, round] {
      for (std::size_t n = 0; n < kStreams; ++n) server.post_receives(n, round, 1);
    });
    client.wait_us(10);
    client.run([this, round] {
      for (std::size_t n = 0; n < kStreams; ++n) {
        const MutableByteSpan octets = client.memory(at(n, round), kBytes);
        for (std::uint32_t i = 0; i < kBytes; ++i) octets[i] = octet(n, round, i);
        host::SendWr write = client.request(round, abi::WrOpcode::kRdmaWrite, at(n, round), kBytes);
        host::SendWr read = client.request(round, abi::WrOpcode::kRdmaRead, 0x8000 + at(n, round), kBytes);
        write.remote_addr = read.remote_addr = server.address + 0x4000 + at(n, round);
        write.rkey = read.rkey = server.mr->rkey();
        host::SendWr send = client.request(round, abi::WrOpcode::kSend, at(n, round), kBytes);
        for (host::SendWr* wr : {&write, &read, &send}) EXPECT_EQ(client.streams[n].qp->post_send(*wr), 0);
      }
    });
    const auto all = [](const End& end, std::size_t completions) {
      return std::all_of(end.streams.begin(), end.streams.end(),
                         [&](const End::Stream& s) { return s.completions.size() == completions; });
    };
    client.then([this, all, round] { return all(client, 3 * (round + 1)); });
    server.then([this, all, round] { return all(server, round + 1); });
  }
  run();
  for (std::size_t n = 0; n < kStreams; ++n) {
    EXPECT_EQ(client.streams[n].succeeded().size(), 3 * kRounds);
    EXPECT_EQ(server.streams[n].succeeded().size(), kRounds);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const MutableByteSpan there = server.memory(0x4000 + at(n, round), kBytes);
      const MutableByteSpan back = client.memory(0x8000 + at(n, round), kBytes);
      for (std::uint32_t i = 0; i < kBytes; ++i) {
        ASSERT_EQ(there[i], octet(n, round, i)) << "stream " << n << " round " << round;
        ASSERT_EQ(back[i], octet(n, round, i)) << "stream " << n << " round " << round;
      }
    }
  }
  for (Node* node : {&a, &b}) expect_home_is_the_chip(*node);
}
INSTANTIATE_TEST_SUITE_P(Sizes, WriteThroughEndToEnd,
                         testing::Values(Through{"One", 1}, Through{"Two", 2},
                                         Through{"OneOnBoard", 1, HomeKind::kBoard},
                                         Through{"OneObject", 1, HomeKind::kHost, QpFetch::kObject}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace rnic::test
