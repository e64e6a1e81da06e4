// Completion queues that are not all on the chip.
#include "testbench/support/home_check.h"
#include "testbench/system/few_rows.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

class CqCacheEndToEnd : public TwoNodeBench, public testing::WithParamInterface<FewRows> {
 protected:
  static constexpr std::size_t kStreams = 6;
  static NodeConfig config() { return GetParam().of(&CachesConfig::cq); }
  CqCacheEndToEnd() : TwoNodeBench(config(), config()) {}
};

// Each stream has a queue at each end.
TEST_P(CqCacheEndToEnd, EveryWorkRequestCompletesOnceAndInOrder) {
  constexpr std::uint64_t kEach = 40;
  for (std::size_t n = 0; n < kStreams; ++n) client.create(128), server.create(128);
  connect(kStreams);
  for (std::uint64_t round = 0; round < kEach / 8; ++round) {
    server.run([this, round] {
      for (std::size_t n = 0; n < kStreams; ++n) server.post_receives(n, 8 * round, 8);
    });
    client.wait_us(20);
    client.run([this, round] {
      for (std::uint64_t id = 8 * round; id < 8 * round + 8; ++id) {
        for (End::Stream& stream : client.streams) {
          EXPECT_EQ(stream.qp->post_send(client.request(id, abi::WrOpcode::kSend, 0, 64)), 0);
        }
      }
    });
    const auto all_done = [this, round](const End& end) {
      return std::all_of(end.streams.begin(), end.streams.end(),
                         [round](const End::Stream& s) { return s.completions.size() == 8 * round + 8; });
    };
    client.then([this, all_done] { return all_done(client); });
    server.then([this, all_done] { return all_done(server); });
  }
  run();
  std::vector<std::uint64_t> ids(kEach);
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  for (const End* end : {&server, &client}) {
    for (const End::Stream& stream : end->streams) EXPECT_EQ(stream.succeeded(), ids);
    const CacheCounters& counters = end->node.chip.contexts().cq_table.cache().counters();
    EXPECT_GT(counters.dirty, 20u);
    const ContextHomeCounters& home = end->node.chip.context_home.counters();
    EXPECT_EQ(home.write_backs, counters.dirty);
    EXPECT_EQ(home.failed + home.corrupt, 0u);
    if (end->node.context.home() != nullptr) {
      EXPECT_EQ(check_cq_home(end->node), GetParam().entries);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CqCacheEndToEnd, few_rows_of_queues(), testing::PrintToStringParamName());

// A wrong bit in a row that comes back: its queue is in error and the streams that use it end, as if it had overrun;
// the others go on. No entry follows the lost one.
class LostCq : public TwoNodeBench, public testing::WithParamInterface<unsigned> {
 protected:
  LostCq() : TwoNodeBench({}, FewRows{"", 1, 1, HomeKind::kHost, GetParam()}.of(&CachesConfig::cq)) {}
};
TEST_P(LostCq, EndsTheStreamsThatUseItAndNoOther) {
  for (std::size_t n = 0; n < 3; ++n) client.create(32), server.create(32);
  connect(3);
  for (std::uint64_t round = 0; round < 3; ++round) {
    client.run([this, round] {
      for (End::Stream& stream : client.streams) {
        host::SendWr wr = client.request(round, abi::WrOpcode::kRdmaWrite, 0, 64);
        wr.remote_addr = server.address;
        wr.rkey = server.mr->rkey();
        if (!stream.cq->in_error()) {
          EXPECT_EQ(stream.qp->post_send(wr), 0);
        }
      }
    });
    client.wait_us(30);
  }
  client.wait_us(300);
  run();
  const auto lost = std::count_if(client.streams.begin(), client.streams.end(),
                                  [](const End::Stream& s) { return s.cq->in_error(); });
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(b.chip.context_home.counters().corrupt, 1u);
  for (const End::Stream& s : client.streams) {
    const std::vector<std::uint64_t> ids = s.succeeded();
    for (std::uint64_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], i) << "no hole";
    EXPECT_EQ(s.completions.size(), ids.size());
    EXPECT_EQ(s.qp->state(), s.cq->in_error() ? host::QpState::kError : host::QpState::kRts);
    EXPECT_EQ(ids.size() == 3, !s.cq->in_error());
  }
}
INSTANTIATE_TEST_SUITE_P(Fetches, LostCq, testing::Values(1, 2, 3, 5, 7, 9));

// Without its home there is no queue; the home is not given back while there is one.
class CqHomeCommands : public TwoNodeBench {
 protected:
  CqHomeCommands() : TwoNodeBench({}, FewRows{"", 2, 2}.of(&CachesConfig::cq)) {}
};
TEST_F(CqHomeCommands, AQueueNeedsItsHome) {
  host::Cq *first = nullptr, *second = nullptr, *third = nullptr;
  client.run([&] { first = b.context.create_cq(16, host::CqMode::kPolled); });
  client.then([&] { return first->ready(); });
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->failed());
    EXPECT_EQ(b.context.home()->status(), abi::CommandStatus::kBusy);
    b.context.destroy_cq(*first);
  });
  client.wait_us(50);
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->destroyed());
    second = b.context.create_cq(16, host::CqMode::kPolled);
  });
  client.then([&] { return second->failed(); });
  client.run([&] {
    EXPECT_EQ(second->status(), abi::CommandStatus::kNoHome);
    b.context.give_home();
    third = b.context.create_cq(16, host::CqMode::kPolled);
  });
  client.then([&] { return third->ready(); });
  run();
}

}  // namespace
}  // namespace rnic::test
