// A firmware with arbitrarily slow register writes: a peer that answers before the next write loses nothing (RFC 5044
// section 7.1.2 rules 4 and 5).
#include <tuple>

#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

struct Pace {
  unsigned csr_write_cycles, clock_divider;
};
enum class Slow : std::uint8_t { kServer, kClient, kBoth };
constexpr std::uint8_t kPlain = abi::kCmCrc, kPeerToPeer = abi::kCmCrc | abi::kCmEnhanced | abi::kCmPeerToPeer;

NodeConfig at_pace(const Pace& pace) {
  NodeConfig config;
  config.rnic.fwcpu.csr_write_cycles = pace.csr_write_cycles;
  config.rnic.fwcpu.clock_divider = pace.clock_divider;
  return config;
}

class SlowFirmware : public TwoNodeBench,
                     public testing::WithParamInterface<std::tuple<Pace, Slow, std::uint8_t /* flags */>> {
 protected:
  static Pace pace() { return std::get<Pace>(GetParam()); }
  static NodeConfig config_of(Slow other) {
    const Slow slow = std::get<Slow>(GetParam());
    return slow == Slow::kBoth || slow != other ? at_pace(pace()) : NodeConfig{};
  }
  SlowFirmware() : TwoNodeBench(config_of(Slow::kClient), config_of(Slow::kServer)) {
    server.flags = client.flags = std::get<std::uint8_t>(GetParam());
  }
};

// The first FPDUs leave the client as soon as it has the reply.
TEST_P(SlowFirmware, LosesNoOctetBehindAReply) {
  server.create(64).listen(1);
  const std::uint64_t all_objects_us = 20 + 200ull * pace().csr_write_cycles * pace().clock_divider * 4 / 1000;
  client.create(64).wait_us(all_objects_us).connect(0, kServerIp);
  move_octets(0);
  sc_core::sc_start(sc_core::sc_time(4, sc_core::SC_SEC), sc_core::SC_EXIT_ON_STARVATION);
  EXPECT_TRUE(server.done()) << "server: " << server.waiting_for();
  EXPECT_TRUE(client.done()) << "client: " << client.waiting_for();
  expect_octets_moved(0);
}

std::string name_of(const testing::TestParamInfo<SlowFirmware::ParamType>& info) {
  const auto& [pace, slow, flags] = info.param;
  static constexpr const char* kSlow[] = {"server", "client", "both"};
  return fmt::format("{}x{}_{}_{}", pace.csr_write_cycles, pace.clock_divider, kSlow[static_cast<int>(slow)],
                     flags == kPlain ? "plain" : "peer_to_peer");
}
// A round trip to the client's host and back takes some 1.9 us, 470 cycles.
constexpr Pace kPaces[] = {{4, 1},   {100, 1}, {200, 1},  {300, 1}, {400, 1},  {430, 1},
                           {450, 1}, {470, 1}, {500, 1},  {550, 1}, {600, 1},  {700, 1},
                           {850, 1}, {999, 1}, {1000, 1}, {59, 8},  {250, 16}, {1000, 64}};
INSTANTIATE_TEST_SUITE_P(Paces, SlowFirmware,
                         testing::Combine(testing::ValuesIn(kPaces),
                                          testing::Values(Slow::kServer, Slow::kClient, Slow::kBoth),
                                          testing::Values(kPlain, kPeerToPeer)),
                         name_of);

}  // namespace
}  // namespace rnic::test
