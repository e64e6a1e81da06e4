// Whole runs of our own kernel, one after another and at the same time in one process: each is as if it were alone.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <systemc>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "model/cli/program.h"

namespace {

namespace fs = std::filesystem;

// Runs the scenario on a kernel of its own; returns its digest, or what went wrong.
std::string digest_of(const std::string& scenario, const fs::path& folder) {
  sc_core::Kernel kernel;
  const sc_core::Kernel::Scope entered(kernel);
  std::ostringstream out, err;
  const int code =
      rnic::cli::run_program({"run", RNIC_TRACES "/" + scenario + ".json", "--out", folder.string()}, out, err);
  if (code != 0) return err.str();
  return nlohmann::json::parse(std::ifstream(folder / "stats.json")).at("digest");
}

std::string expected(const std::string& scenario) {
  const auto all = nlohmann::json::parse(std::ifstream(RNIC_TRACES "/../testbench/digests.json"));
  const std::string both = all.at(scenario);
  return both.substr(0, both.find(' '));
}

TEST(GoldenThreads, RunsOfOneProcessDoNotKnowOfEachOther) {
  const std::array<std::string, 4> scenarios = {"quickstart", "atomics", "sctp_quickstart", "quickstart"};
  const fs::path folder = fs::temp_directory_path() / ("golden_threads." + std::to_string(getpid()));
  const auto run = [&](std::size_t i, std::string& digest) {
    digest = digest_of(scenarios[i], folder / std::to_string(i));
  };
  std::array<std::string, 4> alone, together;
  for (std::size_t i = 0; i < scenarios.size(); ++i) run(i, alone[i]);
  std::array<std::thread, 4> threads;
  for (std::size_t i = 0; i < scenarios.size(); ++i) threads[i] = std::thread([&, i] { run(i, together[i]); });
  for (std::thread& thread : threads) thread.join();
  fs::remove_all(folder);
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    EXPECT_EQ(alone[i], expected(scenarios[i])) << scenarios[i];
    EXPECT_EQ(together[i], expected(scenarios[i])) << scenarios[i];
  }
}

}  // namespace
