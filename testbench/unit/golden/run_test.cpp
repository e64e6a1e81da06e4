// Whole runs through the C interface of librnicsim_run, in a process that has SystemC beside it: as the program has
// them, several in a process, and what a caller may do wrong.
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "rnic_run.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr std::uint64_t kEnd = UINT64_MAX;

struct Close {
  void operator()(rnic_run* run) const { rnic_run_close(run); }
};
using Handle = std::unique_ptr<rnic_run, Close>;

json scenario(const std::string& name) {
  return json::parse(std::ifstream(std::string(RNIC_TRACES "/") + name + ".json"));
}

Handle open(const json& scenario, const json& options = json::object()) {
  rnic_run* run = nullptr;
  EXPECT_EQ(rnic_run_open(RNIC_RUN_ABI, scenario.dump().c_str(), options.dump().c_str(), &run), RNIC_OK)
      << rnic_run_text(run);
  return Handle(run);
}

json value(const Handle& run, const char* name) {
  const char* text = nullptr;
  EXPECT_EQ(rnic_run_json(run.get(), name, &text), RNIC_OK) << rnic_run_text(run.get());
  return text == nullptr ? json() : json::parse(text);
}

// Opening fails, and the handle says why.
void refused(const std::string& scenario, const std::string& options, std::int32_t status, const std::string& words) {
  rnic_run* opened = nullptr;
  EXPECT_EQ(rnic_run_open(RNIC_RUN_ABI, scenario.c_str(), options.c_str(), &opened), status) << options;
  const Handle run(opened);
  EXPECT_THAT(rnic_run_text(run.get()), HasSubstr(words));
  EXPECT_EQ(rnic_run_drive(run.get(), kEnd), RNIC_E_BROKEN);
}

std::string expected_digest(const std::string& scenario) {
  const std::string both = json::parse(std::ifstream(RNIC_TRACES "/../testbench/digests.json")).at(scenario);
  return both.substr(0, both.find(' '));
}

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The first lines that differ; nothing if none does.
std::string difference(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  for (std::string x, y; of_a || of_b;) {
    x.clear(), y.clear();
    std::getline(of_a, x), std::getline(of_b, y);
    if (x != y) return x + "\n" + y;
  }
  return "";
}

class GoldenRun : public testing::Test {
 protected:
  GoldenRun() { fs::remove_all(folder_); }
  ~GoldenRun() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::temp_directory_path() / ("golden_run." + std::to_string(getpid()));
};

TEST_F(GoldenRun, DigestsAsTheProgramHasThemInThreadsAndOneAfterAnother) {
  const std::array<std::string, 3> names = {"atomics", "sctp_quickstart", "atomics"};
  std::array<std::string, 3> digests;
  const auto work = [&](std::size_t i) {
    const Handle run = open(scenario(names[i]));
    EXPECT_EQ(rnic_run_drive(run.get(), kEnd), RNIC_OK);
    digests[i] = value(run, "digest");
  };
  const auto expect = [&] {
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(digests[i], expected_digest(names[i]));
    digests = {};
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < names.size(); ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  expect();
  for (std::size_t i = 0; i < names.size(); ++i) work(i);
  expect();
}

TEST_F(GoldenRun, APauseChangesNoFigure) {
  const Handle whole = open(scenario("atomics")), paused = open(scenario("atomics"));
  ASSERT_EQ(rnic_run_drive(whole.get(), kEnd), RNIC_OK);
  std::uint64_t at = 0, pauses = 0, operations = 0;
  while (rnic_run_drive(paused.get(), at) == RNIC_NONE) {
    EXPECT_GE(value(paused, "sim_time_ps").get<std::uint64_t>(), at);
    EXPECT_LT(value(paused, "sim_time_ps").get<std::uint64_t>(), at + 1'000'000);
    const std::uint64_t now = value(paused, "stats")["b"]["rnic"]["atomic_alu"]["fetch_adds"]["value"];
    EXPECT_GE(now, operations);
    operations = now;
    at += 31'300'001;
    ++pauses;
  }
  EXPECT_GT(pauses, 10u);
  EXPECT_GT(operations, 0u);
  json a = value(whole, "all"), b = value(paused, "all");
  for (const char* measured : {"wall_s", "cpu_s", "frames_per_cpu_s"}) a.erase(measured), b.erase(measured);
  EXPECT_EQ(a, b) << json::diff(a, b);
  EXPECT_EQ(rnic_run_drive(paused.get(), kEnd), RNIC_OK);  // again
}

// The log's lines and the events are made by different code of the same events.
TEST_F(GoldenRun, EventsAreTheLinesOfTheLog) {
  const json options = {{"trace", (folder_ / "log.tsv").string()}, {"events", true}, {"trace-to", "30us"}};
  fs::create_directories(folder_);
  const Handle run = open(scenario("atomics"), options);
  ASSERT_EQ(rnic_run_drive(run.get(), kEnd), RNIC_OK);
  const auto number = [](std::uint32_t n) { return n == RNIC_NO_NUMBER ? "" : std::to_string(n); };
  std::string log = "time_ps\tnode\twhere\tkind\tflow\tqpn\tbytes\trequest\treceive\toffset\twords\n";
  std::uint64_t i = 0, of_kind = 0;
  rnic_event e{};
  e.size = sizeof e;
  for (; rnic_run_event(run.get(), nullptr, i, &e) == RNIC_OK; ++i) {
    for (const std::string& text :
         {std::to_string(e.time_ps), std::string(e.node), std::string(e.where), std::string(e.kind), number(e.flow),
          number(e.qpn), number(e.bytes), std::string(e.request), std::string(e.receive), number(e.offset)}) {
      log += text + '\t';
    }
    log += std::string(e.words) + '\n';
    of_kind += std::string(e.kind) == "tlp_read" ? 1 : 0;
  }
  EXPECT_GT(of_kind, 0u);
  EXPECT_EQ(difference(log, contents(folder_ / "log.tsv")), "");
  EXPECT_EQ(rnic_run_event(run.get(), "tlp_read", of_kind, &e), RNIC_NONE);
  ASSERT_EQ(rnic_run_event(run.get(), "tlp_read", of_kind - 1, &e), RNIC_OK);
  EXPECT_STREQ(e.kind, "tlp_read");
  EXPECT_EQ(rnic_run_event(run.get(), "tlp_red", 0, &e), RNIC_E_NAME);
  EXPECT_THAT(rnic_run_text(run.get()), HasSubstr("the nearest is \"tlp_read\""));
}

TEST_F(GoldenRun, ARunThatFailsSaysWhatTheProgramPrints) {
  json broken = scenario("atomics");
  broken["checks"].push_back({{"check", "min_rate_mops"}, {"value", 1000}});
  const Handle failed = open(broken), stuck = open(scenario("atomics"), {{"set", {{"sim.max_time_us", 20}}}});
  ASSERT_EQ(rnic_run_drive(failed.get(), kEnd), RNIC_OK) << rnic_run_text(failed.get());
  EXPECT_EQ(value(failed, "report")["exit_code"], 1);
  EXPECT_THAT(std::string(value(failed, "report")["out"]), HasSubstr("check min_rate_mops: FAILED"));
  ASSERT_EQ(rnic_run_drive(stuck.get(), kEnd), RNIC_OK);
  EXPECT_EQ(value(stuck, "end"), "time limit");
  EXPECT_EQ(value(stuck, "report")["exit_code"], 3);
  EXPECT_THAT(std::string(value(stuck, "report")["err"]), HasSubstr("waiting programs and stages"));
}

// Boards change no cycle, and what a run may not take is found: here no stage keeps up with a bound of one cycle.
TEST_F(GoldenRun, ScoreboardsJudgeARun) {
  const Handle right = open(scenario("atomics"), {{"scoreboard", "crc_insert,crc_check"}});
  ASSERT_EQ(rnic_run_drive(right.get(), kEnd), RNIC_OK) << rnic_run_text(right.get());
  EXPECT_EQ(value(right, "digest"), expected_digest("atomics"));
  EXPECT_EQ(value(right, "report")["exit_code"], 0) << value(right, "report")["err"];
  const json reports = value(right, "scoreboard");
  ASSERT_EQ(reports.size(), 4u);
  for (const auto& report : reports) EXPECT_GT(report["compared"], 1000) << report;

  const Handle late = open(scenario("atomics"), {{"scoreboard", "crc_check"}, {"max-latency", 1}});
  ASSERT_EQ(rnic_run_drive(late.get(), kEnd), RNIC_OK) << rnic_run_text(late.get());
  EXPECT_EQ(value(late, "end"), "failed");
  EXPECT_EQ(value(late, "report")["exit_code"], 1);
  const std::string said = value(late, "report")["err"];
  EXPECT_THAT(said, HasSubstr("rnicsim: scoreboard: "));
  EXPECT_THAT(said, HasSubstr("rnicsim run SCENARIO --max-latency=1 --scoreboard=crc_check --wave"));
  const Handle none = open(scenario("atomics"));
  ASSERT_EQ(rnic_run_drive(none.get(), kEnd), RNIC_OK);
  const char* text = nullptr;
  EXPECT_EQ(rnic_run_json(none.get(), "scoreboard", &text), RNIC_NONE);
  EXPECT_THAT(rnic_run_text(none.get()), HasSubstr("the option \"scoreboard\" asks for one"));
}

TEST_F(GoldenRun, FilesAreWrittenWhereTheyAreAskedForAndNothingIsPrinted) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    const Handle run = open(scenario("atomics"),
                            {{"out", folder_.string()}, {"no-capture", true}, {"db", true}, {"breakdown", false}});
    ASSERT_EQ(rnic_run_drive(run.get(), kEnd), RNIC_OK);
    rnic_run* second = nullptr;  // as long as the first one has the folder
    EXPECT_EQ(rnic_run_open(RNIC_RUN_ABI, scenario("atomics").dump().c_str(),
                            json{{"out", folder_.string()}}.dump().c_str(), &second),
              RNIC_E_SETTINGS);
    EXPECT_THAT(rnic_run_text(second), HasSubstr("another run writes into this folder"));
    rnic_run_close(second);
    EXPECT_EQ(json::parse(contents(folder_ / "stats.json")), value(run, "all"));
    EXPECT_FALSE(value(run, "all").contains("latency_breakdown"));
  }
  EXPECT_TRUE(fs::exists(folder_ / "run.sqlite"));
  EXPECT_FALSE(fs::exists(folder_ / "wire.pcapng"));
  open(scenario("atomics"), {{"trace", (folder_ / "left.tsv").string()}}).reset();  // and never driven
  EXPECT_FALSE(fs::exists(folder_ / "left.tsv"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(GoldenRun, MistakesHaveASentence) {
  const std::string good = scenario("atomics").dump(), swept = scenario("read-knees").dump();
  refused("{", "{}", RNIC_E_SETTINGS, "scenario: parse error at line 1, column 2");
  refused("[]", "{}", RNIC_E_SETTINGS, "");
  refused("{}", "{}", RNIC_E_SETTINGS, "needs 'name'");
  refused(good, "{", RNIC_E_SETTINGS, "options: parse error");
  refused(good, "[]", RNIC_E_SETTINGS, "the options are an object, not array");
  refused(good, R"({"tracee": "x"})", RNIC_E_NAME, R"(no option "tracee"; the nearest is "trace")");
  refused(good, R"({"scenario": "x"})", RNIC_E_NAME, "no option");
  refused(good, R"({"rtl": "irrq"})", RNIC_E_SETTINGS, "RTL of irrq comes from a file: irrq=./libirrq.so, which");
  refused(good, R"({"rtl": "irrq=./none.so"})", RNIC_E_SETTINGS, "./none.so: there is no such file");
  refused(good, R"({"rtl": "irq"})", RNIC_E_SETTINGS, "the nearest that has is 'irrq'");
  refused(good, R"({"scoreboard": "crc_chek"})", RNIC_E_SETTINGS, "the nearest that has is 'crc_check'");
  refused(good, R"({"max-latency": 7})", RNIC_E_SETTINGS, "--max-latency needs --scoreboard");
  refused(good, R"({"--out": "x"})", RNIC_E_NAME, R"(the nearest is "out")");
  refused(good, R"({"events": 1})", RNIC_E_SETTINGS, "true or false");
  refused(good, R"({"trace": null})", RNIC_E_SETTINGS, "null");
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');  // a copy of it takes the stack
  refused(deep, "{}", RNIC_E_SETTINGS, "scenario: nested more than 64 deep");
  refused(good, R"({"trace-kind": )" + deep + "}", RNIC_E_SETTINGS, "options: nested more than 64 deep");
  refused(good, R"({"trace-kind": [["due"]]})", RNIC_E_SETTINGS, "array where a text");
  refused(good, R"({"set": {"seed": [1]}})", RNIC_E_SETTINGS, "\"seed\" has array where a text");
  refused(good, R"({"set": {"seed": {"a": 1}}})", RNIC_E_SETTINGS, "\"seed\" has object");
  refused(good, R"({"set": ["seed"]})", RNIC_E_SETTINGS, "expected key=value");
  refused(good, "{\"set\": {\"seed\": \"\xff\"}}", RNIC_E_SETTINGS, "");
  refused(good, R"({"no-capture": "x"})", RNIC_E_SETTINGS, "no-capture");
  refused(good, R"({"db": true})", RNIC_E_SETTINGS, "needs --out");
  refused(good, R"({"trace-kind": "due"})", RNIC_E_SETTINGS, "needs --trace");
  refused(good, R"({"events": true, "trace-kind": ["due", "dur"]})", RNIC_E_SETTINGS, "the nearest is due");
  refused(good, R"({"set": {"link.delay_n": 5}})", RNIC_E_SETTINGS, "the nearest is");
  refused(good, R"({"set": {"link.delay_ns": -5}})", RNIC_E_SETTINGS, "link.delay_ns");
  refused(good, R"({"point": 0})", RNIC_E_SETTINGS, "needs a scenario with a sweep");
  refused(swept, "{}", RNIC_E_SETTINGS, "chooses one of 0 to");
  refused(swept, R"({"point": 100000})", RNIC_E_SETTINGS, "the sweep has points 0 to");
  refused(good, R"({"wave": "/tmp/w.fst", "wave-on": "retransmit"})", RNIC_E_SETTINGS, "the program's alone");
  refused(good, R"({"out": "/proc/none"})", RNIC_E_SETTINGS, "/proc/none");

  rnic_run* run = nullptr;
  EXPECT_EQ(rnic_run_open(RNIC_RUN_ABI + 0x10000, good.c_str(), nullptr, &run), RNIC_E_ABI);
  EXPECT_THAT(rnic_run_text(run), HasSubstr("0x00020000"));
  rnic_run_close(run);
  EXPECT_EQ(rnic_run_open(RNIC_RUN_ABI, nullptr, nullptr, &run), RNIC_E_NULL);
  rnic_run_close(run);
  EXPECT_EQ(rnic_run_open(RNIC_RUN_ABI, good.c_str(), nullptr, nullptr), RNIC_E_NULL);
  EXPECT_EQ(rnic_run_drive(nullptr, kEnd), RNIC_E_NULL);
  rnic_run_close(nullptr);
}

TEST_F(GoldenRun, AskingTooEarlyOrWronglyChangesNothing) {
  const Handle run = open(scenario("atomics"), {{"events", true}});
  const char* text = nullptr;
  EXPECT_EQ(rnic_run_json(run.get(), "digest", &text), RNIC_NONE);
  EXPECT_THAT(rnic_run_text(run.get()), HasSubstr("has not ended"));
  EXPECT_EQ(rnic_run_json(run.get(), nullptr, &text), RNIC_E_NULL);
  EXPECT_EQ(rnic_run_json(run.get(), "stats", nullptr), RNIC_E_NULL);
  rnic_event event{};
  EXPECT_EQ(rnic_run_event(run.get(), nullptr, 0, &event), RNIC_E_SIZE);
  event.size = sizeof event;
  EXPECT_EQ(rnic_run_event(run.get(), nullptr, 0, &event), RNIC_NONE);
  EXPECT_EQ(rnic_run_event(run.get(), nullptr, 0, nullptr), RNIC_E_NULL);
  ASSERT_EQ(rnic_run_drive(run.get(), kEnd), RNIC_OK);
  EXPECT_EQ(value(run, "digest"), expected_digest("atomics"));
  EXPECT_EQ(rnic_run_json(run.get(), "resuls", &text), RNIC_E_NAME);
  EXPECT_THAT(rnic_run_text(run.get()), HasSubstr(R"(the nearest is "results")"));
  EXPECT_EQ(rnic_run_json(run.get(), "series", &text), RNIC_NONE);
  EXPECT_THAT(rnic_run_text(run.get()), HasSubstr("stats-every"));
}

}  // namespace
