#include "model/system/sweep.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
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

// The values of an axis at all points; null for the scenario's own value.
std::vector<json> values_of(const char* sweep, std::size_t axis = 0) {
  const Sweep s = parse_scenario(scenario_with(sweep), "s.json").sweep;
  std::vector<json> values;
  for (std::size_t i = 0; i < s.points(); ++i) values.push_back(s.value(i, axis));
  return values;
}

std::vector<json> range(const std::string& of) {
  return values_of(fmt::format(R"([{{"key": "link.delay_ns", "values": {{{}}}}}])", of).c_str());
}

TEST(Sweep, ARangeIsAListThatIsShorterToWrite) {
  EXPECT_THAT(range(R"("from": 2, "to": 9, "step": 3)"), ElementsAre(2, 5, 8));
  EXPECT_THAT(range(R"("from": 0.1, "to": 0.3, "step": 0.1)"), ElementsAre(0.1, 0.2, 0.3));
  EXPECT_THAT(range(R"("from": 1, "to": 64, "factor": 4)"), ElementsAre(1, 4, 16, 64));
  EXPECT_THAT(range(R"("from": 4, "to": 14, "factor": 1.5)"), ElementsAre(4, 6, 9, 14)) << "whole, as their ends are";
  EXPECT_THAT(range(R"("from": 1, "to": 100, "per_decade": 3)"), ElementsAre(1, 2, 5, 10, 22, 46, 100));
  EXPECT_THAT(range(R"("from": 0.01, "to": 0.1, "per_decade": 2)"), ElementsAre(0.01, 0.0316228, 0.1));
  EXPECT_THAT(range(R"("from": 1, "to": 3, "factor": 1.1)"), ElementsAre(1, 2, 3)) << "each once";
}

TEST(Sweep, OneAtATimeBeginsWithTheBaseline) {
  const char* const sweep = R"({"mode": "one_at_a_time", "axes": [
    {"key": "connections.c0.ord", "title": "ORD", "values": [1, 2], "baseline": 8},
    {"key": "rnic.tcp.sack", "title": "SACK", "values": [true]}]})";
  EXPECT_THAT(values_of(sweep, 0), ElementsAre(8, 1, 2, 8));
  EXPECT_THAT(values_of(sweep, 1), ElementsAre(nullptr, nullptr, nullptr, true));
  const Scenario s = parse_scenario(scenario_with(sweep), "s.json");
  EXPECT_EQ(s.sweep.text(0), "baseline");
  EXPECT_EQ(s.sweep.text(2), "ORD 2");
  EXPECT_EQ(at_point(s, 1).plan.connections[0].from_side.ord, 1u);
  EXPECT_EQ(at_point(s, 3).plan.connections[0].from_side.ord, 8u);
  EXPECT_EQ(at_point(s, 1).config.find("rnic.tcp.sack")->value, false) << "of the scenario";
}

TEST(Sweep, EveryPointIsRepeatedWithEachSeed) {
  const char* const sweep = R"({"mode": "one_at_a_time", "axes": [
    {"key": "seed", "values": {"from": 1, "to": 3, "step": 1}},
    {"key": "link.delay_ns", "title": "delay", "values": [7]}]})";
  EXPECT_THAT(values_of(sweep, 0), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(values_of(sweep, 1), ElementsAre(nullptr, nullptr, nullptr, 7, 7, 7));
  const Scenario s = parse_scenario(scenario_with(sweep), "s.json");
  EXPECT_TRUE(s.sweep.axes[0].mean);
  EXPECT_FALSE(s.sweep.axes[1].mean);
  EXPECT_EQ(s.sweep.text(1), "baseline, seed 2");
  EXPECT_EQ(s.sweep.text(5), "seed 3, delay 7");
  EXPECT_EQ(at_point(s, 5).plan.seed, 3u);
  EXPECT_THAT(values_of(R"([{"key": "seed", "values": [4, 5]}, {"key": "link.delay_ns", "values": [7, 8]}])", 1),
              ElementsAre(7, 8, 7, 8))
      << "a product has the order of its axes";
}

TEST(Sweep, ALatinHypercubeHasAPointInEachStratumOfEachAxis) {
  const char* const sweep = R"({"mode": "latin_hypercube", "points": 8, "seed": 3, "axes": [
    {"key": "link.delay_ns", "values": {"from": 0.0, "to": 80.0}},
    {"key": "rnic.tcp.window_bytes", "values": {"from": 4096.0, "to": 1048576.0, "scale": "log"}},
    {"key": "connections.c0.ord", "values": [1, 2, 4, 8]}]})";
  std::vector<int> strata;
  for (const json& v : values_of(sweep, 0)) strata.push_back(static_cast<int>(v.get<double>() / 10));
  EXPECT_THAT(strata, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  std::vector<int> octaves;
  for (const json& v : values_of(sweep, 1)) octaves.push_back(static_cast<int>(std::log2(v.get<double>() / 4096)));
  EXPECT_THAT(octaves, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(values_of(sweep, 2), testing::UnorderedElementsAre(1, 1, 2, 2, 4, 4, 8, 8));
  EXPECT_EQ(values_of(sweep, 0), values_of(sweep, 0)) << "by its seed";
}

TEST(Sweep, ARandomSampleStaysInItsIntervals) {
  const char* const sweep = R"({"mode": "random", "points": 200, "axes": [
    {"key": "link.delay_ns", "values": {"from": 1, "to": 3}}, {"key": "seed", "values": [1, 2]}]})";
  const std::vector<json> values = values_of(sweep, 0);
  EXPECT_EQ(values.size(), 400u);
  EXPECT_EQ(std::set<json>(values.begin(), values.end()), (std::set<json>{1, 2, 3}));
  EXPECT_EQ(values[0], values[1]) << "the same point with two seeds";
}

TEST(Sweep, SeveralKeysHaveOneValue) {
  const Scenario s =
      parse_scenario(scenario_with(R"([{"key": ["connections.c0.ord", "connections.c0.ird"], "values": [3]}])"), "s");
  const workload::SideSpec side = at_point(s, 0).plan.connections[0].from_side;
  EXPECT_EQ(side.ord, 3u);
  EXPECT_EQ(side.ird, 3u);
  EXPECT_EQ(s.sweep.text(0), "connections.c0.ord, connections.c0.ird 3");
}

TEST(Sweep, SeveralKeysMayHaveValuesOfTheirOwn) {
  const Scenario s = parse_scenario(
      scenario_with(R"([{"key": ["connections.c0.ord", "rnic.tcp.sack"], "values": [[3, true], [5, false]]}])"), "s");
  EXPECT_EQ(at_point(s, 1).plan.connections[0].from_side.ord, 5u);
  EXPECT_EQ(at_point(s, 0).config.find("rnic.tcp.sack")->value, true);
  EXPECT_EQ(s.sweep.axes[0].labels[1], "[5,false]");
  EXPECT_EQ(message_of(scenario_with(R"([{"key": ["a", "b"], "values": [[1, 2], [3]]}])")),
            "s.json: sweep[0].values[1]: must have 2 values, as there are keys");
}

TEST(Sweep, AValueOfTheScenarioMayBeAnObject) {
  const Scenario s = parse_scenario(
      scenario_with(R"([{"key": "work.send0.size", "values": [1, {"law": "uniform", "min": 5, "max": 6}]}])"), "s");
  EXPECT_EQ(at_point(s, 0).plan.phases[0][0].size.max, 1u);
  EXPECT_EQ(at_point(s, 1).plan.phases[0][0].size.min, 5u);
}

TEST(Sweep, WhatAPointComesFromHasTheSweptValues) {
  const Scenario s = parse_scenario(scenario_with(R"([{"key": "work.send0.size", "values": [1, 2]}])"), "s");
  EXPECT_EQ(at_point(s, 1).effective["work"][0]["size"], 2);
  EXPECT_FALSE(at_point(s, 1).effective.contains("sweep"));
}

TEST(Sweep, MistakesOfFormsNameTheirPlace) {
  const auto after = [](const char* sweep) { return message_of(scenario_with(sweep)); };
  EXPECT_EQ(
      after(R"({"mode": "random", "points": 3, "axes": [{"key": "seed", "values": {"from": 1, "to": 9}}]})"),
      "s.json: sweep.axes[0].values: needs step, factor or per_decade: `mean` is over every value; with `mean` false "
      "an interval is sampled");
  EXPECT_EQ(after(R"({"axes": []})"), "s.json: sweep.axes: is empty");
  EXPECT_EQ(after(R"({"mode": "both", "axes": []})"),
            "s.json: sweep.mode: must be one of product, one_at_a_time, random, latin_hypercube, not 'both'");
  EXPECT_EQ(after(R"({"mode": "random", "axes": [{"key": "a", "values": [1]}]})"), "s.json: sweep: needs 'points'");
  EXPECT_EQ(after(R"({"points": 3, "axes": [{"key": "a", "values": [1]}]})"),
            "s.json: sweep.points: is for a sample: mode random or latin_hypercube");
  EXPECT_EQ(after(R"([{"key": "a", "values": [1], "baseline": 2}])"),
            "s.json: sweep[0].baseline: is for the mode one_at_a_time");
  EXPECT_EQ(after(R"([{"key": "a", "values": {"from": 1, "to": 2}}])"),
            "s.json: sweep[0].values: needs step, factor or per_decade; an interval is for a sample (mode random or "
            "latin_hypercube)");
  EXPECT_EQ(after(R"([{"key": "a", "values": {"from": 1, "to": 2, "step": 1, "factor": 2}}])"),
            "s.json: sweep[0].values: has one of step, factor and per_decade");
  EXPECT_EQ(after(R"([{"key": "a", "values": {"from": 2, "to": 1, "step": 1}}])"),
            "s.json: sweep[0].values.to: must be a number from 2 to 1e+18, not 1");
  EXPECT_EQ(after(R"([{"key": "a", "values": {"from": 0, "to": 1, "factor": 2}}])"),
            "s.json: sweep[0].values.from: must be more than 0 for a logarithmic range");
  EXPECT_EQ(after(R"([{"key": "a", "values": {"from": 1, "to": 2, "factor": 1.0000000001}}])"),
            "s.json: sweep[0].values.factor: must be a number from 1.001 to 1e+18, not 1.0000000001");
  EXPECT_EQ(after(R"([{"key": ["a", "a"], "values": [1]}])"), "s.json: sweep[0].key: is named twice");
  EXPECT_EQ(after(R"([{"key": "a", "values": {"from": 1, "to": 1e9, "step": 1}}])"),
            "s.json: sweep: has more than 10000 points");
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
  EXPECT_EQ(nearest_path(stats, "results.0.p50"), "results.0.p50");  // exists, though without a value
  EXPECT_EQ(nearest_path(stats, "stat.a.segment"), "stats.a.segments");
}

}  // namespace
}  // namespace rnic
