// The program as users run it: the real executable, its two outputs and its exit code.
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace rnic::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Result {
  std::string text;
  int code;
};

Result shell(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  Result result;
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) result.text += piece.data();
  result.code = WEXITSTATUS(pclose(pipe));
  return result;
}

// Both outputs together, or standard output alone.
Result rnicsim(const std::string& args) { return shell(RNICSIM " " + args + " 2>&1"); }
Result rnicsim_stdout(const std::string& args) { return shell(RNICSIM " " + args + " 2>/dev/null"); }

// A file of its own, as tests may run at the same time.
class Scenario {
 public:
  explicit Scenario(const char* text) { std::ofstream(file) << text; }
  ~Scenario() { std::remove(file.c_str()); }
  const std::string file =
      testing::TempDir() + "rnic_scenario_" + std::to_string(getpid()) + '_' + std::to_string(++files_) + ".json";

 private:
  static inline unsigned files_ = 0;
};

TEST(Program, VersionIsOneLineWithoutBanner) {
  const Result r = rnicsim("--version");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.text.find("Copyright"), std::string::npos);
  EXPECT_THAT(r.text, StartsWith("rnicsim " RNIC_VERSION " (SystemC "));
  EXPECT_EQ(r.text.find('\n'), r.text.size() - 1);
}

TEST(Program, HelpGoesToStandardOutputAndUsageToStandardError) {
  const Result help = rnicsim_stdout("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.text, StartsWith("usage: rnicsim <command> [options]\n\n  analyze   "));
  EXPECT_EQ(rnicsim_stdout("").text, "");
  EXPECT_EQ(rnicsim("").code, 2);
  EXPECT_EQ(rnicsim("").text, help.text);
}

TEST(Program, UnknownCommandIsAUsageError) {
  const Result r = rnicsim("confg --list");
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.text, "rnicsim: unknown command 'confg'; the nearest is 'config'\n");
}

TEST(Program, OutputThatCannotBeWrittenIsAnError) {
  const Result r = shell("{ " RNICSIM " config --list >/dev/full; } 2>&1");
  EXPECT_EQ(r.code, 5);
  EXPECT_EQ(r.text, "rnicsim: standard output cannot be written\n");
}

TEST(ConfigCommand, ListShowsEverySetting) {
  const Result r = rnicsim("config --list");
  EXPECT_EQ(r.code, 0);
  EXPECT_THAT(r.text, StartsWith("key "));
  EXPECT_THAT(r.text, HasSubstr("\nsim.seed "));
}

TEST(ConfigCommand, ListWithAWordShowsTheSettingsThatHaveItInKeyOrMeaning) {
  const auto lines = [](const std::string& args) {
    const Result r = rnicsim("config " + args);
    EXPECT_EQ(r.code, 0) << args;
    std::vector<std::string> all;
    std::istringstream text(r.text);
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  };
  const std::vector<std::string> found = lines("--list CubIC");
  EXPECT_THAT(found.front(), StartsWith("key "));
  EXPECT_THAT(found, Contains(StartsWith("rnic.tcp.congestion ")));
  EXPECT_LT(found.size(), 5u);
  EXPECT_EQ(lines("cubic --list"), found);
  EXPECT_EQ(lines("--list " SCENARIO).size(), lines("--list").size()) << "a file is a scenario";
}

TEST(ConfigCommand, DumpShowsFileBelowCommandLine) {
  const Scenario scenario(R"({"config": {"sim": {"seed": 7, "max_time_us": 50}}, "nodes": 2})");
  const Result r = rnicsim("config --dump --set sim.seed=0x10 --set sim.seed=9 " + scenario.file);
  EXPECT_EQ(r.code, 0);
  const auto dump = nlohmann::json::parse(r.text);
  EXPECT_EQ(dump["sim"]["seed"], 9);
  EXPECT_EQ(dump["sim"]["max_time_us"], 50);
  EXPECT_EQ(dump["sim"]["shuffle_seed"], 0);
}

TEST(ConfigCommand, MistakesEndInExitCodeTwo) {
  const auto message = [](const std::string& args) {
    const Result r = rnicsim("config " + args);
    EXPECT_EQ(r.code, 2) << args;
    return r.text;
  };
  EXPECT_EQ(message(""), "rnicsim: config: give one of --list, --dump, --keys and --memories\n");
  EXPECT_EQ(message("--list --dump"), "rnicsim: config: give one of --list, --dump, --keys and --memories\n");
  EXPECT_EQ(message("--lis"), "rnicsim: unknown option '--lis'; the nearest is '--list'\n");
  EXPECT_EQ(message("--dump a.json b.json"),
            "rnicsim: too many positional options have been specified on the command line\n");
  EXPECT_EQ(message("--dump --set"), "rnicsim: the required argument for option '--set' is missing\n");
  EXPECT_EQ(message("--dump --set sim.sed=3"),
            "rnicsim: sim.sed (command line): unknown setting; the nearest is sim.seed\n");
  EXPECT_EQ(message("--dump --set sim.seed=x"), "rnicsim: sim.seed = x (command line): expected an unsigned integer\n");
  EXPECT_EQ(message("--dump /no/such.json"), "rnicsim: /no/such.json: cannot be read\n");
  const Scenario text(R"({"config": {"sim": {"seed": "7"}}})");
  EXPECT_EQ(message("--dump " + text.file),
            "rnicsim: sim.seed = \"7\" (" + text.file + "): expected an unsigned integer\n");
  EXPECT_EQ(
      message("--list sead"),
      "rnicsim: config: --list sead: no setting has that in its key, its meaning or its words; the nearest is seed\n");
  EXPECT_EQ(message("--list tcp --set sim.sed=3"),
            "rnicsim: sim.sed (command line): unknown setting; the nearest is sim.seed\n");
  EXPECT_EQ(message("--list /no/such"), "rnicsim: /no/such: cannot be read\n");
  EXPECT_EQ(message("--memories"), "rnicsim: config: --memories needs a scenario, whose nodes have them\n");
  const Scenario array("[1]");
  EXPECT_EQ(message("--dump " + array.file), "rnicsim: " + array.file + ": a scenario is an object, not array\n");
}

}  // namespace
}  // namespace rnic::cli
