// Several producers, one consumer: turns, cycles, nothing lost.
#include "model/rnic/merge.h"

#include <deque>

#include "model/rnic/messages/doorbells.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class MergeTest : public StageTest {
 protected:
  static constexpr unsigned kInputs = 3;
  Merge<EventsTaken> dut{"dut", clk};
  std::deque<Source<EventsTaken>> sources;
  Sink<EventsTaken> sink = collect(dut.out);
  MergeTest() {
    for (unsigned i = 0; i < kInputs; ++i) sources.emplace_back(dut.add());
  }
  std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> all;
    for (const EventsTaken& m : sink) all.push_back(m.consumer);
    return all;
  }
};

TEST_F(MergeTest, InputsTakeTurnsOneACycle) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (unsigned s = 0; s < kInputs; ++s) sources[s].send(EventsTaken{10 * s + i});
  }
  run_until_idle();
  EXPECT_THAT(numbers(), ElementsAre(0, 10, 20, 1, 11, 21, 2, 12, 22));
  for (std::size_t i = 1; i < sink.size(); ++i) EXPECT_EQ(sink.cycles()[i], sink.cycles()[0] + i);
  EXPECT_EQ(sink.cycles()[0], kToEnd + kToEnd);
}

TEST_F(MergeTest, OneAloneHasEveryCycle) {
  for (std::uint32_t i = 0; i < 5; ++i) sources[1].send(EventsTaken{i});
  run_until_idle();
  EXPECT_THAT(numbers(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(sink.cycles()[4], sink.cycles()[0] + 4);
}

TEST_F(MergeTest, AnInputThatFindsNoRoomKeepsItsTurn) {
  sink.pause(window(0, 60));
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (unsigned s = 0; s < kInputs; ++s) sources[s].send(EventsTaken{s});
  }
  run_until_idle();
  ASSERT_EQ(sink.size(), 60u);
  for (std::size_t i = 0; i < sink.size(); ++i) EXPECT_EQ(sink[i].consumer, i % kInputs) << i;
}

TEST_F(MergeTest, AResetStartsWithTheFirst) {
  sources[0].send(EventsTaken{1});
  run_until_idle();
  clk.reset(dut);
  for (unsigned s = 0; s < kInputs; ++s) sources[s].send_at(100, EventsTaken{s});
  run_until_idle();
  EXPECT_THAT(numbers(), ElementsAre(1, 0, 1, 2));
}

}  // namespace
}  // namespace rnic::test
