// Runs the corpora in the tree, with every input that was ever a finding, through their targets: bugs that fuzzing
// found stay fixed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "testbench/fuzz/target.h"

namespace rnic::fuzz {
namespace {

std::string name_of(const testing::TestParamInfo<Target>& target) { return target.param.name; }

class Corpus : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::ValuesIn(targets()), name_of);

TEST_P(Corpus, IsSurvived) {
  const std::filesystem::path folder = std::filesystem::path(RNIC_CORPUS) / GetParam().name;
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty());
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<std::uint8_t> octets(std::istreambuf_iterator<char>(in), {});
    EXPECT_NO_THROW(GetParam().run(octets)) << file;
  }
}

}  // namespace
}  // namespace rnic::fuzz
