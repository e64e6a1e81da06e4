// Who gets room in a transmit memory, and when: against a sum of all that was taken and not given back.
#include "model/rnic/llp/transmit_memory.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using llp::TransmitMemory;
using testing::ElementsAre;
using testing::IsEmpty;
using Amount = std::pair<std::uint32_t, std::uint32_t>;  // octets, records

constexpr FlowId kFirst{100};
constexpr std::uint32_t kFlows = 8;

constexpr FlowId flow(std::uint32_t n) { return FlowId{kFirst.v + n}; }

// A queue pair for each flow, with the number of the flow from kFirst on. Takes for those that are called, if it is to.
class Segmenters final : public Stage {
 public:
  Segmenters(sc_core::sc_module_name nm, ClockDomain& clk, TransmitMemory& memory) : Stage(nm, clk), memory_(memory) {
    memory.serve(*this);
  }
  bool takes = true;
  std::vector<std::pair<Cycle, std::uint32_t>> called;
  std::map<std::uint32_t, std::uint32_t> wants;  // octets, by flow

  // A segment of that flow: it is taken, or waits.
  bool send(std::uint32_t n, std::uint32_t octets) {
    if (memory_.admits(flow(n), octets)) {
      memory_.take(flow(n), octets);
      return true;
    }
    wants[n] = octets;
    memory_.wait(flow(n), Qpn{n}, octets);
    return false;
  }
  Wake tick() override {
    if (memory_.may_call()) {
      if (const auto c = memory_.call()) {
        EXPECT_EQ(c->id, flow(c->qpn.v));
        called.emplace_back(now(), c->qpn.v);
        EXPECT_TRUE(memory_.admits(c->id, wants[c->qpn.v]));
        if (takes) memory_.take(c->id, wants[c->qpn.v]);
        else memory_.cancel(c->id);
      }
    }
    return memory_.may_call() ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  TransmitMemory& memory_;
};

class TransmitMemoryTest : public StageTest {
 protected:
  // Four segments of 100 octets.
  explicit TransmitMemoryTest(TransmitMemoryConfig config = {400, 100}) : memory(clk, config, kFirst, kFlows) {}
  void at(Cycle cycle, std::function<void()> what) { script.at(cycle, std::move(what)); }
  void open(std::uint32_t flows) {
    at(1, [this, flows] {
      for (std::uint32_t n = 0; n < flows; ++n) memory.open(flow(n));
    });
  }
  Amount held(std::uint32_t n) const { return {memory.held(flow(n)).octets, memory.held(flow(n)).records}; }
  Amount used() const { return {memory.used().octets, memory.used().records}; }

  At script{"script", clk};  // called before the segmenters
  TransmitMemory memory;
  Segmenters tx{"tx", clk, memory};
};

TEST_F(TransmitMemoryTest, RoomThatIsGivenBackIsThereInTheNextCycle) {
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 100) && tx.send(1, 100) && tx.send(2, 100) && tx.send(3, 100));
    EXPECT_FALSE(tx.send(4, 4));
  });
  at(20, [&] {
    memory.give_back(flow(1), 100, 1);
    EXPECT_EQ(used(), Amount(400, 4));
  });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 4u)));
  EXPECT_EQ(used(), Amount(304, 4));
  EXPECT_EQ(held(1), Amount(0, 0));
  EXPECT_EQ(memory.counters().waits, 1u);
  EXPECT_EQ(memory.counters().wait_cycles, 11u);
  EXPECT_EQ(memory.counters().octets_max, 400u);
  EXPECT_EQ(memory.counters().records_max, 4u);
}

TEST_F(TransmitMemoryTest, OneCallACycleInTheOrderOfWaiting) {
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 200) && tx.send(1, 200));
    for (const unsigned n : {5, 3, 7}) EXPECT_FALSE(tx.send(n, 50));
    EXPECT_FALSE(tx.send(5, 60));  // it is asked again, and keeps its place
  });
  at(20, [&] { memory.give_back(flow(0), 200, 1); });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 5u), std::pair(Cycle{22}, 3u), std::pair(Cycle{23}, 7u)));
  EXPECT_EQ(held(5), Amount(60, 1));
  EXPECT_EQ(memory.counters().waits, 3u);
}

TEST_F(TransmitMemoryTest, NobodyPassesThoseThatWait) {
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 100) && tx.send(1, 100) && tx.send(2, 180));
    EXPECT_FALSE(tx.send(3, 100));
    EXPECT_FALSE(tx.send(4, 4)) << "there would be room for this one";
  });
  at(20, [&] { memory.give_back(flow(0), 100, 1); });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 3u), std::pair(Cycle{22}, 4u)));
}

TEST_F(TransmitMemoryTest, HalfIsForAllAndOfTheOtherHalfEachFlowHasItsPart) {
  open(3);
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 100) && tx.send(0, 100));
    EXPECT_FALSE(tx.send(0, 4)) << "more than half";
    EXPECT_TRUE(tx.send(1, 20) && tx.send(1, 30)) << "one of four parts of the other half";
    EXPECT_FALSE(tx.send(1, 4));
    EXPECT_TRUE(tx.send(2, 60)) << "what holds nothing needs only room";
  });
  run_until_idle();
  EXPECT_EQ(used(), Amount(310, 5));
  EXPECT_THAT(tx.called, IsEmpty());
}

// Whatever the others hold, and in whatever order they came.
TEST_F(TransmitMemoryTest, NoFlowWaitsForItsPart) {
  open(kFlows - 1);
  Prng prng(3);
  for (Cycle cycle = 10; cycle < 500; ++cycle) {
    at(cycle, [&] {
      const auto n = static_cast<std::uint32_t>(prng.below(kFlows - 1));
      if (memory.admits(flow(n), 8)) memory.take(flow(n), 8);
    });
  }
  at(600, [&] {
    EXPECT_LE(used().first, 400u - 25);
    for (std::uint32_t n = 0; n < kFlows; ++n) EXPECT_GE(held(n).first, n == kFlows - 1 ? 0u : 24u) << n;
    EXPECT_TRUE(tx.send(kFlows - 1, 8)) << "the next flow that is opened";
  });
  run_until_idle();
}

TEST_F(TransmitMemoryTest, PartsGrowWhenAFlowIsClosed) {
  open(3);
  at(10, [&] { EXPECT_TRUE(tx.send(0, 200) && tx.send(1, 50)); });
  at(11, [&] { EXPECT_FALSE(memory.admits(flow(1), 16)); });
  at(12, [&] {
    memory.close(flow(2));
    EXPECT_FALSE(memory.admits(flow(1), 16));
  });
  at(13, [&] { EXPECT_TRUE(memory.admits(flow(1), 16) && !memory.admits(flow(1), 20)) << "a third of 200"; });
  run_until_idle();
}

TEST_F(TransmitMemoryTest, BeyondItsPartAFlowWaitsForHalfOfTheMemory) {
  open(1);
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 150) && tx.send(1, 100));
    EXPECT_FALSE(tx.send(0, 50)) << "beyond its part";
    EXPECT_TRUE(tx.send(2, 50)) << "others pass it";
  });
  at(20, [&] { memory.give_back(flow(1), 50, 0); });  // 250 taken
  at(30, [&] { memory.give_back(flow(2), 50, 1); });  // 200: with 50 more it would be more than half
  at(40, [&] { memory.give_back(flow(1), 50, 1); });  // 150
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{41}, 0u)));
}

TEST_F(TransmitMemoryTest, WithNothingLeftAFlowWaitsForRoomAlone) {
  open(1);
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 200) && tx.send(1, 100));
    EXPECT_FALSE(tx.send(0, 100));
    EXPECT_FALSE(tx.send(1, 100));
    EXPECT_TRUE(tx.send(2, 100));
    EXPECT_FALSE(tx.send(3, 100)) << "the memory is full";
  });
  at(20, [&] { memory.give_back(flow(1), 100, 1); });
  at(30, [&] { memory.give_back(flow(2), 100, 1); });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 3u), std::pair(Cycle{31}, 1u)));
  EXPECT_EQ(held(0), Amount(200, 1));
}

TEST_F(TransmitMemoryTest, OneThatIsCalledAndSendsNothingLetsTheNextOnesSend) {
  tx.takes = false;
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 200) && tx.send(1, 200));
    EXPECT_FALSE(tx.send(2, 200));
    EXPECT_FALSE(tx.send(3, 200));
  });
  at(20, [&] { memory.give_back(flow(1), 200, 1); });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 2u), std::pair(Cycle{22}, 3u)));
  EXPECT_EQ(used(), Amount(200, 1));
  EXPECT_EQ(held(2), Amount(0, 0));
}

TEST_F(TransmitMemoryTest, OneThatIsCalledHasItsRoomAndMoreOnlyIfThereIsSome) {
  tx.takes = false;
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 200) && tx.send(1, 150));
    EXPECT_FALSE(tx.send(2, 100));
  });
  at(20, [&] { memory.give_back(flow(1), 50, 0); });
  at(21, [&] {
    const auto called = memory.call();
    ASSERT_TRUE(called && called->id == flow(2));
    EXPECT_EQ(used(), Amount(400, 3));
    EXPECT_FALSE(memory.admits(flow(3), 4)) << "all is taken or promised";
    EXPECT_TRUE(memory.admits(flow(2), 100) && memory.admits(flow(2), 40));
    EXPECT_FALSE(memory.admits(flow(2), 104));
    memory.take(flow(2), 40);
    EXPECT_EQ(used(), Amount(340, 3));
    EXPECT_TRUE(memory.admits(flow(3), 60));
  });
  run_until_idle();
  EXPECT_EQ(held(2), Amount(40, 1));
}

TEST_F(TransmitMemoryTest, WhatDoesNotWaitCountsAndMayExceedTheCapacity) {
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 200) && tx.send(1, 200));
    memory.keep(flow(2), 36, 1);
  });
  at(11, [&] {
    EXPECT_EQ(used(), Amount(436, 3));
    EXPECT_FALSE(tx.send(3, 4));
  });
  at(20, [&] { memory.give_back(flow(2), 36, 1); });
  at(30, [&] { memory.give_back(flow(0), 200, 1); });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{31}, 3u)));
  EXPECT_EQ(memory.counters().octets_max, 436u);
}

TEST_F(TransmitMemoryTest, AResetForgetsThoseThatWaitAndWhatIsHeld) {
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 400));
    EXPECT_FALSE(tx.send(1, 100));
    memory.give_back(flow(0), 400, 1);
    memory.reset();
  });
  at(20, [&] {
    EXPECT_EQ(used(), Amount(0, 0));
    EXPECT_TRUE(tx.send(1, 400));
    EXPECT_FALSE(tx.send(0, 4));
    memory.give_back(flow(1), 400, 1);
  });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 0u)));
}

class OneRecord : public TransmitMemoryTest {
 protected:
  OneRecord() : TransmitMemoryTest({1 << 20, 1}) {}
};

TEST_F(OneRecord, IsTakenInTurn) {
  at(10, [&] {
    EXPECT_TRUE(tx.send(0, 20));
    EXPECT_FALSE(tx.send(0, 20));
    EXPECT_FALSE(tx.send(1, 20));
  });
  at(20, [&] { memory.give_back(flow(0), 20, 1); });
  at(30, [&] { memory.give_back(flow(1), 20, 1); });
  run_until_idle();
  EXPECT_THAT(tx.called, ElementsAre(std::pair(Cycle{21}, 1u), std::pair(Cycle{31}, 0u)));
}

TEST_F(TransmitMemoryTest, MoreThanWasTakenIsABug) {
  at(10, [&] {
    tx.send(0, 100);
    memory.give_back(flow(0), 104, 1);
  });
  EXPECT_THROW(run_until_idle(), std::exception);
}

// ---- At random

// All that was taken and not given back, in plain lists.
struct Reference {
  std::map<std::uint32_t, std::vector<std::uint32_t>> kept;  // octets of segments, by flow
  Amount of(std::uint32_t n) const {
    Amount sum{};
    const auto found = kept.find(n);
    if (found == kept.end()) return sum;
    for (const std::uint32_t octets : found->second) sum.first += octets, ++sum.second;
    return sum;
  }
  Amount all() const {
    Amount sum{};
    for (const auto& [n, segments] : kept) sum.first += of(n).first, sum.second += of(n).second;
    return sum;
  }
};

struct Random {
  TransmitMemoryConfig config;
  std::set<std::uint32_t> dead;  // flows whose peers never answer
  std::uint64_t seed;
};

class RandomUse final : public Stage {
 public:
  RandomUse(sc_core::sc_module_name nm, ClockDomain& clk, TransmitMemory& memory, const Random& r)
      : Stage(nm, clk), memory_(memory), random_(r), prng_(r.seed) {
    memory.serve(*this);
    for (std::uint32_t n = 0; n < kFlows; ++n) draw(n), memory.open(flow(n));
    wake(1);
  }
  std::vector<unsigned> sent = std::vector<unsigned>(kFlows);
  std::string history;
  static constexpr unsigned kSegments = 400;  // of a flow

  Wake tick() override {
    check();
    if (memory_.may_call()) {
      if (const auto c = memory_.call()) use(c->qpn.v);
    }
    const auto n = static_cast<std::uint32_t>(prng_.below(kFlows));
    if (waits_.count(n) == 0 && left(n)) {
      if (memory_.admits(flow(n), next_[n])) {
        EXPECT_LE(reference_.all().first + next_[n], random_.config.octets);
        take(n);
      } else {
        waits_.insert(n);
        memory_.wait(flow(n), Qpn{n}, next_[n]);
      }
    }
    for (unsigned tries = prng_.below(2); tries != 0; --tries) acknowledge();
    bool more = false;
    for (std::uint32_t i = 0; i < kFlows; ++i) more |= random_.dead.count(i) == 0 && (left(i) || sent_now(i));
    return more ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  bool left(std::uint32_t n) const { return sent[n] != kSegments; }
  bool sent_now(std::uint32_t n) const { return reference_.of(n).second != 0; }
  void draw(std::uint32_t n) { next_[n] = static_cast<std::uint32_t>(prng_.between(1, 25)) * 4; }
  void take(std::uint32_t n) {
    memory_.take(flow(n), next_[n]);
    reference_.kept[n].push_back(next_[n]);
    history += static_cast<char>('0' + n);
    ++sent[n];
    draw(n);
  }
  // One that was called may have changed its mind.
  void use(std::uint32_t n) {
    ASSERT_EQ(waits_.erase(n), 1u);
    if (prng_.below(8) == 0) return memory_.cancel(flow(n));
    if (prng_.below(8) == 0) draw(n);
    if (memory_.admits(flow(n), next_[n])) return take(n);
    waits_.insert(n);
    memory_.wait(flow(n), Qpn{n}, next_[n]);
  }
  void acknowledge() {
    const auto n = static_cast<std::uint32_t>(prng_.below(kFlows));
    std::vector<std::uint32_t>& kept = reference_.kept[n];
    if (kept.empty() || random_.dead.count(n) != 0) return;
    memory_.give_back(flow(n), kept.front(), 1);
    kept.erase(kept.begin());
  }
  void check() {
    ASSERT_EQ(Amount(memory_.used().octets, memory_.used().records), reference_.all()) << now();
    ASSERT_LE(memory_.used().octets, random_.config.octets);
    ASSERT_LE(memory_.used().records, random_.config.segments);
    for (std::uint32_t n = 0; n < kFlows; ++n) {
      ASSERT_EQ(Amount(memory_.held(flow(n)).octets, memory_.held(flow(n)).records), reference_.of(n));
    }
  }
  TransmitMemory& memory_;
  const Random random_;
  Prng prng_;
  Reference reference_;
  std::set<std::uint32_t> waits_;
  std::map<std::uint32_t, std::uint32_t> next_;
};

class RandomMemory : public StageTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(RandomMemory, HoldsWhatIsTakenAndEverybodyComesToTheEnd) {
  const Random cases[] = {{{100, 100}, {}, GetParam()},      {{200, 2}, {}, GetParam()},
                          {{300, 3}, {}, GetParam()},        {{300, 100}, {3}, GetParam()},
                          {{2000, 100}, {0, 5}, GetParam()}, {{100'000, 7}, {1, 2, 6}, GetParam()}};
  struct Run {
    explicit Run(const Random& r) : memory(clk, r.config, kFirst, kFlows), use(name("use"), clk, memory, r) {}
    static const char* name(const char* of) { return sc_core::sc_gen_unique_name(of); }
    ClockDomain clk{name("clock"), {}};
    TransmitMemory memory;
    RandomUse use;
  };
  std::vector<std::unique_ptr<Run>> runs;
  for (const Random& r : cases) runs.push_back(std::make_unique<Run>(r));
  run_until_idle();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::uint32_t n = 0; n < kFlows; ++n) {
      if (cases[i].dead.count(n) != 0) continue;
      EXPECT_EQ(runs[i]->use.sent[n], RandomUse::kSegments) << i << ": flow " << n;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomMemory, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace rnic::test
