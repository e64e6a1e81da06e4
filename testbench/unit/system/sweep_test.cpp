#include "model/system/sweep.h"

#include <gmock/gmock.h>

#include "model/common/check.h"
#include "model/system/scenario.h"

namespace rnic {
namespace {

using nlohmann::json;
using testing::ElementsAre;

json scenario_with(const char* sweep) {
  json j = json::parse(R"({
    "name": "t",
    "config": {"rnic": {"tcp": {"sack": false, "mtu": 9000}}},
    "nodes": [{"name": "a"}, {"name": "b"}],
    "connections": [{"from": "a", "to": "b"}],
    "work": [{"op": "send", "size": 64}]
  })");
  j["sweep"] = json::parse(sweep);
  return j;
}

std::string message_of(const json& j) {
  try {
    parse_scenario(j, "s.json");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

const char* const kTwoAxes = R"([
  {"key": "link.delay_ns", "title": "delay", "values": [100, 200, 300], "labels": ["short", "medium", "long"]},
  {"key": "rnic.tcp.sack", "values": [true, false]}])";

TEST(Sweep, TheLastAxisVariesFastest) {
  const Sweep s = parse_scenario(scenario_with(kTwoAxes), "s.json").sweep;
  ASSERT_EQ(s.points(), 6u);
  EXPECT_THAT(s.indexes(0), ElementsAre(0, 0));
  EXPECT_THAT(s.indexes(1), ElementsAre(0, 1));
  EXPECT_THAT(s.indexes(2), ElementsAre(1, 0));
  EXPECT_THAT(s.indexes(5), ElementsAre(2, 1));
  EXPECT_EQ(s.text(3), "delay medium, rnic.tcp.sack false");
}

TEST(Sweep, APointLiesAboveTheSettingsOfTheScenario) {
  const Scenario all = parse_scenario(scenario_with(kTwoAxes), "s.json");
  const Scenario one = at_point(all, 4);
  EXPECT_TRUE(one.sweep.empty());
  EXPECT_EQ(one.config.find("link.delay_ns")->value, 300);
  EXPECT_EQ(one.config.find("rnic.tcp.sack")->value, true);
  EXPECT_EQ(one.config.find("rnic.tcp.mtu")->value, 9000);
}

TEST(Sweep, MistakesNameTheirPlace) {
  const auto after = [](const char* sweep) { return message_of(scenario_with(sweep)); };
  EXPECT_EQ(after("[]"), "s.json: sweep: is empty");
  EXPECT_EQ(after(R"([{"key": "a.b", "values": []}])"), "s.json: sweep[0].values: is empty");
  EXPECT_EQ(after(R"([{"key": "a.b", "values": [[1]]}])"), "s.json: sweep[0].values[0]: is no value of a setting");
  EXPECT_EQ(after(R"([{"key": "a.b", "values": [1, 2], "labels": ["x"]}])"), "s.json: sweep[0].labels: must be 2");
  EXPECT_EQ(after(R"([{"key": "a", "values": [1]}, {"key": "a", "values": [2]}])"),
            "s.json: sweep[1].key: is named twice");
  json many = scenario_with("[]");
  for (const char* key : {"a", "b", "c"}) many["sweep"].push_back({{"key", key}, {"values", std::vector<int>(22, 1)}});
  EXPECT_EQ(message_of(many), "s.json: sweep: has more than 10000 points");
  json columns = scenario_with(kTwoAxes);
  columns.erase("sweep");
  columns["columns"] = json::array();
  EXPECT_EQ(message_of(columns), "s.json: columns: are for a sweep");
}

TEST(Sweep, ColumnsAreNumbersOfTheStatistics) {
  const json stats = json::parse(R"({"frames": 7, "results": [{"goodput_gbps": 1.5, "name": "w"}],
                                     "stats": {"a": {"segments": {"value": 3, "unit": "segments"}}}})");
  EXPECT_EQ(value_at(stats, "frames"), 7);
  EXPECT_EQ(value_at(stats, "results.0.goodput_gbps"), 1.5);
  EXPECT_EQ(value_at(stats, "stats.a.segments"), 3);
  for (const char* none :
       {"", "frame", "results.1.goodput_gbps", "results.x", "results.0.name", "stats.a", "frames.0"}) {
    EXPECT_TRUE(value_at(stats, none).is_null()) << none;
  }
}
TEST(Sweep, NamesWithDotsAreFoundToo) {
  const json stats = json::parse(R"({"latency_ns": {"p99": 5, "p99.9": 7}, "a.b": {"c.d": [{"e": 3}]}})");
  EXPECT_EQ(value_at(stats, "latency_ns.p99"), 5);
  EXPECT_EQ(value_at(stats, "latency_ns.p99.9"), 7);
  EXPECT_EQ(value_at(stats, "a.b.c.d.0.e"), 3);
  EXPECT_TRUE(value_at(stats, "latency_ns.p99.99").is_null());
}
TEST(Sweep, AMistypedColumnHasANearestOne) {
  const json stats = json::parse(R"({"frames": 7, "results": [{"goodput_gbps": 1.5, "name": "w", "p50": null}],
                                     "stats": {"a": {"segments": {"value": 3, "unit": "segments"}}}})");
  EXPECT_EQ(nearest_path(stats, "results.0.goodput_gbps"), "results.0.goodput_gbps");
  EXPECT_EQ(nearest_path(stats, "results.0.goodputgbps"), "results.0.goodput_gbps");
  EXPECT_EQ(nearest_path(stats, "results.0.p50"), "results.0.p50");  // there, though without a value
  EXPECT_EQ(nearest_path(stats, "stat.a.segment"), "stats.a.segments");
}

}  // namespace
}  // namespace rnic
