// Fast registration, local invalidation and windows: which work is allowed, what it changes, and that a refusal changes
// nothing.
#include "model/rnic/context/stag_work.h"

#include <algorithm>
#include <set>

#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::Registration;
using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;

constexpr std::uint8_t kOwnerRights = abi::kLocalWrite | abi::kRemoteRead | abi::kRemoteWrite | abi::kMwBind;
constexpr std::uint64_t kAddress = 0x10000, kLength = 0x1000;

class StagWorkTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  StagWork dut{"dut", clk, contexts};
  Source<StagRequest> queues = drive(dut.request);
  Sink<StagRequestDone> done = collect(dut.request_done);
  Source<SinkEnd> reads = drive(dut.sink);
  Sink<SinkEnded> ended = collect(dut.sink_ended);
  Source<StagWrite> firmware = drive(dut.write);
  Sink<StagWritten> written = collect(dut.written);
  At at{"at", clk};
  const Cycle t = contexts.stag_table.config().read_cycles;

  StagWorkTest() {
    for (std::uint32_t n = 1; n < 3; ++n) open_qp(contexts, n, rts_qp(n));
    QpContext stranger = rts_qp(3);
    stranger.pd = Pdn{2};
    open_qp(contexts, 3, stranger);
    put(1, region(kAddress, kLength, kOwnerRights));
    put(2, allocated(StagKind::kRegion));
    put(3, allocated(StagKind::kWindow1));
    put(4, allocated(StagKind::kWindow2));
  }
  static StagContext allocated(StagKind kind) {
    StagContext c;
    c.allocated = true;
    c.kind = kind;
    c.pd = Pdn{1};
    return c;
  }
  void put(std::uint32_t index, const StagContext& c) {
    contexts.write(Stag{stag_of(index)}, c);
    contexts.commit();
  }
  WcStatus invalidate(std::uint32_t stag, std::uint32_t qpn = 1) {
    abi::Wqe w;
    w.opcode = WrOpcode::kLocalInv;
    w.invalidate_stag = stag;
    return work(w, qpn);
  }
  WcStatus fast_register(std::uint32_t stag, const Registration& r, std::uint32_t qpn = 1) {
    return work(WrOpcode::kRegMr, stag, r, qpn);
  }
  WcStatus bind(std::uint32_t stag, const Registration& r, std::uint32_t qpn = 1) {
    return work(WrOpcode::kBindMw, stag, r, qpn);
  }
  static Registration window(std::uint32_t access, std::uint64_t at = kAddress + 0x100, std::uint64_t bytes = 0x80) {
    return {at, bytes, stag_of(1), access};
  }
  WcStatus end_sink(std::uint32_t stag) {
    reads.send({Stag{stag}});
    run_until_idle();
    return ended.take().at(0).status;
  }
  static Pdn domain_of(std::uint32_t qpn) { return Pdn{qpn == 3 ? 2u : 1u}; }
  static StagRequest request(WrOpcode op, std::uint32_t stag, const Registration& r = {}, std::uint32_t qpn = 1) {
    abi::Wqe w;
    w.opcode = op;
    w.rkey = w.invalidate_stag = stag;
    if (op != WrOpcode::kLocalInv) r.put(w);
    return {Qpn{qpn}, 1, w, domain_of(qpn)};
  }
  bool valid(std::uint32_t index) { return entry(index).valid; }
  const StagContext& entry(std::uint32_t index) { return *contexts.stag(Stag{stag_of(index)}); }

 private:
  WcStatus work(WrOpcode op, std::uint32_t stag, const Registration& r, std::uint32_t qpn) {
    abi::Wqe w;
    w.opcode = op;
    w.rkey = stag;
    r.put(w);
    return work(w, qpn);
  }
  WcStatus work(const abi::Wqe& w, std::uint32_t qpn) {
    queues.send({Qpn{qpn}, 1, w, domain_of(qpn)});
    run_until_idle();
    return done.take().at(0).status;
  }
};

TEST_F(StagWorkTest, ARegionIsInvalidatedByItsWholeStagInItsDomain) {
  EXPECT_EQ(invalidate(stag_of(1, 0x5b)), WcStatus::kMwBindErr) << "an old key";
  EXPECT_EQ(invalidate(stag_of(9)), WcStatus::kMwBindErr) << "nothing there";
  EXPECT_EQ(invalidate(stag_of(1000)), WcStatus::kMwBindErr) << "outside the table";
  EXPECT_EQ(invalidate(stag_of(1), 3), WcStatus::kMwBindErr) << "another protection domain";
  EXPECT_TRUE(entry(1).valid);
  EXPECT_EQ(invalidate(stag_of(1)), WcStatus::kSuccess);
  EXPECT_EQ(named(contexts, stag_of(1)), nullptr);
  EXPECT_EQ(invalidate(stag_of(1)), WcStatus::kMwBindErr) << "twice";
}

TEST_F(StagWorkTest, ASinkEndsUnlessWindowsWereBoundToIt) {
  EXPECT_EQ(bind(stag_of(4, 1), window(abi::kRemoteWrite)), WcStatus::kSuccess);
  EXPECT_EQ(end_sink(stag_of(1)), WcStatus::kMwBindErr);
  EXPECT_TRUE(valid(1));
  EXPECT_EQ(invalidate(stag_of(4, 1)), WcStatus::kSuccess);
  EXPECT_EQ(end_sink(stag_of(1)), WcStatus::kSuccess);
  EXPECT_FALSE(valid(1));
}
TEST_F(StagWorkTest, ASinkThatEndedBeforeStaysAsItIs) {
  EXPECT_EQ(end_sink(stag_of(1, 0x5b)), WcStatus::kSuccess) << "its STag is another one's now";
  EXPECT_EQ(end_sink(stag_of(1000)), WcStatus::kSuccess);
  EXPECT_TRUE(valid(1));
}

// A link, the read of the entry; the effect shows in the cycle after. What ends nothing is answered in its cycle, an
// end when it has taken effect.
TEST_F(StagWorkTest, CyclesOfARequest) {
  const Cycle executed = 10 + kToEnd + t;
  std::vector<bool> seen;
  for (const Cycle c : {executed, executed + 1}) at.at(c, [&] { seen.push_back(valid(1)); });
  queues.send_at(10, request(WrOpcode::kLocalInv, stag_of(1)));
  queues.send_at(100, request(WrOpcode::kRegMr, stag_of(2), {0x4000, 0x200, 0, abi::kLocalWrite}));
  firmware.send_at(200, {Stag{stag_of(9)}, region(0, 100, 0)});
  firmware.send_at(300, {Stag{stag_of(9)}, {}});
  reads.send_at(400, {Stag{stag_of(2)}});
  run_until_idle();
  EXPECT_THAT(seen, ElementsAre(true, false));
  EXPECT_THAT(done.cycles(), ElementsAre(executed + 1 + kToEnd, 100 + kToEnd + t + kToEnd));
  EXPECT_THAT(written.cycles(), ElementsAre(200 + kToEnd + t + kToEnd, 300 + kToEnd + t + 1 + kToEnd));
  EXPECT_THAT(ended.cycles(), ElementsAre(400 + kToEnd + t + 1 + kToEnd));
}
// A window and its new region are read together, the region that it is bound to when the window is there.
TEST_F(StagWorkTest, CyclesOfAWindow) {
  queues.send_at(10, request(WrOpcode::kBindMw, stag_of(3, 1), window(abi::kRemoteRead)));
  queues.send_at(100, request(WrOpcode::kBindMw, stag_of(3, 2), window(abi::kRemoteRead)));
  run_until_idle();
  EXPECT_THAT(done.cycles(), ElementsAre(10 + kToEnd + t + 1 + kToEnd, 100 + kToEnd + 2 * t + 1 + kToEnd));
}
// The next one is read for in the cycle in which one is executed, and the inputs take turns.
TEST_F(StagWorkTest, OneRequestAfterTheOther) {
  for (std::uint32_t n = 5; n < 8; ++n) put(n, region(0, 100, 0));
  for (std::uint32_t n : {5, 6}) queues.send_at(10, request(WrOpcode::kLocalInv, stag_of(n)));
  reads.send_at(10, {Stag{stag_of(7)}});
  firmware.send_at(10, {Stag{stag_of(9)}, region(0, 100, 0)});
  run_until_idle();
  const Cycle first = 10 + kToEnd + t;
  EXPECT_THAT(ended.cycles(), ElementsAre(first + 1 + kToEnd));
  EXPECT_THAT(written.cycles(), ElementsAre(first + t + kToEnd));
  EXPECT_THAT(done.cycles(), ElementsAre(first + 2 * t + 1 + kToEnd, first + 3 * t + 1 + kToEnd));
}
// Each sees what the one before did.
TEST_F(StagWorkTest, ARequestSeesTheOneBefore) {
  queues.send({request(WrOpcode::kLocalInv, stag_of(1)), request(WrOpcode::kLocalInv, stag_of(1)),
               request(WrOpcode::kBindMw, stag_of(4, 1), window(abi::kRemoteRead))});
  run_until_idle();
  std::vector<WcStatus> statuses;
  for (const StagRequestDone& d : done) statuses.push_back(d.status);
  EXPECT_THAT(statuses, testing::UnorderedElementsAre(WcStatus::kSuccess, WcStatus::kMwBindErr, WcStatus::kMwBindErr));
  EXPECT_EQ(dut.counters().requests, 3u);
  EXPECT_EQ(dut.counters().refused, 2u);
  EXPECT_EQ(dut.counters().ended, 1u);
}
// RFC 5040 section 8.1.1: a write that begins after the end was not allowed by the STag. What ends nothing passes.
TEST_F(StagWorkTest, AnEndIsReportedWhenTheWritesBeforeItAreOut) {
  at.at(5, [&] { contexts.in_flight.begin(StagWrites::kPlacement); });
  at.at(50, [&] { contexts.in_flight.begin(StagWrites::kPlacement); });
  at.at(90, [&] { contexts.in_flight.end(StagWrites::kPlacement); });
  put(7, region(0, 100, 0));
  queues.send_at(10, request(WrOpcode::kLocalInv, stag_of(1)));
  reads.send_at(20, {Stag{stag_of(7)}});
  reads.send_at(20, {Stag{stag_of(7)}});
  queues.send_at(30, request(WrOpcode::kRegMr, stag_of(2), {0x4000, 0x200, 0, abi::kLocalWrite}));
  run_until_idle();
  EXPECT_THAT(done.cycles(), ElementsAre(30 + kToEnd + t + kToEnd, 91 + kToEnd));
  EXPECT_THAT(ended.cycles(), ElementsAre(91 + kToEnd, 92 + kToEnd)) << "in their order";
}
TEST_F(StagWorkTest, ARequestOfAnEarlierUseOfTheNumberHasNoEffect) {
  StagRequest earlier = request(WrOpcode::kLocalInv, stag_of(1));
  earlier.epoch = 0;
  queues.send(earlier);
  run_until_idle();
  EXPECT_EQ(done[0].status, WcStatus::kMwBindErr);
  EXPECT_TRUE(valid(1));
}
TEST_F(StagWorkTest, NothingIsLostBehindAnAnswerThatIsNotTaken) {
  done.pause(test::window(0, 200));
  for (std::uint32_t n = 5; n < 16; ++n) {
    put(n, region(0, 100, 0));
    queues.send(request(WrOpcode::kLocalInv, stag_of(n)));
  }
  reads.send_at(30, {Stag{stag_of(1)}});
  firmware.send_at(100, {Stag{stag_of(2)}, region(0, 100, 0)});
  run_until_idle();
  EXPECT_EQ(done.size(), 11u);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(dut.counters().ended, 12u);
  EXPECT_LT(ended.cycles()[0], 200u) << "the other inputs do not wait";
  EXPECT_EQ(written.cycles()[0], 100 + kToEnd + t + kToEnd) << "the firmware may have to make the room";
}

TEST_F(StagWorkTest, FastRegistrationGivesAnAllocatedRegionItsMemoryAndKey) {
  const Registration r{0x4000, 0x200, 0, abi::kLocalWrite | abi::kRemoteWrite};
  EXPECT_EQ(fast_register(stag_of(2, 7), r), WcStatus::kSuccess);
  const StagContext* s = named(contexts, stag_of(2, 7));
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->access, abi::kLocalWrite | abi::kRemoteWrite);
  EXPECT_TRUE(s->contains(0x4000, 0x200));
  EXPECT_FALSE(s->contains(0x4000, 0x201));
  EXPECT_FALSE(s->contains(0x3fff, 1));
  EXPECT_EQ(named(contexts, stag_of(2)), nullptr) << "the old key";
  EXPECT_EQ(fast_register(stag_of(2, 8), r), WcStatus::kMwBindErr) << "while it is valid";
  EXPECT_EQ(invalidate(stag_of(2, 7)), WcStatus::kSuccess);
  EXPECT_EQ(fast_register(stag_of(2, 8), r), WcStatus::kSuccess);
  EXPECT_EQ(named(contexts, stag_of(2, 7)), nullptr) << "keys rotate";
}

TEST_F(StagWorkTest, FastRegistrationThatIsRefused) {
  const Registration r{0x4000, 0x200, 0, abi::kLocalWrite};
  EXPECT_EQ(fast_register(stag_of(1), r), WcStatus::kMwBindErr) << "registered by command";
  EXPECT_EQ(fast_register(stag_of(3), r), WcStatus::kMwBindErr) << "a window";
  EXPECT_EQ(fast_register(stag_of(2), r, 3), WcStatus::kMwBindErr) << "another protection domain";
  EXPECT_EQ(fast_register(stag_of(2), {~0ull, 2, 0, 0}), WcStatus::kMwBindErr) << "beyond the address space";
  EXPECT_EQ(fast_register(stag_of(2), {0x4000, 8, 0, abi::kRemoteWrite}), WcStatus::kMwBindErr)
      << "remote write without local write";
  EXPECT_FALSE(entry(2).valid);
}

TEST_F(StagWorkTest, AZeroBasedRegionCountsFromItsFirstOctet) {
  EXPECT_EQ(fast_register(stag_of(2), {0x4000, 0x200, 0, abi::kRemoteRead | abi::kZeroBased}), WcStatus::kSuccess);
  const StagContext& s = entry(2);
  EXPECT_TRUE(s.contains(0, 0x200));
  EXPECT_FALSE(s.contains(1, 0x200));
  EXPECT_FALSE(s.contains(0x4000, 1));
  EXPECT_EQ(s.piece(stag_of(2), 0x10, 1).address, 0x4010u);
}

TEST_F(StagWorkTest, AWindowOpensAPartOfItsRegion) {
  EXPECT_EQ(bind(stag_of(3, 1), window(abi::kRemoteRead)), WcStatus::kSuccess);
  const StagContext* w = named(contexts, stag_of(3, 1));
  ASSERT_NE(w, nullptr);
  EXPECT_TRUE(w->contains(kAddress + 0x100, 0x80));
  EXPECT_FALSE(w->contains(kAddress + 0xff, 1));
  EXPECT_FALSE(w->contains(kAddress + 0x180, 1));
  EXPECT_EQ(w->access, abi::kRemoteRead);
  EXPECT_TRUE(w->serves(StagUser{Qpn{2}, 1, Pdn{1}})) << "by protection domain";
  EXPECT_FALSE(w->serves(StagUser{Qpn{3}, 1, Pdn{2}}));
  EXPECT_FALSE(w->covers(stag_of(3, 1), Pdn{1}, kAddress + 0x100, 1)) << "no local key";
}

TEST_F(StagWorkTest, AWindowOfTypeOneIsBoundAnewAndUnbound) {
  EXPECT_EQ(bind(stag_of(3, 1), window(abi::kRemoteRead)), WcStatus::kSuccess);
  EXPECT_EQ(bind(stag_of(3, 2), window(abi::kRemoteWrite, kAddress, 8)), WcStatus::kSuccess);
  EXPECT_EQ(named(contexts, stag_of(3, 1)), nullptr);
  EXPECT_EQ(invalidate(stag_of(3, 2)), WcStatus::kMwBindErr) << "only a bind ends it";
  EXPECT_EQ(bind(stag_of(3, 2), window(0, 0, 0)), WcStatus::kSuccess);
  EXPECT_EQ(named(contexts, stag_of(3, 2)), nullptr);
}

TEST_F(StagWorkTest, AWindowOfTypeTwoServesTheQueuePairThatBoundItUntilItIsInvalidated) {
  EXPECT_EQ(bind(stag_of(4, 1), window(abi::kRemoteWrite)), WcStatus::kSuccess);
  EXPECT_TRUE(entry(4).serves(StagUser{Qpn{1}, 1, Pdn{1}}));
  EXPECT_FALSE(entry(4).serves(StagUser{Qpn{2}, 1, Pdn{1}})) << "same domain, another stream";
  EXPECT_EQ(bind(stag_of(4, 2), window(abi::kRemoteWrite)), WcStatus::kMwBindErr) << "while it is valid";
  EXPECT_EQ(invalidate(stag_of(4, 1), 2), WcStatus::kMwBindErr) << "another stream";
  EXPECT_FALSE(entry(4).serves(StagUser{Qpn{1}, 2, Pdn{1}})) << "a later use of the QP number";
  EXPECT_EQ(invalidate(stag_of(4, 1)), WcStatus::kSuccess);
  EXPECT_EQ(bind(stag_of(4, 2), window(abi::kRemoteWrite), 2), WcStatus::kSuccess);
}

TEST_F(StagWorkTest, ABindThatIsRefused) {
  put(5, region(kAddress, kLength, kOwnerRights & ~abi::kMwBind));
  put(6, region(kAddress, kLength, abi::kMwBind));
  put(7, region(kAddress, kLength, kOwnerRights, 2));
  const auto with = [](std::uint32_t lkey, std::uint32_t access) { return Registration{kAddress, 8, lkey, access}; };
  EXPECT_EQ(bind(stag_of(1), window(abi::kRemoteRead)), WcStatus::kMwBindErr) << "a region";
  EXPECT_EQ(bind(stag_of(9), window(abi::kRemoteRead)), WcStatus::kMwBindErr) << "nothing there";
  EXPECT_EQ(bind(stag_of(4), window(abi::kRemoteRead), 3), WcStatus::kMwBindErr) << "another protection domain";
  EXPECT_EQ(bind(stag_of(4), with(stag_of(7), abi::kRemoteRead), 3), WcStatus::kMwBindErr)
      << "with a region of its own";
  EXPECT_EQ(bind(stag_of(4), with(stag_of(7), abi::kRemoteRead)), WcStatus::kMwBindErr) << "another domain's region";
  EXPECT_EQ(bind(stag_of(4), with(stag_of(1, 0), abi::kRemoteRead)), WcStatus::kMwBindErr) << "an old key";
  EXPECT_EQ(bind(stag_of(4), with(stag_of(5), abi::kRemoteRead)), WcStatus::kMwBindErr) << "no bind right";
  EXPECT_EQ(bind(stag_of(4), with(stag_of(6), abi::kRemoteWrite)), WcStatus::kMwBindErr) << "more than the region";
  EXPECT_EQ(bind(stag_of(4), window(abi::kLocalWrite)), WcStatus::kMwBindErr) << "windows have remote rights only";
  EXPECT_EQ(bind(stag_of(4), window(abi::kRemoteRead, kAddress + kLength - 4, 8)), WcStatus::kMwBindErr) << "bounds";
  EXPECT_EQ(bind(stag_of(4), window(abi::kRemoteRead, kAddress - 1, 8)), WcStatus::kMwBindErr) << "bounds";
  EXPECT_FALSE(entry(4).valid);
}

TEST_F(StagWorkTest, ARegionWithWindowsStaysAndWindowsEndWithTheirRegion) {
  EXPECT_EQ(bind(stag_of(4, 1), window(abi::kRemoteRead)), WcStatus::kSuccess);
  EXPECT_EQ(invalidate(stag_of(1)), WcStatus::kMwBindErr);
  EXPECT_FALSE(contexts.stag_table.peek(1)->may_be_invalidated(Stag{stag_of(1)}));
  StagContext gone;
  put(1, gone);  // deregistered by command
  EXPECT_EQ(named(contexts, stag_of(4, 1)), nullptr);
}

TEST_F(StagWorkTest, AZeroBasedWindowOfAZeroBasedRegion) {
  StagContext zero = region(kAddress, kLength, kOwnerRights);
  zero.zero_based = true;
  put(7, zero);
  EXPECT_EQ(bind(stag_of(4), {0x100, 0x80, stag_of(7), abi::kRemoteRead | abi::kZeroBased}), WcStatus::kSuccess);
  EXPECT_TRUE(entry(4).contains(0, 0x80));
  EXPECT_EQ(entry(4).piece(stag_of(4), 1, 1).address, kAddress + 0x101);
}

// Several writes of a cycle may name the same entry. Entries 0 to 2 are regions, whose keys go on; windows are bound to
// a region under its key or the one before.
TEST_F(StagWorkTest, TheWindowsOfARegionAreCountedAsTheSetOfThemSays) {
  constexpr std::uint32_t kRegions = 3, kWindows = 5;
  Prng random(7);
  std::array<std::uint8_t, kRegions> key{};
  std::array<std::set<std::uint32_t>, kRegions> bound;
  unsigned most = 0;
  for (unsigned cycle = 0; cycle < 4000; ++cycle) {
    if (random.below(200) == 0) {
      contexts.reset();
      key = {};
      bound = {};
    }
    for (std::uint64_t writes = random.below(4); writes-- != 0;) {
      StagContext c;
      c.valid = random.below(4) != 0;
      const auto n = static_cast<std::uint32_t>(random.below(kRegions));
      if (random.below(6) == 0 && key[n] != 0xff) {
        const bool anew = random.below(2) != 0;
        key[n] = static_cast<std::uint8_t>(key[n] + anew);
        if (anew) bound[n].clear();
        c.key = key[n];
        contexts.write(Stag{stag_of(n)}, c);
        continue;
      }
      const auto window = static_cast<std::uint32_t>(kRegions + random.below(kWindows));
      const auto named = static_cast<std::uint8_t>(random.below(4) == 0 ? key[n] - random.below(2) : key[n]);
      c.kind = random.below(2) != 0 ? StagKind::kWindow1 : StagKind::kWindow2;
      c.region = stag_of(n, named);
      contexts.write(Stag{stag_of(window)}, c);
      for (std::set<std::uint32_t>& of : bound) of.erase(window);
      if (c.valid && named == key[n]) bound[n].insert(window);
    }
    contexts.commit();
    for (std::uint32_t n = 0; n < kRegions; ++n) {
      ASSERT_EQ(contexts.stag_table.peek(n)->windows, bound[n].size()) << "cycle " << cycle << ", region " << n;
      EXPECT_EQ(contexts.stag_table.peek(n)->has_windows(Stag{stag_of(n, key[n])}), !bound[n].empty());
      EXPECT_FALSE(contexts.stag_table.peek(n)->has_windows(Stag{stag_of(n, static_cast<std::uint8_t>(key[n] + 1))}));
      most = std::max(most, static_cast<unsigned>(bound[n].size()));
    }
  }
  EXPECT_EQ(most, kWindows);
}

TEST_F(StagWorkTest, ARegionMayHaveAsManyWindowsAsThereAreEntries) {
  constexpr std::uint32_t kEntries = 65536 + 2;
  ContextStore large{clk, {4, 4, 4, kEntries}};
  large.write(Stag{stag_of(1)}, region(0, 100, abi::kMwBind));
  StagContext window;
  window.valid = true;
  window.kind = StagKind::kWindow2;
  window.region = stag_of(1);
  for (std::uint32_t n = 2; n < kEntries; ++n) large.write(Stag{stag_of(n)}, window);
  large.commit();
  EXPECT_TRUE(large.stag_table.peek(1)->has_windows(Stag{stag_of(1)}));
}

// Three asks of a cycle take two ports in two cycles, whatever is written meanwhile.
TEST_F(StagWorkTest, WritesOfEntriesGrantNoReads) {
  struct Asker final : Stage {
    Asker(sc_core::sc_module_name nm, ClockDomain& c, ContextStore& contexts) : Stage(nm, c) {
      for (StagTable::Reader* r : {&first, &second, &third}) contexts.stag_table.bind(*r);
      wake(10);
    }
    StagTable::Reader first{*this, "first"}, second{*this, "second"}, third{*this, "third"};
    std::vector<Cycle> uses;
    Wake tick() override {
      for (StagTable::Reader* r : {&first, &second, &third}) {
        if (now() == 10) r->ask(1);
        if (!r->can_use()) continue;
        uses.push_back(now());
        r->drop();
      }
      return Wake::on_traffic();
    }
  };
  Asker asker{"asker", clk, contexts};
  At writer{"writer", clk};
  writer.at(10, [this] {
    for (std::uint32_t n = 1; n < 4; ++n) contexts.write(Stag{stag_of(n)}, region(0, 100, 0));
  });
  run_until_idle();
  EXPECT_THAT(asker.uses, ElementsAre(12, 12, 13));
  EXPECT_EQ(contexts.stag_table.counters().most, 2u);
}

}  // namespace
}  // namespace rnic::test
