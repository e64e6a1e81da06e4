// sq_completion and response_queue with fewer rows of queue pairs on the chip than there are, with their home.
#include <map>
#include <memory>

#include "model/common/bytes.h"
#include "model/common/prng.h"
#include "model/rnic/completion/response_queue.h"
#include "model/rnic/completion/sq_completion.h"
#include "testbench/support/bits.h"
#include "testbench/support/homed_qps.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using Marker = WqeIssued::Marker;
constexpr std::uint32_t kQps = HomedQps::kQps;

struct Sq : HomedQps {
  using HomedQps::HomedQps;
  SqCompletion dut{sc_core::sc_gen_unique_name("dut"), clk, contexts};
  Source<WqeIssued> segmenter = drive(dut.issued);
  Source<WqesAcked> tcp = drive(dut.acked[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<ReadDone> dispatch = drive(dut.read_done);
  Source<AtomicDone> atomics = drive(dut.atomic_done);
  Source<WqeLost> lost = drive(dut.lost);
  Source<SinkEnded> stag_work = drive(dut.sink_ended);
  Sink<SinkEnd> sinks = collect(dut.sink);
  Sink<TxUnblock> unblocks = collect(dut.unblock);
  Sink<CqeRequest> cqes = collect(dut.cqe);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others = stub(dut.acked[LlpId::kSctp]);
  std::array<std::uint32_t, kQps> epochs = filled(1);
  std::size_t ended = 0;

  static std::array<std::uint32_t, kQps> filled(std::uint32_t value) {
    std::array<std::uint32_t, kQps> all{};
    all.fill(value);
    return all;
  }
  void issue(std::uint32_t n, std::uint64_t wr_id, WrOpcode op = WrOpcode::kSend, Marker marker = Marker::kNone) {
    WqeIssued w;
    w.qpn = Qpn{n};
    w.wr_id = wr_id;
    w.opcode = op;
    w.marker = marker;
    w.epoch = epochs[n];
    if (op == WrOpcode::kRdmaReadWithInv) w.ends = Stag{stag_of(3)};
    segmenter.send(w);
  }
  void mark(std::uint32_t n, Marker marker) { issue(n, 0, WrOpcode::kSend, marker); }
  void respond(std::uint32_t n, WrOpcode op) {
    if (abi::is_read(op)) dispatch.send({Qpn{n}, false, epochs[n]});
    else if (abi::is_atomic(op)) atomics.send({Qpn{n}, true, epochs[n]});
    else tcp.send({FlowId{n}, 1});
  }
  // Its row comes from its home, that of another one makes room; nothing changes.
  void touch(std::uint32_t n) { tcp.send({FlowId{n}, 0}); }
  void use_again(std::uint32_t n) { write(n, rts_qp(n, ++epochs[n])); }
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, WcStatus>>> completed() const {
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, WcStatus>>> all;
    for (const CqeRequest& c : cqes) all[c.cqe.qpn].emplace_back(c.cqe.wr_id, c.cqe.status);
    return all;
  }
  std::map<std::uint32_t, std::vector<QpEvent::Kind>> told() const {
    std::map<std::uint32_t, std::vector<QpEvent::Kind>> all;
    for (const QpEvent& e : events) all[e.qpn.v].push_back(e.kind);
    return all;
  }
};

class CompletionCache : public StageTest {};

// Whatever comes, each queue pair completes what it does on a chip that has all rows.
class CompletionCacheKinds : public CompletionCache, public testing::WithParamInterface<HomeKind> {};
TEST_P(CompletionCacheKinds, EachQueuePairCompletesWhatItDoesWithAllRowsOnTheChip) {
  constexpr WrOpcode kKinds[] = {WrOpcode::kSend,     WrOpcode::kRdmaWrite,       WrOpcode::kRdmaRead,
                                 WrOpcode::kFetchAdd, WrOpcode::kRdmaReadWithInv, WrOpcode::kLocalInv};
  std::vector<std::unique_ptr<Sq>> chips;
  for (const QpCacheConfig& cache : kQpCaches) chips.push_back(std::make_unique<Sq>(cache, GetParam()));
  chips[1]->cqes.pause(every(3, 1));
  chips[2]->clk.shuffle(7);
  const auto each = [&chips](auto&& what) {
    for (const auto& chip : chips) what(*chip);
  };
  std::array<std::vector<WrOpcode>, kQps> outstanding;
  Prng random(17);
  std::uint64_t ids = 0;
  run_until_idle();
  for (unsigned round = 0; round < 60; ++round) {
    for (unsigned i = 0; i < 60; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      const WrOpcode op = kKinds[random.below(6)];
      each([&](Sq& chip) { chip.issue(n, ids, op); });
      ++ids;
      if (op != WrOpcode::kLocalInv) outstanding[n].push_back(op);
      if (random.below(16) == 0) each([&](Sq& chip) { chip.mark(n, Marker::kDrain); });
    }
    run_until_idle();
    for (unsigned i = 0; i < 50; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      std::vector<WrOpcode>& left = outstanding[n];
      if (left.empty()) continue;
      each([&](Sq& chip) { chip.respond(n, left.front()); });
      left.erase(left.begin());
    }
    const auto n = static_cast<std::uint32_t>(random.below(kQps));
    const std::uint64_t what = random.below(6);
    run_until_idle();
    each([&](Sq& chip) {
      for (; chip.ended < chip.sinks.size(); ++chip.ended) chip.stag_work.send(SinkEnded{});
      if (what == 0) chip.mark(n, Marker::kFlush);
    });
    run_until_idle();
    if (what < 2) {
      each([&](Sq& chip) { chip.use_again(n); });
      outstanding[n].clear();
      run_until_idle();
    }
    for (const auto& chip : chips) ASSERT_EQ(chip->cqes.size(), chips[0]->cqes.size()) << "round " << round;
  }
  EXPECT_GT(chips[0]->cqes.size(), 2000u);
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->completed(), chips[0]->completed());
    EXPECT_EQ(chip->told(), chips[0]->told());
    EXPECT_EQ(chip->sinks.size(), chips[0]->sinks.size());
    EXPECT_EQ(chip->unblocks.size(), chips[0]->unblocks.size());
    EXPECT_THAT(chip->home_events, IsEmpty());
    if (chip->contexts.sqc_table.cached()) {
      EXPECT_GT(chip->home.counters().write_backs, 300u);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Homes, CompletionCacheKinds, testing::Values(HomeKind::kHost, HomeKind::kBoard));

// Octet for octet, by hand.
TEST_F(CompletionCache, ARowIsWhereItBelongsWhenItMakesRoom) {
  Sq chip(kOneQp);
  QpContext c = rts_qp(3, 9);
  c.send_cq = Cqn{0x1234};
  chip.write(3, c);
  chip.epochs[3] = 9;
  run_until_idle();
  chip.issue(3, 1);
  chip.issue(3, 2, WrOpcode::kRdmaRead);
  chip.respond(3, WrOpcode::kRdmaRead);
  run_until_idle();
  for (const std::uint32_t n : {20u, 21u, 22u, 23u}) chip.touch(n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.sqc_table.peek(3), nullptr);
  const std::uint8_t* const object = &chip.dma.memory[3 * HomedQps::kRowBytes];
  EXPECT_EQ(load_le32(object + 240), 0x1234u);  // send_cq
  EXPECT_EQ(load_le32(object + 244), 3u);       // flow
  EXPECT_EQ(load_le32(object + 248), 9u);       // epoch
  const std::uint8_t* const state = object + 136;
  EXPECT_EQ(load_le32(state), 9u);                          // epoch
  EXPECT_EQ(bits_of(state, 32 + 48, 16), 2u);               // outstanding: how many
  EXPECT_EQ(bits_of(state, 32 + 2 * 64 + 48, 16), 1u);      // outcomes of Reads
  EXPECT_EQ(bits_of(state, 32 + 3 * 64, 16), 1u);           // sends
  EXPECT_EQ(bits_of(state, 32 + 3 * 64 + 4 * 16, 16), 1u);  // behind lost, before_lost_value and acks: reads
  EXPECT_THAT(chip.home_events, IsEmpty());
}

// The turn of a queue pair whose row is fetched lets those of others pass.
TEST_F(CompletionCache, AMissOfOneQueuePairDoesNotStopAnother) {
  Sq chip(QpCacheConfig{{8, 1, CachePolicy::kLru, 8, 1}});
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u}) chip.issue(n, n);
  run_until_idle();
  for (const std::uint32_t n : {9u, 17u, 25u, 33u}) chip.touch(n);  // of the set of queue pair 1
  run_until_idle();
  EXPECT_EQ(chip.contexts.sqc_table.peek(1), nullptr);
  chip.dma.latency = 500;
  const Cycle at = chip.clk.now() + 10;
  chip.tcp.send_at(at, {FlowId{1}, 1});
  chip.tcp.send_at(at + 1, {FlowId{2}, 1});
  run_until_idle();
  ASSERT_EQ(chip.cqes.size(), 2u);
  EXPECT_EQ(chip.cqes[0].cqe.qpn, 2u);
  EXPECT_EQ(chip.cqes.cycles()[0], at + 1 + kToEnd + 2 * (SqcTableConfig{}.read_cycles + 1) + kToEnd);
  EXPECT_EQ(chip.cqes[1].cqe.qpn, 1u);
  EXPECT_GE(chip.cqes.cycles()[1], at + 500);
}

// The number is used again while what happened to its last user waits for the row.
TEST_F(CompletionCache, NothingOfAnEarlierUseCounts) {
  constexpr Cycle kTo = 80;
  std::vector<std::unique_ptr<Sq>> chips;
  for (Cycle reused = 0; reused < kTo; ++reused) {
    Sq& chip = *chips.emplace_back(std::make_unique<Sq>(kTwoQps));
    chip.dma.latency = 30;
    chip.issue(1, 1);
  }
  run_until_idle();
  for (const auto& chip : chips) {
    for (const std::uint32_t n : {20u, 21u, 22u, 23u, 24u}) chip->touch(n);
  }
  run_until_idle();
  for (Cycle reused = 0; reused < kTo; ++reused) {
    Sq& chip = *chips[reused];
    const Cycle at = chip.clk.now() + 10;
    chip.tcp.send_at(at, {FlowId{1}, 1});
    chip.firmware.at(at + reused, [&chip] { chip.use_again(1); });
  }
  run_until_idle();
  for (const auto& chip : chips) chip->issue(1, 2);
  run_until_idle();
  unsigned completed = 0;
  for (const auto& chip : chips) {
    EXPECT_THAT(chip->completed()[1], testing::Not(Contains(Pair(2, WcStatus::kSuccess))));
    completed += !chip->cqes.empty();
    chip->tcp.send({FlowId{1}, 1});
  }
  EXPECT_GT(completed, 0u);
  EXPECT_LT(completed, kTo);
  run_until_idle();
  for (const auto& chip : chips)
    EXPECT_EQ(chip->completed()[1].back(), std::pair(std::uint64_t{2}, WcStatus::kSuccess));
}

// An octet of a part of the object is wrong: of this table's, or of another one's.
class LostSqcRow : public CompletionCache, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(LostSqcRow, EndsItsQueuePairAndItsDrainsAreAnswered) {
  Sq chip(kOneQp);
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u}) chip.issue(n, 1), chip.mark(n, Marker::kDrain);
  run_until_idle();
  for (const std::uint32_t n : {20u, 21u, 22u, 23u}) chip.touch(n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.sqc_table.peek(1), nullptr);
  chip.damage(1, GetParam());
  for (const std::uint32_t n : {1u, 2u}) chip.respond(n, WrOpcode::kSend);
  run_until_idle();
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_EQ(chip.home_events[0].index, 1u);
  EXPECT_THAT(chip.completed(), ElementsAre(Pair(2, ElementsAre(Pair(1, WcStatus::kSuccess)))));
  EXPECT_THAT(chip.told()[1], ElementsAre(QpEvent::Kind::kLocalError, QpEvent::Kind::kSendDrained));
  EXPECT_THAT(chip.told()[2], ElementsAre(QpEvent::Kind::kSendDrained));
  // Whatever comes then does no harm; a drain is answered, and the firmware hears of the loss once.
  chip.issue(1, 2, WrOpcode::kRdmaReadWithInv);
  chip.mark(1, Marker::kTerminate);
  chip.mark(1, Marker::kDrain);
  chip.mark(1, Marker::kFlush);
  for (const WrOpcode op : {WrOpcode::kRdmaRead, WrOpcode::kFetchAdd, WrOpcode::kSend}) chip.respond(1, op);
  chip.lost.send({Qpn{1}, 1});
  run_until_idle();
  EXPECT_THAT(chip.told()[1], SizeIs(3));
  EXPECT_THAT(chip.sinks, IsEmpty());
  EXPECT_THAT(chip.cqes, SizeIs(1));
  EXPECT_EQ(chip.dut.waiting_for(), "");
  // The next user.
  chip.use_again(1);
  run_until_idle();
  chip.issue(1, 3, WrOpcode::kFetchAdd);
  chip.respond(1, WrOpcode::kFetchAdd);
  run_until_idle();
  EXPECT_THAT(chip.completed()[1], ElementsAre(Pair(3, WcStatus::kSuccess)));
  EXPECT_THAT(chip.told()[1], SizeIs(3));
}
INSTANTIATE_TEST_SUITE_P(Octets, LostSqcRow, testing::Values(0, 136, 150, 183, 184, 208, 240, 255, 256, 268, 279));

// The row leaves between the acknowledgement and the turn.
TEST_F(CompletionCache, ATurnWhoseRowIsLostIsOver) {
  std::vector<std::unique_ptr<Sq>> chips;
  for (unsigned n = 0; n < 3; ++n) chips.push_back(std::make_unique<Sq>(kOneQp));
  run_until_idle();
  for (const auto& chip : chips) {
    for (std::uint32_t n = 10; n < 30; ++n) chip->issue(n, n);
    chip->issue(1, 1);
  }
  run_until_idle();
  for (std::size_t n = 0; n < chips.size(); ++n) {
    Sq& chip = *chips[n];
    const Cycle at = chip.clk.now() + 100;
    chip.cqes.pause(window(0, at + 5000));
    for (std::uint32_t other = 10; other < 30; ++other) chip.tcp.send_at(at, {FlowId{other}, 1});  // turns that wait
    chip.tcp.send_at(at, {FlowId{1}, 1});
    for (std::uint32_t other = 30; other < 36; ++other) chip.tcp.send_at(at + 2000, {FlowId{other}, 0});
    chip.firmware.at(at + 3000, [&chip] {
      EXPECT_EQ(chip.contexts.sqc_table.peek(1), nullptr);
      chip.damage(1, 140);
    });
    if (n != 0) chip.tcp.send_at(at + 3500, {FlowId{1}, 0});  // an event loses it; its turn comes later
    if (n != 2) continue;
    chip.firmware.at(at + 4000, [&chip] { chip.use_again(1); });
    chip.firmware.at(at + 4400, [&chip] { chip.issue(1, 2, WrOpcode::kLocalInv); });
  }
  run_until_idle();
  for (std::size_t n = 0; n < chips.size(); ++n) {
    EXPECT_THAT(chips[n]->cqes, SizeIs(n == 2 ? 21 : 20));
    EXPECT_THAT(chips[n]->told()[1], ElementsAre(QpEvent::Kind::kLocalError)) << n;
  }
  EXPECT_THAT(chips[2]->completed()[1], ElementsAre(Pair(2, WcStatus::kSuccess)));
}

// The turn has found the row lost and waits for a place for its completion when the number is used again.
TEST_F(CompletionCache, ATurnWithALostRowLeavesTheNextUserItsOwn) {
  Sq chip(kOneQp);
  run_until_idle();
  chip.issue(1, 1);
  run_until_idle();
  const Cycle at = chip.clk.now() + 100;
  chip.cqes.pause(window(0, at + 5000));
  for (std::uint32_t n = 10; n < 18; ++n) chip.issue(n, n), chip.tcp.send_at(at + 100, {FlowId{n}, 1});
  chip.tcp.send_at(at + 1000, {FlowId{1}, 1});
  for (std::uint32_t n = 30; n < 36; ++n) chip.tcp.send_at(at + 1001, {FlowId{n}, 0});
  chip.firmware.at(at + 4000, [&chip] { chip.use_again(1); });
  chip.firmware.at(at + 4400, [&chip] { chip.issue(1, 2, WrOpcode::kLocalInv); });
  run_until_idle();
  EXPECT_THAT(chip.completed()[1], ElementsAre(Pair(2, WcStatus::kSuccess)));
}

// The firmware has not listened yet when the number is used again: it hears nothing of its last user.
TEST_F(CompletionCache, TheFirmwareHearsNothingOfALossOfAnEarlierUse) {
  Sq chip(kOneQp);
  chip.events.pause(window(0, 3000));
  run_until_idle();
  for (std::uint32_t n = 1; n < 12; ++n) chip.touch(n);
  run_until_idle();
  for (std::uint32_t n = 1; n < 8; ++n) chip.damage(n, 208);
  for (std::uint32_t n = 1; n < 8; ++n) chip.touch(n);
  chip.firmware.at(2500, [&chip] { chip.use_again(7); });
  run_until_idle();
  EXPECT_THAT(chip.events, SizeIs(6));
  EXPECT_THAT(chip.told(), testing::Not(Contains(testing::Key(7))));
}

// ---- response_queue

struct Orq : HomedQps {
  explicit Orq(const QpCacheConfig& cache, HomeKind kind = HomeKind::kHost) : HomedQps(cache, kind) {
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x1000, abi::kLocalWrite));
    contexts.commit();
  }
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16);
  ResponseQueue dut{sc_core::sc_gen_unique_name("dut"), clk, contexts};
  Source<AtomicIssued> segmenter = drive(dut.issued, CurrentUse(contexts));
  Source<DeliveredAtomic> dispatch = drive(dut.in, CurrentUse(contexts));
  Sink<AtomicDone> completions = collect(dut.done);
  Sink<TxUnblock> unblocks = collect(dut.unblock);
  Sink<QpEvent> events = collect(dut.event);
  FakeDmaWrite writer{dut.dma, dut.written, memory};

  static std::uint64_t sink_of(std::uint32_t n) { return 0x1000 + 8 * n; }
  void ask(std::uint32_t n, std::uint32_t id) { segmenter.send({Qpn{n}, id, {sink_of(n), 8, stag_of(3)}}); }
  void answer(std::uint32_t n, std::uint32_t id, std::uint64_t value) {
    dispatch.send({Qpn{n}, {id, value}, {}, 0, Pdn{1}});
  }
  void touch(std::uint32_t n) { dispatch.send({Qpn{n}, {0, 0}, {}, 0xffffffff, Pdn{1}}); }  // of no use of its number
  std::uint64_t value(std::uint32_t n) const { return load_le64(&memory[sink_of(n)]); }
  std::map<std::uint32_t, std::size_t> completed() const {
    std::map<std::uint32_t, std::size_t> all;
    for (const AtomicDone& d : completions) ++all[d.qpn.v];
    return all;
  }
};

class ResponseCache : public StageTest {};
TEST_F(ResponseCache, EachQueuePairGetsTheValuesThatItGetsWithAllRowsOnTheChip) {
  std::vector<std::unique_ptr<Orq>> chips;
  for (const QpCacheConfig& cache : kQpCaches) chips.push_back(std::make_unique<Orq>(cache));
  chips.push_back(std::make_unique<Orq>(kTwoQps, HomeKind::kBoard));
  chips[2]->clk.shuffle(5);
  const auto each = [&chips](auto&& what) {
    for (const auto& chip : chips) what(*chip);
  };
  std::array<std::vector<std::uint32_t>, kQps> outstanding;
  std::array<std::uint32_t, kQps> epochs{};
  std::array<std::uint64_t, kQps> expected{};
  Prng random(23);
  std::uint32_t id = 0;
  run_until_idle();
  for (unsigned round = 0; round < 100; ++round) {
    for (unsigned i = 0; i < 30; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      if (random.below(2) == 0 && outstanding[n].size() < 4) {
        each([&](Orq& chip) { chip.ask(n, id); });
        outstanding[n].push_back(id++);
      } else if (!outstanding[n].empty()) {  // perhaps one that comes in the same cycles
        each([&](Orq& chip) { chip.answer(n, outstanding[n].front(), id); });
        expected[n] = id;
        outstanding[n].erase(outstanding[n].begin());
      }
    }
    run_until_idle();
    if (const auto n = static_cast<std::uint32_t>(random.below(kQps)); random.below(4) == 0) {
      each([&](Orq& chip) { chip.write(n, rts_qp(n, 2 + epochs[n])); });
      ++epochs[n];
      outstanding[n].clear();
      run_until_idle();
    }
    for (const auto& chip : chips) ASSERT_EQ(chip->completions.size(), chips[0]->completions.size()) << round;
  }
  EXPECT_GT(chips[0]->completions.size(), 500u);
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->completed(), chips[0]->completed());
    EXPECT_EQ(chip->unblocks.size(), chips[0]->unblocks.size());
    EXPECT_THAT(chip->events, IsEmpty());
    EXPECT_THAT(chip->home_events, IsEmpty());
    for (std::uint32_t n = 0; n < kQps; ++n) EXPECT_EQ(chip->value(n), expected[n]) << n;
    if (chip->contexts.orq_table.cached()) {
      EXPECT_GT(chip->home.counters().write_backs, 200u);
    }
  }
}

// All places are taken by requests whose rows are fetched, and the response to one without a place is there.
TEST_F(ResponseCache, AResponseFollowsARequestThatHasNoPlaceYet) {
  Orq chip(kOneQp);
  run_until_idle();
  chip.dma.latency = 200;
  constexpr std::uint32_t kLast = RowEvents<OrqRow, AtomicIssued>::kPlaces + 1;
  for (std::uint32_t n = 1; n <= kLast; ++n) chip.ask(n, n);
  chip.dispatch.send_at(chip.clk.now() + 2 * kLast, {Qpn{kLast}, {kLast, 77}, {}, 0, Pdn{1}});
  run_until_idle();
  EXPECT_EQ(chip.value(kLast), 77u);
  EXPECT_THAT(chip.events, IsEmpty());
}

class LostOrqRow : public ResponseCache, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(LostOrqRow, EndsItsQueuePair) {
  Orq chip(kOneQp);
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u}) chip.ask(n, 5);
  run_until_idle();
  for (const std::uint32_t n : {20u, 21u, 22u, 23u}) chip.touch(n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.orq_table.peek(1), nullptr);
  chip.damage(1, GetParam());
  for (const std::uint32_t n : {1u, 2u}) chip.answer(n, 5, 50 + n);
  run_until_idle();
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_EQ(chip.value(1), 0u);
  EXPECT_EQ(chip.value(2), 52u);
  ASSERT_EQ(chip.events.size(), 1u);
  EXPECT_EQ(chip.events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(chip.events[0].qpn, Qpn{1});
  chip.ask(1, 6);
  chip.answer(1, 6, 60);
  run_until_idle();
  EXPECT_THAT(chip.events, SizeIs(1)) << "it is told once";
  EXPECT_EQ(chip.value(1), 0u);
  chip.write(1, rts_qp(1, 2));
  run_until_idle();
  chip.ask(1, 7);
  chip.answer(1, 7, 70);
  run_until_idle();
  EXPECT_EQ(chip.value(1), 70u);
  EXPECT_THAT(chip.events, SizeIs(1));
}
INSTANTIATE_TEST_SUITE_P(Octets, LostOrqRow, testing::Values(3, 136, 184, 190, 207, 256, 262, 279));

// The number is used again while its row is fetched for a response: it is nobody's.
TEST_F(ResponseCache, AResponseToTheLastUserAnswersNoRequestOfTheNextOne) {
  std::vector<std::unique_ptr<Orq>> chips;
  for (unsigned n = 0; n < 60; ++n) chips.push_back(std::make_unique<Orq>(kTwoQps));
  run_until_idle();
  for (const auto& chip : chips) {
    chip->dma.latency = 30;
    chip->ask(1, 5);
  }
  run_until_idle();
  for (const auto& chip : chips) {
    for (const std::uint32_t n : {20u, 21u, 22u, 23u, 24u}) chip->touch(n);
  }
  run_until_idle();
  for (std::size_t reused = 0; reused < chips.size(); ++reused) {
    Orq& chip = *chips[reused];
    const Cycle at = chip.clk.now() + 10;
    chip.dispatch.send_at(at, {Qpn{1}, {5, 55}, {}, 1, Pdn{1}});
    chip.firmware.at(at + reused, [&chip] { chip.write(1, rts_qp(1, 2)); });
  }
  run_until_idle();
  std::size_t answered = 0;
  for (const auto& chip : chips) {
    answered += chip->completions.size();
    chip->ask(1, 5);
    chip->answer(1, 5, 66);
  }
  EXPECT_GT(answered, 0u);
  EXPECT_LT(answered, chips.size());
  run_until_idle();
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->value(1), 66u);
    EXPECT_THAT(chip->events, IsEmpty());
  }
}

}  // namespace
}  // namespace rnic::test
