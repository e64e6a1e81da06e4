// Settings that conflict with the scenario, or with each other.
#include "model/system/scenario_config.h"

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic {
namespace {

using nlohmann::json;

json over(const char* transport) {
  json j = json::parse(R"({
    "name": "t",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "connections": [{"from": "a", "to": "b", "qps": 3}],
    "work": [{"op": "send", "size": 64}]
  })");
  j["transport"] = transport;
  return j;
}

std::string message_of(const json& scenario, std::initializer_list<const char*> settings) {
  Overlay command_line;
  for (const char* s : settings) command_line.set(s);
  try {
    resolve_scenario(parse_scenario(scenario, "s.json"), command_line);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ScenarioConfig, OverSctpThereIsNoRdmac) {
  EXPECT_EQ(message_of(over("sctp"), {}), "no error");
  EXPECT_EQ(message_of(over("sctp"), {"rnic.fwcpu.personality=permissive"}), "no error");
  EXPECT_EQ(message_of(over("sctp"), {"rnic.fwcpu.personality=rdmac"}),
            "s.json: transport: sctp does not go with rnic.fwcpu.personality rdmac of node 'a', which knows MPA over "
            "TCP only");
}

TEST(ScenarioConfig, TheQueuePairsOfAConnectionShareAssociations) {
  EXPECT_EQ(message_of(over("sctp"), {"rnic.sctp.max_associations=1", "rnic.sctp.streams=5"}), "no error");
  EXPECT_EQ(message_of(over("sctp"), {"rnic.sctp.max_associations=1", "rnic.sctp.streams=4"}),
            "s.json: the connections of node 'a' need 2 associations of rnic.sctp.streams 4; "
            "rnic.sctp.max_associations is 1");
  EXPECT_EQ(message_of(over("sctp"), {"rnic.tcp.max_flows=2"}), "no error");
  EXPECT_EQ(message_of(over("tcp"), {"rnic.sctp.max_associations=2"}), "no error");
  EXPECT_EQ(message_of(over("tcp"), {"rnic.tcp.max_flows=2"}),
            "s.json: the connections of nodes 'a', 'b' have 3 queue pairs: rnic.tcp.max_flows is 2, at least 3");
}

TEST(ScenarioConfig, OverSctpNoChecksumIsRepaired) {
  EXPECT_EQ(message_of(over("tcp"), {"link.reverse.corrupt_repaired.frames=5"}), "no error");
  EXPECT_EQ(message_of(over("sctp"), {"link.reverse.corrupt.every=5"}), "no error");
  for (const char* setting : {"link.reverse.corrupt_repaired.frames=5", "link.reverse.corrupt_repaired.ppm=5",
                              "link.reverse.corrupt_repaired.every=5"}) {
    EXPECT_THAT(message_of(over("sctp"), {setting}),
                testing::StartsWith("s.json: link.reverse.corrupt_repaired: is for TCP"))
        << setting;
  }
}

TEST(ScenarioConfig, SettingsOfTheChipThatDoNotGoTogether) {
  EXPECT_THAT(message_of(over("tcp"), {"rnic.sctp.streams=100"}), testing::StartsWith("rnic.sctp.max_associations: "));
}

}  // namespace
}  // namespace rnic
