// The second process that repeats a run for its waveform.
#include "model/cli/wave_repeat.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "model/cli/one_run.h"
#include "model/common/check.h"
#include "model/system/scenario_system.h"

namespace rnic::cli {
namespace {

using ::testing::HasSubstr;

std::string temp_file(const std::string& name) {
  return ::testing::TempDir() + "rnic_wave_repeat_" + std::to_string(getpid()) + '_' + name;
}

TEST(WaveRepeat, WorksInAnotherProcessWhenItIsAsked) {
  const std::string file = temp_file("window");
  WaveRepeat repeat([&](const WaveRepeat::Moment& m) {
    std::ofstream(file) << m.from_ps << ' ' << m.to_ps << ' ' << m.marked_ps << ' ' << getpid();
    return std::string();
  });
  EXPECT_FALSE(repeat.begun());
  repeat.begin({3, 1'000'000'000'000, 700});
  EXPECT_TRUE(repeat.begun());
  EXPECT_EQ(repeat.finish({}), "");
  std::uint64_t from = 0, to = 0, marked = 0;
  pid_t process = 0;
  std::ifstream(file) >> from >> to >> marked >> process;
  std::remove(file.c_str());
  EXPECT_EQ(from, 3u);
  EXPECT_EQ(to, 1'000'000'000'000u);
  EXPECT_EQ(marked, 700u);
  EXPECT_NE(process, getpid());
}

TEST(WaveRepeat, SaysWhyThereIsNothing) {
  WaveRepeat says([](const WaveRepeat::Moment&) { return std::string("no room"); });
  says.begin({0, 1, 0});
  EXPECT_EQ(says.finish({}), "no room");
  WaveRepeat throws([](const WaveRepeat::Moment&) -> std::string { throw ConfigError("no such file"); });
  throws.begin({0, 1, 0});
  EXPECT_EQ(throws.finish({}), "no such file");
  WaveRepeat dies([](const WaveRepeat::Moment&) -> std::string {
    raise(SIGKILL);
    return {};
  });
  dies.begin({0, 1, 0});
  EXPECT_EQ(dies.finish({}), "the process that was to write it was ended by signal 9");
}

TEST(WaveRepeat, IsEndedWhereTheRunIsStopped) {
  WaveRepeat repeat([](const WaveRepeat::Moment&) -> std::string {
    for (;;) pause();
  });
  repeat.begin({0, 1, 0});
  int looks = 0;
  EXPECT_EQ(repeat.finish([&] { return ++looks == 3; }), "stopped before it was written");
}

// A stage with a mistake: its check fails in a given cycle.
class Mistaken final : public Stage {
 public:
  Mistaken(ClockDomain& clk, Cycle at) : Stage("mistaken", clk) { wake(at); }
  Wake tick() override {
    RNIC_CHECK_MSG(false, "a mistake");
    return Wake::on_traffic();
  }
};

TEST(WaveRing, ABugLeavesWhatWasBefore) {
  const std::string file = temp_file("bug.vcd");
  const auto system = make_system(read_scenario(SCENARIO), {});
  ClockDomain& clk = system->stations()[0].node->core_clk;
  constexpr Cycle kAt = 20'000;
  Mistaken mistaken(clk, kAt);
  OneRun one;
  one.shows_progress = false;
  one.options.out_dir.clear();
  one.options.wave_file = file;
  one.options.wave_window.scopes = {"rnic_a.tx"};
  one.options.wave_condition.ring_ps = 10'000'000;
  std::ostringstream err;
  EXPECT_ANY_THROW(run_system(
      *system, one, [](const RunResult&) { return 0; }, err));
  EXPECT_THAT(err.str(), HasSubstr(": an internal error\n"));
  std::ifstream in(file);
  std::uint64_t first = 0, last = 0;
  for (std::string line; std::getline(in, line);) {
    if (line[0] != '#') continue;
    last = std::stoull(line.substr(1));
    if (first == 0) first = last;
  }
  // The other chip may be some cycles ahead.
  EXPECT_GE(last, kAt * clk.period_ps() - 2'000'000);
  EXPECT_LE(last, kAt * clk.period_ps() + 2'000'000);
  EXPECT_GE(last - first, 7'000'000u);
  EXPECT_LE(last - first, 10'000'000u);
  for (const char* extension : {".vcd", ".gtkw", ".sucl"}) {
    EXPECT_TRUE(std::filesystem::remove(std::filesystem::path(file).replace_extension(extension)));
  }
}

}  // namespace
}  // namespace rnic::cli
