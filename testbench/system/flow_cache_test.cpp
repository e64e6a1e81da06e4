// Flows of TCP that are not all on the chip.
#include "testbench/support/home_check.h"
#include "testbench/system/few_rows.h"
#include "testbench/system/lost_row.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

class FlowCacheEndToEnd : public TwoNodeBench, public testing::WithParamInterface<FewRows> {
 protected:
  static constexpr std::size_t kStreams = 24;
  static NodeConfig config() { return GetParam().of(&CachesConfig::flow); }
  FlowCacheEndToEnd() : TwoNodeBench(config(), config()) {}
};

// Frames, acknowledgements, credit and timers of many connections, with room for few of them.
TEST_P(FlowCacheEndToEnd, EveryRequestCompletesOnceAndInOrder) {
  constexpr std::uint64_t kEach = 40;
  for (std::size_t n = 0; n < kStreams; ++n) client.create(128), server.create(128);
  connect(kStreams);
  for (std::uint64_t round = 0; round < kEach / 8; ++round) {
    client.run([this, round] {
      for (std::uint64_t id = 8 * round; id < 8 * round + 8; ++id) {
        for (End::Stream& stream : client.streams) {
          host::SendWr wr =
              client.request(id, id % 2 == 0 ? abi::WrOpcode::kRdmaRead : abi::WrOpcode::kRdmaWrite, 0, 64);
          wr.remote_addr = server.address;
          wr.rkey = server.mr->rkey();
          EXPECT_EQ(stream.qp->post_send(wr), 0);
        }
      }
    });
    client.then([this, round] {
      return std::all_of(client.streams.begin(), client.streams.end(),
                         [round](const End::Stream& s) { return s.completions.size() == 8 * round + 8; });
    });
  }
  run();
  std::vector<std::uint64_t> ids(kEach);
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  for (const End::Stream& stream : client.streams) EXPECT_EQ(stream.succeeded(), ids);
  for (const End* end : {&server, &client}) {
    const CacheCounters& cache = end->node.chip.flow_tx_table().cache().counters();
    EXPECT_GT(cache.dirty, 100u);
    const ContextHomeCounters& home = end->node.chip.context_home.counters();
    EXPECT_EQ(home.write_backs, cache.dirty);
    EXPECT_EQ(home.failed + home.corrupt, 0u);
    EXPECT_EQ(end->node.chip.tcp_tx.counters().retransmissions, 0u);
    if (end->node.context.home() != nullptr) {
      EXPECT_GE(check_flow_home(end->node), 2 * GetParam().entries);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, FlowCacheEndToEnd, few_rows_of_queues(), testing::PrintToStringParamName());

// A wrong bit in a flow that comes back: its connection ends, at both ends, and no other one.
class LostFlow : public LostRow, public testing::WithParamInterface<unsigned> {
 protected:
  LostFlow() : LostRow(FewRows{"", 1, 1, HomeKind::kHost, GetParam()}.of(&CachesConfig::flow)) {}
};
TEST_P(LostFlow, EndsItsStreamAndNoOther) {
  post(abi::WrOpcode::kRdmaWrite, 6, 60, 3000);
  expect_one_lost(6);
  EXPECT_EQ(b.chip.tcp_connection.flows_in_use(), kStreams - 1) << "its number is free";
  EXPECT_EQ(b.chip.tcp_memory().used().octets, 0u) << "nothing of it is kept";
}
INSTANTIATE_TEST_SUITE_P(Fetches, LostFlow, testing::Values(210u, 240u, 270u, 300u));

// Without its home nobody listens, and no queue pair is made; the home is not given back meanwhile.
class FlowHomeCommands : public TwoNodeBench {
 protected:
  FlowHomeCommands() : TwoNodeBench({}, FewRows{"", 2, 2}.of(&CachesConfig::flow)) {}
  host::Listener* listen(std::uint16_t port) { return &b.context.listen(port, abi::kCmCrc, client.channel); }
};
TEST_F(FlowHomeCommands, ConnectionsNeedTheirHome) {
  host::Listener *first = nullptr, *second = nullptr, *third = nullptr;
  client.run([&] { first = listen(7000); });
  client.wait_us(50);
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->failed());
    EXPECT_EQ(b.context.home()->status(), abi::CommandStatus::kBusy);
    b.context.unlisten(*first);
  });
  client.wait_us(50);
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->destroyed());
    second = listen(7000);
  });
  client.wait_us(50);
  client.run([&] {
    EXPECT_EQ(second->status(), abi::CommandStatus::kNoHome);
    b.context.give_home();
    third = listen(7001);
  });
  client.wait_us(50);
  client.run([&] { EXPECT_TRUE(third->ready()); });
  run();
}

}  // namespace
}  // namespace rnic::test
