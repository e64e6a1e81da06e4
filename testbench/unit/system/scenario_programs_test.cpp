// Scenarios with an external peer.
#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/system/scenario.h"

namespace rnic {
namespace {

using nlohmann::json;

json minimal() {
  return json::parse(R"({
    "name": "t",
    "nodes": [{"name": "a"}, {"name": "linux", "peer": "external", "ip": "10.0.0.9"}],
    "programs": [{"program": "rping", "role": "server"}]
  })");
}

std::string message_after(const char* pointer, json value) {
  json j = minimal();
  j[json::json_pointer(pointer)] = std::move(value);
  try {
    parse_scenario(j, "s.json");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ScenarioPrograms, DefaultsAreThoseOfTheTools) {
  json j = minimal();
  j["programs"].push_back({{"program", "rping"}, {"role", "client"}, {"size", 1000}, {"start_on_ping", true}});
  const Scenario s = parse_scenario(j, "s.json");
  EXPECT_TRUE(s.has_external_peer());
  ASSERT_EQ(s.programs.size(), 2u);
  const consumer::ProgramSpec &server = s.programs[0], &client = s.programs[1];
  EXPECT_EQ(server.name, "rping0");
  EXPECT_EQ(server.part, consumer::Part::kServer);
  EXPECT_EQ(server.port, 7174);
  EXPECT_EQ(server.count, 0u);
  EXPECT_EQ(server.size, 65536u);
  EXPECT_EQ(client.part, consumer::Part::kClient);
  EXPECT_EQ(client.peer_ip, 0x0a000009u);
  EXPECT_EQ(client.count, 5u);
  EXPECT_EQ(client.size, 1000u);
  EXPECT_TRUE(client.start_on_ping);
}

TEST(ScenarioPrograms, BothRolesHaveAKindOfReadyToReceive) {
  json j = minimal();
  j["programs"].push_back({{"program", "rping"}, {"role", "client"}});
  for (json& program : j["programs"]) program["rtr"] = true;
  for (const consumer::ProgramSpec& spec : parse_scenario(j, "s.json").programs) EXPECT_TRUE(spec.rtr) << spec.name;
}

TEST(ScenarioPrograms, OverSctpOnlyTheEcho) {
  EXPECT_EQ(message_after("/transport", "sctp"),
            "s.json: programs[0].program: speaks with a stock tool, which has iWARP over TCP only: transport sctp is "
            "for echo");
  json j = minimal();
  j["transport"] = "sctp";
  j["programs"][0] = {{"program", "echo"}, {"role", "server"}};
  EXPECT_EQ(parse_scenario(j, "s.json").programs[0].transport, host::Transport::kSctp);
}

TEST(ScenarioPrograms, SomeToolsHaveOneRoleAndOneRound) {
  json j = minimal();
  j["programs"] = {{{"program", "rdma_server"}}, {{"program", "rdma_client"}, {"markers", true}, {"rtr", true}}};
  const Scenario s = parse_scenario(j, "s.json");
  const consumer::ProgramSpec &server = s.programs[0], &client = s.programs[1];
  EXPECT_EQ(server.name, "rdma_server0");
  EXPECT_EQ(server.part, consumer::Part::kServer);
  EXPECT_EQ(server.port, 7471);
  EXPECT_EQ(client.part, consumer::Part::kClient);
  EXPECT_EQ(client.port, 7471);
  EXPECT_TRUE(client.markers);
  EXPECT_TRUE(client.rtr);
  EXPECT_EQ(message_after("/programs/0", json{{"program", "rdma_server"}, {"role", "client"}}),
            "s.json: programs[0].role: rdma_server has none to choose");
  EXPECT_EQ(message_after("/programs/0", json{{"program", "rdma_client"}, {"size", 64}}),
            "s.json: programs[0].size: rdma_client has none to choose");
}

TEST(ScenarioPrograms, AnEchoHasAnOperation) {
  json j = minimal();
  j["programs"] = {{{"program", "echo"}, {"role", "client"}, {"op", "write_inv"}, {"count", 9}, {"size", 70000}}};
  const consumer::ProgramSpec echo = parse_scenario(j, "s.json").programs.at(0);
  EXPECT_EQ(echo.port, 7);
  EXPECT_EQ(echo.operation, consumer::EchoOperation::kWriteInvalidate);
  EXPECT_EQ(echo.count, 9u);
  EXPECT_EQ(echo.size, 70'000u);
  EXPECT_EQ(message_after("/programs/0", json{{"program", "echo"}, {"role", "server"}, {"op", "read"}}),
            "s.json: programs[0].op: is for a client of echo");
}

TEST(ScenarioPrograms, MistakesNameTheirPlace) {
  EXPECT_EQ(message_after("/work", json::array()),
            "s.json: work: is for runs without an external peer, which have `programs`");
  EXPECT_EQ(message_after("/programs", json::array()), "s.json: programs: needs a program");
  EXPECT_EQ(message_after("/programs/0/program", "rpnig"),
            "s.json: programs[0].program: must be one of rping, rdma_client, rdma_server, echo, not 'rpnig'");
  EXPECT_EQ(message_after("/programs/0/prot", 1), "s.json: programs[0]: unknown key 'prot'; did you mean 'port'?");
  EXPECT_EQ(message_after("/programs/0/size", 63),
            "s.json: programs[0].size: must be an integer from 64 to 1048576, not 63");
  EXPECT_EQ(message_after("/programs/0/start_us", 1), "s.json: programs[0].start_us: is for a client");
  EXPECT_EQ(message_after("/programs/1", json{{"program", "rping"}, {"role", "server"}}),
            "s.json: programs[1]: 'rping0' listens on port 7174 already");
  EXPECT_EQ(message_after("/programs/0/role", "peer"),
            "s.json: programs[0].role: must be one of client, server, not 'peer'");
  EXPECT_EQ(message_after("/nodes/0/peer", "external"),
            "s.json: nodes: an external peer is joined to exactly one modelled node");
  EXPECT_EQ(message_after("/nodes/1/config", json::object()), "s.json: nodes[1].config: is not for an external peer");
  EXPECT_EQ(message_after("/nodes/1/peer", "outside"),
            "s.json: nodes[1].peer: must be one of modelled, external, not 'outside'");
}

TEST(ScenarioPrograms, ModelledNodesHaveNone) {
  json j = minimal();
  j["nodes"][1].erase("peer");
  try {
    parse_scenario(j, "s.json");
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(), "s.json: programs: are for a run with an external peer");
  }
}

}  // namespace
}  // namespace rnic
