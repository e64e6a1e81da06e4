#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "model/cli/confidence.h"
#include "model/cli/sweep_job.h"
#include "model/cli/sweep_record.h"
#include "model/cli/sweep_summary.h"
#include "model/common/check.h"

namespace rnic::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

TEST(Confidence, IsStudentsT) {
  const Mean m = mean_of({1, 2, 3, 4, 5});
  EXPECT_EQ(m.count, 5u);
  EXPECT_DOUBLE_EQ(m.mean, 3);
  EXPECT_NEAR(*m.ci95, 2.776445 * 1.581139 / 2.236068, 1e-5);  // t of 4 degrees of freedom, deviation, root of 5
  EXPECT_NEAR(*mean_of({1, 3}).ci95, 12.7062, 1e-4);
  EXPECT_EQ(*mean_of({0.1, 0.1, 0.1}).ci95, 0);
  EXPECT_FALSE(mean_of({7}).ci95);
  EXPECT_EQ(mean_of({}).count, 0u);
}

class SweepFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "rnic_sweep.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  static ordered_json record(const std::string& id, int exit_code) {
    return {
        {"id", id}, {"exit_code", exit_code}, {"columns", ordered_json::array()}, {"results", ordered_json::array()}};
  }
  std::string folder;
};

TEST_F(SweepFolder, AJournalOutlivesALineThatWasCutOff) {
  SweepJournal(folder, "").append(record("a", 0));
  std::ofstream(folder + "/points.jsonl", std::ios::app) << R"({"id": "b", "exit_co)";
  SweepJournal(folder, "").append(record("c", 1));
  const SweepJournal::Records records = SweepJournal::read(folder);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records.at("a")["exit_code"], 0);
  EXPECT_EQ(records.at("c")["exit_code"], 1);
}

TEST_F(SweepFolder, AFinishedRecordCountsWhereverItIs) {
  {
    SweepJournal third(folder, "2-of-3"), whole(folder, "");
    third.append(record("a", 4));
    third.append(record("b", 5));
    third.append(record("b", 4));
    whole.append(record("a", 1));
  }
  SweepJournal::Records records = SweepJournal::read(folder);
  EXPECT_EQ(records.at("a")["exit_code"], 1);
  EXPECT_EQ(records.at("b")["exit_code"], 4) << "the last";
  EXPECT_TRUE(std::filesystem::exists(folder + "/points.2-of-3.jsonl"));
  SweepJournal::remove(folder);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SweepFolder, ARecordHasWhatAReportNeeds) {
  std::ofstream(folder + "/stats.json")
      << R"({"end": "done", "digest": "1f", "frames": 7, "bottleneck": {"name": "ORD"},
    "checks": [{"name": "data", "passed": true, "text": "all"}, {"name": "fast", "passed": false, "text": "8 Gb/s"}],
    "results": [{"name": "w", "op": "write", "goodput_gbps": 8, "latency_ns": {"p50": 5, "p99": 6}}]})";
  const ordered_json r = record_of("id", 1, folder, "table\nrnicsim: told\n", {{"f", "frames"}, {"g", "frame"}});
  EXPECT_EQ(r["columns"], ordered_json::parse(R"([["frames", 7], ["frame", null]])"));
  EXPECT_EQ(r["bottleneck"]["name"], "ORD");
  EXPECT_EQ(r["results"][0]["p99_ns"], 6);
  EXPECT_EQ(r["error"], "told; fast: 8 Gb/s");
  EXPECT_EQ(record_of("id", 0, folder, "", {{"g", "frame"}})["nearest"]["frame"], "frames");
  const ordered_json several = record_of("id", 0, folder, "", {{"g", "frame"}, {"f", "frames"}, {"h", "fram"}});
  EXPECT_EQ(several["columns"], ordered_json::parse(R"([["frame", null], ["frames", 7], ["fram", null]])"));
  EXPECT_EQ(several["nearest"], ordered_json::parse(R"({"frame": "frames", "fram": "frames"})"));
}

Scenario scenario_of(const char* sweep) {
  json j = json::parse(R"({"name": "t", "nodes": [{"name": "a"}, {"name": "b"}],
    "connections": [{"from": "a", "to": "b"}], "work": [{"name": "w", "op": "send", "size": 64}]})");
  j["sweep"] = json::parse(sweep);
  return parse_scenario(j, "s.json");
}

ordered_json result(double goodput) {
  ordered_json r{{"id", "i"}, {"exit_code", 0}, {"end", "done"}};
  r["columns"].push_back({"results.0.goodput_gbps", goodput});
  r["results"] = {{{"name", "w"}, {"goodput_gbps", goodput}, {"rate_mops", 1}, {"p50_ns", 2}, {"p99_ns", 3}}};
  return r;
}

TEST(SweepSummary, GivesMeansOverSeeds) {
  const Scenario s = scenario_of(R"([{"key": "link.delay_ns", "title": "delay, ns", "values": [10, 20]},
                                     {"key": "seed", "values": [1, 2]}])");
  SweepSummary summary(s, {{"Gb/s", "results.0.goodput_gbps"}}, {});
  for (std::size_t i = 0; i < 4; ++i) summary.add(i, i == 0 ? "out/0" : "", result(static_cast<double>(10 * i)));
  const ordered_json j = summary.json(true);
  EXPECT_EQ(j["axes"][1]["mean"], true);
  EXPECT_EQ(j["points"][0]["folder"], "out/0");
  EXPECT_EQ(j["points"][1]["folder"], nullptr);
  EXPECT_EQ(j["points"][3]["settings"], ordered_json::parse(R"({"link.delay_ns": 20, "seed": 2})"));
  ASSERT_EQ(j["means"].size(), 2u);
  EXPECT_EQ(j["means"][1]["points"], ordered_json::parse("[2, 3]"));
  EXPECT_EQ(j["means"][1]["settings"], ordered_json::parse(R"({"link.delay_ns": 20})"));
  EXPECT_EQ(j["means"][1]["columns"]["Gb/s"]["mean"], 25);
  EXPECT_NEAR(j["means"][1]["columns"]["Gb/s"]["ci95"].get<double>(), 63.531, 1e-3);
  EXPECT_EQ(j["means"][0]["results"][0]["goodput_gbps"]["count"], 2);
  std::istringstream csv(summary.csv());
  std::string head, first;
  std::getline(csv, head);
  std::getline(csv, first);
  EXPECT_EQ(head,
            "point,exit_code,\"delay, ns\",seed,Gb/s,w goodput_gbps,w rate_mops,w p50_ns,w p99_ns,bottleneck,error");
  EXPECT_EQ(first, "0,0,10,1,0.0,0.0,1,2,3,,");
  EXPECT_EQ(summary.table_of_means(),
            "means, with 95 % confidence intervals:\n"
            "delay, ns        Gb/s  points\n"
            "       10   5 ± 63.53       2\n"
            "       20  25 ± 63.53       2\n");
}

TEST(SweepSummary, SaysWhichAxisVaries) {
  const Scenario s = scenario_of(R"({"mode": "one_at_a_time", "axes": [{"key": "link.delay_ns", "values": [10]},
                                                                       {"key": "rnic.tcp.mtu", "values": [9000]}]})");
  SweepSummary summary(s, {}, {500, 1500});
  for (std::size_t i = 0; i < 3; ++i) summary.add(i, "", result(1));
  const ordered_json j = summary.json(false);
  EXPECT_EQ(j["complete"], false);
  EXPECT_EQ(j["mode"], "one_at_a_time");
  EXPECT_EQ(j["axes"][1]["baseline"], 1500);
  EXPECT_EQ(j["points"][0]["axis"], nullptr);
  EXPECT_EQ(j["points"][2]["axis"], 1);
  EXPECT_EQ(j["points"][2]["settings"], ordered_json::parse(R"({"rnic.tcp.mtu": 9000})"));
  EXPECT_FALSE(j.contains("means"));
}

TEST(SweepSummary, FindsTheKneesOfAxesOfNumbers) {
  const Scenario s = scenario_of(R"({"mode": "one_at_a_time", "axes": [
    {"key": "rnic.tcp.mtu", "title": "MTU", "values": [9000, 576, 1000]},
    {"key": "link.delay_ns", "title": "delay", "values": [10, 800, 5000]},
    {"key": "rnic.tcp.window_bytes", "title": "window", "values": [4096]},
    {"key": "rnic.tcp.sack", "title": "SACK", "values": [false]}]})");
  SweepSummary summary(s, {{"Gb/s", "g"}}, {1500, 500, 65536, true});
  const double goodputs[] = {90, 100, 40, 80, 91, 88, 50, 89, 1};
  for (std::size_t i = 0; i < 9; ++i) summary.add(i, "", result(goodputs[i]));
  const ordered_json knees = summary.json(true)["knees"];
  ASSERT_EQ(knees.size(), 3u);
  EXPECT_EQ(knees[0], ordered_json::parse(R"({"axis": 0, "column": "Gb/s", "best": 100.0, "limits_below": 9000.0,
                                              "limits_above": null, "limited_by": []})"));
  EXPECT_EQ(knees[1]["limits_above"], 800);
  EXPECT_EQ(summary.table_of_knees(),
            "knees, where Gb/s is 95 % of the best of an axis:\n"
            "   MTU  100  limits below 9000\n"
            " delay   91   limits above 800\n"
            "window   90     does not limit\n");
}

// The limit of the item's phase counts, not that of the longest phase, which `bottleneck` gives.
TEST(SweepSummary, AKneeIsLimitedByWhatLimitsThePhaseOfItsItem) {
  const Scenario s = scenario_of(R"({"mode": "one_at_a_time", "axes": [
    {"key": "rnic.tcp.mtu", "title": "MTU", "values": [576, 9000]}]})");
  SweepSummary summary(s, {{"Gb/s", "results.0.goodput_gbps"}}, {1500}), of_the_run(s, {{"Mb", "frames"}}, {1500});
  const double goodputs[] = {90, 40, 92};
  for (std::size_t i = 0; i < 3; ++i) {
    ordered_json r = result(goodputs[i]);
    r["bottleneck"] = {{"name", "host memory"}};
    r["results"][0]["limited_by"] = i == 1 ? "ORD" : "wire a to b";
    summary.add(i, "", r);
    of_the_run.add(i, "", r);
  }
  EXPECT_EQ(summary.json(true)["knees"][0]["limited_by"], ordered_json::parse(R"(["ORD"])"));
  EXPECT_THAT(summary.table_of_knees(), testing::EndsWith("MTU  92  limits below 1500 (ORD)\n"));
  EXPECT_EQ(of_the_run.json(true)["knees"][0]["limited_by"], ordered_json::parse(R"(["host memory"])"));
}

TEST_F(SweepFolder, AnItemsLimiterIsThatOfItsPhase) {
  std::ofstream(folder + "/stats.json") << R"({"end": "done", "bottleneck": {"name": "wire a to b"}, "phases": [
      {"phase": 0, "name": "r", "bottleneck": {"name": "ORD"}}, {"phase": 1, "name": "w", "bottleneck": {"name": "wire a to b"}}],
    "results": [{"name": "r", "phase": 0}, {"name": "w", "phase": 1}, {"name": "of an earlier version"}]})";
  const ordered_json results = record_of("id", 0, folder, "", {})["results"];
  EXPECT_EQ(results[0]["limited_by"], "ORD");
  EXPECT_EQ(results[1]["limited_by"], "wire a to b");
  EXPECT_FALSE(results[2].contains("limited_by"));
}

TEST(SweepJob, TasksRunSharesOfThePoints) {
  const SweepJob job{"a b", "/s/it's", "/bin/rnicsim", "/w", {"--set", "x=1 2"}, 3};
  EXPECT_EQ(slurm_script(job),
            "#!/bin/sh\n#SBATCH --job-name=rnicsim-a-b\n#SBATCH --array=0-2\n#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
            "#SBATCH --output='/s/it'\\''s/task-%a.log'\n#SBATCH --chdir=/w\n"
            "exec /bin/rnicsim run '/s/it'\\''s/scenario.json' --out '/s/it'\\''s' --jobs 1 --resume --set 'x=1 2' "
            "--share \"$SLURM_ARRAY_TASK_ID\"/3\n");
  EXPECT_THAT(parallel_joblist(job), testing::EndsWith("--set 'x=1 2' --share 2/3 >>'/s/it'\\''s/task-2.log' 2>&1\n"));
  EXPECT_THAT(slurm_script({"s", "/s/100%j", "/bin/rnicsim", "/w", {}, 1}),
              testing::HasSubstr("#SBATCH --output=/s/100%%j/task-%a.log\n"));
  for (const char* word : {"a\nb", "a\rb", "a\tb", "a\x7f"}) {
    for (const SweepJob& bad : {SweepJob{"s", word, "p", "w", {}, 1}, SweepJob{"s", "f", word, "w", {}, 1},
                                SweepJob{"s", "f", "p", word, {}, 1}, SweepJob{"s", "f", "p", "w", {word}, 1}}) {
      EXPECT_THROW(slurm_script(bad), ConfigError);
      EXPECT_THROW(parallel_joblist(bad), ConfigError);
    }
  }
  EXPECT_THAT(collect_arguments(job, "d"),
              testing::ElementsAre("d/scenario.json", "--out", "d", "--collect", "--set", "x=1 2"));
}

}  // namespace
}  // namespace rnic::cli
