// Probes in the waveform, cycle by cycle.
#include "model/trace/probe_wave.h"

#include <cstdio>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "model/common/description.h"
#include "model/common/registered.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

// Is called in the given cycles; counts the calls, and works for three cycles after each.
class Worker final : public Stage {
 public:
  Worker(const char* name, ClockDomain& clk, std::vector<Cycle> calls)
      : Stage(name, clk), calls_(std::move(calls)), committed(clk) {
    for (const Cycle at : calls_) wake(at);
  }
  Wake tick() override {
    ++count_;
    committed.set(count_);
    until_ = now() + 3;
    return Wake::on_traffic();
  }
  void describe(const Description& d) override {
    const ProbeGroup mine = d.probes().group(name());
    mine.number("count", 8, "calls", [this] { return ++reads_, count_; });
    mine.number("committed", 8, "calls", [this] { return committed.get(); });
    Probe works;
    works.name = "works";
    works.in_cycle = true;
    works.read = [this](Cycle at) { return at < until_; };
    works.changes_after = [this](Cycle at) { return until_ > at ? until_ : kNever; };
    works.watched = [this](bool on) { watched_ = on; };
    mine.add(works);
  }
  unsigned reads() const { return reads_; }
  bool watched() const { return watched_; }

 private:
  const std::vector<Cycle> calls_;
  unsigned count_ = 0;
  Registered<unsigned> committed;
  Cycle until_ = 0;
  mutable unsigned reads_ = 0;
  mutable bool watched_ = false;
};

class ProbeWaveTest : public StageTest {
 protected:
  ProbeWaveTest() {
    std::vector<Probe> list;
    worker.describe(Description(ProbeGroup(list, "top")));
    probes = std::make_unique<ProbeWave>(waves, clk, list);
    waves.begin();
  }
  ~ProbeWaveTest() override { std::remove(file.c_str()); }

  void run_to(Cycle cycle) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycle * clk.period_ps()) - sc_core::sc_time_stamp());
  }
  // By variable: the cycles in which it changed, and its new values.
  using Changes = std::map<std::string, std::vector<std::pair<Cycle, unsigned>>>;
  Changes changes(Cycle end) {
    probes->settle();
    waves.close(end * clk.period_ps());
    std::ifstream in(file);
    std::map<std::string, std::string> names;
    Changes found;
    std::uint64_t ps = 0;
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string word, code, name, width;
      words >> word;
      if (word == "$var") {
        words >> word >> width >> code >> name;
        names[code] = name;
      } else if (word[0] == '#') {
        ps = std::stoull(word.substr(1));
        EXPECT_EQ(ps % clk.period_ps(), 0u);
      } else if (word[0] == 'b') {
        words >> code;
        if (word[1] != 'x')
          found[names[code]].emplace_back(ps / clk.period_ps(), std::stoul(word.substr(1), nullptr, 2));
      } else if (word[0] == '0' || word[0] == '1') {
        found[names[word.substr(1)]].emplace_back(ps / clk.period_ps(), word[0] - '0');
      }
    }
    return found;
  }

  const std::string file =
      testing::TempDir() + "rnic_probe_wave_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".vcd";
  Waves waves{open_wave_sink(file), {}};
  Worker worker{"worker", clk, {3, 4, 10}};
  std::unique_ptr<ProbeWave> probes;
};

using testing::ElementsAre;
using testing::Pair;

TEST_F(ProbeWaveTest, RegistersShowAfterTheEdgeAndWorkInItsCycle) {
  probes->join();
  run_to(20);
  Changes c = changes(20);
  EXPECT_THAT(c["count"], ElementsAre(Pair(0, 0), Pair(4, 1), Pair(5, 2), Pair(11, 3)));
  EXPECT_THAT(c["committed"], ElementsAre(Pair(0, 0), Pair(4, 1), Pair(5, 2), Pair(11, 3)));
  // Prolonged in cycle 4; ends in cycles in which no stage is called.
  EXPECT_THAT(c["works"], ElementsAre(Pair(0, 0), Pair(3, 1), Pair(7, 0), Pair(10, 1), Pair(13, 0)));
}

// Neither the order of calls within a cycle nor the commit at its end makes a difference.
TEST_F(ProbeWaveTest, ShowsWhatHoldsWhenACycleIsOver) {
  Worker other{"other", clk, {3}};
  std::vector<Probe> list;
  clk.shuffle(7);
  probes->join();
  run_to(6);
  EXPECT_THAT(changes(6)["committed"], ElementsAre(Pair(0, 0), Pair(4, 1), Pair(5, 2)));
}

TEST_F(ProbeWaveTest, ReadsNothingWhileItDoesNotWatch) {
  run_to(4);
  EXPECT_EQ(worker.reads(), 0u);
  probes->join();
  EXPECT_TRUE(worker.watched());
  run_to(7);
  probes->settle();
  probes->leave();
  EXPECT_FALSE(worker.watched());
  const unsigned reads = worker.reads();
  EXPECT_EQ(reads, 2u);  // at first, and after the call of cycle 4
  run_to(20);
  EXPECT_EQ(worker.reads(), reads);
  EXPECT_THAT(changes(20)["count"], ElementsAre(Pair(4, 1), Pair(5, 2)));
}

TEST_F(ProbeWaveTest, JoinsWithTheValuesOfItsFirstCycle) {
  run_to(6);
  probes->join();
  run_to(20);
  Changes c = changes(20);
  EXPECT_THAT(c["count"], ElementsAre(Pair(6, 2), Pair(11, 3)));
  EXPECT_THAT(c["works"], ElementsAre(Pair(6, 1), Pair(7, 0), Pair(10, 1), Pair(13, 0)));
}

// A value that changes without a call is reported before the waveform advances, though no cycle follows.
TEST_F(ProbeWaveTest, SettlesBetweenTwoCycles) {
  probes->join();
  run_to(9);
  probes->settle();
  waves.advance(9 * clk.period_ps());
  run_to(20);
  EXPECT_THAT(changes(20)["works"], ElementsAre(Pair(0, 0), Pair(3, 1), Pair(7, 0), Pair(10, 1), Pair(13, 0)));
}

}  // namespace
}  // namespace rnic::test
