// No stage of chip, PCIe or host can be left out of the statistics.
#include <set>
#include <string>

#include "model/common/description.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using StatisticsTest = TwoNodeBench;

// The registry refuses a figure without a description or with a unit outside its vocabulary.
TEST_F(StatisticsTest, EveryStageOfANodeHasAGroup) {
  StatsRegistry registry;
  a.describe(Description(StatsGroup(registry, "n")));
  std::set<std::string> groups;
  for (const StatsRegistry::Entry& e : registry.entries()) groups.insert(e.path.substr(0, e.path.rfind('.')));
  const auto group_of = [&](const Stage& stage) -> std::string {
    if (&stage == &a.chip.pcie.endpoint) return "n.pcie.device_to_host";  // both ends of the PCIe link count alike
    return (&stage.clock() == &a.core_clk ? "n.rnic." : "n.") + std::string(stage.basename());
  };
  std::size_t stages = 0;
  for (const ClockDomain* clk : {&a.core_clk, &a.host_clk}) {
    for (const Stage* stage : clk->stages()) {
      EXPECT_EQ(groups.count(group_of(*stage)), 1u) << group_of(*stage);
      ++stages;
    }
  }
  EXPECT_GE(stages, 30u);
  EXPECT_EQ(groups.count("n.pcie.host_to_device"), 1u);
}

}  // namespace
}  // namespace rnic::test
