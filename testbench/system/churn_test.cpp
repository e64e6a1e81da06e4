// 10,000 connections opened and closed in one run: afterwards everything is as before, and nothing has grown.
#include <systemc>

#include <gmock/gmock.h>

#include "model/cable/ethernet_link.h"
#include "model/common/description.h"
#include "model/programs/workload/workload.h"
#include "model/rnic/llp/link_address.h"
#include "model/stats/registry.h"
#include "model/system/node.h"
#include "testbench/perf/heap_growth.h"
#include "testbench/support/in_use.h"

namespace rnic::test {
namespace {

using workload::Outcome;

class ChurnSystemTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kWarmUp = 8000, kInAll = 18'000;  // histograms have their buckets by then
  static constexpr unsigned kDepth = 16;

  static workload::WorkItem item(const char* name, workload::Op op, std::uint32_t count, unsigned depth) {
    workload::WorkItem w;
    w.name = name;
    w.connections = {0};
    w.op = op;
    w.count = count;
    w.depth = depth;
    return w;
  }
  static NodeConfig config() {
    NodeConfig c;
    c.rnic.tcp.time_wait_us = 20;
    c.rnic.fwcpu.reply_timeout_us = 100;
    return c;
  }
  static LinkAddress station(std::uint8_t n, std::uint8_t peer) {
    const auto mac = [](std::uint8_t i) { return wire::MacAddress{{2, 0, 0, 0, 0, i}}; };
    const auto ip = [](std::uint8_t i) { return wire::Ipv4Address{0x0a000000u + i}; };
    return {mac(n), ip(n), {{ip(peer), mac(peer)}}};
  }
  // A quiet part after each round lasts longer than TIME-WAIT.
  void make(std::vector<Outcome> outcomes) {
    workload::ConnectionSpec c;
    c.name = "stays";
    c.to = 1;
    workload::WorkItem first = item("first", workload::Op::kConnect, kWarmUp, kDepth);
    workload::WorkItem others = item("others", workload::Op::kConnect, kInAll - kWarmUp, kDepth);
    first.outcomes = others.outcomes = std::move(outcomes);
    workload::Plan plan;
    plan.connections = {c};
    plan.phases = {{quiet("before")}, {first}, {quiet("between")}, {others}, {quiet("after")}};
    cable.attach(0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    cable.attach(1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
    a.set_lookahead(0, 500'000);
    b.set_lookahead(0, 500'000);
    load = std::make_unique<workload::Workload>(
        plan, std::vector<workload::HostNode>{{&a.context, 0x0a000001}, {&b.context, 0x0a000002}},
        workload::WireParams{});
    for (Node* n : {&a, &b}) {
      const StatsGroup group(stats, n->basename());
      n->chip.describe(Description(group.group("rnic")));
      n->context.describe(Description(group.group("driver")));
    }
  }
  static workload::WorkItem quiet(const char* name) {
    workload::WorkItem w = item(name, workload::Op::kSend, 100, 1);
    w.mode = workload::Mode::kPingPong;
    return w;
  }
  // Runs into the middle of a quiet part.
  void run_into(std::size_t phase) {
    for (unsigned i = 0; i < 200'000 && load->results()[phase].count < 50; ++i) {
      sc_core::sc_start(10, sc_core::SC_US);
      ASSERT_THAT(load->errors(), testing::IsEmpty());
    }
    ASSERT_GE(load->results()[phase].count, 50u) << load->waiting_for();
  }
  using InUse = std::map<std::string, std::map<std::string, double>>;
  // Each quiet part keeps a memory region until the end; `regions` of them are not counted.
  InUse in_use(unsigned regions = 0) const {
    InUse now;
    for (const std::string node : {"a", "b"}) {
      now[node] = test::in_use(stats, node);
      for (const char* key : {"unexpected_events", "no_resources", "bad_frames"}) {
        now[node][key] = stats.value(node + ".rnic.fwcpu." + key);
      }
      for (const char* mrs : {"rnic.context.stags", "driver.mrs"}) now[node][mrs] -= regions;
    }
    return now;
  }
  void expect_nothing_left(std::vector<Outcome> outcomes) {
    make(std::move(outcomes));
    perf::HeapGrowth heap;
    run_into(0);
    const InUse before = in_use();
    EXPECT_EQ(before.at("a").at("rnic.context.qps"), 1);
    EXPECT_EQ(before.at("a").at("rnic.fwcpu.connections"), 1);
    EXPECT_EQ(before.at("a").at("rnic.tcp_connection.flows"), 1);
    run_into(2);
    EXPECT_EQ(in_use(1), before);
    const perf::HeapShares heap_then = heap.most();
    const std::uint64_t host_then[] = {a.memory.used(), b.memory.used()};
    run_into(4);
    EXPECT_EQ(in_use(2), before);
    // Queues are sometimes a little longer, and a quiet part keeps its buffer: too little for 10,000 connections to
    // hide in.
    EXPECT_LT(heap.most().chip - heap_then.chip, 1024);
    EXPECT_LT(heap.most().rest - heap_then.rest, 200'000);  // a histogram's buckets
    EXPECT_LT(a.memory.used() - host_then[0], 16'384u);
    EXPECT_LT(b.memory.used() - host_then[1], 16'384u);
    EXPECT_EQ(load->results()[1].count, kWarmUp);
    EXPECT_EQ(load->results()[3].count, kInAll - kWarmUp);
  }

  Node a{"a", config(), station(1, 2)};
  Node b{"b", config(), station(2, 1)};
  EthernetLink cable{"cable", {}};
  std::unique_ptr<workload::Workload> load;
  StatsRegistry stats;
};

TEST_F(ChurnSystemTest, TenThousandConnectionsLeaveNothingBehind) { expect_nothing_left({Outcome::kAccept}); }

TEST_F(ChurnSystemTest, NeitherDoRejectedUnheardAndUnansweredOnes) {
  constexpr Outcome kMade = Outcome::kAccept;
  expect_nothing_left({kMade, kMade, kMade, kMade, kMade, Outcome::kReject, Outcome::kNoListener, Outcome::kTimeout});
}

}  // namespace
}  // namespace rnic::test
