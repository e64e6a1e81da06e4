// How --set and a scenario file form a configuration, with a node's own settings between them.
#include "model/cli/options.h"

#include <gmock/gmock.h>

#include "model/config/resolve.h"
#include "model/system/system_config.h"

namespace rnic::cli {
namespace {

TEST(ConfigOptions, CommandLineLiesAboveNodeAboveFile) {
  const auto contents =
      nlohmann::json::parse(R"({"config": {"sim": {"seed": 1, "max_time_us": 1, "watchdog_us": 1}}})");
  const Overlay node = Overlay::from_json({{"sim.max_time_us", 2}, {"sim.watchdog_us", 2}}, "node 1");
  ConfigOptions options;
  options.set = {"sim.watchdog_us=3"};
  const auto sim = resolve_system(options.overlay(contents, node)).sim;
  EXPECT_EQ(sim.seed, 1u);
  EXPECT_EQ(sim.max_time_us, 2u);
  EXPECT_EQ(sim.watchdog_us, 3u);
  EXPECT_EQ(resolve_system(options.overlay(options.read_scenario())).sim.seed, SimConfig{}.seed);
}

}  // namespace
}  // namespace rnic::cli
