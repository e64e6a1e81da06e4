#include "model/system/scenario.h"

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic {
namespace {

using nlohmann::json;
using workload::Direction;
using workload::SizeLaw;

json minimal() {
  return json::parse(R"({
    "name": "t",
    "nodes": [{"name": "client"}, {"name": "server"}],
    "connections": [{"from": "client", "to": "server"}],
    "work": [{"op": "send", "size": 64}]
  })");
}

std::string message_of(const json& j) {
  try {
    parse_scenario(j, "s.json");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

// The message after one change of the minimal scenario.
std::string message_after(const char* pointer, json value) {
  json j = minimal();
  j[json::json_pointer(pointer)] = std::move(value);
  return message_of(j);
}

TEST(Scenario, ConnectionsThatComeAndGo) {
  json j = minimal();
  j["work"] = json::parse(R"([[{"op": "connect", "count": 7, "interval_ns": 500,
                                "outcomes": ["accept", "timeout", "reject", "no_listener"]},
                               {"op": "send", "size": 64}]])");
  const workload::WorkItem w = parse_scenario(j, "s.json").plan.phases[0][0];
  EXPECT_EQ(w.op, workload::Op::kConnect);
  EXPECT_EQ(w.size.max, 64u);
  EXPECT_EQ(w.interval_ns, 500u);
  using workload::Outcome;
  EXPECT_THAT(w.outcomes,
              testing::ElementsAre(Outcome::kAccept, Outcome::kTimeout, Outcome::kReject, Outcome::kNoListener));
}

TEST(Scenario, WhatConnectionsThatComeAndGoCannotBeTold) {
  json j = minimal();
  j["work"][0] = {{"op", "connect"}, {"direction", "reverse"}};
  EXPECT_EQ(message_of(j), "s.json: work[0].direction: is not for op 'connect'");
  j["work"][0] = {{"op", "connect"}, {"outcomes", json::array()}};
  EXPECT_EQ(message_of(j), "s.json: work[0].outcomes: is empty");
  j["work"][0] = {{"op", "connect"}, {"outcomes", {"acept"}}};
  EXPECT_THAT(message_of(j), testing::HasSubstr("accept"));
  EXPECT_EQ(message_after("/work/0/interval_ns", 5), "s.json: work[0].interval_ns: is for op 'connect'");
  EXPECT_EQ(message_after("/work/0/places", 5),
            "s.json: work[0].places: is for Writes and Reads of one size, of 1 octet or more");
  j["work"] = {{{{"op", "connect"}}, {{"op", "connect"}}}};
  EXPECT_EQ(message_of(j), "s.json: work[0]: two items would answer the requests at the port of connection 'c0'");
}

TEST(Scenario, AWindowIsForRequestsThatEachHaveACompletion) {
  json j = minimal();
  j["work"][0] = {{"op", "read"}, {"size", 64}, {"window", 24}};
  EXPECT_EQ(parse_scenario(j, "s.json").plan.phases[0][0].depth, 24u) << "one queue pair may have all of them";
  j["work"][0]["depth"] = 4;
  EXPECT_EQ(message_of(j), "s.json: work[0].depth: is not for items with a window");
  j["work"][0] = {{"op", "read"}, {"size", 64}, {"window", 24}, {"signal_every", 2}};
  EXPECT_EQ(message_of(j), "s.json: work[0].signal_every: is not for items with a window");
  j["work"][0] = {{"op", "send"}, {"size", 64}, {"mode", "pingpong"}, {"fence_every", 2}};
  EXPECT_EQ(message_of(j), "s.json: work[0].fence_every: is not for pingpong");
  const char* const message = "s.json: work[0].window: is for Sends, Writes and Reads, but not in pingpong";
  j["work"][0] = {{"op", "fetch_add"}, {"window", 24}};
  EXPECT_EQ(message_of(j), message);
  j["work"][0] = {{"op", "send"}, {"size", 64}, {"mode", "pingpong"}, {"window", 24}};
  EXPECT_EQ(message_of(j), message);
  j["work"][0] = {{"op", "send"}, {"size", 64}, {"window", 24}};
  j["checks"] = {{{"check", "terminate"}, {"sender", "client"}, {"code", "1/1/01"}}};
  EXPECT_THAT(message_of(j), testing::HasSubstr("would stop the window of 'send0'"));
}

TEST(Scenario, DefaultsAreThoseOfThePlan) {
  const Scenario s = parse_scenario(minimal(), "s.json");
  EXPECT_EQ(s.nodes[0].ip, 0x0a000001u);
  EXPECT_EQ(s.nodes[1].ip, 0x0a000002u);
  EXPECT_THAT(s.nodes[1].mac, testing::ElementsAre(2, 0, 0, 0, 0, 2));
  const workload::ConnectionSpec& c = s.plan.connections[0];
  EXPECT_EQ(c.name, "c0");
  EXPECT_EQ(c.from, 0u);
  EXPECT_EQ(c.to, 1u);
  EXPECT_EQ(c.port, 41000);
  EXPECT_EQ(c.qps, 1u);
  EXPECT_EQ(c.mpa_revision, 2);
  EXPECT_TRUE(c.from_side.markers && c.from_side.crc && c.to_side.markers && c.to_side.crc);
  EXPECT_EQ(c.from_side.ird, 16);
  const workload::WorkItem& w = s.plan.phases[0][0];
  EXPECT_EQ(w.name, "send0");
  EXPECT_EQ(w.count, 1000u);
  EXPECT_EQ(w.depth, 16u);
  EXPECT_EQ(w.direction, Direction::kForward);
  EXPECT_THAT(w.connections, testing::ElementsAre(0u));
}

TEST(Scenario, EveryKeyIsRead) {
  const Scenario s = parse_scenario(json::parse(R"({
    "name": "t", "description": "d", "seed": 9,
    "config": {"rnic": {"tcp": {"mtu": 9000}}}, "link": {"delay_ns": 5},
    "nodes": [{"name": "a", "ip": "192.168.1.2", "mac": "02:0a:0b:0c:0d:0e", "config": {"rnic.tcp.mtu": 1500}},
              {"name": "b"}],
    "connections": [{"name": "x", "from": "b", "to": "a", "port": 80, "qps": 3, "mpa_revision": 2, "rtr": "write",
      "completion": "event", "markers": false, "crc": false, "ird": 1, "ord": 2, "private_data": "hi",
      "from_side": {"markers": true, "ird": 3, "max_retries": 5, "keep_alive": "off"}, "to_side": {"crc": true, "private_data": "yo"}}],
    "work": [[{"name": "w", "connections": ["x"], "direction": "both", "op": "write",
               "size": {"law": "log_uniform", "min": 1, "max": 4096}, "count": 5, "depth": 4, "signal_every": 2, "fence_every": 3,
               "align": 1, "pattern": "counting", "pages": "64k"},
              {"name": "r", "connections": "x", "direction": "reverse", "op": "read", "size": 8}],
             {"name": "p", "op": "send", "mode": "pingpong", "size": 1}],
    "checks": [{"check": "data"}, {"name": "fast", "check": "min_goodput_gbps", "work": "w", "value": 1.5}]
  })"),
                                    "s.json");
  EXPECT_EQ(s.plan.seed, 9u);
  EXPECT_EQ(s.config.find("rnic.tcp.mtu")->value, 9000);
  EXPECT_EQ(s.config.find("link.delay_ns")->value, 5);
  EXPECT_EQ(s.nodes[0].ip, 0xc0a80102u);
  EXPECT_THAT(s.nodes[0].mac, testing::ElementsAre(2, 0xa, 0xb, 0xc, 0xd, 0xe));
  EXPECT_EQ(s.nodes[0].config.find("rnic.tcp.mtu")->value, 1500);
  const workload::ConnectionSpec& c = s.plan.connections[0];
  EXPECT_EQ(c.from, 1u);
  EXPECT_EQ(c.port, 80);
  EXPECT_EQ(c.qps, 3u);
  EXPECT_EQ(c.rtr, workload::Rtr::kWrite);
  EXPECT_TRUE(c.notified);
  EXPECT_TRUE(c.from_side.markers && !c.from_side.crc && !c.to_side.markers && c.to_side.crc);
  EXPECT_EQ(c.from_side.ird, 3);
  EXPECT_EQ(c.to_side.ird, 1);
  EXPECT_EQ(c.from_side.ord, 2);
  EXPECT_EQ(c.from_side.private_data, "hi");
  EXPECT_EQ(c.from_side.max_retries, 5);
  EXPECT_EQ(c.from_side.keep_alive, abi::KeepAlive::kOff);
  EXPECT_EQ(c.to_side.max_retries, 0);
  EXPECT_EQ(c.to_side.keep_alive, abi::KeepAlive::kDevice);
  EXPECT_EQ(c.to_side.private_data, "yo");
  ASSERT_EQ(s.plan.phases.size(), 2u);
  ASSERT_EQ(s.plan.phases[0].size(), 2u);
  const workload::WorkItem& w = s.plan.phases[0][0];
  EXPECT_EQ(w.size.law, SizeLaw::kLogUniform);
  EXPECT_EQ(w.size.max, 4096u);
  EXPECT_EQ(w.signal_every, 2u);
  EXPECT_EQ(w.fence_every, 3u);
  EXPECT_EQ(w.align, 1u);
  EXPECT_EQ(w.pattern, workload::Pattern::kCounting);
  EXPECT_EQ(w.pages, workload::Pages::k64K);
  EXPECT_EQ(s.plan.phases[1][0].mode, workload::Mode::kPingPong);
  EXPECT_EQ(s.plan.phases[1][0].depth, 1u);
  ASSERT_EQ(s.checks.size(), 2u);
  EXPECT_EQ(s.checks[0].name, "data");
  EXPECT_EQ(s.checks[1].work, "w");
  EXPECT_EQ(s.checks[1].value, 1.5);
}

TEST(ScenarioErrors, UnknownKeysNameTheNearest) {
  EXPECT_EQ(message_after("/conections", 1), "s.json: unknown key 'conections'; did you mean 'connections'?");
  EXPECT_EQ(message_after("/nodes/1/mak", ""), "s.json: nodes[1]: unknown key 'mak'; did you mean 'mac'?");
  EXPECT_EQ(message_after("/work/0/dept", 1), "s.json: work[0]: unknown key 'dept'; did you mean 'depth'?");
  EXPECT_EQ(message_after("/connections/0/to_side", json{{"marker", true}}),
            "s.json: connections[0].to_side: unknown key 'marker'; did you mean 'markers'?");
  EXPECT_EQ(message_after("/work/0/size", json{{"law", "uniform"}, {"min", 1}, {"maxi", 2}}),
            "s.json: work[0].size: unknown key 'maxi'; did you mean 'max'?");
}

TEST(ScenarioErrors, DanglingNamesNameTheNearest) {
  EXPECT_EQ(message_after("/connections/0/to", "sever"),
            "s.json: connections[0].to: unknown node 'sever'; did you mean 'server'?");
  EXPECT_EQ(message_after("/work/0/connections", "d0"),
            "s.json: work[0].connections: unknown connection 'd0'; did you mean 'c0'?");
  EXPECT_EQ(message_after("/work/0/connections", json::array({"c0", "c1"})),
            "s.json: work[0].connections[1]: unknown connection 'c1'; did you mean 'c0'?");
  EXPECT_EQ(message_after("/checks", json::array({{{"check", "data"}, {"work", "sent0"}}})),
            "s.json: checks[0].work: unknown work 'sent0'; did you mean 'send0'?");
}

TEST(ScenarioErrors, WrongTypesAndRanges) {
  EXPECT_EQ(message_after("/name", 7), "s.json: name: must be a string, not 7");
  EXPECT_EQ(message_after("/nodes", "x"), "s.json: nodes: must be a list, not \"x\"");
  EXPECT_EQ(message_after("/nodes/0", 3), "s.json: nodes[0]: must be an object, not 3");
  EXPECT_EQ(message_after("/connections/0/qps", 0),
            "s.json: connections[0].qps: must be an integer from 1 to 65536, not 0");
  EXPECT_EQ(message_after("/connections/0/crc", 1), "s.json: connections[0].crc: must be true or false, not 1");
  EXPECT_EQ(message_after("/work/0/size", -1), "s.json: work[0].size: must be an integer from 0 to 1073741824, not -1");
  EXPECT_EQ(message_after("/work/0/count", 1.5),
            "s.json: work[0].count: must be an integer from 1 to 10000000, not 1.5");
  EXPECT_EQ(
      message_after("/work/0/op", "sent"),
      "s.json: work[0].op: must be one of send, write, read, write_imm, fetch_add, cmp_swap, connect, not 'sent'");
  EXPECT_EQ(message_after("/work/0/signal_every", 17),
            "s.json: work[0].signal_every: must be an integer from 1 to 16, not 17");
  EXPECT_EQ(message_after("/work/0/align", 3), "s.json: work[0].align: must be a power of two");
  EXPECT_EQ(message_after("/work/0/size", json{{"law", "powers_of_two"}, {"min", 5}, {"max", 7}}),
            "s.json: work[0].size: has no power of two");
  EXPECT_EQ(message_after("/link", 1), "s.json: link: must be an object");
}

TEST(ScenarioErrors, MissingKeys) {
  json j = minimal();
  j["work"][0].erase("op");
  EXPECT_EQ(message_of(j), "s.json: work[0]: needs 'op'");
  j = minimal();
  j.erase("nodes");
  EXPECT_EQ(message_of(j), "s.json: needs 'nodes'");
  EXPECT_EQ(message_after("/checks", json::array({{{"check", "max_p99_ns"}}})), "s.json: checks[0]: needs 'value'");
}

TEST(ScenarioErrors, NodesAndAddresses) {
  EXPECT_EQ(message_after("/nodes/1/name", "client"), "s.json: nodes[1]: the name 'client' is taken");
  EXPECT_EQ(message_after("/nodes/0/ip", "10.0.0.256"), "s.json: nodes[0].ip: '10.0.0.256' is not an IPv4 address");
  EXPECT_EQ(message_after("/nodes/0/ip", " 10.0.0.1"), "s.json: nodes[0].ip: ' 10.0.0.1' is not an IPv4 address");
  EXPECT_EQ(message_after("/nodes/1/ip", "10.0.0.1"), "s.json: nodes[1]: has the IP address of node 'client'");
  EXPECT_EQ(message_after("/nodes/0/mac", "02:00:00:00:01"),
            "s.json: nodes[0].mac: '02:00:00:00:01' is not a MAC address");
  EXPECT_EQ(message_after("/nodes/0/mac", "01:00:00:00:00:01"),
            "s.json: nodes[0].mac: '01:00:00:00:00:01' is a group address");
  EXPECT_EQ(message_after("/connections/0/to", "client"), "s.json: connections[0]: connects a node to itself");
  EXPECT_EQ(message_after("/nodes", json::array({{{"name", "client"}}})), "s.json: nodes: needs two nodes or more");
}

TEST(ScenarioErrors, ConnectionsThatCannotBe) {
  json j = minimal();
  j["connections"][0]["qps"] = 10;
  j["connections"].push_back({{"from", "client"}, {"to", "server"}, {"port", 41009}});
  EXPECT_EQ(message_of(j), "s.json: connections[1]: port 41009 of node 'server' is taken");
  j = minimal();
  j["connections"][0]["mpa_revision"] = 1;
  j["connections"][0]["rtr"] = "read";
  EXPECT_EQ(message_of(j), "s.json: connections[0].rtr: needs mpa_revision 2 (RFC 6581)");
  EXPECT_EQ(message_after("/connections/0/private_data", std::string(509, 'x')),
            "s.json: connections[0].private_data: has 509 octets; at most 508 fit");
}

TEST(Scenario, TheTransportIsOfAllConnections) {
  json j = minimal();
  EXPECT_EQ(parse_scenario(j, "s.json").plan.transport, host::Transport::kTcp);
  j["transport"] = "sctp";
  j["connections"][0]["markers"] = false;
  j["connections"][0]["crc"] = true;
  EXPECT_EQ(parse_scenario(j, "s.json").plan.transport, host::Transport::kSctp);
  EXPECT_EQ(parse_scenario(j, "s.json").plan.connections[0].mpa_revision, 2);
  j["connections"][0]["enhanced"] = false;
  j["connections"][0]["private_data"] = std::string(512, 'x');
  EXPECT_EQ(parse_scenario(j, "s.json").plan.connections[0].mpa_revision, 1);
  EXPECT_EQ(message_after("/transport", "udp"), "s.json: transport: must be one of tcp, sctp, not 'udp'");
}

TEST(ScenarioErrors, WhatSctpHasNot) {
  const auto over_sctp = [](const char* pointer, json value) {
    json j = minimal();
    j["transport"] = "sctp";
    j[json::json_pointer(pointer)] = std::move(value);
    return message_of(j);
  };
  EXPECT_EQ(over_sctp("/connections/0/markers", true),
            "s.json: connections[0].markers: are MPA's: SCTP keeps the boundaries of messages");
  EXPECT_EQ(over_sctp("/connections/0/to_side", {{"crc", false}}),
            "s.json: connections[0].to_side.crc: cannot be false: each packet of SCTP has a CRC");
  EXPECT_EQ(over_sctp("/connections/0/max_retries", 3), "s.json: connections[0].max_retries: is TCP's");
  EXPECT_EQ(over_sctp("/connections/0/keep_alive", "on"), "s.json: connections[0].keep_alive: is TCP's");
  EXPECT_EQ(over_sctp("/connections/0/mpa_revision", 1),
            "s.json: connections[0].mpa_revision: is MPA's; with transport sctp it is enhanced that says so");
  EXPECT_EQ(over_sctp("/connections/0", {{"from", "client"}, {"to", "server"}, {"enhanced", false}, {"rtr", "read"}}),
            "s.json: connections[0].rtr: needs enhanced setup (RFC 6581)");
  EXPECT_EQ(message_after("/connections/0/enhanced", true),
            "s.json: connections[0].enhanced: is for transport sctp; over TCP it is mpa_revision that says so");
}

TEST(ScenarioErrors, OverSctpQueuePairsShareAPort) {
  json j = minimal();
  j["transport"] = "sctp";
  j["connections"][0]["qps"] = 10;
  j["connections"].push_back({{"from", "client"}, {"to", "server"}, {"port", 41009}});
  EXPECT_EQ(message_of(j), "no error");
  j["connections"][0]["private_data"] = std::string(507, 'x');
  EXPECT_EQ(message_of(j), "s.json: connections[0].private_data: has 507 octets; at most 506 fit");
  j["connections"][0].erase("private_data");
  j["inject"] = {{{"connection", "c0"}, {"sender", "client"}, {"message", "send"}, {"field", "msn"}, {"add", 1}}};
  EXPECT_EQ(message_of(j), "s.json: inject[0]: changes a message over SCTP only on a connection of one queue pair");
  j["inject"][0]["connection"] = "c1";
  EXPECT_EQ(message_of(j), "no error");
  j.erase("inject");
  j["work"][0] = {{"op", "connect"}};
  EXPECT_EQ(message_of(j),
            "s.json: work[0]: op 'connect' over SCTP needs a connection of one queue pair, and 'c0' has 10");
}

TEST(ScenarioErrors, InjectionsThatSctpHasNot) {
  const auto over_sctp = [](json injection) {
    json j = minimal();
    j["transport"] = "sctp";
    j["inject"] = {std::move(injection)};
    return message_of(j);
  };
  const json send = {{"sender", "client"}, {"message", "send"}};
  const auto with = [&](const char* key, json value) {
    json j = send;
    j[key] = std::move(value);
    return j;
  };
  json field = with("field", "crc");
  field["add"] = 1;
  EXPECT_EQ(over_sctp(field), "s.json: inject[0].field: is of an FPDU: transport sctp has none");
  field["field"] = "msn";
  EXPECT_EQ(over_sctp(field), "no error");
  EXPECT_EQ(over_sctp(with("close_after", 3)),
            "s.json: inject[0].close_after: is a FIN of TCP: transport sctp has none");
  json startup = field;
  startup["message"] = "mpa_request";
  startup["field"] = "ord";
  EXPECT_EQ(over_sctp(startup), "s.json: inject[0].message: is a startup frame of MPA: transport sctp has none");
}

TEST(ScenarioErrors, WorkThatCannotBe) {
  EXPECT_EQ(message_after("/work/0", json{{"op", "read"}, {"mode", "pingpong"}, {"size", 1}}),
            "s.json: work[0].mode: pingpong works with ops 'send' and 'write' only");
  for (const json& size : {json(0), json{{"law", "uniform"}, {"min", 0}, {"max", 4}}}) {
    EXPECT_EQ(message_after("/work/0", json{{"op", "write"}, {"mode", "pingpong"}, {"size", size}}),
              "s.json: work[0].size: must be 1 or more: pingpong awaits an octet");
  }
  EXPECT_EQ(message_after("/work/0", json{{"op", "fetch_add"}, {"size", 8}}),
            "s.json: work[0].size: is not for atomics, which have eight octets");
  EXPECT_EQ(message_after("/work/0", json{{"op", "read"}, {"size", 8}, {"words", 2}}),
            "s.json: work[0].words: is for atomics");
  const json imm = {{{"op", "write_imm"}, {"size", 8}, {"depth", 505}}};
  EXPECT_EQ(message_after("/work/0", imm),
            "s.json: work[0]: more than 1024 work requests outstanding on connection 'c0'");
  const json two = {{{"op", "send"}, {"size", 1}}, {{"op", "write"}, {"size", 1}}};
  EXPECT_EQ(message_after("/work/0", two),
            "s.json: work[0]: 'send0' and 'write1' would both receive at one side of connection 'c0'; reads and "
            "atomics may run beside them");
  const json beside = {{{"op", "send"}, {"size", 1}},
                       {{"op", "write"}, {"size", 1}, {"direction", "reverse"}},
                       {{"op", "cmp_swap"}, {"words", 4}},
                       {{"op", "read"}, {"size", 1}}};
  EXPECT_EQ(message_after("/work/0", beside), "no error");
  const json deep = {{{"op", "read"}, {"size", 1}, {"depth", 512}}, {{"op", "read"}, {"size", 1}, {"depth", 512}}};
  EXPECT_EQ(message_after("/work/0", deep),
            "s.json: work[0]: more than 1024 work requests outstanding on connection 'c0'");
}

TEST(ScenarioErrors, ChecksThatCannotBe) {
  EXPECT_EQ(
      message_after("/checks", json::array({{{"check", "dat"}}})),
      "s.json: checks[0].check: must be one of data, min_goodput_gbps, min_share_percent, min_rate_mops, max_p50_ns, "
      "max_p99_ns, max_p999_ns, max_latency_ns, min_fairness, terminate, not 'dat'");
  EXPECT_EQ(message_after("/checks", json::array({{{"check", "data"}, {"value", 1}}})),
            "s.json: checks[0].value: is not for check 'data'");
}

TEST(ScenarioErrors, AFileThatIsNotThereIsNamed) { EXPECT_THROW(read_scenario("no/such/file.json"), ConfigError); }

TEST(ScenarioChecks, CompareWithTheMeasuredValues) {
  workload::WorkResult r;
  r.item = "w";
  r.name = "w forward";
  r.count = 10;
  r.goodput_gbps = 90;
  r.limit_gbps = 100;
  r.latency = {10, 1'000'000, 2'000'000, 3'000'000, 4'000'000};
  r.data_ok = true;
  const auto passed = [&](CheckKind kind, double value) {
    return evaluate({{"c", kind, "w", value}}, {r}, {})[0].passed;
  };
  EXPECT_TRUE(passed(CheckKind::kMinGoodput, 90));
  EXPECT_FALSE(passed(CheckKind::kMinGoodput, 90.1));
  EXPECT_TRUE(passed(CheckKind::kMinShare, 90));
  EXPECT_FALSE(passed(CheckKind::kMinShare, 91));
  EXPECT_TRUE(passed(CheckKind::kMaxP50, 1000));
  EXPECT_FALSE(passed(CheckKind::kMaxP50, 999));
  EXPECT_FALSE(passed(CheckKind::kMaxP99, 1999));
  EXPECT_FALSE(passed(CheckKind::kMaxP999, 2999));
  EXPECT_TRUE(passed(CheckKind::kMaxLatency, 4000));
  EXPECT_FALSE(passed(CheckKind::kMaxLatency, 3999));
  EXPECT_TRUE(passed(CheckKind::kMinFairness, 1));
  r.fairness = 0.8;
  EXPECT_FALSE(passed(CheckKind::kMinFairness, 0.81));
  EXPECT_EQ(evaluate({{"c", CheckKind::kMinGoodput, "", 95}}, {r}, {})[0].text, "w forward: 90.00 Gb/s, at least 95");
  r.data_ok = false;
  EXPECT_FALSE(passed(CheckKind::kMinGoodput, 1));
  r.error = "w: message 1 differs";
  EXPECT_EQ(evaluate({{"data", CheckKind::kData, "", 0}}, {r}, {})[0].text, "w forward: w: message 1 differs");
}

}  // namespace
}  // namespace rnic
