// Values of a scenario by dotted path, from the command line and from sweeps.
#include "model/system/scenario_assignment.h"

#include <initializer_list>

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/system/scenario.h"

namespace rnic {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json file() {
  return json::parse(R"({
    "name": "t",
    "config": {"rnic": {"tcp": {"mtu": 9000}}},
    "nodes": [{"name": "a", "config": {"rnic.fwcpu.max_ord": 2}}, {"name": "b"}],
    "connections": [{"from": "a", "to": "b", "ord": 4},
                    {"name": "side.by.side", "from": "a", "to": "b", "port": 5000, "private_data": "x"}],
    "work": [{"op": "send", "size": 64},
             [{"name": "w", "op": "write", "size": 64, "connections": "c0"},
              {"name": "w.r", "op": "read", "size": {"law": "uniform", "min": 1, "max": 9}}]],
    "checks": [{"check": "min_goodput_gbps", "work": "w", "value": 5}]
  })");
}

Overlay set(std::initializer_list<const char*> assignments) {
  Overlay overlay;
  for (const char* a : assignments) overlay.set(a);
  return overlay;
}

Scenario with(std::initializer_list<const char*> assignments) {
  return parse_scenario(file(), "s.json", set(assignments));
}

std::string error_of(std::initializer_list<const char*> assignments) {
  try {
    with(assignments);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ScenarioAssignment, ConnectionsByName) {
  const auto c = with({"connections.c0.ord=8", "connections.c0.to_side.ird=3", "connections.c0.to_side.crc=false",
                       "connections.side.by.side.qps=2", "connections.side.by.side.completion=event",
                       "connections.side.by.side.private_data=hello"})
                     .plan.connections;
  EXPECT_EQ(c[0].from_side.ord, 8);
  EXPECT_EQ(c[0].to_side.ord, 8);
  EXPECT_EQ(c[0].from_side.ird, 16);
  EXPECT_EQ(c[0].to_side.ird, 3);
  EXPECT_TRUE(c[0].from_side.crc);
  EXPECT_FALSE(c[0].to_side.crc);
  EXPECT_EQ(c[1].qps, 2u);
  EXPECT_TRUE(c[1].notified);
  EXPECT_EQ(c[1].from_side.private_data, "hello");
}

TEST(ScenarioAssignment, TheTransportAndTheSetup) {
  EXPECT_EQ(with({"transport=sctp"}).plan.transport, host::Transport::kSctp);
  EXPECT_EQ(with({"setup.batch=8"}).plan.setup.batch, 8u);
  EXPECT_EQ(with({"setup.rate=5000", "setup.batch=8"}).plan.setup.rate, 5000u);
  EXPECT_EQ(error_of({"transport=udp"}),
            "s.json with transport = udp (command line): transport: must be one of tcp, "
            "sctp, not 'udp'");
}

// Items of each phase, also by names that the file leaves out; the longest matching name counts.
TEST(ScenarioAssignment, WorkByName) {
  const auto phases = with({"work.send0.depth=32", "work.w.size=4096", "work.w.connections=[\"side.by.side\"]",
                            "work.w.r.size.max=12", "work.w.r.count=5"})
                          .plan.phases;
  EXPECT_EQ(phases[0][0].depth, 32u);
  EXPECT_EQ(phases[1][0].size.max, 4096u);
  EXPECT_THAT(phases[1][0].connections, testing::ElementsAre(1));
  EXPECT_EQ(phases[1][0].count, 1000u);
  EXPECT_EQ(phases[1][1].size.min, 1u);
  EXPECT_EQ(phases[1][1].size.max, 12u);
  EXPECT_EQ(phases[1][1].count, 5u);
}

TEST(ScenarioAssignment, NamesAreThoseOfTheFile) {
  const workload::WorkItem item = with({"work.send0.depth=32", "work.send0.op=write"}).plan.phases[0][0];
  EXPECT_EQ(item.name, "write0");
  EXPECT_EQ(item.depth, 32u);
}

TEST(ScenarioAssignment, Checks) { EXPECT_EQ(with({"checks.min_goodput_gbps of w.value=7.5"}).checks[0].value, 7.5); }

TEST(ScenarioAssignment, ANodesSettingsLieAboveAllOthers) {
  const Overlay given = set({"rnic.fwcpu.max_ord=8", "nodes.a.rnic.fwcpu.max_ord=4", "nodes.b.ip=10.0.0.9"});
  const Scenario s = parse_scenario(file(), "s.json", scenario_values(given));
  const Overlay command_line = settings_of_all(given);
  EXPECT_EQ(settings_of(s, s.nodes[0], command_line).find("rnic.fwcpu.max_ord")->value, "4");
  EXPECT_EQ(settings_of(s, s.nodes[0], {}).find("rnic.fwcpu.max_ord")->value, "4");
  EXPECT_EQ(settings_of(s, s.nodes[1], command_line).find("rnic.fwcpu.max_ord")->value, "8");
  EXPECT_EQ(settings_of(s, s.nodes[0], command_line).find("rnic.tcp.mtu")->value, 9000);
  EXPECT_EQ(s.nodes[1].ip, 0x0a000009u);
}

TEST(ScenarioAssignment, ProgramsOfARunWithAnExternalPeer) {
  const json external = json::parse(R"({"name": "t", "nodes": [{"name": "a"}, {"name": "b", "peer": "external"}],
                                        "programs": [{"program": "echo", "role": "client"}]})");
  const Overlay count = set({"programs.echo0.count=3"});
  EXPECT_EQ(parse_scenario(external, "s.json", count).programs[0].count, 3u);
  try {
    parse_scenario(external, "s.json", set({"nodes.b.rnic.tcp.mtu=1500"}));
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(), "nodes.b.rnic.tcp.mtu (command line): has no settings, being an external peer");
  }
}

TEST(ScenarioAssignment, UnknownNamesComeWithTheNearest) {
  EXPECT_EQ(error_of({"connections.c1.ord=8"}),
            "connections.c1.ord (command line): unknown connection 'c1'; the nearest is 'c0'");
  EXPECT_EQ(error_of({"work.sned0.depth=8"}),
            "work.sned0.depth (command line): unknown work item 'sned0'; the nearest is 'send0'");
  EXPECT_EQ(error_of({"nodes.c.rnic.tcp.mtu=8"}),
            "nodes.c.rnic.tcp.mtu (command line): unknown node 'c'; the nearest is 'a'");
  EXPECT_EQ(error_of({"connection.c0.ord=8"}),
            "connection.c0.ord (command line): unknown key; the nearest is connections.c0.ord");
  EXPECT_EQ(error_of({"programs.echo0.count=8"}), "programs.echo0.count (command line): the scenario has no programs");
}

TEST(ScenarioAssignment, KeysAndValuesAreCheckedAsThoseOfTheFile) {
  EXPECT_EQ(
      error_of({"connections.c0.orrd=8"}),
      "s.json with connections.c0.orrd = 8 (command line): connections[0]: unknown key 'orrd'; did you mean 'ord'?");
  EXPECT_EQ(
      error_of({"connections.c0.fromside.ord=8"}),
      "s.json with connections.c0.fromside.ord = 8 (command line): connections[0]: unknown key 'fromside'; did you "
      "mean 'from_side'?");
  EXPECT_EQ(error_of({"connections.c0.from_side.odr=8"}),
            "s.json with connections.c0.from_side.odr = 8 (command line): connections[0].from_side: unknown key 'odr'; "
            "did you mean 'ord'?");
  EXPECT_EQ(
      error_of({"work.send0.depth=0", "work.w.count=2"}),
      "s.json with work.send0.depth = 0 (command line), work.w.count = 2 (command line): work[0].depth: must be an "
      "integer from 1 to 512, not 0");
  EXPECT_THAT(error_of({"work.send0.depth=many"}), HasSubstr("from 1 to 512, not \"many\""));
  EXPECT_THAT(error_of({"work.send0.size=-1"}), HasSubstr("work[0].size: must be an integer"));
  EXPECT_THAT(error_of({"connections.c0.crc=1"}), HasSubstr("connections[0].crc: must be true or false, not 1"));
}

TEST(ScenarioAssignment, PathsThatLeadToNoValue) {
  for (const char* nothing : {"work=5", "work.=5"}) EXPECT_THAT(error_of({nothing}), HasSubstr("unknown work item ''"));
  EXPECT_EQ(error_of({"work.w=5"}), "work.w (command line): needs a key of the work item");
  EXPECT_THAT(error_of({"work.w.=5"}), HasSubstr("unknown key ''"));
  EXPECT_EQ(error_of({"work.w.size.max=5"}), "work.w.size.max (command line): 'size' is 64, and has no keys");
  EXPECT_EQ(error_of({"nodes.a.link.delay_ns=5"}),
            "nodes.a.link.delay_ns (command line): a node has the settings of rnic and host, none of link");
  const std::string deep = "work.w.size=" + std::string(100'000, '[');
  EXPECT_EQ(error_of({deep.c_str()}), "work.w.size: nested more than 64 deep");
}

TEST(ScenarioAssignment, SettingsOfAllNodesAreNone) {
  for (const char* path : {"sim.seed", "link.delay_ns", "rnic.tcp.mtu", "host.driver.stag_seed", "external.wire", ""}) {
    EXPECT_FALSE(is_scenario_path(path)) << path;
  }
}

json swept() {
  json j = file();
  j["sweep"] = json::parse(R"([{"key": "connections.c0.ord", "values": [1, 2]},
                               {"key": "work.w.depth", "values": [4, 8]},
                               {"key": "nodes.b.rnic.fwcpu.max_ird", "values": [16]},
                               {"key": "rnic.tcp.mtu", "values": [1500]}])");
  return j;
}

TEST(ScenarioAssignment, APointOfASweep) {
  const Scenario all = parse_scenario(swept(), "s.json", set({"connections.c0.to_side.ird=5", "work.w.depth=7"}));
  const Scenario one = at_point(all, 2);
  EXPECT_TRUE(one.sweep.empty());
  EXPECT_EQ(one.plan.connections[0].from_side.ord, 2);
  EXPECT_EQ(one.plan.connections[0].to_side.ird, 5);
  EXPECT_EQ(one.plan.phases[1][0].depth, 7u) << "the command line lies above the sweep";
  EXPECT_EQ(one.nodes[1].assigned.find("rnic.fwcpu.max_ird")->value, 16);
  EXPECT_EQ(one.config.find("rnic.tcp.mtu")->value, 1500);
  EXPECT_EQ(values_json(one.assigned), json::parse(R"({"connections.c0.ord": 2, "connections.c0.to_side.ird": 5,
                                                       "work.w.depth": 7, "nodes.b.rnic.fwcpu.max_ird": 16})"));
  EXPECT_EQ(at_point(parse_scenario(swept(), "s.json"), 3).plan.phases[1][0].depth, 8u);
}

TEST(ScenarioAssignment, AMistakeInASweepNamesIt) {
  json j = swept();
  j["sweep"][1]["values"] = {4, 1000};
  const Scenario all = parse_scenario(j, "s.json");
  at_point(all, 0);
  try {
    at_point(all, 1);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("work.w.depth = 1000 (sweep): work[1][0].depth: must be an integer from 1 to 512"));
  }
}

}  // namespace
}  // namespace rnic
