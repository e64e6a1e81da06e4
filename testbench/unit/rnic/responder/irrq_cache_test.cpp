// irrq with fewer rows of queue pairs on the chip than there are, with their home.
#include <map>
#include <memory>

#include "model/common/prng.h"
#include "model/rnic/responder/irrq.h"
#include "testbench/support/bits.h"
#include "testbench/support/homed_qps.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
constexpr std::uint32_t kQps = HomedQps::kQps;

struct Chip : HomedQps {
  using HomedQps::HomedQps;
  Irrq dut{sc_core::sc_gen_unique_name("dut"), clk, contexts};
  Source<QueuedRequest> peer = drive(dut.in);
  Source<ReadResponseSent> segmenter = drive(dut.sent, CurrentUse(contexts));
  Sink<QueuedRead> responder = collect(dut.out);
  Sink<QueuedAtomic> alu = collect(dut.atomic);
  Sink<QpEvent> events = collect(dut.event);
  std::array<std::uint32_t, kQps> epochs{};

  std::uint32_t epoch(std::uint32_t n) const { return 1 + epochs[n]; }
  void read(std::uint32_t n, std::uint32_t size) {
    peer.send(QueuedRead{Qpn{n}, {1, 2, size, 3, 4}, {}, epoch(n), Pdn{1}});
  }
  void add(std::uint32_t n, std::uint32_t value) {
    peer.send(QueuedAtomic{Qpn{n}, wire::AtomicRequest::fetch_add(value, 0), {}, epoch(n), Pdn{1}});
  }
  void respond(std::uint32_t n) { segmenter.send({Qpn{n}}); }
  // Its row comes from its home, that of another one makes room; nothing changes, as none is answered.
  void touch(std::uint32_t n) { respond(n); }
  void use_again(std::uint32_t n) {
    ++epochs[n];
    write(n, rts_qp(n, epoch(n)));
  }
  // By QP, in order; of an atomic what it adds.
  std::map<std::uint32_t, std::vector<std::uint32_t>> reads() const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> all;
    for (const QueuedRead& r : responder) all[r.qpn.v].push_back(r.request.size);
    return all;
  }
  std::map<std::uint32_t, std::vector<std::uint64_t>> atomics() const {
    std::map<std::uint32_t, std::vector<std::uint64_t>> all;
    for (const QueuedAtomic& a : alu) all[a.qpn.v].push_back(a.request.data);
    return all;
  }
};

class IrrqCache : public StageTest {};

// Whatever comes, requests of each queue pair are passed on as on a chip that has all rows.
TEST_F(IrrqCache, EachQueuePairsRequestsAreAnsweredAsWithAllRowsOnTheChip) {
  std::vector<std::unique_ptr<Chip>> chips;
  for (const QpCacheConfig& cache : kQpCaches) chips.push_back(std::make_unique<Chip>(cache));
  chips.push_back(std::make_unique<Chip>(kTwoQps, HomeKind::kBoard));
  chips[1]->responder.pause(every(4, 1));
  chips[2]->clk.shuffle(3);
  const auto each = [&chips](auto&& what) {
    for (const auto& chip : chips) what(*chip);
  };
  struct Peer {
    unsigned asked = 0, answered = 0;
  };
  std::array<Peer, kQps> peers;
  Prng random(29);
  std::uint32_t number = 0;
  run_until_idle();
  for (unsigned round = 0; round < 120; ++round) {
    for (unsigned i = 0; i < 40; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      Peer& p = peers[n];
      if (random.below(2) == 0 && p.asked - p.answered < 4) {  // IRD
        ++number;
        ++p.asked;
        each([&](Chip& chip) { number % 3 == 0 ? chip.add(n, number) : chip.read(n, number); });
      }
    }
    run_until_idle();
    for (unsigned i = 0; i < 30; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      if (peers[n].asked == peers[n].answered) continue;
      ++peers[n].answered;
      each([&](Chip& chip) { chip.respond(n); });
    }
    run_until_idle();
    const auto n = static_cast<std::uint32_t>(random.below(kQps));
    const std::uint64_t what = random.below(6);
    if (what == 0) {
      each([&](Chip& chip) { chip.use_again(n); });
      peers[n] = {};
    } else if (what == 1) {  // beyond IRD
      for (unsigned i = peers[n].asked - peers[n].answered; i < 5; ++i) each([&](Chip& chip) { chip.read(n, 7); });
      run_until_idle();
      each([&](Chip& chip) { chip.use_again(n); });
      peers[n] = {};
    }
    run_until_idle();
    for (const auto& chip : chips) ASSERT_EQ(chip->responder.size(), chips[0]->responder.size()) << round;
  }
  EXPECT_GT(chips[0]->responder.size(), 1000u);
  EXPECT_GT(chips[0]->events.size(), 5u);
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->reads(), chips[0]->reads());
    EXPECT_EQ(chip->atomics(), chips[0]->atomics());
    EXPECT_EQ(chip->events.size(), chips[0]->events.size());
    EXPECT_EQ(chip->dut.waiting_for(), chips[0]->dut.waiting_for());
    EXPECT_THAT(chip->home_events, IsEmpty());
    if (chip->contexts.irrq_table.cached()) {
      EXPECT_GT(chip->home.counters().write_backs, 500u);
    }
  }
}

// Octet for octet, by hand.
TEST_F(IrrqCache, ARowIsWhereItBelongsWhenItMakesRoom) {
  Chip chip(kOneQp);
  QpContext c = rts_qp(3, 9);
  c.ird = 0x123;
  chip.write(3, c);
  chip.epochs[3] = 8;
  run_until_idle();
  for (unsigned i = 0; i < 3; ++i) chip.read(3, i);
  run_until_idle();
  for (const std::uint32_t n : {20u, 21u, 22u, 23u}) chip.touch(n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.irrq_table.peek(3), nullptr);
  const std::uint8_t* const object = &chip.dma.memory[3 * HomedQps::kRowBytes];
  EXPECT_EQ(bits_of(object + 308, 0, 1), 1u);         // valid
  EXPECT_EQ(bits_of(object + 308, 1, 16), 0x123u);    // ird
  EXPECT_EQ(bits_of(object + 308, 17, 32), 9u);       // epoch
  EXPECT_EQ(load_le32(object + 380), 9u);             // epoch
  EXPECT_EQ(bits_of(object + 380, 32 + 48, 16), 2u);  // those that wait
  EXPECT_EQ(bits_of(object + 380, 32 + 64, 2), 1u);   // busy, and no overrun
  EXPECT_EQ(chip.dut.waiting_for(), "responses of QP 3 to be sent") << "wherever the row is";
}

// An octet of a part of the object is wrong: of this table's, or of another one's.
class LostIrrqRow : public IrrqCache, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(LostIrrqRow, EndsItsQueuePairAndHoldsUpNoOther) {
  Chip chip(kOneQp);
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u}) chip.read(n, 10), chip.read(n, 11);
  run_until_idle();
  for (const std::uint32_t n : {20u, 21u, 22u, 23u}) chip.touch(n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.irrq_table.peek(1), nullptr);
  chip.damage(1, GetParam());
  for (const std::uint32_t n : {1u, 2u}) chip.respond(n);
  run_until_idle();
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_THAT(chip.reads()[1], ElementsAre(10));
  EXPECT_THAT(chip.reads()[2], ElementsAre(10, 11));
  ASSERT_EQ(chip.events.size(), 1u);
  EXPECT_EQ(chip.events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(chip.events[0].qpn, Qpn{1});
  chip.read(1, 12);
  chip.respond(1);
  chip.respond(2);
  run_until_idle();
  EXPECT_THAT(chip.reads()[1], ElementsAre(10));
  EXPECT_THAT(chip.events, SizeIs(1)) << "it is told once";
  EXPECT_EQ(chip.dut.waiting_for(), "");
  // The next user.
  chip.use_again(1);
  run_until_idle();
  for (std::uint32_t i = 0; i < 4; ++i) chip.read(1, 13 + i);
  run_until_idle();
  for (unsigned i = 0; i < 4; ++i) chip.respond(1);
  run_until_idle();
  EXPECT_THAT(chip.reads()[1], ElementsAre(10, 13, 14, 15, 16));
  EXPECT_THAT(chip.events, SizeIs(1));
  EXPECT_EQ(chip.dut.waiting_for(), "");
}
INSTANTIATE_TEST_SUITE_P(Octets, LostIrrqRow, testing::Values(280, 308, 311, 320, 332, 380, 386, 399));

// The number is used again in each cycle around the fetch of its row.
TEST_F(IrrqCache, NothingOfAnEarlierUseCounts) {
  std::vector<std::unique_ptr<Chip>> chips;
  for (unsigned n = 0; n < 60; ++n) chips.push_back(std::make_unique<Chip>(kTwoQps));
  for (const auto& chip : chips) {
    chip->dma.latency = 30;
    chip->read(1, 10);
    chip->read(1, 11);
  }
  run_until_idle();
  for (const auto& chip : chips) {
    for (const std::uint32_t n : {20u, 21u, 22u, 23u, 24u}) chip->touch(n);
  }
  run_until_idle();
  for (std::size_t reused = 0; reused < chips.size(); ++reused) {
    Chip& chip = *chips[reused];
    const Cycle at = chip.clk.now() + 10;
    chip.segmenter.send_at(at, {Qpn{1}, 1});
    chip.firmware.at(at + reused, [&chip] { chip.use_again(1); });
  }
  run_until_idle();
  std::size_t answered = 0;
  for (const auto& chip : chips) {
    answered += chip->responder.size() == 2;
    EXPECT_EQ(chip->dut.waiting_for(), "");
    for (std::uint32_t i = 0; i < 4; ++i) chip->read(1, 20 + i);
  }
  EXPECT_GT(answered, 0u);
  EXPECT_LT(answered, chips.size());
  run_until_idle();
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->reads()[1].back(), 20u);
    EXPECT_THAT(chip->events, IsEmpty());
    for (unsigned i = 0; i < 4; ++i) chip->respond(1);
  }
  run_until_idle();
  for (const auto& chip : chips) EXPECT_EQ(chip->dut.waiting_for(), "");
}

}  // namespace
}  // namespace rnic::test
