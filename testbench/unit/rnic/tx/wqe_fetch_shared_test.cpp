// wqe_fetch and rqe_fetch with few entries that their rings share, beside the one that each has.
#include <array>
#include <map>
#include <numeric>

#include "model/common/prng.h"
#include "model/rnic/tx/wqe_fetch.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

constexpr std::uint32_t kEntries = 16;
constexpr std::uint32_t kBytes = abi::kWqeBytes;
constexpr std::uint64_t ring_base(std::uint32_t n) { return std::uint64_t{kEntries} * kBytes * n; }

// From a doorbell, or an entry that is given back, to the read; a ring that waits is called in the next cycle.
constexpr Cycle kThrough = kToEnd + TableConfig{}.read_cycles + kToEnd, kCalled = 1 + kThrough;

// Of `Qps` queue pairs with rings of 16 entries; entry i of QP n has wr_id 100 n + i.
class SharedEntriesTest : public StageTest {
 protected:
  static constexpr std::uint32_t kQps = 8;
  explicit SharedEntriesTest(unsigned shared, unsigned batch = 4) : cfg_{8, batch, 4, shared} {
    for (std::uint32_t n = 0; n < kQps; ++n) {
      write(n, 1);
      for (std::uint32_t i = 0; i < kEntries; ++i) {
        abi::Wqe w;
        w.wr_id = 100 * n + i;
        std::memcpy(&dma.memory[ring_base(n) + i * kBytes], &w, sizeof w);
      }
    }
    contexts.commit();
  }
  void write(std::uint32_t n, std::uint32_t epoch) {
    QpContext c = rts_qp(n, epoch);
    c.sq_base = ring_base(n);
    contexts.write(Qpn{n}, c);
  }
  void post(Cycle at, std::uint32_t n, std::uint32_t producer) { host.send_at(at, {Qpn{n}, producer}); }
  void take(Cycle at, std::uint32_t n, unsigned entries = 1, std::uint32_t epoch = 1) {
    for (; entries != 0; --entries) back.send_at(at, {Qpn{n}, epoch});
  }
  // Entries that have come, of the use of the number.
  unsigned came(std::uint32_t n, std::uint32_t epoch = 1) const {
    return static_cast<unsigned>(std::count_if(
        segmenter.begin(), segmenter.end(), [=](const FetchedWqe& f) { return f.qpn == Qpn{n} && f.epoch == epoch; }));
  }
  // Queue pair and entries of each read, without their order in the ring.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> reads() const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    for (const auto& [address, bytes] : dma.reads()) all.emplace_back(address / ring_base(1), bytes / kBytes);
    return all;
  }

 private:
  const WqeFetchConfig cfg_;

 protected:
  ContextStore contexts{clk, {kQps, kQps, 4, 4}};
  At firmware{"firmware", clk};
  WqeFetch<SqDoorbell> dut{"dut", clk, contexts, cfg_};
  Source<SqDoorbell> host = drive(dut.doorbell);
  Source<WqeTaken> back = drive(dut.taken);
  Sink<FetchedWqe> segmenter = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  FakeDma dma{dut.dma, dut.dma_done};
};

class NoSharedEntries : public SharedEntriesTest {
 protected:
  NoSharedEntries() : SharedEntriesTest(0) {}
};
TEST_F(NoSharedEntries, EachRingHasOne) {
  post(0, 1, 3);
  post(0, 2, 2);
  take(50, 1);
  take(80, 1);
  run_until_idle();
  EXPECT_THAT(reads(), ElementsAre(Pair(1, 1), Pair(2, 1), Pair(1, 1), Pair(1, 1)));
  EXPECT_THAT(dma.cycles(), ElementsAre(kThrough, kThrough + 1, 50 + kThrough, 80 + kThrough));
  EXPECT_THAT(segmenter, SizeIs(4));
}

class TwoSharedEntries : public SharedEntriesTest {
 protected:
  TwoSharedEntries() : SharedEntriesTest(2) {}
};
// The first is of the half that is for all; the second of the part of a ring that has none.
TEST_F(TwoSharedEntries, ThoseThatWaitAreCalledInTurn) {
  for (std::uint32_t n = 1; n < 5; ++n) post(0, n, 8);
  take(60, 1);
  take(90, 2, 2);
  run_until_idle();
  EXPECT_EQ(reads().size(), 4 + 2 + 1 + 2u);
  const auto all = reads();
  EXPECT_THAT(std::vector(all.begin(), all.begin() + 6),
              ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 1), Pair(1, 1), Pair(4, 1), Pair(2, 1)));
  EXPECT_EQ(all[6], std::pair(std::uint64_t{3}, 1u)) << "the one that waits the longest of those without any";
  EXPECT_EQ(dma.cycles()[6], 60 + kCalled);
  EXPECT_EQ(all[7], std::pair(std::uint64_t{4}, 1u)) << "with the shared one of QP 2";
  EXPECT_EQ(dma.cycles()[7], 90 + kCalled);
  EXPECT_EQ(all[8], std::pair(std::uint64_t{2}, 1u)) << "that one is its own again, which needs no call";
  EXPECT_EQ(dma.cycles()[8], 91 + kThrough + 1) << "a turn begins a cycle";
  EXPECT_EQ(dut.counters().waits, 4u + 2);
}

// What a ring has without sharing is there whatever others hold.
TEST_F(TwoSharedEntries, NoRingKeepsAnotherFromItsOwn) {
  post(0, 1, 8);
  post(0, 2, 8);
  post(40, 3, 1);
  run_until_idle();
  EXPECT_EQ(came(3), 1u);
  EXPECT_EQ(dma.cycles().back(), 40 + kThrough);
}

class EightSharedEntries : public SharedEntriesTest {
 protected:
  EightSharedEntries() : SharedEntriesTest(8) {}
};
// Half of them, beside its own.
TEST_F(EightSharedEntries, OneRingAloneHasHalf) {
  post(0, 1, 16);
  run_until_idle();
  EXPECT_EQ(came(1), 5u);
  EXPECT_EQ(dma.cycles()[1], kThrough + 1) << "its turn goes on";
}

// Of the number's earlier use they are taken until the consumer has dropped them: its first entry is behind them.
TEST_F(EightSharedEntries, ThoseOfAnEarlierUseAreThereWithTheFirstOfTheNext) {
  post(0, 1, 16);
  firmware.at(100, [this] { write(1, 2); });
  post(120, 2, 8);
  post(140, 1, 1);
  take(200, 1, 1, 1);
  run_until_idle();
  EXPECT_EQ(came(1), 5u);
  EXPECT_EQ(came(2), 2u) << "its own and the one of its part";
  EXPECT_EQ(came(1, 2), 1u) << "its own";
  const Cycle at = clk.now() + 10;
  take(at, 1, 1, 2);
  run_until_idle();
  EXPECT_EQ(came(2), 5u);
  EXPECT_EQ(dma.cycles()[dma.cycles().size() - 3], at + 1 + kCalled) << "the earlier use of QP 1 is called before";
  post(at + 100, 1, 6);
  take(at + 200, 2, 5);
  run_until_idle();
  EXPECT_EQ(came(1, 2), 1u + 1 + 3);
  EXPECT_EQ(came(2), 5u + 1 + 1) << "nothing is lost: the two have half, beside their own";
}

// It waits, and then there is nobody to call.
TEST_F(EightSharedEntries, ARingThatIsGoneWhenItIsCalledLetsTheNextOneFetch) {
  post(0, 1, 16);
  post(0, 2, 16);
  post(0, 3, 16);
  run_until_idle();
  const unsigned before = came(3);
  const Cycle at = clk.now() + 10;
  firmware.at(at, [this] { contexts.write(Qpn{2}, QpContext{}); });
  take(at + 10, 1, came(1));
  run_until_idle();
  EXPECT_GT(came(3), before);
  EXPECT_EQ(came(2) + came(3) + came(1), segmenter.size());
}

TEST_F(EightSharedEntries, AfterAResetAllAreThere) {
  for (std::uint32_t n = 1; n < kQps; ++n) post(0, n, 16);
  run_until_idle();
  contexts.reset();
  dut.reset();
  for (std::uint32_t n = 0; n < kQps; ++n) write(n, 1);
  contexts.commit();
  const std::size_t before = segmenter.size();
  post(clk.now() + 10, 1, 16);
  run_until_idle();
  EXPECT_EQ(segmenter.size(), before + 5);
}

struct Amount {
  unsigned shared, batch;
  friend std::ostream& operator<<(std::ostream& out, const Amount& a) {
    return out << a.shared << "Shared" << a.batch << "AtOnce";
  }
};
class RandomShares : public SharedEntriesTest, public testing::WithParamInterface<Amount> {
 protected:
  RandomShares() : SharedEntriesTest(GetParam().shared, GetParam().batch) {}
};
// At rest those that want more hold all of them that they may: the half of all, or their parts. Entries of each ring
// come in order and without a gap, and everybody comes to the end.
TEST_P(RandomShares, HoldNoMoreThanThereAreAndComeInOrder) {
  clk.shuffle(GetParam().shared);
  std::array<std::uint32_t, kQps> posted{}, taken{};
  Prng random(GetParam().shared + 7);
  for (unsigned round = 0; round < 200; ++round) {
    for (unsigned i = 0; i < 6; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      const std::uint32_t free = kEntries - (posted[n] - taken[n]);
      posted[n] += static_cast<std::uint32_t>(random.below(free + 1));
      host.send({Qpn{n}, posted[n] & 0xfff});
    }
    run_until_idle();
    unsigned held = 0, beyond = 0, wanting = 0;
    for (std::uint32_t n = 0; n < kQps; ++n) {
      const unsigned here = came(n) - taken[n];
      ASSERT_TRUE(here != 0 || posted[n] == taken[n]) << "QP " << n << " has its own";
      held += here;
      beyond += here > 1 ? here - 1 : 0;
      wanting += here < std::min(8u, posted[n] - taken[n]);
    }
    ASSERT_LE(beyond, GetParam().shared);
    if (wanting != 0) {
      ASSERT_GE(beyond, GetParam().shared / 2);
    }
    ASSERT_EQ(held, segmenter.size() - std::accumulate(taken.begin(), taken.end(), 0u));
    for (unsigned i = 0; i < 4; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      const auto back_now = static_cast<unsigned>(random.below(came(n) - taken[n] + 1));
      taken[n] += back_now;
      for (unsigned k = 0; k < back_now; ++k) back.send({Qpn{n}, 1});
    }
    run_until_idle();
  }
  for (unsigned round = 0; posted != taken; ++round) {
    ASSERT_LT(round, 200u);
    for (std::uint32_t n = 0; n < kQps; ++n) {
      for (; taken[n] != came(n); ++taken[n]) back.send({Qpn{n}, 1});
    }
    run_until_idle();
  }
  std::map<std::uint32_t, std::uint64_t> next;
  for (const FetchedWqe& f : segmenter) ASSERT_EQ(f.wqe.wr_id, 100 * f.qpn.v + next[f.qpn.v]++ % kEntries);
}
INSTANTIATE_TEST_SUITE_P(Few, RandomShares,
                         testing::Values(Amount{0, 4}, Amount{1, 4}, Amount{2, 1}, Amount{3, 8}, Amount{7, 8},
                                         Amount{16, 8}, Amount{40, 4}, Amount{55, 8}, Amount{56, 8}),
                         testing::PrintToStringParamName());

// A shared receive queue shares with the rings of queue pairs.
class SharedReceiveEntries : public StageTest {
 protected:
  SharedReceiveEntries() {
    QpContext c = rts_qp(1);
    c.rq_base = ring_base(1);
    open_qp(contexts, 1, c);
    contexts.write(Srqn{1}, {true, 4, Pdn{1}, ring_base(3), 1});
    contexts.commit();
  }
  ContextStore contexts{clk, {4, 4, 4, 4, 4}};
  WqeFetch<RqDoorbell> dut{"dut", clk, contexts, {8, 4, 4, 1}};
  Source<RqDoorbell> host = drive(dut.doorbell);
  Source<RqeTaken> back = drive(dut.taken, CurrentUse(contexts));
  Sink<FetchedRqe> placement = collect(dut.out);
  Sink<RqDoorbell> posted = collect(dut.posted);
  FakeDma dma{dut.dma, dut.dma_done};
};
TEST_F(SharedReceiveEntries, GoToASharedQueueThatWaits) {
  host.send({{Qpn{1}, 4}, {Srqn{1}, 4}});
  back.send_at(50, {Qpn{1}});
  run_until_idle();
  EXPECT_THAT(dma.reads(), ElementsAre(Pair(ring_base(1), kBytes), Pair(ring_base(3), kBytes),
                                       Pair(ring_base(1) + kBytes, kBytes), Pair(ring_base(3) + kBytes, kBytes)));
  EXPECT_EQ(dma.cycles()[3], 50 + kCalled);
}

}  // namespace
}  // namespace rnic::test
