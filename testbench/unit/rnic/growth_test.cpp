// What an idle queue pair costs in this process: rows of the chip's tables and of the firmware's.
#include <malloc.h>

#include "firmware/app/firmware.h"
#include "model/rnic/fwcpu/chip_bus.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/rnic.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

// A queue pair with a TCP connection, a completion queue and an STag.
constexpr std::size_t kBudget = 1536;

// Live octets of the heap.
std::size_t heap() {
  const auto m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

class GrowthTest : public StageTest {
 protected:
  // Octets that a chip of so many objects takes, with the firmware of the larger capacity.
  std::size_t chip(unsigned qps, unsigned flows, unsigned cqs, unsigned stags) {
    RnicConfig config;
    config.context.qps = qps;
    config.context.cqs = cqs;
    config.context.stags = stags;
    config.tcp.max_flows = flows;
    config.fwcpu.max_connections = fw::LargeCapacity::kConnections;
    const std::string number = std::to_string(clocks_.size());
    clocks_.push_back(std::make_unique<ClockDomain>(("clk" + number).c_str(), ClockDomainConfig{}));
    const std::size_t before = heap();
    chips_.push_back(std::make_unique<Rnic>(("chip" + number).c_str(), *clocks_.back(), config, LinkAddress{}));
    return heap() - before;
  }

 private:
  std::vector<std::unique_ptr<ClockDomain>> clocks_;
  std::vector<std::unique_ptr<Rnic>> chips_;
};

constexpr std::size_t bytes_of_firmware() {
  using Connections = fw::ConnectionManager<ChipBus, fw::LargeCapacity>;
  using Resources = fw::ResourceManager<ChipBus, fw::LargeCapacity>;
  return Connections::bytes_per_connection() + Resources::bytes_per_qp() + Resources::bytes_per_cq() +
         Resources::bytes_per_stag();
}

TEST_F(GrowthTest, AnIdleQueuePairIsSmall) {
#ifdef RNIC_SANITIZED
  GTEST_SKIP() << "sanitizers have a heap of their own";
#endif
  constexpr unsigned kFew = 1024, kMany = 16384, kMore = kMany - kFew;
  chip(kFew, kFew, kFew, kFew);  // and what is made once
  const std::size_t few = chip(kFew, kFew, kFew, kFew);
  const std::size_t growth = (chip(kMany, kMany, kMany, kMany) - few) / kMore;
  const std::string by_kind = "queue pair " + std::to_string((chip(kMany, kFew, kFew, kFew) - few) / kMore) +
                              ", flow " + std::to_string((chip(kFew, kMany, kFew, kFew) - few) / kMore) +
                              ", completion queue " + std::to_string((chip(kFew, kFew, kMany, kFew) - few) / kMore) +
                              ", STag " + std::to_string((chip(kFew, kFew, kFew, kMany) - few) / kMore) +
                              ", firmware " + std::to_string(bytes_of_firmware());
  EXPECT_LE(growth + bytes_of_firmware(), kBudget) << by_kind;
}

}  // namespace
}  // namespace rnic::test
