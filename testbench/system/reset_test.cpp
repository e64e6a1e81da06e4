// CONTROL.RESET (registers.md, rnic.md).
#include <cerrno>

#include "testbench/support/home_check.h"
#include "testbench/system/reset_bench.h"

namespace rnic::test {
namespace {

TEST_F(ResetTest, FourHundredTimesAmidTraffic) {
  play(500 * kUs, 500 * kUs);
  const std::uint64_t fresh = play_to_the_end(), fresh_with_error = play_to_the_end(true);
  EXPECT_NE(fresh, fresh_with_error);
  play_amid(400);
  expect_silence();
  EXPECT_EQ(play_to_the_end(true), fresh_with_error);
  EXPECT_EQ(play_to_the_end(), fresh);
  expect_silence();
}

TEST_F(ResetTest, IsRefusedWhileTheDeviceIsOpened) {
  int again = 0;
  server.worker.on_reset = [&] {
    again = a.context.reset();
    EXPECT_FALSE(a.context.is_open());
    EXPECT_EQ(a.context.error(), "the device is being reset");
  };
  play(500 * kUs, 500 * kUs);
  EXPECT_EQ(again, EBUSY);
  EXPECT_EQ(a.context.error(), "");
  play_to_the_end();
}

// Resets of the function, of the link with the device, and by the pin; each node gets a different one.
struct ResetOverPcie : ResetTest {
  static NodeConfig config() {
    NodeConfig c;
    c.rnic.pcie.link.training_us = 20;
    return c;
  }
  ResetOverPcie() : ResetTest(config()) {}
};
TEST_F(ResetOverPcie, ThreeHundredTimesAmidTraffic) {
  play(500 * kUs, 500 * kUs);
  const std::uint64_t fresh = play_to_the_end();
  using host::ResetKind;
  for (const auto& [of_server, of_client] :
       {std::pair{ResetKind::kFlr, ResetKind::kPerst}, std::pair{ResetKind::kHot, ResetKind::kFlr},
        std::pair{ResetKind::kPerst, ResetKind::kHot}}) {
    server.worker.reset_kind = of_server;
    client.worker.reset_kind = of_client;
    play_amid(100);
    EXPECT_EQ(play_to_the_end(), fresh);
  }
  expect_silence();
}
// Misses, fetches, writes and write-backs of a home are under way; the driver gives the home again.
struct ResetOfCaches : ResetTest, testing::WithParamInterface<std::tuple<HomeKind, QpFetch, bool>> {
  static NodeConfig config() {
    NodeConfig c = ResetOverPcie::config();
    c.rnic.context.cache.page = {2, 2, CachePolicy::kLru, 2, 1};
    const auto [kind, fetch, write_back] = GetParam();
    const CacheConfig one{1, 1, CachePolicy::kLru, 2, 1, write_back};
    c.rnic.context.cache.cq = c.rnic.context.cache.stag = c.rnic.context.cache.flow = {one};
    c.rnic.context.cache.qp = {{one}, fetch};
    c.rnic.context.cache.srq = {1, 1, CachePolicy::kLru, 2, 1};
    c.rnic.rx.rqe_fetch.prefetch = 128;  // each doorbell needs its row
    c.rnic.context.home.kind = kind;
    return c;
  }
  ResetOfCaches() : ResetTest(config()) {
    for (Worker* worker : {&server.worker, &client.worker}) {
      worker->in_pages = worker->two_queues = worker->shared_queues = true;
    }
  }
};
TEST_P(ResetOfCaches, TwoHundredTimesAmidTraffic) {
  for (const auto kind : {std::optional<host::ResetKind>(), std::optional(host::ResetKind::kFlr)}) {
    server.worker.reset_kind = client.worker.reset_kind = kind;
    play(500 * kUs, 500 * kUs);
    const std::uint64_t fresh = play_to_the_end();  // with the reset at its end, after which the home is given again
    play_amid(100);
    EXPECT_EQ(play_to_the_end(), fresh);
  }
  expect_silence();
  for (Node* node : {&a, &b}) {
    EXPECT_GT(node->chip.contexts().page_table.cache().counters().misses, 1000u);
    if (std::get<bool>(GetParam())) {
      EXPECT_GT(node->chip.contexts().cq_table.cache().counters().dirty, 50u);
    } else {
      EXPECT_EQ(node->chip.context_home.counters().write_backs, 0u);
      EXPECT_GT(node->chip.context_home.counters().write_throughs, 10000u);
    }
    EXPECT_GT(node->chip.contexts().stag_table.cache().counters().misses, 100u);
    EXPECT_GT(node->chip.contexts().tx_table.cache().counters().misses, 50u);
    EXPECT_GT(node->chip.contexts().rx_table.cache().counters().misses, 50u);
    EXPECT_GT(node->chip.flow_tx_table().cache().counters().misses, 50u);
    EXPECT_GT(node->chip.contexts().srq_table.cache().counters().misses, 1000u);
    EXPECT_EQ(node->chip.context_home.counters().failed + node->chip.context_home.counters().corrupt, 0u);
    if (std::get<HomeKind>(GetParam()) == HomeKind::kHost) {
      check_home(*node);
      const HomeLayout layout = node->chip.contexts().home_layout();
      check_cq_home(*node, layout[abi::ContextKind::kCq].base);
      check_stag_home(*node, layout[abi::ContextKind::kStag].base);
      check_qp_home(*node, layout[abi::ContextKind::kQp].base);
      check_qp_rx_home(*node, layout[abi::ContextKind::kQp].base);
      check_qp_rows_home(*node, layout[abi::ContextKind::kQp].base);
      check_flow_home(*node, layout[abi::ContextKind::kFlow].base);
      check_srq_home(*node, layout[abi::ContextKind::kSrq].base);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Homes, ResetOfCaches,
                         testing::Values(std::tuple(HomeKind::kHost, QpFetch::kHalf, true),
                                         std::tuple(HomeKind::kBoard, QpFetch::kHalf, true),
                                         std::tuple(HomeKind::kHost, QpFetch::kObject, true),
                                         std::tuple(HomeKind::kBoard, QpFetch::kObject, true),
                                         std::tuple(HomeKind::kHost, QpFetch::kHalf, false),
                                         std::tuple(HomeKind::kBoard, QpFetch::kObject, false)));

struct PcieResetOfADeadDevice : ResetTest {
  static NodeConfig config() {
    NodeConfig c = ResetOverPcie::config();
    c.rnic.fwcpu.fault = PlantedFault::kPanic;
    c.rnic.fwcpu.fault_event = 5;  // TCP has connected
    return c;
  }
  PcieResetOfADeadDevice() : ResetTest(config()) {}
};
TEST_F(PcieResetOfADeadDevice, BringsItBack) {
  server.worker.reset_kind = host::ResetKind::kHot;
  client.worker.reset_kind = host::ResetKind::kFlr;
  play(900 * kUs, 900 * kUs);
  for (const Station* s : {&server, &client}) EXPECT_EQ(s->worker.errors, 1u);
  play_to_the_end();
  expect_silence();
}

EthernetLinkConfig bad_cable() {
  EthernetLinkConfig c;
  c.forward.loss.ppm = 30'000;
  c.forward.reorder.ppm = 50'000;
  c.forward.delay.reorder_ns = 5000;
  c.symmetric = true;
  return c;
}
struct ResetOnABadCable : ResetTest {
  ResetOnABadCable() : ResetTest({}, bad_cable()) {}
};
TEST_F(ResetOnABadCable, AmidHolesAndRetransmissions) {
  play_amid(400);
  EXPECT_GT(a.chip.early_placement.counters().fpdus, 0u);
  round_us = 1'000'000;
  play_to_the_end();
  expect_silence();
}

NodeConfig with(void (*change)(FwCpuConfig&)) {
  NodeConfig c;
  change(c.rnic.fwcpu);
  return c;
}
struct ResetOfADeadDevice : ResetTest {
  ResetOfADeadDevice()
      : ResetTest(with([](FwCpuConfig& c) {
          c.fault = PlantedFault::kPanic;
          c.fault_event = 5;  // TCP has connected
        })) {}
};
TEST_F(ResetOfADeadDevice, BringsItBack) {
  play(900 * kUs, 900 * kUs);
  for (const Station* s : {&server, &client}) EXPECT_EQ(s->worker.errors, 1u);
  play_to_the_end();
  expect_silence();
}

struct ResetWithRv32 : ResetTest {
  ResetWithRv32() : ResetTest(with([](FwCpuConfig& c) { c.target = FirmwareTargetKind::kRv32; })) {}
};
TEST_F(ResetWithRv32, TheImageStartsAnew) {
  play(500 * kUs, 500 * kUs);
  const std::uint64_t fresh = play_to_the_end();
  amid_us = 400;
  play_amid(40);
  EXPECT_EQ(play_to_the_end(), fresh);
  expect_silence();
}

}  // namespace
}  // namespace rnic::test
