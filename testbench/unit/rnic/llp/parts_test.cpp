// The offload's building blocks, without a simulation.
#include <map>
#include <vector>

#include <gmock/gmock.h>

#include "model/common/prng.h"
#include "model/config/resolve.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/rto.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/rx/mac_rx.h"
#include "model/rnic/tx/mac_tx.h"

namespace rnic::tcp {
namespace {

TEST(FlowTable, AgreesWithAModelUnderRandomUse) {
  llp::FlowTable table(64);
  std::map<std::uint32_t, llp::FlowKey> model;  // by flow
  Prng prng(5);
  const auto key_of = [](std::uint32_t n) {
    return llp::FlowKey{0x0a000000u + n % 7, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(5000 + n % 3)};
  };
  for (unsigned step = 0; step < 20'000; ++step) {
    const auto flow = static_cast<std::uint32_t>(prng.below(64));
    const llp::FlowKey key = key_of(static_cast<std::uint32_t>(prng.below(200)));
    if (model.count(flow)) {
      table.erase(FlowId{flow});
      model.erase(flow);
    } else if (table.find(key) == kNoFlow) {
      table.insert(FlowId{flow}, key);
      model[flow] = key;
    }
    for (const auto& [f, k] : model) ASSERT_EQ(table.find(k), FlowId{f});
  }
  for (const auto& [f, k] : model) table.erase(FlowId{f});
  for (std::uint32_t n = 0; n < 200; ++n) EXPECT_EQ(table.find(key_of(n)), kNoFlow);
}

// Of six flows with one home the last two are in the next bucket, until there is room.
TEST(FlowTable, AFullBucketSendsOnAndTakesBack) {
  llp::FlowTable table(64);
  std::vector<llp::FlowKey> keys;
  for (std::uint16_t port = 1; keys.size() < llp::FlowTable::kWays + 2; ++port) {
    const llp::FlowKey key{0x0a000001, port, 5000};
    if (keys.empty() || table.home(key) == table.home(keys[0])) keys.push_back(key);
  }
  const std::size_t home = table.home(keys[0]), behind = table.next(home);
  for (std::uint32_t i = 0; i < keys.size(); ++i) table.insert(FlowId{i}, keys[i]);
  EXPECT_TRUE(table.is_full(home));
  EXPECT_EQ(table.find_in(home, keys[4]), kNoFlow);
  EXPECT_EQ(table.find_in(behind, keys[4]), FlowId{4});
  table.erase(FlowId{1});
  EXPECT_TRUE(table.is_full(home));
  EXPECT_EQ(table.find_in(home, keys[4]), FlowId{4});
  EXPECT_EQ(table.find_in(behind, keys[5]), FlowId{5});
  table.erase(FlowId{2});
  EXPECT_EQ(table.find_in(home, keys[5]), FlowId{5});
  table.erase(FlowId{5});
  EXPECT_FALSE(table.is_full(home));
  for (const std::uint32_t i : {0u, 3u, 4u}) EXPECT_EQ(table.find(keys[i]), FlowId{i});
}

TEST(FlowQueue, EachFlowIsInItOnce) {
  llp::FlowQueue q(3);
  q.push(FlowId{2});
  q.push(FlowId{0});
  q.push(FlowId{2});
  EXPECT_EQ(q.pop(), FlowId{2});
  q.push(FlowId{2});
  EXPECT_EQ(q.pop(), FlowId{0});
  EXPECT_EQ(q.pop(), FlowId{2});
  EXPECT_TRUE(q.empty());
}

TEST(TcpConfig, DefaultsFitTheirConstraints) {
  const Overlay nothing;
  const auto config = resolve<TcpConfig>(nothing, "tcp");
  EXPECT_EQ(config.mss(), 1460);
  EXPECT_EQ(config.window_scale(), 2);
  EXPECT_EQ(resolve<MacTxConfig>(nothing, "mac_tx").line_gbps, 100u);
  EXPECT_GE(resolve<MacRxConfig>(nothing, "mac_rx").buffer_bytes, config.window_bytes);
}

TEST(Rto, FollowsRfc6298) {
  TcpConfig config;
  config.rto_initial_us = 1000;
  config.rto_min_us = 1;
  config.rto_max_us = 4000;
  const llp::RtoLimits limits(config, 4000);  // 250 cycles a microsecond
  llp::RttEstimator e;
  EXPECT_EQ(e.rto(limits, 0), 250'000u);
  EXPECT_EQ(e.rto(limits, 1), 500'000u);
  EXPECT_EQ(e.rto(limits, 9), 1'000'000u);
  e.sample(8000);  // SRTT = R, RTTVAR = R/2, RTO = R + 4 * R/2
  EXPECT_EQ(e.rto(limits, 0), 24'000u);
  e.sample(16'000);  // RTTVAR = 3/4 * 4000 + 1/4 * 8000 = 5000, SRTT = 9000
  EXPECT_EQ(e.rto(limits, 0), 29'000u);
  config.rto_min_us = 200;
  EXPECT_EQ(e.rto(llp::RtoLimits(config, 4000), 0), 50'000u);
}

}  // namespace
}  // namespace rnic::tcp
