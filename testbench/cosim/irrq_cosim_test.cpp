#include <deque>

#include "model/rnic/responder/irrq.h"
#include "rtl-stubs/verilated/verilated_irrq.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/cosim.h"
#include "testbench/cosim/number_uses.h"
#include "testbench/support/contexts.h"

namespace rnic::test {
namespace {

constexpr unsigned kQps = 16;

struct IrrqEnds {
  ContextStore contexts;
  Irrq block;
  Source<QueuedRequest> peer = drive(block.in);
  Source<ReadResponseSent> segmenter = drive(block.sent);
  Sink<QueuedRead> responder = collect(block.out, {2, 1, 1});
  Sink<QueuedAtomic> alu = collect(block.atomic, {2, 1, 1});
  Sink<QpEvent> firmware = collect(block.event);

  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s{kQps, kQps, 1, 1};
    s.elements.ird = 128;
    return s;
  }
  IrrqEnds(const std::string& name, ClockDomain& clk) : contexts(clk, sizes()), block(name.c_str(), clk, contexts) {
    for (std::uint32_t n = 0; n < kQps; ++n) open_qp(contexts, n, rts_qp(n));
  }
  // Answers arrive for any QP, so queues fill up to IRD; each output has its own pace.
  void run_as(const Traffic& traffic) {
    peer.pause(traffic.produce);
    segmenter.pause(traffic.produce);
    responder.pause(traffic.consume);
    alu.pause(traffic.produce);
    firmware.pause(traffic.control);
  }
  void clear() {
    responder.clear();
    alu.clear();
    firmware.clear();
  }
};

FailedSegment random_segment(Prng& rng) {
  FailedSegment s;
  s.length = static_cast<std::uint16_t>(rng.next());
  s.ddp_bytes = 18;
  s.request_bytes = 28;
  for (std::uint8_t& octet : s.octets) octet = static_cast<std::uint8_t>(rng.next());
  return s;
}
Qpn any_qp(Prng& rng) { return Qpn{static_cast<std::uint32_t>(rng.below(kQps))}; }
// The uses of a number, of which it has one at a time.
std::uint32_t random_epoch(Prng& rng) { return 1 + static_cast<std::uint32_t>(rng.below(2)); }
QueuedRequest random_request(Prng& rng, Qpn qpn) {
  const auto word = [&rng] { return static_cast<std::uint32_t>(rng.next()); };
  if (rng.below(2) == 0) {
    return QueuedRead{
        qpn, {word(), rng.next(), word(), word(), rng.next()}, random_segment(rng), random_epoch(rng), Pdn{word()}};
  }
  return QueuedAtomic{qpn,
                      {word(), word(), word(), rng.next(), rng.next(), rng.next(), rng.next(), rng.next()},
                      random_segment(rng),
                      random_epoch(rng),
                      Pdn{word()}};
}

class IrrqTwins : public StageTest {
 protected:
  IrrqEnds model{"irrq", clk}, twin{"twin", clk};
  rtl::Twin<rtl::IrrqPins> rtl{twin.block, twin.contexts};
  At firmware{"firmware", clk};

  // A QP number of any IRD, in a new use or, seldom, in none.
  static QpContext random_qp(Prng& rng, std::uint32_t n, std::uint32_t epoch) {
    constexpr std::uint16_t kDepths[] = {0, 1, 2, 3, 8, 128, 128, 128};
    QpContext c = rts_qp(n, epoch);
    c.ird = kDepths[rng.below(std::size(kDepths))];
    c.valid = rng.below(16) != 0;
    return c;
  }
  void write(Qpn qpn, const QpContext& c) {
    for (IrrqEnds* ends : {&model, &twin}) ends->contexts.write(qpn, c);
  }
  void expect_all_same() {
    expect_same(model.responder, twin.responder);
    expect_same(model.alu, twin.alu);
    expect_same(model.firmware, twin.firmware);
  }
};

// What is due keeps its place when its queue pair ends, and the next use's request comes behind it.
TEST_F(IrrqTwins, WhatIsDueLeavesInItsOrder) {
  for (IrrqEnds* ends : {&model, &twin}) {
    ends->alu.pause(window(0, 100));
    ends->responder.pause(window(0, 40));
    for (std::uint32_t n = 0; n < 6; ++n) ends->peer.send(QueuedAtomic{Qpn{n}, {}, {}, 1, Pdn{1}});
    for (std::uint32_t n = 6; n < 11; ++n) ends->peer.send(QueuedRead{Qpn{n}, {}, {}, 1, Pdn{1}});
    ends->peer.send_at(60, {QueuedAtomic{Qpn{2}, {}, {}, 2, Pdn{1}}, QueuedRead{Qpn{11}, {}, {}, 1, Pdn{1}}});
  }
  firmware.at(50, [this] {
    for (const std::uint32_t n : {2u, 3u}) write(Qpn{n}, rts_qp(n, 2));
  });
  run_until_idle();
  ASSERT_EQ(model.alu.size(), 7u);
  EXPECT_EQ(model.alu[6].epoch, 2u);
  ASSERT_EQ(model.responder.size(), 6u);
  EXPECT_EQ(model.responder.cycles()[4], 44u) << "atomics that wait hold no Read back";
  expect_all_same();
}

// Every output waits at once, and they go on at once.
TEST_F(IrrqTwins, BothKindsAndEndsOfStreamsWaitTogether) {
  for (std::uint32_t n = 8; n < kQps; ++n) {
    QpContext none = rts_qp(n);
    none.ird = 0;
    write(Qpn{n}, none);
  }
  for (IrrqEnds* ends : {&model, &twin}) {
    ends->responder.pause(window(0, 100));
    ends->alu.pause(window(0, 100));
    ends->firmware.pause(window(0, 150));
    for (std::uint32_t n = 0; n < kQps; ++n) {
      if (n % 2 == 0) ends->peer.send(QueuedRead{Qpn{n}, {}, {}, 1, Pdn{1}});
      else ends->peer.send(QueuedAtomic{Qpn{n}, {}, {}, 1, Pdn{1}});
    }
  }
  run_until_idle();
  EXPECT_EQ(model.responder.cycles(), in_a_row(100, 4));
  EXPECT_EQ(model.alu.cycles(), in_a_row(100, 4));
  EXPECT_EQ(model.firmware.size(), 8u);
  expect_all_same();
}

class IrrqCosim : public IrrqTwins, public testing::WithParamInterface<Traffic> {
 protected:
  static void send(Prng& rng, Cycle from, int requests, const std::vector<IrrqEnds*>& sides) {
    Qpn hot;  // has as many requests as all others together
    for (int i = 0; i < requests; ++i) {
      if (i % 250 == 0) hot = any_qp(rng);
      const QueuedRequest request = random_request(rng, rng.below(2) == 0 ? hot : any_qp(rng));
      const ReadResponseSent sent{any_qp(rng), random_epoch(rng)};
      for (IrrqEnds* ends : sides) {
        ends->peer.send_at(from, request);
        ends->segmenter.send_at(from + 2 * static_cast<Cycle>(i), sent);
      }
    }
  }
};
TEST_P(IrrqCosim, AgreesInEveryMessageAndEveryCycle) {
  Prng rng = seeded(20260105);
  model.run_as(GetParam());
  twin.run_as(GetParam());
  std::size_t handed_on = 0, overruns = 0;
  for (unsigned round = rounds(20'000); round-- > 0;) {
    const Cycle from = clk.now() + 1;
    send(rng, from, 20'000, {&model, &twin});
    for (Cycle c = from; c < from + 20'000; c += 1 + rng.below(60)) {
      const Qpn qpn = any_qp(rng);
      const QpContext context = random_qp(rng, qpn.v, random_epoch(rng));
      firmware.at(c, [this, qpn, context] { write(qpn, context); });
    }
    run_until_idle();
    expect_all_same();
    handed_on += model.responder.size() + model.alu.size();
    overruns += model.firmware.size();
    model.clear();
    twin.clear();
  }
  EXPECT_GT(handed_on, 500u);
  EXPECT_GT(overruns, 50u);
  EXPECT_EQ(figures(model.block), figures(twin.block));
}
// The twin continues with the state of other blocks that were stopped and reset during the same traffic.
TEST_P(IrrqCosim, BehavesAsNewAfterAResetAmidRequests) {
  Prng rng = seeded(20260116);
  model.run_as(GetParam());
  twin.run_as(GetParam());
  Stopped stopped;
  std::deque<IrrqEnds> others;
  std::deque<rtl::Twin<rtl::IrrqPins>> blocks;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back("other" + std::to_string(i), clk).run_as(GetParam());
    blocks.emplace_back(others.back().block, others.back().contexts);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    send(rng, clk.now() + 1, 400, {&others[i]});
    sc_core::sc_start(sc_core::sc_time::from_value(rng.between(10, 400) * clk.period_ps()));
    others[i].block.be_replaced(stopped);
    rtl.take_over(blocks[i]);
    send(rng, clk.now() + 1, 400, {&model, &twin});
    run_until_idle();
    expect_all_same();
  }
  EXPECT_GT(model.responder.size(), 50u);
}
INSTANTIATE_TEST_SUITE_P(Patterns, IrrqCosim, kTraffics, traffic_name);

// By transaction. Only what was handed on is answered. A request that waits for others shows late whether it came
// before the end of its use, which a board takes for after; so half of the queue pairs have no requests that wait, and
// those of the others come long before.
class IrrqBoard : public IrrqCosim {
 protected:
  IrrqBoard() { twin.run_as(GetParam()); }
  static constexpr Cycle kCycles = 20'000;

  // Queue pairs that end and begin.
  void send_amid_ends(Prng& rng) {
    const NumberUses uses(rng, kQps, kCycles);
    for (const NumberUses::Row& row : uses.rows()) write_at(row.at, row.qpn, row.epoch, ird_of(row), row.valid);
    for (Cycle at = 1; at < kCycles; at += 1 + rng.below(4)) {
      const Qpn qpn = hot_or_any(rng, at);
      const std::uint32_t epoch = uses.at(qpn, at);
      if (epoch == 0 || (!has_one(qpn) && uses.is_ending(qpn, at))) continue;
      const bool late = rng.below(16) == 0;  // of the use before
      twin.peer.send_at(at, request_of(rng, qpn, epoch - late));
    }
  }
  // What is due waits for its output. The end of a use, or of a stream beyond IRD, would pass what waits there.
  void send_while_outputs_wait(Prng& rng) {
    for (std::uint32_t n = 0; n < kQps; ++n) write_at(1, Qpn{n}, 1, 128, true);
    twin.responder.pause(at_random(4, 92));
    twin.alu.pause(at_random(5, 85));
    for (Cycle at = 100; at < kCycles; at += 1 + rng.below(16))
      twin.peer.send_at(at, request_of(rng, hot_or_any(rng, at), 1));
  }
  static QueuedRequest request_of(Prng& rng, Qpn qpn, std::uint32_t epoch) {
    QueuedRequest request = random_request(rng, qpn);
    std::visit([epoch](auto& r) { r.epoch = epoch; }, request);
    return request;
  }
  void write_at(Cycle at, Qpn qpn, std::uint32_t epoch, std::uint16_t ird, bool valid) {
    QpContext context = rts_qp(qpn.v, epoch);
    context.ird = ird;
    context.valid = valid;
    firmware.at(at, [this, qpn, context] { twin.contexts.write(qpn, context); });
  }
  // The hot one has as many requests as all others together.
  Qpn hot_or_any(Prng& rng, Cycle at) {
    if (at >= next_hot_) hot_ = any_qp(rng), next_hot_ = at + 1000;
    return rng.below(2) == 0 ? hot_ : any_qp(rng);
  }
  static bool has_one(Qpn qpn) { return qpn.v % 2 == 0; }
  static std::uint16_t ird_of(const NumberUses::Row& row) {
    constexpr std::uint16_t kDepths[] = {2, 3, 8, 128};
    return has_one(row.qpn) ? row.epoch % 4 != 0 : kDepths[row.epoch % 4];
  }
  // What was handed on since the last call, unless its use is over. False if nothing was.
  bool answer(Prng& rng) {
    bool is_any = false;
    const auto sent = [&](Qpn qpn, std::uint32_t epoch) {
      is_any = true;
      if (twin.contexts.life(qpn).valid && twin.contexts.epoch(qpn) == epoch)
        twin.segmenter.send_at(clk.now() + rng.between(1, 20), ReadResponseSent{qpn, epoch});
    };
    for (const QueuedRead& read : twin.responder.take()) sent(read.qpn, read.epoch);
    for (const QueuedAtomic& atomic : twin.alu.take()) sent(atomic.qpn, atomic.epoch);
    return is_any;
  }
  template <class Send>
  void judge(std::uint64_t seed, Send send) {
    Judge judge(twin.block, "irrq", {64, &twin.contexts});
    Prng rng = seeded(seed);
    send(rng);
    for (Cycle at = 1; at < kCycles; at += 1 + rng.below(30)) {
      firmware.at(at, [&] { answer(rng); });
    }
    do run_until_idle();
    while (answer(rng));
    judge.expect_right(1'000);
  }

 private:
  Qpn hot_;
  Cycle next_hot_ = 0;
};
TEST_P(IrrqBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge(20260125, [this](Prng& rng) { send_amid_ends(rng); });
  EXPECT_GT(twin.firmware.size(), 50u);
}
TEST_P(IrrqBoard, IsRightWhileOutputsWait) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge(20260135, [this](Prng& rng) { send_while_outputs_wait(rng); });
}
INSTANTIATE_TEST_SUITE_P(Once, IrrqBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
