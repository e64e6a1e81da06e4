// ddp_placement with fewer rows on the chip than queue pairs, with their home: segments that are parked.
#include <map>
#include <memory>

#include "model/common/prng.h"
#include "model/rnic/context/context_home.h"
#include "model/rnic/rx/ddp_placement.h"
#include "testbench/support/bits.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/llps.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t kQps = 24;   // more than there are places, with the spare ones
constexpr std::uint32_t kShort = 4;  // queue pairs before this one have streams that end
constexpr std::uint64_t kRowBytes = 512, kContextAt = 280, kStateAt = 332;
constexpr std::uint64_t kBuffers = 0x100000, kEach = 0x1000;  // of each queue pair
constexpr std::uint32_t kStag = stag_of(3);
constexpr QpCacheConfig kAll{}, kOne{{1, 1, CachePolicy::kLru, 1, 1}}, kTwo{{2, 2, CachePolicy::kLru, 2, 1}},
    kRandom{{4, 2, CachePolicy::kRandom, 4, 0}}, kSets{{8, 1, CachePolicy::kLru, 8, 1}},
    kObjects{{2, 1, CachePolicy::kLru, 2, 1}, QpFetch::kObject};
constexpr Cycle kHit = RxTableConfig{}.read_cycles + kSets.tag_cycles;

bool on_sctp(std::uint32_t n) { return n % 3 == 2; }
std::uint64_t buffer_of(std::uint32_t n) { return kBuffers + n * kEach; }

Bytes fpdu(Bytes ulpdu) {
  Bytes out(2);
  store_be16(out.data(), static_cast<std::uint16_t>(ulpdu.size()));
  out.insert(out.end(), ulpdu.begin(), ulpdu.end());
  out.resize((out.size() + 3) / 4 * 4 + 4);
  return out;
}
Bytes tagged(const char* control, std::uint32_t stag, std::uint64_t to, std::size_t payload) {
  Bytes h = from_hex(std::string(control) + "00000000 0000000000000000");
  store_be32(&h[2], stag);
  store_be64(&h[6], to);
  h.resize(h.size() + payload, 0xcd);
  return h;
}
Bytes untagged(const char* control, std::uint32_t qn, std::uint32_t msn, std::uint32_t mo, std::size_t payload) {
  Bytes h = from_hex(std::string(control) + "00000000 00000000 00000000 00000000");
  store_be32(&h[6], qn);
  store_be32(&h[10], msn);
  store_be32(&h[14], mo);
  h.resize(h.size() + payload, 0xab);
  return h;
}
Bytes write_to(std::uint32_t n, std::size_t payload) { return tagged("C140", kStag, buffer_of(n), payload); }

struct Chip {
  explicit Chip(const QpCacheConfig& cache, HomeKind kind = HomeKind::kHost,
                unsigned ports = RxTableConfig{}.read_ports, unsigned parked = DdpPlacementConfig{}.parked,
                const CacheConfig& stags = {})
      : clk(sc_core::sc_gen_unique_name("clock"), {}),
        contexts(clk, sizes(cache, kind, ports, stags)),
        home(sc_core::sc_gen_unique_name("context_home"), clk, contexts, of(kind)),
        dut(sc_core::sc_gen_unique_name("dut"), clk, contexts, llp_traits(), DdpPlacementConfig{parked}) {
    for (std::uint32_t index = 3; index < 6; ++index) write_stag(index);
    contexts.commit();
    if (contexts.home_pages() != 0) ops.send({HomeOp::Kind::kHomePage, 0, 0});
    for (std::uint32_t n = 0; n < kQps; ++n) write(n, rts_qp(n));
  }
  // In its home, if it is not on the chip.
  void write_stag(std::uint32_t index) {
    const StagContext c = region(kBuffers, kQps * kEach, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead);
    if (!contexts.stag_table.cached()) return contexts.write(Stag{stag_of(index)}, c);
    StagRow row;
    row.stag = c;
    row.stag.key = static_cast<std::uint8_t>(stag_of(index));
    const std::uint64_t octet = contexts.home_layout()[abi::ContextKind::kStag].base + StagHome::kRowBytes * index;
    StagHome::Row::pack(row, octet, &dma.memory.at(octet));
  }
  // As the firmware does.
  void write(std::uint32_t n, const QpContext& c) {
    if (contexts.rx_table.cached()) {
      HomeOp op{HomeOp::Kind::kWriteQp, n};
      op.qp = c;
      ops.send(op);
    } else {
      contexts.write(Qpn{n}, c);
      contexts.commit();
    }
  }
  static ContextStore::Sizes sizes(const QpCacheConfig& cache, HomeKind kind, unsigned ports,
                                   const CacheConfig& stags) {
    ContextStore::Sizes s{kQps, kQps, kQps, 16, 4, 64};
    s.qp_cache = cache;
    s.stag_cache = stags;
    s.rx_table.read_ports = ports;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  static ContextHomeConfig of(HomeKind kind) {
    ContextHomeConfig config;
    config.kind = kind;
    config.board.latency_ns = 400;
    return config;
  }
  void receive(std::uint32_t n, const Bytes& ulpdu, Cycle from = 0) { beats(n, fpdu(ulpdu), from, false); }
  void end(std::uint32_t n, Cycle from = 0) { beats(n, Bytes(kEndBytes), from, true); }
  // Also announces and fetches one more receive request.
  void post(std::uint32_t n, std::uint32_t bytes) {
    abi::Wqe w;
    w.wr_id = ++posted[n];
    w.num_sge = 1;
    w.sge[0] = {buffer_of(n), bytes, kStag};
    doorbells.send({Qpn{n}, static_cast<std::uint32_t>(w.wr_id)});
    fetch.send({Qpn{n}, true, w});
  }
  // What each queue pair, or the flow of one that has none any more, told the dispatcher.
  std::map<std::uint32_t, std::vector<std::string>> told() const {
    std::map<std::uint32_t, std::vector<std::string>> all;
    for (const PlacedSegment& s : placed) {
      std::string text = std::to_string(static_cast<int>(s.opcode)) + " " + std::to_string(s.octets) + "/" +
                         std::to_string(s.bytes) + " #" + std::to_string(s.wr_id);
      for (const bool flag : {s.last, s.flushed, s.awaits_write, s.opens, s.ended, s.in_order})
        text += flag ? '1' : '0';
      all[s.ended ? s.flow.v : s.qpn.v].push_back(text);
    }
    return all;
  }
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint32_t>>> written() const {
    std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint32_t>>> all;
    for (const DmaWriteRequest& w : writes) all[w.address / kEach].emplace_back(w.address, w.bytes);
    return all;
  }
  std::map<std::uint32_t, std::vector<wire::TerminateCause>> errors() const {
    std::map<std::uint32_t, std::vector<wire::TerminateCause>> all;
    for (const QpEvent& e : events) {
      all[e.qpn.v].push_back(e.cause);
    }
    return all;
  }

  ClockDomain clk;
  ContextStore contexts;
  BufferPool pool{4096};
  ContextHome home;
  DdpPlacement dut;
  std::array<std::uint64_t, kQps> posted{};
  Source<HomeOp> ops = drive(home.ops);
  Sink<HomeEvent> home_events = collect(home.events);
  FakeDma dma{home.read, home.read_done};
  FakeDmaWrite home_writes{home.write, home.write_done, dma.memory};
  Source<FpduBeat> mpa = drive(dut.in[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<FpduBeat> sctp = drive(dut.in[LlpId::kSctp], CurrentUse(contexts));
  Source<RqDoorbell> doorbells = drive(dut.posted);
  Source<FetchedRqe> fetch = drive(dut.rqe, CurrentUse(contexts));
  Source<ReadIssued> reads = drive(dut.read_issued, CurrentUse(contexts));
  Source<ReadResponseSent> answers = drive(dut.answered);
  Source<RqFlush> flushes = drive(dut.flush, CurrentUse(contexts));
  Sink<RqeTaken> given_back = collect(dut.rqe_taken);
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  Sink<PlacedSegment> placed = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others = stub(dut.srq_arm, dut.srq_event);

 private:
  void beats(std::uint32_t n, const Bytes& octets, Cycle from, bool ends) {
    auto beats = cut_fpdu(pool, octets, 64, false, 0, FlowId{n});
    beats.back().crc_ok = true;
    if (ends) beats.back().marker_lane = FpduBeat::kEnds;
    (on_sctp(n) ? sctp : mpa).send_at(from, beats);
  }
};

class PlacementCache : public StageTest {
 protected:
  // The row of a queue pair comes from its home, that of another one makes room.
  static void touch(Chip& chip, std::uint32_t n) { chip.answers.send({Qpn{n}, chip.contexts.epoch(Qpn{n})}); }
};

// Octet for octet, by hand. The lowest bit of each field comes first.
TEST_F(PlacementCache, ARowIsWhereItBelongsWhenItMakesRoom) {
  Chip chip(kOne);
  QpContext c = rts_qp(3, 9);
  c.absorbs_rtr_send = true;
  c.ird = 0x1234;
  c.pd = Pdn{1};
  c.recv_cq = Cqn{5};
  c.first_msn = 7;
  chip.write(3, c);
  run_until_idle();
  chip.post(3, 100);
  run_until_idle();
  chip.receive(3, untagged("4143", 0, 7, 0, 20));
  Bytes request = untagged("4141", 1, 7, 0, 28);
  chip.receive(3, request);
  chip.receive(3, tagged("8140", kStag, buffer_of(3), 33));  // the first part of a Write
  run_until_idle();
  EXPECT_THAT(chip.placed, SizeIs(3));
  for (const std::uint32_t n : {1u, 6u, 2u, 5u, 7u}) chip.receive(n, write_to(n, 4));  // the spare places, too
  for (const std::uint32_t n : {9u, 10u}) touch(chip, n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.rx_table.peek(3), nullptr);
  const std::uint8_t* const context = &chip.dma.memory[3 * kRowBytes + kContextAt];
  EXPECT_EQ(bits_of(context, 0, 3), static_cast<unsigned>(QpState::kRts));
  EXPECT_EQ(bits_of(context, 3, 3), 7u);        // valid, extensions, absorbs_rtr_send
  EXPECT_EQ(bits_of(context, 6, 2), 1u);        // version
  EXPECT_EQ(bits_of(context, 8, 16), 0x1234u);  // ird
  EXPECT_EQ(bits_of(context, 24, 32), 1u);      // pd
  EXPECT_EQ(bits_of(context, 56, 32), 3u);      // flow
  EXPECT_EQ(bits_of(context, 88, 32), 5u);      // recv_cq
  EXPECT_EQ(bits_of(context, 120, 32), 9u);     // epoch
  EXPECT_EQ(bits_of(context, 152, 32), 7u);     // first_msn
  const std::uint8_t* const state = &chip.dma.memory[3 * kRowBytes + kStateAt];
  EXPECT_EQ(load_le32(state), 9u);                     // epoch
  EXPECT_EQ(load_le32(state + 4), 8u);                 // expected MSN of QN 0,
  EXPECT_EQ(load_le32(state + 8), 8u);                 // of QN 1,
  EXPECT_EQ(load_le32(state + 12), 7u);                // and of QN 3
  EXPECT_EQ(load_le32(state + 20), 33u);               // of the tagged message
  EXPECT_EQ(bits_of(state, 7 * 32 + 64, 16), 1u);      // behind the list of Reads: requests
  EXPECT_EQ(bits_of(state, 7 * 32 + 64 + 16, 2), 1u);  // begun
  EXPECT_THAT(chip.home_events, IsEmpty());
}

// Whatever comes in, each queue pair tells and writes what it does on a chip that has all rows.
class PlacementCacheKinds : public PlacementCache, public testing::WithParamInterface<HomeKind> {};
TEST_P(PlacementCacheKinds, EachQueuePairPlacesWhatItDoesWithAllRowsOnTheChip) {
  std::vector<std::unique_ptr<Chip>> chips;
  for (const QpCacheConfig& cache : {kAll, kOne, kTwo, kRandom})
    chips.push_back(std::make_unique<Chip>(cache, GetParam()));
  for (const unsigned ports : {1u, 2u}) chips.push_back(std::make_unique<Chip>(kTwo, GetParam(), ports));
  for (const unsigned parked : {0u, 1u, 3u}) chips.push_back(std::make_unique<Chip>(kRandom, GetParam(), 3, parked));
  chips.push_back(std::make_unique<Chip>(kObjects, GetParam()));
  const auto each = [&chips](auto&& what) {
    for (const auto& chip : chips) what(*chip);
  };
  struct Stream {
    std::uint32_t epoch = 1, sends = 1, requests = 1, reads = 0, unanswered = 0, answers = 0, posted = 0;
    bool over = false;
  };
  std::array<Stream, kQps> streams;
  Prng random(11);
  run_until_idle();
  // What races with segments of its queue pair comes between the rounds.
  for (unsigned round = 0; round < 120; ++round) {
    for (unsigned i = 0; i < 40; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(kQps));
      Stream& s = streams[n];
      if (s.over && on_sctp(n)) continue;  // a session hands up nothing after its end
      const auto bytes = static_cast<std::uint32_t>(random.below(300));
      switch (random.below(10)) {
        case 0:
        case 1:
        case 2:
          each([&](Chip& chip) { chip.receive(n, write_to(n, bytes)); });
          break;
        case 3:
        case 4:
          if (s.posted == 0) break;
          --s.posted;
          each([&](Chip& chip) {
            chip.receive(n, untagged("0143", 0, s.sends, 0, bytes + 1));
            chip.receive(n, untagged("4143", 0, s.sends, bytes + 1, bytes));
          });
          ++s.sends;
          break;
        case 5:
          if (s.unanswered == 4) break;
          ++s.unanswered;
          each([&](Chip& chip) { chip.receive(n, untagged("4141", 1, s.requests, 0, 28)); });
          ++s.requests;
          break;
        case 6:
          if (s.unanswered == s.answers || s.over) break;
          ++s.answers;
          each([&](Chip& chip) { chip.answers.send({Qpn{n}, chip.contexts.epoch(Qpn{n})}); });
          break;
        case 7:
          if (s.reads == 0) break;
          --s.reads;
          each([&](Chip& chip) {
            chip.receive(n, tagged("8142", kStag, buffer_of(n), 100));
            chip.receive(n, tagged("C142", kStag, buffer_of(n) + 100, 60));
          });
          break;
        case 8:
          if (n >= kShort) break;
          each([&](Chip& chip) {
            if (bytes % 2 == 0) chip.end(n);
            else chip.receive(n, tagged("C140", stag_of(9), buffer_of(n), 5));
          });
          s.over = true;
          break;
        default:
          break;
      }
    }
    run_until_idle();
    for (std::uint32_t n = 0; n < kQps; ++n) {
      Stream& s = streams[n];
      if (!s.over && s.reads < 2) {
        each([&](Chip& chip) { chip.reads.send({Qpn{n}, kStag, buffer_of(n), 160}); });
        ++s.reads;
      }
      s.unanswered -= std::exchange(s.answers, 0u);
      for (; !s.over && s.posted < 3; ++s.posted) each([&](Chip& chip) { chip.post(n, 600); });
      if (s.over) each([&](Chip& chip) { chip.flushes.send({Qpn{n}}); });
    }
    run_until_idle();
    for (std::uint32_t n = 0; n < kQps; ++n) {
      if (!streams[n].over) continue;
      const std::uint32_t epoch = streams[n].epoch + 1;
      streams[n] = {};
      streams[n].epoch = epoch;
      each([&](Chip& chip) {
        chip.write(n, rts_qp(n, epoch));
        chip.posted[n] = 0;
      });
    }
    run_until_idle();
    for (const auto& chip : chips) {
      ASSERT_EQ(chip->placed.size(), chips[0]->placed.size()) << "round " << round;
    }
  }
  EXPECT_GT(chips[0]->placed.size(), 3000u);
  EXPECT_GT(chips[0]->events.size(), 10u);
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->told(), chips[0]->told());
    EXPECT_EQ(chip->written(), chips[0]->written());
    EXPECT_EQ(chip->errors(), chips[0]->errors());
    EXPECT_EQ(chip->given_back.size(), chips[0]->given_back.size());
    EXPECT_THAT(chip->home_events, IsEmpty());
    EXPECT_EQ(chip->contexts.rx_table.cache().counters().dirty, chip->home.counters().write_backs);
    if (chip->contexts.rx_table.cached()) {
      EXPECT_GT(chip->home.counters().write_backs, 300u);
    }
  }
  for (std::size_t n = 1; n < chips.size(); ++n) {
    EXPECT_EQ(chips[n]->dut.counters().parked != 0, n != 6) << n;
  }
}
INSTANTIATE_TEST_SUITE_P(Homes, PlacementCacheKinds, testing::Values(HomeKind::kHost, HomeKind::kBoard));

// To the cycle: the row of queue pair 1 takes 500 cycles, and what comes for another one is placed as if it was alone.
class Parked : public PlacementCache, public testing::WithParamInterface<unsigned> {};
TEST_P(Parked, ASegmentLetsThoseOfOthersPass) {
  const unsigned beats = GetParam();
  const std::size_t bytes = beats == 1 ? 8 : 64 * (beats - 1);
  // The second one misses with a segment that needs no entry of an STag.
  std::vector<std::unique_ptr<Chip>> chips;
  for (int i = 0; i < 2; ++i) chips.push_back(std::make_unique<Chip>(kSets));
  run_until_idle();
  for (const auto& chip : chips) {
    chip->dma.latency = 500;
    touch(*chip, 3);
  }
  run_until_idle();
  const Cycle at = chips[0]->clk.now() + 2000;
  chips[0]->receive(1, write_to(1, bytes), at);
  chips[1]->receive(1, tagged("C140", 0, 0, 0), at);
  for (const auto& chip : chips) chip->receive(3, write_to(3, bytes));
  run_until_idle();
  for (std::size_t n = 0; n < chips.size(); ++n) {
    const Chip& chip = *chips[n];
    ASSERT_EQ(chip.placed.size(), 2u);
    EXPECT_EQ(chip.dut.counters().parked, 1u);
    EXPECT_EQ(chip.placed[0].qpn, Qpn{3});
    // That it misses is known in the cycle after the ask; the next one begins after its last beat.
    const Cycle parked = at + kToEnd + std::max<Cycle>(n == 0 ? beats - 1 : 0, 1);
    EXPECT_EQ(chip.placed.cycles()[0], parked + 1 + std::max<Cycle>(beats - 1, kHit) + 1 + kToEnd);
    EXPECT_EQ(chip.placed[1].qpn, Qpn{1});
  }
  // Its STag's entry is asked for when its row is there.
  EXPECT_EQ(chips[0]->placed.cycles()[1], chips[1]->placed.cycles()[1] + StagTableConfig{}.read_cycles);
  EXPECT_GT(chips[1]->placed.cycles()[1], at + 500);
  EXPECT_LT(chips[1]->placed.cycles()[1], at + 500 + 20);
}
INSTANTIATE_TEST_SUITE_P(Beats, Parked, testing::Values(1, 2, 3, 5));

// Those of a queue pair stay in order, and the end of its stream comes after them.
TEST_F(PlacementCache, SegmentsOfAQueuePairStayInOrder) {
  Chip chip(kSets);
  chip.dma.latency = 300;
  run_until_idle();
  for (std::uint32_t i = 0; i < 12; ++i) chip.receive(1, write_to(1, 4 * i));
  chip.end(1);
  chip.receive(4, write_to(4, 4));
  run_until_idle();
  ASSERT_EQ(chip.told().at(1).size(), 13u);
  std::vector<std::uint32_t> bytes;
  for (const PlacedSegment& s : chip.placed) {
    if (s.qpn == Qpn{1} && !s.ended) bytes.push_back(s.bytes);
  }
  for (std::uint32_t i = 0; i < 12; ++i) EXPECT_EQ(bytes[i], 4 * i);
  EXPECT_TRUE(chip.placed[chip.placed.size() - 2].in_order || chip.placed[chip.placed.size() - 1].in_order);
  EXPECT_THAT(chip.errors(), IsEmpty());
}

// With as many parked as there may be, the next one that misses waits at the input, and a row that is there behind it.
class ParkedMost : public PlacementCache, public testing::WithParamInterface<unsigned> {};
TEST_P(ParkedMost, TheNextOneWaitsAtTheInput) {
  const unsigned most = GetParam();
  Chip chip(QpCacheConfig{{{16, 1, CachePolicy::kLru, 16, 1}}}, HomeKind::kHost, 3, most);
  chip.dma.latency = 500;
  run_until_idle();
  touch(chip, 0);
  run_until_idle();
  const Cycle at = chip.clk.now() + 10;
  const std::uint32_t others[] = {1, 3, 4, 6, 7, 9, 10, 12};
  for (unsigned i = 0; i <= most; ++i) chip.receive(others[i], write_to(others[i], 4), at);
  chip.receive(0, write_to(0, 4));
  run_until_idle();
  ASSERT_EQ(chip.placed.size(), most + 2);
  EXPECT_EQ(chip.dut.counters().parked, most);
  for (const Cycle placed : chip.placed.cycles()) EXPECT_GT(placed, at + 500) << "nobody passes one at the input";
}
INSTANTIATE_TEST_SUITE_P(Places, ParkedMost, testing::Values(0, 1, 2, 7));

// What comes over the other lower layer does not wait for one that is parked.
TEST_F(PlacementCache, TheOtherLayerGoesOn) {
  std::vector<std::unique_ptr<Chip>> chips;
  for (const unsigned most : {0u, 1u, 16u}) chips.push_back(std::make_unique<Chip>(kSets, HomeKind::kHost, 3, most));
  run_until_idle();
  for (const auto& chip : chips) {
    chip->dma.latency = 500;
    touch(*chip, 2);
  }
  run_until_idle();
  const Cycle at = chips[0]->clk.now() + 2000;
  for (const auto& chip : chips) {
    chip->receive(1, write_to(1, 4), at);
    chip->receive(2, write_to(2, 4), at + 5);
  }
  run_until_idle();
  for (std::size_t n = 0; n < chips.size(); ++n) {
    ASSERT_EQ(chips[n]->placed.size(), 2u);
    EXPECT_EQ(chips[n]->placed.cycles()[0] < at + 50, n != 0) << "without a place beside it, one keeps its turn";
  }
}

// The number is used again while a segment of its last user is parked: it is on another flow then, and is dropped.
TEST_F(PlacementCache, ASegmentOfTheLastUserIsNotTheNextOnes) {
  constexpr Cycle kFrom = 200, kTo = 300;
  std::vector<std::unique_ptr<Chip>> chips;
  std::vector<std::unique_ptr<At>> firmware;
  for (Cycle reused = kFrom; reused < kTo; ++reused) {
    Chip& chip = *chips.emplace_back(std::make_unique<Chip>(kTwo));
    chip.dma.latency = 60;
    firmware.push_back(std::make_unique<At>(sc_core::sc_gen_unique_name("firmware"), chip.clk));
    firmware.back()->at(reused, [&chip] {
      QpContext c = rts_qp(1, 2);
      c.flow = FlowId{4};
      chip.write(1, c);
    });
    chip.receive(1, write_to(1, 8), kFrom);
    chip.reads.send_at(kFrom, {{Qpn{1}, kStag, buffer_of(1), 4}});
    chip.receive(4, write_to(4, 12), reused + 200);
  }
  run_until_idle();
  unsigned dropped = 0;
  for (std::size_t n = 0; n < chips.size(); ++n) {
    const auto& placed = chips[n]->placed;
    ASSERT_GE(placed.size(), 1u);
    dropped += placed.size() == 1;
    EXPECT_EQ(placed[placed.size() - 1].bytes, 12u);
    EXPECT_TRUE(placed[placed.size() - 1].opens) << "of the next user's stream it is the first";
    EXPECT_THAT(chips[n]->events, IsEmpty());
    chips[n]->writes.clear();
    EXPECT_EQ(chips[n]->pool.in_use(), 0u);
  }
  EXPECT_GT(dropped, 40u);
  EXPECT_LT(dropped, chips.size()) << "one that was judged before";
}

// Nor if the flow is the same one again: after an abort nothing says that its octets have passed.
class FlowUsedAgain : public PlacementCache, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(FlowUsedAgain, ASegmentOfTheLastUserIsNotTheNextOnes) {
  const std::uint32_t n = GetParam();
  constexpr Cycle kFrom = 200;
  std::vector<std::unique_ptr<Chip>> chips;
  std::vector<std::unique_ptr<At>> firmware;
  for (Cycle reused = kFrom + 10; reused < kFrom + 110; ++reused) {
    Chip& chip = *chips.emplace_back(std::make_unique<Chip>(kTwo));
    chip.dma.latency = 60;
    firmware.push_back(std::make_unique<At>(sc_core::sc_gen_unique_name("firmware"), chip.clk));
    firmware.back()->at(reused, [&chip, n] { chip.write(n, rts_qp(n, 2)); });
    chip.receive(n, write_to(n, 8), kFrom);
    chip.end(n, kFrom);
    chip.receive(n, write_to(n, 12), reused + 200);
  }
  run_until_idle();
  unsigned dropped = 0;
  for (const auto& chip : chips) {
    const auto& placed = chip->placed;
    ASSERT_GE(placed.size(), 2u) << "the end of a stream is always passed on";
    dropped += placed.size() == 2;
    EXPECT_EQ(placed[placed.size() - 1].bytes, 12u);
    EXPECT_TRUE(placed[placed.size() - 1].opens) << "of the next user's stream it is the first";
    EXPECT_FALSE(placed.size() == 2 && placed[0].in_order) << "its end is not the next user's";
    EXPECT_THAT(chip->events, IsEmpty());
  }
  EXPECT_GT(dropped, 20u);
  EXPECT_LT(dropped, chips.size()) << "one that was judged before";
}
INSTANTIATE_TEST_SUITE_P(Layers, FlowUsedAgain, testing::Values(1u, 2u));

// What has come and has no place yet counts as well, while sixteen others wait for their rows; a doorbell needs none.
TEST_F(PlacementCache, WhatHasNoPlaceYetComesBeforeASegment) {
  Chip chip(QpCacheConfig{{{8, 1, CachePolicy::kLru, 1, 1}}});
  chip.dma.latency = 100;
  run_until_idle();
  touch(chip, 0);
  run_until_idle();
  const Cycle at = chip.clk.now() + 10;
  unsigned others = 0;
  for (std::uint32_t n = 1; others < 18; ++n) {
    if (n % 8 == 0) continue;  // has the place of queue pair 0
    chip.answers.send_at(at, {{Qpn{n}, chip.contexts.epoch(Qpn{n})}});
    ++others;
  }
  chip.reads.send_at(at + 10, {{Qpn{0}, kStag, buffer_of(0), 40}});
  chip.receive(0, tagged("C142", kStag, buffer_of(0), 40), at + 60);
  const Cycle announced = at + 30;
  abi::Wqe w;
  w.wr_id = 1;
  w.num_sge = 1;
  w.sge[0] = {buffer_of(0), 100, kStag};
  chip.doorbells.send_at(announced, {{Qpn{0}, 1}});
  chip.fetch.send_at(announced, {{Qpn{0}, true, w}});
  chip.receive(0, untagged("4143", 0, 1, 0, 20));
  run_until_idle();
  EXPECT_THAT(chip.errors(), IsEmpty());
  ASSERT_EQ(chip.placed.size(), 2u);
  EXPECT_GT(chip.placed.cycles()[0], at + 200) << "behind fetches of others";
}

// An octet of either part is wrong, or the read fails.
class LostRxRow : public PlacementCache, public testing::WithParamInterface<int> {};
TEST_P(LostRxRow, EndsItsQueuePairUntilItsNumberIsUsedAgain) {
  Chip chip(kOne);
  run_until_idle();
  for (const std::uint32_t n : {1u, 3u}) {
    chip.post(n, 100);
    chip.receive(n, write_to(n, 10));
  }
  run_until_idle();
  for (const std::uint32_t n : {4u, 5u, 6u, 7u, 8u}) chip.receive(n, write_to(n, 4)), touch(chip, n + 6);
  run_until_idle();
  EXPECT_EQ(chip.contexts.rx_table.peek(1), nullptr);
  const std::size_t before = chip.placed.size();
  if (GetParam() >= 0) chip.dma.memory[kRowBytes + static_cast<unsigned>(GetParam())] ^= 4;
  else chip.dma.fails = {static_cast<unsigned>(chip.dma.requests().size())};
  for (const std::uint32_t n : {1u, 3u, 1u, 3u}) chip.receive(n, write_to(n, 10));
  run_until_idle();
  EXPECT_EQ(chip.placed.size(), before + 2) << "the other queue pair goes on";
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_EQ(chip.home_events[0].context, abi::ContextKind::kQp);
  EXPECT_EQ(chip.home_events[0].index, 1u);
  ASSERT_EQ(chip.events.size(), 1u) << "the firmware hears of it once";
  EXPECT_EQ(chip.events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(chip.events[0].qpn, Qpn{1});
  // Whatever comes then is answered.
  chip.reads.send({Qpn{1}, kStag, buffer_of(1), 4});
  touch(chip, 1);
  chip.end(1);
  chip.flushes.send({Qpn{1}, 0, Cqn{9}});
  run_until_idle();
  const std::vector<std::string> told = chip.told().at(1);
  EXPECT_THAT(std::vector(told.end() - 2, told.end()),
              testing::UnorderedElementsAre("3 0/0 #0000010", "3 0/0 #1010000"))
      << "the end of its stream, and its receive request";
  const auto flushed = [](const PlacedSegment& s) { return s.flushed; };
  EXPECT_EQ(std::find_if(chip.placed.begin(), chip.placed.end(), flushed)->recv_cq, Cqn{9});
  EXPECT_EQ(chip.events.size(), 1u);
  // The next user.
  chip.write(1, rts_qp(1, 2));
  run_until_idle();
  chip.receive(1, write_to(1, 6));
  run_until_idle();
  EXPECT_EQ(chip.placed[chip.placed.size() - 1].bytes, 6u);
  EXPECT_TRUE(chip.placed[chip.placed.size() - 1].opens);
  EXPECT_EQ(chip.events.size(), 1u);
  chip.writes.clear();
  EXPECT_EQ(chip.pool.in_use(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Octets, LostRxRow, testing::Values(-1, 280, 286, 307, 308, 320, 332, 350, 379, 380, 399));

// A ring that overruns when its row is lost is reported, and later doorbells are taken.
TEST_F(PlacementCache, AnOverrunOfALostRowHoldsNothingUp) {
  Chip chip(kOne);
  run_until_idle();
  chip.receive(1, write_to(1, 4));
  run_until_idle();
  for (const std::uint32_t n : {4u, 5u, 6u, 7u, 8u}) chip.receive(n, write_to(n, 4)), touch(chip, n + 6);
  run_until_idle();
  chip.dma.memory[kRowBytes + kStateAt] ^= 1;
  chip.doorbells.send({Qpn{1}, 100});
  chip.post(3, 50);
  chip.receive(3, untagged("4143", 0, 1, 0, 20));
  run_until_idle();
  EXPECT_THAT(chip.errors(), SizeIs(1));
  EXPECT_EQ(chip.events[0].qpn, Qpn{1});
  EXPECT_EQ(chip.placed[chip.placed.size() - 1].wr_id, 1u);
}

// Rows of queue pairs and of STags are in spare places, where only a reader's next row is found: what it had asked for
// in vain must not stay in front forever.
TEST_F(PlacementCache, EverySegmentIsPlacedThoughItsStagWasAskedForInVain) {
  constexpr unsigned kSegments = 120;
  std::vector<std::unique_ptr<Chip>> chips;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    Chip& chip = *chips.emplace_back(std::make_unique<Chip>(kOne, HomeKind::kHost, RxTableConfig{}.read_ports, 16u,
                                                            CacheConfig{1, 1, CachePolicy::kLru, 1, 1}));
    Prng random(seed);
    Cycle at = 1000;
    for (unsigned i = 0; i < kSegments; ++i) {
      const auto n = static_cast<std::uint32_t>(random.below(5));
      const std::uint32_t stag = stag_of(3 + static_cast<std::uint32_t>(random.below(3)));
      chip.receive(n, tagged("C140", stag, buffer_of(n), 40 + random.below(100)), at);
      at += random.below(8) == 0 ? random.below(400) : 0;
    }
  }
  run_until_idle();
  for (std::size_t i = 0; i < chips.size(); ++i) {
    EXPECT_EQ(chips[i]->placed.size(), kSegments) << i;
    EXPECT_GT(chips[i]->dut.counters().parked, 20u);
    EXPECT_TRUE(chips[i]->events.empty());
    chips[i]->writes.clear();
    EXPECT_EQ(chips[i]->pool.in_use(), 0u);
  }
}

// Nothing that is parked is left, nor a block of it.
TEST_F(PlacementCache, AResetDropsWhatIsParked) {
  std::vector<std::unique_ptr<Chip>> chips;
  std::vector<std::unique_ptr<At>> resets;
  for (Cycle after = 40; after < 160; ++after) {  // all have arrived
    Chip& chip = *chips.emplace_back(std::make_unique<Chip>(kSets, HomeKind::kBoard));
    resets.push_back(std::make_unique<At>(sc_core::sc_gen_unique_name("reset"), chip.clk));
    for (const std::uint32_t n : {1u, 3u, 2u, 4u, 5u, 6u, 7u}) chip.receive(n, write_to(n, 100), 1000);
    resets.back()->at(1000 + after, [&chip] {
      chip.contexts.reset();
      chip.home.reset();
      chip.dut.reset();
    });
  }
  run_until_idle();
  unsigned parked = 0;
  for (const auto& chip : chips) {
    parked += chip->dut.counters().parked - chip->placed.size() != 0;
    EXPECT_EQ(chip->dut.counters().parked, 7u);
    chip->writes.clear();
    EXPECT_EQ(chip->pool.in_use(), 0u);
  }
  EXPECT_GT(parked, 20u);
}

}  // namespace
}  // namespace rnic::test
