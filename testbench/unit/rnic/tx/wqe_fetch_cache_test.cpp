// wqe_fetch and rqe_fetch with fewer rings on the chip than there are, with their home.
#include <map>
#include <memory>

#include "model/common/prng.h"
#include "model/rnic/tx/wqe_fetch.h"
#include "testbench/support/homed_qps.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
constexpr std::uint32_t kQps = HomedQps::kQps, kSrqs = 4, kEntries = 16;
constexpr std::uint64_t kRings = 0x10000, kShared = 0x80000, kRingBytes = kEntries * abi::kWqeBytes;

constexpr std::uint64_t ring_of(Qpn qpn) { return kRings + qpn.v * kRingBytes; }
constexpr std::uint64_t ring_of(Srqn srqn) { return kShared + srqn.v * kRingBytes; }

template <class Doorbell>
struct Chip : HomedQps {
  using Queue = std::conditional_t<std::is_same_v<Doorbell, SqDoorbell>, Qpn, Rqn>;
  using Fetched = std::conditional_t<std::is_same_v<Doorbell, SqDoorbell>, FetchedWqe, FetchedRqe>;
  using Taken = std::conditional_t<std::is_same_v<Doorbell, SqDoorbell>, WqeTaken, RqeTaken>;

  explicit Chip(const QpCacheConfig& cache, HomeKind kind = HomeKind::kHost) : HomedQps(cache, kind) {
    host.memory.resize(kShared + kSrqs * kRingBytes);
    for (std::uint32_t n = 0; n < kQps; ++n) {
      write(n, qp(n, 1));
      fill(ring_of(Qpn{n}), 1000 * n);
    }
    for (std::uint32_t n = 0; n < kSrqs; ++n) {
      write(Srqn{n}, srq(n, 1));
      fill(ring_of(Srqn{n}), 1000 * (kQps + n));
    }
    contexts.commit();
    host.latency = 20;
  }
  static QpContext qp(std::uint32_t n, std::uint32_t epoch) {
    QpContext c = rts_qp(n, epoch);
    c.sq_base = c.rq_base = ring_of(Qpn{n});
    return c;
  }
  static SrqContext srq(std::uint32_t n, std::uint32_t epoch) { return {true, 4, Pdn{1}, ring_of(Srqn{n}), epoch}; }
  void fill(std::uint64_t ring, std::uint64_t first) {
    for (std::uint32_t i = 0; i < kEntries; ++i) {
      abi::Wqe w;
      w.wr_id = first + i;
      std::memcpy(&host.memory[ring + i * abi::kWqeBytes], &w, sizeof w);
    }
  }
  void ring(Queue queue, std::uint32_t more) {
    std::uint32_t& posted = of(queue).posted;
    posted += more;
    doorbells.send({queue, posted & 0xfff});
  }
  // Up to as many entries go back as have come.
  void give_back(Queue queue, std::uint32_t entries) {
    Progress& p = of(queue);
    for (; entries != 0 && p.taken != come(queue); --entries, ++p.taken) back.send({queue});
  }
  std::uint32_t come(Queue queue) const {
    std::uint32_t n = 0;
    for (const Fetched& f : fetched) n += queue_of(f) == queue && f.epoch == contexts_epoch(queue);
    return n;
  }
  std::uint32_t posted_and_not_taken(Queue queue) { return of(queue).posted - of(queue).taken; }
  void use_again(std::uint32_t n) {
    write(n, qp(n, contexts.epoch(Qpn{n}) + 1));
    of(Qpn{n}) = {};
  }
  void use_again(Srqn n) {
    write(n, srq(n.v, contexts.receive_ring(Rqn(n)).epoch + 1));
    of(n) = {};
  }
  std::map<std::uint32_t, std::vector<std::uint64_t>> ids() const {
    std::map<std::uint32_t, std::vector<std::uint64_t>> all;
    for (const Fetched& f : fetched) all[number(queue_of(f))].push_back(f.ok ? f.wqe.wr_id : ~std::uint64_t{0});
    return all;
  }

  WqeFetch<Doorbell> dut{sc_core::sc_gen_unique_name("dut"), clk, contexts, {8, 4, 4}};
  Source<Doorbell> doorbells = drive(dut.doorbell);
  Source<Taken> back = drive(dut.taken, CurrentUse(contexts));
  Sink<Fetched> fetched = collect(dut.out);
  FakeDma host{dut.dma, dut.dma_done};

 private:
  struct Progress {
    std::uint32_t posted = 0, taken = 0;
  };
  static Qpn queue_of(const FetchedWqe& f) { return f.qpn; }
  static Rqn queue_of(const FetchedRqe& f) { return f.rqn; }
  static std::uint32_t number(Qpn qpn) { return qpn.v; }
  static std::uint32_t number(Rqn rqn) { return rqn.shared ? kQps + rqn.v : rqn.v; }
  std::uint32_t contexts_epoch(Qpn qpn) const { return contexts.epoch(qpn); }
  std::uint32_t contexts_epoch(Rqn rqn) const { return contexts.receive_ring(rqn).epoch; }
  Progress& of(Queue queue) { return progress_[number(queue)]; }
  std::array<Progress, kQps + kSrqs> progress_;
};
struct SendChip : Chip<SqDoorbell> {
  using Chip::Chip;
  Sink<QpEvent> events = collect(dut.event);
};
struct ReceiveChip : Chip<RqDoorbell> {
  using Chip::Chip;
  Sink<RqDoorbell> posted = collect(dut.posted);
};

class RingCache : public StageTest {
 protected:
  // The entries of each ring come in order, as on a chip that has all rows.
  template <class C>
  void compare(std::uint32_t queues) {
    std::vector<std::unique_ptr<C>> chips;
    for (const QpCacheConfig& cache : kQpCaches) chips.push_back(std::make_unique<C>(cache));
    chips.push_back(std::make_unique<C>(kTwoQps, HomeKind::kBoard));
    chips[1]->fetched.pause(every(5, 2));
    chips[2]->clk.shuffle(9);
    const auto each = [&chips](auto&& what) {
      for (const auto& chip : chips) what(*chip);
    };
    const auto queue = [](std::uint32_t n) {
      if constexpr (std::is_same_v<C, ReceiveChip>) return n < kQps ? Rqn(Qpn{n}) : Rqn(Srqn{n - kQps});
      else return Qpn{n};
    };
    Prng random(31);
    run_until_idle();
    for (unsigned round = 0; round < 80; ++round) {
      for (unsigned i = 0; i < 30; ++i) {
        const auto n = static_cast<std::uint32_t>(random.below(queues));
        const auto more = static_cast<std::uint32_t>(1 + random.below(6));
        each([&](C& chip) {
          if (chip.posted_and_not_taken(queue(n)) + more <= kEntries) chip.ring(queue(n), more);
        });
      }
      run_until_idle();
      for (unsigned i = 0; i < 20; ++i) {
        const auto n = static_cast<std::uint32_t>(random.below(queues));
        each([&](C& chip) { chip.give_back(queue(n), 8); });
      }
      run_until_idle();
      if (const auto n = static_cast<std::uint32_t>(random.below(queues)); random.below(4) == 0) {
        each([&](C& chip) {
          if constexpr (std::is_same_v<C, ReceiveChip>) {
            if (n >= kQps) return chip.use_again(Srqn{n - kQps});
          }
          chip.use_again(n);
        });
        run_until_idle();
      }
      for (const auto& chip : chips) ASSERT_EQ(chip->fetched.size(), chips[0]->fetched.size()) << round;
    }
    EXPECT_GT(chips[0]->fetched.size(), 2000u);
    for (const auto& chip : chips) {
      EXPECT_EQ(chip->ids(), chips[0]->ids());
      EXPECT_THAT(chip->home_events, IsEmpty());
      if (chip->contexts.sq_table.cached()) {
        EXPECT_GT(chip->home.counters().fetches, 500u);
        EXPECT_EQ(chip->home.counters().write_backs, 0u) << "nobody changes such a row";
      }
    }
  }
};

TEST_F(RingCache, EntriesOfEachSendRingComeInOrder) { compare<SendChip>(kQps); }
TEST_F(RingCache, EntriesOfEachReceiveRingComeInOrder) { compare<ReceiveChip>(kQps + kSrqs); }

// To the cycle: a ring whose row is fetched lets others pass, and a doorbell waits for no row.
TEST_F(RingCache, AMissOfOneRingDoesNotStopAnother) {
  SendChip chip(QpCacheConfig{{8, 1, CachePolicy::kLru, 8, 1}});
  run_until_idle();
  chip.ring(Qpn{2}, 1);
  run_until_idle();
  chip.dma.latency = 500;
  const Cycle at = chip.clk.now() + 10;
  chip.doorbells.send_at(at, {{Qpn{1}, 1}, {Qpn{2}, 2}});
  run_until_idle();
  ASSERT_EQ(chip.host.requests().size(), 3u);
  EXPECT_EQ(chip.host.requests()[1].address, ring_of(Qpn{2}) + abi::kWqeBytes);
  EXPECT_EQ(chip.host.cycles()[1], at + 1 + kToEnd + TableConfig{}.read_cycles + 1 + kToEnd) << "one tag cycle";
  EXPECT_EQ(chip.host.requests()[2].address, ring_of(Qpn{1}));
  EXPECT_GE(chip.host.cycles()[2], at + 500);
}

// Its entries are like those that cannot be read; other rings go on.
class LostRing : public RingCache, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(LostRing, FailsAllItsEntriesUntilItsNumberIsUsedAgain) {
  SendChip chip(kOneQp);
  run_until_idle();
  chip.damage(1, GetParam());
  chip.ring(Qpn{1}, 11);
  chip.ring(Qpn{2}, 2);
  run_until_idle();
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_EQ(chip.ids()[1], std::vector(8, ~std::uint64_t{0})) << "as many as may be on the chip";
  EXPECT_THAT(chip.ids()[2], ElementsAre(2000, 2001));
  EXPECT_THAT(chip.host.requests(), SizeIs(1));
  chip.give_back(Qpn{1}, 8);
  run_until_idle();
  EXPECT_EQ(chip.ids()[1].size(), 11u);
  chip.ring(Qpn{1}, 1);
  run_until_idle();
  EXPECT_EQ(chip.ids()[1].size(), 12u);
  chip.use_again(1);
  run_until_idle();
  chip.ring(Qpn{1}, 1);
  run_until_idle();
  EXPECT_EQ(chip.ids()[1].back(), 1000u);
  EXPECT_THAT(chip.events, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Octets, LostRing, testing::Values(0, 208, 268, 275, 279));

// The number is used again, and rung, in each cycle around the loss of its row: no entry of the next use fails.
TEST_F(RingCache, TheNextUserOfALostRingsNumberGetsItsEntries) {
  std::vector<std::unique_ptr<SendChip>> chips;
  for (unsigned n = 0; n < 60; ++n) chips.push_back(std::make_unique<SendChip>(kOneQp));
  run_until_idle();
  unsigned failed = 0;
  for (std::size_t reused = 0; reused < chips.size(); ++reused) {
    SendChip& chip = *chips[reused];
    chip.damage(1, 270);
    const Cycle at = chip.clk.now() + 10;
    chip.doorbells.send_at(at, {Qpn{1}, 3});
    chip.firmware.at(at + reused, [&chip] { chip.use_again(1); });
    chip.doorbells.send_at(at + reused + 4, {Qpn{1}, 2});
  }
  run_until_idle();
  for (const auto& chip : chips) {
    const std::vector<std::uint64_t> ids = chip->ids()[1];
    ASSERT_GE(ids.size(), 2u);
    EXPECT_THAT(std::vector(ids.end() - 2, ids.end()), ElementsAre(1000, 1001));
    failed += ids.size() == 5;
    EXPECT_LE(ids.size(), 5u);
  }
  EXPECT_GT(failed, 0u);
  EXPECT_LT(failed, chips.size());
}

// To the cycle: the rows of shared rings and of queue pairs' own ones are fetched beside each other.
TEST_F(RingCache, AMissOfASharedRingDoesNotStopAnother) {
  ReceiveChip chip(QpCacheConfig{{2, 2, CachePolicy::kLru, 2, 1}});
  run_until_idle();
  chip.ring(Srqn{2}, 1);
  chip.ring(Qpn{7}, 1);
  run_until_idle();
  chip.dma.latency = 500;
  const Cycle at = chip.clk.now() + 10;
  chip.doorbells.send_at(at, {{Srqn{1}, 1}, {Srqn{2}, 2}, {Qpn{7}, 2}});
  run_until_idle();
  ASSERT_EQ(chip.host.requests().size(), 5u);
  const Cycle first = at + 1 + kToEnd + TableConfig{}.read_cycles + 1 + kToEnd;  // one tag cycle
  EXPECT_EQ(chip.host.requests()[2].address, ring_of(Srqn{2}) + abi::kWqeBytes);
  EXPECT_EQ(chip.host.cycles()[2], first);
  EXPECT_EQ(chip.host.requests()[3].address, ring_of(Qpn{7}) + abi::kWqeBytes);
  EXPECT_EQ(chip.host.cycles()[3], first + 1);
  EXPECT_EQ(chip.host.requests()[4].address, ring_of(Srqn{1}));
  EXPECT_GE(chip.host.cycles()[4], at + 500);
}

class LostSharedRing : public RingCache, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(LostSharedRing, FailsAllItsEntriesUntilItsNumberIsUsedAgain) {
  ReceiveChip chip(kOneQp);
  run_until_idle();
  chip.damage(Srqn{1}, GetParam());
  chip.ring(Srqn{1}, 11);
  chip.ring(Srqn{2}, 2);
  chip.ring(Qpn{1}, 2);
  run_until_idle();
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_EQ(chip.home_events[0].kind, HomeEvent::Kind::kLost);
  EXPECT_EQ(chip.home_events[0].context, abi::ContextKind::kSrq);
  EXPECT_EQ(chip.home_events[0].index, 1u);
  EXPECT_EQ(chip.ids()[kQps + 1], std::vector(8, ~std::uint64_t{0})) << "as many as may be on the chip";
  EXPECT_THAT(chip.ids()[kQps + 2], ElementsAre(1000 * (kQps + 2), 1000 * (kQps + 2) + 1));
  EXPECT_THAT(chip.ids()[1], ElementsAre(1000, 1001));
  chip.give_back(Srqn{1}, 8);
  run_until_idle();
  EXPECT_EQ(chip.ids()[kQps + 1].size(), 11u);
  EXPECT_EQ(chip.home_events.size(), 1u) << "it is not fetched again";
  chip.use_again(Srqn{1});
  run_until_idle();
  chip.ring(Srqn{1}, 1);
  run_until_idle();
  EXPECT_EQ(chip.ids()[kQps + 1].back(), 1000 * (kQps + 1));
}
INSTANTIATE_TEST_SUITE_P(Octets, LostSharedRing, testing::Values(0, 7, 8, 59, 60, 63));

// The same as of a queue pair's ring. Without a wrong bit, the entries are those of the ring of the use that was rung.
class ASharedRingsNumber : public RingCache, public testing::WithParamInterface<bool> {};
TEST_P(ASharedRingsNumber, GivesItsNextUserItsEntries) {
  constexpr std::uint64_t kOther = ring_of(Srqn{3});  // the ring of the next use
  const bool lost = GetParam();
  std::vector<std::unique_ptr<ReceiveChip>> chips;
  for (unsigned n = 0; n < 60; ++n) chips.push_back(std::make_unique<ReceiveChip>(kOneQp));
  run_until_idle();
  unsigned of_first_use = 0;
  for (std::size_t reused = 0; reused < chips.size(); ++reused) {
    ReceiveChip& chip = *chips[reused];
    if (lost) chip.damage(Srqn{1}, 3);
    const Cycle at = chip.clk.now() + 10;
    chip.doorbells.send_at(at, {Srqn{1}, 3});
    chip.firmware.at(at + reused, [&chip] { chip.write(Srqn{1}, {true, 4, Pdn{1}, kOther, 2}); });
    chip.doorbells.send_at(at + reused + 4, {Srqn{1}, 2});
  }
  run_until_idle();
  for (const auto& chip : chips) {
    const std::vector<std::uint64_t> ids = chip->ids()[kQps + 1];
    ASSERT_GE(ids.size(), 2u);
    EXPECT_THAT(std::vector(ids.end() - 2, ids.end()), ElementsAre(1000 * (kQps + 3), 1000 * (kQps + 3) + 1));
    EXPECT_LE(ids.size(), 5u);
    for (std::size_t i = 0; i + 2 < ids.size(); ++i) {
      EXPECT_EQ(ids[i], lost ? ~std::uint64_t{0} : 1000 * (kQps + 1) + i);
    }
    of_first_use += ids.size() > 2;
  }
  EXPECT_GT(of_first_use, 0u);
  EXPECT_LT(of_first_use, chips.size());
}
INSTANTIATE_TEST_SUITE_P(OfOneThatIsLostOrNot, ASharedRingsNumber, testing::Bool());

// A turn holds the row of the last use while no read can leave.
TEST_F(RingCache, ATurnWithALostRowServesTheNextUser) {
  SendChip chip(kOneQp);
  run_until_idle();
  chip.host.latency = 5000;
  for (const std::uint32_t n : {20u, 21u, 22u, 23u}) chip.ring(Qpn{n}, 1);  // all reads
  const Cycle at = chip.clk.now();
  chip.damage(1, 270);
  chip.doorbells.send_at(at + 1000, {Qpn{1}, 1});
  chip.firmware.at(at + 2000, [&chip] {
    EXPECT_THAT(chip.home_events, SizeIs(1));
    chip.use_again(1);
  });
  chip.doorbells.send_at(at + 2500, {Qpn{1}, 1});
  run_until_idle();
  EXPECT_THAT(chip.ids()[1], ElementsAre(1000));
}

}  // namespace
}  // namespace rnic::test
