// The chip as a whole: its stages, links and statistics, and a comparison with the pages' diagrams.
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "model/common/description.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/rnic.h"
#include "model/stats/report.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::IsSupersetOf;

std::string text_of(const char* page) {
  std::ifstream in(std::string(SOURCE_DIR "/") + page);
  EXPECT_TRUE(in) << page;
  return {std::istreambuf_iterator<char>(in), {}};
}

// The words of a text, and the pairs that an arrow joins.
struct Diagram {
  std::set<std::string> words;
  std::set<std::pair<std::string, std::string>> arrows;

  explicit Diagram(const std::string& text) {
    std::istringstream in(text);
    std::string token, before;
    for (bool arrow = false; in >> token; arrow = token == "→") {
      if (token == "→") continue;
      while (!token.empty() && (token.back() == ';' || token.back() == ',')) token.pop_back();
      words.insert(token);
      if (arrow) arrows.insert({before, token});
      before = token;
    }
  }
};

// The text of a page from one passage to another, with each of `parts` replaced by a blank.
std::string between(const std::string& page, const std::string& from, const std::string& to,
                    std::initializer_list<const char*> parts) {
  const std::size_t at = page.find(from);
  std::string text = page.substr(at, page.find(to, at) - at);
  for (const std::string part : parts) {
    for (std::size_t i; (i = text.find(part)) != std::string::npos;) text.replace(i, part.size(), " ");
  }
  return text;
}

// The widest column of the README's diagram: the chip.
std::string rnic_column(const std::string& page) {
  std::istringstream lines(between(page, "RNIC   ", "```", {"─", "►", "◄"}));
  std::string column, line;
  while (std::getline(lines, line)) {
    std::string widest;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 3) {
      to = std::min(line.find("│", from), line.find("┼", from));
      const std::string cell = line.substr(from, to - from);
      if (cell.size() > widest.size()) widest = cell;
    }
    column += widest + ' ';
  }
  return column;
}

class ChipTest : public StageTest {
 protected:
  Rnic chip{"chip", clk, RnicConfig{}, LinkAddress{}};

  // Their names in the chip, including those of the PCIe block.
  std::set<std::string> stages() const {
    std::set<std::string> names;
    for (const Stage* stage : clk.stages()) names.insert(stage->basename());
    return names;
  }
  std::set<std::pair<std::string, std::string>> connections() const {
    std::set<std::pair<std::string, std::string>> pairs;
    for (const LinkBase* link : chip.links())
      pairs.insert({link->producer()->basename(), link->consumer()->basename()});
    return pairs;
  }
};

TEST_F(ChipTest, EveryLinkHasANameTwoEndsAndFields) {
  std::set<std::string> names;
  EXPECT_EQ(chip.links().size(), clk.links().size());
  for (const LinkBase* link : chip.links()) {
    EXPECT_TRUE(names.insert(link->name()).second) << link->name();
    EXPECT_NE(link->producer(), nullptr) << link->name();
    EXPECT_NE(link->consumer(), nullptr) << link->name();
    EXPECT_FALSE(link->kind().signals.empty()) << link->name();
  }
}

// The PCIe endpoint's counters belong to the link: pcie.device_to_host.
TEST_F(ChipTest, EveryStageHasStatistics) {
  StatsRegistry registry;
  chip.describe(Description(StatsGroup(registry).group("rnic")));
  const nlohmann::ordered_json stats = to_json(registry)["rnic"];
  for (const std::string& stage : stages()) EXPECT_NE(stats.contains(stage), stage == "endpoint") << stage;
}

TEST_F(ChipTest, TheReadmeShowsEveryStageAndOnlyLinksThatThereAre) {
  const Diagram diagram(rnic_column(text_of("README.md")));
  EXPECT_THAT(diagram.words, IsSupersetOf(stages()));
  EXPECT_THAT(connections(), IsSupersetOf(diagram.arrows));
  EXPECT_GE(diagram.arrows.size(), 20u);
}

}  // namespace
}  // namespace rnic::test
