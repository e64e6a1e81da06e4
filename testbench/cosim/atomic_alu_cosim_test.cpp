#include <array>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/responder/atomic_alu.h"
#include "rtl-stubs/verilated/verilated_atomic_alu.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/cosim.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"

namespace rnic::test {
namespace {

constexpr std::uint8_t kRights = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;
constexpr std::uint32_t kQps = 16, kPages = 12;
constexpr std::uint32_t kCopied = 8;  // the pages of a region once more, in another row of the page table

// STags of the test, by index. All good ones give access to the same few words of memory, so operations reach one
// address in different ways. Each other STag fails one check.
enum : std::uint32_t {
  kRegion = 1,
  kZeroBased,
  kWindow1,
  kWindow2,
  kInPages,
  kWindowInPages,
  kGoodStags = kWindowInPages,
  kNoRead,
  kNoWrite,
  kNoAtomic,
  kForeignDomain,
  kForeignQp,
  kOldQp,
  kOddAddress,
  kOutsideTheTable,
  kWithoutRegion,
  kNotValid,
  kAllStags = kNotValid,
  kOutside
};
constexpr std::uint64_t kTo = 0x7ff0, kBus = 0x1ff0, kLength = 0x40;

StagContext stag_context(std::uint32_t index) {
  StagContext c = region(kTo, kLength, kRights);
  c.bus = kBus;
  const auto window = [&](StagKind kind, std::uint32_t of) {
    c.kind = kind;
    c.region = stag_of(of);
    c.qpn = Qpn{1};
    c.qp_epoch = 1;
  };
  const auto in_pages = [&] {  // the words lie on both sides of a page boundary
    c.bus = kBus % 4096;
    c.log_page = 12;
    c.first_page = 3;
    c.pages = 2;
  };
  switch (index) {
    case kZeroBased:
      c.zero_based = true;
      break;
    case kWindow1:
      window(StagKind::kWindow1, kRegion);
      break;
    case kWindow2:
      window(StagKind::kWindow2, kZeroBased);
      break;
    case kInPages:
      in_pages();
      break;
    case kWindowInPages:
      in_pages();
      window(StagKind::kWindow1, kInPages);
      break;
    case kNoRead:
      c.access &= ~abi::kRemoteRead;
      break;
    case kNoWrite:
      c.access &= ~abi::kRemoteWrite;
      break;
    case kNoAtomic:
      c.access &= ~abi::kRemoteAtomic;
      break;
    case kForeignDomain:
      c.pd = Pdn{2};
      break;
    case kForeignQp:
      window(StagKind::kWindow2, kRegion);
      c.qpn = Qpn{kQps};
      break;
    case kOldQp:
      window(StagKind::kWindow2, kRegion);
      c.qp_epoch = 0;
      break;
    case kOddAddress:
      c.bus += 4;
      break;
    case kOutsideTheTable:
      in_pages();
      c.first_page = kPages + PageRow::kPages;
      break;
    case kWithoutRegion:
      window(StagKind::kWindow1, kNotValid);
      break;
    case kNotValid:
      c.valid = false;
      break;
  }
  return c;
}

// The stage or its twin with its own neighbours.
struct Side {
  ContextStore contexts;
  At firmware;
  BufferPool others{8};
  AtomicAlu block;
  Source<QueuedAtomic> irrq = drive(block.in);
  Sink<AtomicWork> segmenter = collect(block.out);
  Sink<QpEvent> events = collect(block.event);
  FakeDma reader{block.read, block.read_done};
  FakeDmaWrite writer{block.write, block.written, reader.memory};

  Side(const std::string& name, ClockDomain& clk)
      : contexts(clk, {kQps, kQps, 1, kAllStags + 1, 1, kPages}),
        firmware((name + "_firmware").c_str(), clk),
        block(name.c_str(), clk, contexts, AtomicAluConfig{}) {
    for (std::uint32_t n = 1; n < kQps; ++n) open_qp(contexts, n, rts_qp(n));
    for (std::uint32_t i = 1; i <= kAllStags; ++i) contexts.write(Stag{stag_of(i)}, stag_context(i));
    write_pages();
    contexts.commit();
  }
  void write_pages() {
    contexts.write_page(3, kBus - kBus % 4096);
    contexts.write_page(4, kBus - kBus % 4096 + 4096);
    contexts.write_page(kCopied, kBus - kBus % 4096);
    contexts.write_page(kCopied + 1, kBus - kBus % 4096 + 4096);
  }
  void run_as(const Traffic& t) {
    irrq.pause(t.produce);
    segmenter.pause(t.consume);
    events.pause(t.consume);
    reader.pause = writer.pause = t.consume;
  }
};

std::uint64_t random_mask(Prng& rng) {
  switch (rng.below(5)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return std::uint64_t{1} << rng.below(64);
    case 3:
      return 0x8080808080808080;
    default:
      return rng.next();
  }
}

// Nearly always one of eight words in the region; otherwise near its ends or those of the address space.
std::uint64_t random_offset(Prng& rng, std::uint64_t base) {
  switch (rng.below(40)) {
    case 0:
      return base - rng.between(1, 9);
    case 1:
      return base + kLength - 8 + rng.below(10);
    case 2:
      return base + rng.below(kLength);
    case 3:
      return ~std::uint64_t{0} - rng.below(10);
    default:
      return base + 8 * rng.below(kLength / 8);
  }
}

// The uses of a number, of which it has one at a time; its requests are of either.
QueuedAtomic random_request(Prng& rng, std::uint32_t id) {
  QueuedAtomic q;
  q.epoch = 1 + (rng.below(6) == 0);
  q.pd = Pdn{rng.below(40) == 0 ? 2u : 1u};
  q.qpn = Qpn{static_cast<std::uint32_t>(rng.below(60) == 0 ? 0 : rng.between(1, kQps - 1))};
  wire::AtomicRequest& r = q.request;
  const std::uint32_t opcode = rng.below(30) == 0  ? static_cast<std::uint32_t>(rng.below(16))
                               : rng.below(2) != 0 ? 2
                                                   : 0;
  r.operation = static_cast<std::uint32_t>(rng.next()) << 4 | opcode;
  r.request_id = id;
  const auto index =
      static_cast<std::uint32_t>(rng.below(12) != 0 ? rng.between(1, kGoodStags) : rng.between(1, kOutside));
  if (index == kWindow2 && rng.below(8) != 0) q.qpn = Qpn{1};
  r.stag = stag_of(index, rng.below(60) == 0 ? 0x5b : 0x5a);
  r.to = random_offset(rng, index == kZeroBased ? 0 : kTo);
  r.data = rng.next();
  r.data_mask = random_mask(rng);
  r.compare = rng.next();
  r.compare_mask = random_mask(rng);
  q.segment.length = static_cast<std::uint16_t>(rng.below(100));
  q.segment.ddp_bytes = 18;
  for (std::uint8_t& octet : q.segment.octets) octet = static_cast<std::uint8_t>(rng.next());
  return q;
}

class AtomicAluCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  Side model{"atomic_alu", clk}, twin{"twin", clk};
  rtl::Twin<rtl::AtomicAluPins> rtl{twin.block, twin.contexts};

  template <class F>
  void both(F f) {
    f(model);
    f(twin);
  }
  // Slow and unfair memory, with some reads failing. Sometimes it is so slow that all entries are taken.
  void draw_memory(Prng& rng, unsigned reads) {
    for (unsigned i = 0; i < reads; ++i) {
      const unsigned n = static_cast<unsigned>(model.reader.requests().size()) + i;
      const Cycle latency = i % 1000 < 100 ? 800 : rng.between(1, rng.below(4) == 0 ? 200 : 40);
      const bool fails = rng.below(40) == 0;
      both([&](Side& s) {
        s.reader.latency_of[n] = latency;
        if (fails) s.reader.fails.insert(n);
      });
    }
    const Cycle hold = rng.between(1, 30);
    both([&](Side& s) { s.writer.hold = hold; });
  }
  // STags end and come back, pages move, and queue pair numbers are reused, while requests are in flight.
  void draw_changes(Prng& rng, Cycle from, Cycle until) {
    for (Cycle at = from; at < until; at += rng.between(20, 200)) {
      const auto index = static_cast<std::uint32_t>(rng.between(1, kGoodStags));
      const auto qpn = static_cast<std::uint32_t>(rng.between(1, kQps - 1));
      const auto page = static_cast<std::uint64_t>(rng.below(2));
      const Cycle back = at + rng.between(1, 60);
      draw_write(rng, at);
      switch (rng.below(6)) {
        case 0:
          epochs_[qpn] = 1 + (rng.below(4) == 0);
          both([&](Side& s) { change(s, at, Qpn{qpn}, rts_qp(qpn, epochs_[qpn])); });
          break;
        case 3:  // the region's pages move in the table and back, many times
          for (Cycle c = at; c < at + 20; ++c) {
            StagContext moved = stag_context(kInPages);
            if (rng.below(2) != 0) moved.first_page = kCopied;
            both([&](Side& s) { change(s, c, Stag{stag_of(kInPages)}, moved); });
          }
          both([&](Side& s) { change(s, at + 20, Stag{stag_of(kInPages)}, stag_context(kInPages)); });
          break;
        case 4:  // a window moves to another region and back, many times
          for (Cycle c = at; c < at + 20; ++c) {
            StagContext moved = stag_context(kWindow1);
            if (rng.below(2) != 0) moved.region = stag_of(kZeroBased);
            both([&](Side& s) { change(s, c, Stag{stag_of(kWindow1)}, moved); });
          }
          both([&](Side& s) { change(s, at + 20, Stag{stag_of(kWindow1)}, stag_context(kWindow1)); });
          break;
        case 1:
          both([&](Side& s) { s.firmware.at(at, [&s, page] { s.contexts.write_page(3, page << 12); }); });
          break;
        case 2:
          both([&](Side& s) {
            change(s, at, Qpn{qpn}, QpContext{});
            change(s, back, Qpn{qpn}, rts_qp(qpn, epochs_[qpn]));
          });
          break;
        default:
          both([&](Side& s) {
            change(s, at, Stag{stag_of(index)}, StagContext{});
            change(s, back, Stag{stag_of(index)}, stag_context(index));
          });
      }
    }
  }
  // Another master's Write to one of the words or to octets of two.
  void draw_write(Prng& rng, Cycle at) {
    const std::uint64_t address = kBus + rng.below(kLength - 8), value = rng.next();
    both([&](Side& s) { write_of_another(s, at, address, value); });
  }
  static void write_of_another(Side& s, Cycle at, std::uint64_t address, std::uint64_t value) {
    s.firmware.at(at, [&s, address, value] {
      BufferRef octets = s.others.take();
      store_le64(octets->bytes(), value);
      s.block.words().written(address, 8);
      s.writer.write_of_another(address, std::move(octets), 8);
    });
  }
  template <class Number, class Context>
  static void change(Side& s, Cycle at, Number n, const Context& c) {
    s.firmware.at(at, [&s, n, c] { s.contexts.write(n, c); });
  }
  // Tags name entries; a block after a reset takes these in another order than a block that has been working.
  void expect_lock_step(bool same_entries = true) {
    expect_same(model.segmenter, twin.segmenter);
    expect_same(model.events, twin.events);
    expect_same("cycles of reads", model.reader.cycles(), twin.reader.cycles());
    for (std::size_t i = 0; i < model.reader.requests().size(); ++i) {
      const DmaReadRequest &m = model.reader.requests()[i], &t = twin.reader.requests()[i];
      ASSERT_EQ(std::tuple(m.address, m.bytes), std::tuple(t.address, t.bytes)) << "read " << i;
      if (same_entries) {
        ASSERT_EQ(m.tag, t.tag) << "read " << i;
      }
    }
    expect_same("cycles of writes", model.writer.cycles(), twin.writer.cycles());
    expect_same("addresses of writes", model.writer.addresses(), twin.writer.addresses());
    if (model.reader.memory != twin.reader.memory) end_test("what atomic_alu and its twin wrote differs");
    ASSERT_EQ(model.contexts.in_flight.begun(), twin.contexts.in_flight.begun());
    for (Side* s : {&model, &twin}) ASSERT_TRUE(s->contexts.in_flight.at_rest(StagWrites::kAtomic));
    ASSERT_EQ(counts(model), counts(twin));
  }
  static std::array<std::uint64_t, 6> counts(Side& s) {
    const AtomicAluCounters& c = s.block.counters();
    return {c.fetch_adds, c.cmp_swaps, c.forwarded, c.held_up, c.refused, c.failed};
  }

 private:
  std::vector<std::uint32_t> epochs_ = std::vector<std::uint32_t>(kQps, 1);
};

TEST_P(AtomicAluCosim, AgreesInEveryMessageAndEveryCycle) {
  Prng rng = seeded(20260110);
  constexpr std::uint32_t kRequests = 5000;
  std::set<std::uint32_t> causes;
  both([](Side& s) { s.run_as(GetParam()); });
  for (unsigned round = rounds(kRequests); round-- > 0;) {
    for (std::uint32_t id = 0; id < kRequests; ++id) {
      const QueuedAtomic q = random_request(rng, id);
      both([&](Side& s) { s.irrq.send(q); });
    }
    draw_memory(rng, kRequests);
    draw_changes(rng, clk.now() + 100, clk.now() + 6 * kRequests);
    run_until_idle();
    ASSERT_TRUE(model.irrq.done());
    expect_lock_step();
    for (const QpEvent& e : model.events) causes.insert(wire::terminate_word(e.cause));
    both([](Side& s) {
      s.segmenter.clear();
      s.events.clear();
    });
  }
  const AtomicAluCounters& counters = model.block.counters();
  EXPECT_GT(counters.fetch_adds, kRequests / 4);
  EXPECT_GT(counters.cmp_swaps, kRequests / 4);
  EXPECT_GT(counters.forwarded, kRequests / 8);
  EXPECT_GT(counters.held_up, 10u);
  EXPECT_GT(counters.failed, 10u);
  EXPECT_EQ(causes.size(), 8u);  // each check, and a failed memory read
}

// The twin continues with the state of other blocks that were stopped and reset during the same traffic.
TEST_P(AtomicAluCosim, BehavesAsNewAfterAResetAmidOperations) {
  Prng rng = seeded(20260118);
  both([](Side& s) { s.run_as(GetParam()); });
  Stopped stopped;
  std::deque<Side> others;
  std::deque<rtl::Twin<rtl::AtomicAluPins>> blocks;
  for (int i = 0; i < 6; ++i) {
    others.emplace_back("other" + std::to_string(i), clk).run_as(GetParam());
    blocks.emplace_back(others.back().block, others.back().contexts);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    for (std::uint32_t id = 0; id < 100; ++id) others[i].irrq.send(random_request(rng, id));
    sc_core::sc_start(sc_core::sc_time::from_value(rng.between(10, 400) * clk.period_ps()));
    others[i].block.be_replaced(stopped);
    others[i].reader.be_replaced(stopped);
    others[i].writer.be_replaced(stopped);
    rtl.take_over(blocks[i]);
    for (std::uint32_t id = 0; id < 100; ++id) {
      const QueuedAtomic q = random_request(rng, id);
      both([&](Side& s) { s.irrq.send(q); });
    }
    run_until_idle();
    ASSERT_TRUE(model.irrq.done());
    expect_lock_step(false);
  }
  EXPECT_GT(model.writer.cycles().size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, AtomicAluCosim, kTraffics, traffic_name);

// By transaction. The next use of a number comes when nothing moves, and so do other STags and pages: a board has one
// check of an atomic, when that is answered.
class AtomicAluBoard : public AtomicAluCosim {
 protected:
  static constexpr Cycle kRound = 1'500;

  // Of what no firmware writes there is nothing.
  void forget_what_is_outside() {
    for (const std::uint32_t index : {kOutsideTheTable, kForeignQp}) {
      for (Side* side : {&model, &twin}) side->contexts.write(Stag{stag_of(index)}, StagContext{});
    }
    model.contexts.commit();
    twin.contexts.commit();
  }
  void begin_uses(Prng& rng, std::uint32_t epoch) {
    may_ask_.fill(true);
    begun_ = clk.now();
    for (std::uint32_t n = 1; n < kQps; ++n) twin.contexts.write(Qpn{n}, rts_qp(n, epoch));
    for (const std::uint32_t index : {kWindow2, kOldQp}) {
      StagContext window = stag_context(index);
      window.qp_epoch += epoch - 1;
      twin.contexts.write(Stag{stag_of(index)}, window);
    }
    StagContext paged = stag_context(kInPages), window = stag_context(kWindow1);
    if (rng.below(2) != 0) paged.first_page = kCopied;
    if (rng.below(2) != 0) window.region = stag_of(kZeroBased);
    twin.contexts.write(Stag{stag_of(kInPages)}, paged);
    twin.contexts.write(Stag{stag_of(kWindow1)}, window);
    const auto gone = static_cast<std::uint32_t>(rng.between(1, kGoodStags));
    if (gone != kInPages && rng.below(4) == 0) twin.contexts.write(Stag{stag_of(gone)}, StagContext{});
    else twin.contexts.write(Stag{stag_of(gone)}, stag_context(gone));
  }
  // As irrq does: one of a queue pair at a time, and none after an error. Some are of an earlier use, or of none.
  void ask(Prng& rng, std::uint32_t epoch) {
    for (const AtomicWork& answer : twin.segmenter.take()) may_ask_[answer.qpn.v] = true;
    QueuedAtomic q = random_request(rng, next_id_++);
    const bool is_of_none = q.qpn.v == 0 || (clk.now() > begun_ + 100 && rng.below(12) == 0);
    q.epoch = epoch - is_of_none;
    if (!is_of_none && !std::exchange(may_ask_[q.qpn.v], false)) return;
    twin.irrq.send(q);
  }
  void answer(Prng& rng) {
    for (unsigned i = 0; i < kRound; ++i) {
      const auto n = static_cast<unsigned>(twin.reader.requests().size()) + i;
      twin.reader.latency_of[n] = rng.below(100) == 0 ? 800 : rng.between(1, rng.below(4) == 0 ? 200 : 40);
      if (rng.below(40) == 0) twin.reader.fails.insert(n);
    }
    twin.writer.hold = rng.between(1, 30);
  }
  // In the page table, many times: they are the same pages.
  void move_pages(Prng& rng, Cycle at) {
    StagContext paged = stag_context(kInPages);
    for (Cycle c = at; c < at + 20; ++c) {
      paged.first_page = rng.below(2) != 0 ? kCopied : 3;
      change(twin, c, Stag{stag_of(kInPages)}, paged);
    }
  }
  // Other masters write, and queue pairs end of which no atomic is under way.
  void disturb(Prng& rng, Cycle from, std::uint32_t epoch) {
    for (Cycle at = from; at < from + kRound; at += rng.between(1, 80)) {
      write_of_another(twin, at, kBus + rng.below(kLength - 8), rng.next());
      if (rng.below(8) == 0) move_pages(rng, at);
      if (rng.below(8) != 0) continue;
      const auto n = static_cast<std::uint32_t>(rng.between(1, kQps - 1));
      twin.firmware.at(at, [this, n, epoch] {
        if (may_ask_[n]) twin.contexts.write(Qpn{n}, over(n, epoch));
      });
    }
  }
  // During an atomic: each has a word of its own, as a board cannot tell what the next one there has found.
  void end_amid(Prng& rng, std::uint32_t epoch) {
    for (std::uint32_t n = 1; n < 1 + kLength / 8; ++n) {
      QueuedAtomic q = random_request(rng, next_id_++);
      q.epoch = epoch;
      q.qpn = Qpn{n};
      q.pd = Pdn{1};
      q.request.operation &= ~15u;
      q.request.stag = stag_of(kRegion);
      q.request.to = kTo + 8 * (n - 1);
      twin.irrq.send(q);
      const QpContext next = rng.below(2) == 0 ? over(n, epoch) : rts_qp(n, epoch + 1);
      change(twin, clk.now() + rng.between(1, 150), Qpn{n}, next);
    }
    run_until_idle();
    for (const Cycle later : {80, 90}) {  // a board notices that nothing comes any more
      write_of_another(twin, clk.now() + later, kBus, rng.next());
    }
    run_until_idle();
  }
  static QpContext over(std::uint32_t n, std::uint32_t epoch) {
    QpContext c = rts_qp(n, epoch);
    c.valid = false;
    return c;
  }

 private:
  std::uint32_t next_id_ = 0;
  std::array<bool, kQps> may_ask_{};
  Cycle begun_ = 0;
};
TEST_P(AtomicAluBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  forget_what_is_outside();
  const AtomicAluConfig config;
  Judge judge(twin.block, "atomic_alu", {64, &twin.contexts, nullptr, &config});
  twin.write_pages();  // so that the board hears of them
  Prng rng = seeded(20260130);
  twin.run_as(GetParam());
  for (std::uint32_t epoch = 2; epoch < 122; epoch += 2) {
    const Cycle from = clk.now() + 100;  // when no board takes what was before for what races with it
    twin.firmware.at(from, [&] { begin_uses(rng, epoch); });
    answer(rng);
    for (Cycle at = from + 1; at < from + kRound; at += rng.between(1, 6)) {
      twin.firmware.at(at, [&] { ask(rng, epoch); });
    }
    disturb(rng, from + 1, epoch);
    run_until_idle();
    end_amid(rng, epoch);
  }
  const AtomicAluCounters& counters = twin.block.counters();
  EXPECT_GT(counters.fetch_adds, 100u);
  EXPECT_GT(counters.cmp_swaps, 50u);
  EXPECT_GT(counters.forwarded, 20u);
  EXPECT_GT(counters.failed, 10u);
  judge.expect_right(1'000);
}
INSTANTIATE_TEST_SUITE_P(Once, AtomicAluBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
