// rdmap_segmenter with fewer rows on the chip than queue pairs, with their home.
#include <map>
#include <memory>

#include "model/common/prng.h"
#include "model/rnic/context/context_home.h"
#include "model/rnic/tx/rdmap_segmenter.h"
#include "testbench/support/bits.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/llps.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t kQps = 24;  // more than there are places, with the spare ones
constexpr std::uint32_t kRich = 4;  // queue pairs from this one on have credit for all that they send
constexpr std::uint32_t kPlenty = 1u << 20;
constexpr std::uint64_t kRowBytes = 512, kContextAt = 208, kStateAt = 0;
constexpr QpCacheConfig kAll{}, kOne{{1, 1, CachePolicy::kLru, 1, 1}}, kTwo{{2, 2, CachePolicy::kLru, 2, 1}},
    kRandom{{4, 2, CachePolicy::kRandom, 4, 0}}, kObjects{{2, 1, CachePolicy::kLru, 2, 1}, QpFetch::kObject};

struct Chip {
  Chip(const QpCacheConfig& cache, HomeKind kind, unsigned ports = TxTableConfig{}.read_ports,
       const RdmapSegmenterConfig& config = {})
      : clk(sc_core::sc_gen_unique_name("clock"), {}),
        contexts(clk, sizes(cache, kind, ports)),
        home(sc_core::sc_gen_unique_name("context_home"), clk, contexts, of(kind)),
        dut(sc_core::sc_gen_unique_name("dut"), clk, contexts, pool, llp_traits(), config) {
    contexts.write(Stag{stag_of(3)}, region(0x10000, 0x10000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(8)}, region(0, 0x10000, abi::kRemoteRead));
    contexts.commit();
    if (contexts.home_pages() != 0) ops.send({HomeOp::Kind::kHomePage, 0, 0});
    for (std::uint32_t n = 0; n < kQps; ++n) write(n, qp(n));
  }
  static QpContext qp(std::uint32_t n, std::uint32_t epoch = 1) {
    QpContext c = rts_qp(n, epoch);
    c.mulpdu = 128;
    return c;
  }
  // As the firmware does.
  void write(std::uint32_t n, const QpContext& c) {
    if (contexts.tx_table.cached()) {
      HomeOp op{HomeOp::Kind::kWriteQp, n};
      op.qp = c;
      ops.send(op);
    } else {
      contexts.write(Qpn{n}, c);
      contexts.commit();
    }
  }
  static ContextStore::Sizes sizes(const QpCacheConfig& cache, HomeKind kind, unsigned ports) {
    ContextStore::Sizes s{kQps, kQps, 4, 16, 4, 64};
    s.qp_cache = cache;
    s.tx_table.read_ports = ports;
    s.home_in_host = kind == HomeKind::kHost;
    return s;
  }
  static ContextHomeConfig of(HomeKind kind) {
    ContextHomeConfig config;
    config.kind = kind;
    return config;
  }
  void post(std::uint32_t n, WrOpcode op, std::uint32_t bytes, unsigned flags = abi::kWqeSignaled) {
    abi::Wqe w;
    w.opcode = op;
    w.flags = static_cast<std::uint8_t>(flags);
    if (bytes != 0) w.sge[w.num_sge++] = {0x10000, bytes, stag_of(3)};
    w.rkey = 0x12345678;
    w.remote_address = 4096;
    w.wr_id = ++posted;
    fetch.send({Qpn{n}, true, w});
  }
  void read(std::uint32_t n, std::uint32_t bytes) {
    responder.send({Qpn{n}, {0x100, 0x2000, bytes, stag_of(8), 0x7000}, {}, 1});
  }
  // The headers of what each QP has sent, and where the payload is.
  std::map<std::uint32_t, std::vector<std::string>> sent() const {
    std::map<std::uint32_t, std::vector<std::string>> all;
    for (const UlpduJob& j : jobs) {
      const std::uint8_t* const at = j.ulpdu.buf->bytes() + Ulpdu::kOffset;
      std::string text(at, at + j.header_bytes);
      for (unsigned i = 0; i < j.pieces; ++i) {
        text += " " + std::to_string(j.piece[i].address) + "+" + std::to_string(j.piece[i].bytes);
      }
      all[j.qpn.v].push_back(text + " @" + std::to_string(j.ulpdu.position));
    }
    return all;
  }
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, WcStatus>>> completed() const {
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, WcStatus>>> all;
    for (const WqeIssued& c : completions) all[c.qpn.v].emplace_back(c.wr_id, c.status);
    return all;
  }

  ClockDomain clk;
  ContextStore contexts;
  BufferPool pool{4096};
  ContextHome home;
  RdmapSegmenter dut;
  std::uint64_t posted = 0;
  Source<HomeOp> ops = drive(home.ops);
  Sink<HomeEvent> home_events = collect(home.events);
  FakeDma dma{home.read, home.read_done};
  FakeDmaWrite writes{home.write, home.write_done, dma.memory};
  Source<FetchedWqe> fetch = drive(dut.wqe, CurrentUse(contexts));
  Sink<WqeTaken> given_back = collect(dut.taken);
  Source<TxCredit> tcp = drive(dut.credit[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<TxUnblock> rx = drive(dut.unblock, CurrentUse(contexts));
  Source<ReadWork> responder = drive(dut.read_work);
  Source<AtomicWork> alu = drive(dut.atomic_work);
  Sink<ReadResponseSent> responses = collect(dut.read_sent);
  Source<TxInternalWork> firmware = drive(dut.internal_work, CurrentUse(contexts));
  Source<TerminateMessage> generator = drive(dut.terminate, CurrentUse(contexts));
  Sink<RqFlush> receive_flushes = collect(dut.flush_rq);
  Sink<UlpduJob> jobs = collect(dut.out);
  Sink<WqeIssued> completions = collect(dut.issued);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others =
      stub(dut.credit[LlpId::kSctp], dut.atomic_unblock, dut.sink_unblock, dut.answered, dut.atomic_issued,
           dut.read_issued, dut.read_issued_early, dut.stag_request, dut.stag_request_done);
};

class SegmenterCache : public StageTest {
 protected:
  // The row of a queue pair comes from its home, that of another one makes room.
  static void touch(Chip& chip, std::uint32_t n) { chip.tcp.send({FlowId{n}, 1}); }
};

// Octet for octet, by hand. The lowest bit of each field comes first.
TEST_F(SegmenterCache, ARowIsWhereItBelongsWhenItMakesRoom) {
  Chip chip(kOne, HomeKind::kHost);
  QpContext c = Chip::qp(3, 9);
  c.state = QpState::kRts;
  c.responder = true;
  c.ord = 0x1234;
  c.pd = Pdn{77};
  chip.write(3, c);
  run_until_idle();
  chip.tcp.send({FlowId{3}, 0x12345});
  chip.rx.send({{TxUnblock::Kind::kRequest, Qpn{3}}, {TxUnblock::Kind::kFirstFpdu, Qpn{3}}});
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u, 5u}) touch(chip, n);  // the spare places, too
  run_until_idle();
  const std::uint8_t* const row = &chip.dma.memory[3 * kRowBytes + kContextAt];
  EXPECT_EQ(bits_of(row, 0, 3), static_cast<unsigned>(QpState::kRts));
  EXPECT_EQ(bits_of(row, 3, 1), 1u);         // valid
  EXPECT_EQ(bits_of(row, 4, 1), 1u);         // responder
  EXPECT_EQ(bits_of(row, 8, 16), 128u);      // behind extensions and version: mulpdu
  EXPECT_EQ(bits_of(row, 24, 16), 0x1234u);  // ord
  EXPECT_EQ(bits_of(row, 40, 32), 77u);      // pd
  EXPECT_EQ(bits_of(row, 72, 32), 3u);       // flow
  EXPECT_EQ(bits_of(row, 104, 32), 9u);      // epoch
  const std::uint8_t* const state = &chip.dma.memory[3 * kRowBytes + kStateAt];
  EXPECT_EQ(load_le32(state), 9u);                 // epoch
  constexpr unsigned kDue = 32 + 2 * 64 + 2 * 25;  // behind the lists
  EXPECT_EQ(bits_of(state, kDue, 16), 1u);
  constexpr unsigned kMessage = 4 + 1 + 1 + 3 + 5 * 32 + 64, kSource = 64 + 25 + 32;
  constexpr unsigned kCredit = kDue + 3 * 16 + 2 * kMessage + kSource;
  EXPECT_EQ(bits_of(state, kCredit, 36), 0x12345u);
  EXPECT_EQ(bits_of(state, kCredit + 36 + 32, 32), 1u);         // behind position: the next MSN of QN 0
  EXPECT_EQ(bits_of(state, kCredit + 36 + 4 * 32 + 6, 1), 1u);  // behind terminate_bytes: unfenced
  EXPECT_THAT(chip.home_events, IsEmpty());
}

// Whatever the queue pairs do, each sends and completes what it does on a chip that has all rows.
class SegmenterCacheKinds : public SegmenterCache, public testing::WithParamInterface<HomeKind> {};
TEST_P(SegmenterCacheKinds, EachQueuePairSendsWhatItDoesWithAllRowsOnTheChip) {
  std::vector<std::unique_ptr<Chip>> chips;
  for (const QpCacheConfig& cache : {kAll, kOne, kTwo, kRandom, kObjects})
    chips.push_back(std::make_unique<Chip>(cache, GetParam()));
  for (const QpCacheConfig& cache : {kAll, kTwo}) chips.push_back(std::make_unique<Chip>(cache, GetParam(), 1));
  for (const RdmapSegmenterConfig& config : {RdmapSegmenterConfig{5, 1}, RdmapSegmenterConfig{16, 64}}) {
    for (const QpCacheConfig& cache : {kAll, kTwo})
      chips.push_back(std::make_unique<Chip>(cache, GetParam(), 2, config));
  }
  Prng random(7);
  std::array<std::uint32_t, kQps> epochs;
  epochs.fill(1);
  run_until_idle();
  for (const auto& chip : chips) {
    for (std::uint32_t n = kRich; n < kQps; ++n) chip->tcp.send({FlowId{n}, 16 * kPlenty});
  }
  run_until_idle();
  for (unsigned round = 0; round < 150; ++round) {
    const std::uint64_t kind = random.below(12);
    const std::uint64_t seed = random.below(1u << 30);
    for (const auto& chip : chips) {
      Prng same(seed);
      for (std::uint32_t n = 0; n < kQps; ++n) {
        const auto bytes = static_cast<std::uint32_t>(same.below(500));
        if (same.below(2) == 0) continue;
        if (kind < 4) {
          for (unsigned i = 0; i < 3; ++i) chip->post(n, i % 2 == 0 ? WrOpcode::kSend : WrOpcode::kRdmaWrite, bytes);
        } else if (kind == 4) {
          chip->post(n, WrOpcode::kRdmaRead, bytes + 1);
        } else if (kind == 5) {
          chip->rx.send({TxUnblock::Kind::kReadDone, Qpn{n}});
        } else if (kind == 6 && n >= kRich) {
          chip->alu.send({Qpn{n}, {bytes, seed}, {}, 1});
        } else if (kind == 7) {
          chip->firmware.send({Qpn{n}, TxInternalWork::Kind::kDrain});
        } else if (kind == 8 && n < 2) {
          chip->firmware.send({Qpn{n}, TxInternalWork::Kind::kFlush});
        } else if (kind == 9 && n < 3) {
          chip->write(n, Chip::qp(n, epochs[n] + 1));
        } else {
          chip->tcp.send({FlowId{n}, bytes});
        }
      }
    }
    if (kind == 9) {
      Prng same(seed);
      for (std::uint32_t n = 0; n < kQps; ++n) {
        same.below(500);
        if (same.below(2) != 0 && n < 3) ++epochs[n];
      }
    }
    run_until_idle();
    for (const auto& chip : chips) {
      ASSERT_EQ(chip->jobs.size(), chips[0]->jobs.size()) << "round " << round << ", kind " << kind;
    }
  }
  EXPECT_GT(chips[0]->jobs.size(), 300u);
  for (const auto& chip : chips) {
    EXPECT_EQ(chip->sent(), chips[0]->sent());
    EXPECT_EQ(chip->completed(), chips[0]->completed());
    EXPECT_EQ(chip->receive_flushes.size(), chips[0]->receive_flushes.size());
    EXPECT_EQ(chip->responses.size(), chips[0]->responses.size());
    EXPECT_EQ(chip->given_back.size(), chips[0]->given_back.size());
    EXPECT_THAT(chip->home_events, IsEmpty());
    EXPECT_EQ(chip->contexts.tx_table.cache().counters().dirty, chip->home.counters().write_backs);
    if (chip->contexts.tx_table.cached()) {
      EXPECT_GT(chip->home.counters().write_backs, 300u);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Homes, SegmenterCacheKinds, testing::Values(HomeKind::kHost, HomeKind::kBoard));

// All at once, with one place: nobody waits for another one's row.
TEST_F(SegmenterCache, EveryRequestIsSentHoweverManyThereAre) {
  Chip chip(kOne, HomeKind::kHost);
  chip.jobs.pause(every(3, 1));
  chip.completions.pause(every(5, 2));
  run_until_idle();
  for (std::uint32_t n = 0; n < kQps; ++n) {
    chip.tcp.send({FlowId{n}, kPlenty});
    for (unsigned i = 0; i < 20; ++i) chip.post(n, WrOpcode::kSend, 150 + n);
    chip.read(n, 300);
  }
  run_until_idle();
  EXPECT_EQ(chip.jobs.size(), kQps * (20 * 2 + 3));
  EXPECT_EQ(chip.responses.size(), kQps);
  for (const auto& [qpn, done] : chip.completed()) EXPECT_THAT(done, SizeIs(20)) << qpn;
}

// Events of others, and their turns, pass one whose row is fetched. With a row in each set.
TEST_F(SegmenterCache, AMissOfOneQueuePairDoesNotStopAnother) {
  Chip chip(QpCacheConfig{{{4, 1, CachePolicy::kLru, 4, 1}}}, HomeKind::kHost);
  chip.dma.latency = 500;
  run_until_idle();
  chip.tcp.send({FlowId{2}, kPlenty});
  run_until_idle();
  const Cycle at = chip.clk.now() + 10;
  chip.tcp.send_at(at, {FlowId{1}, kPlenty});
  chip.tcp.send_at(at + 1, {FlowId{2}, kPlenty});
  chip.post(1, WrOpcode::kSend, 10);
  chip.post(2, WrOpcode::kSend, 10);
  run_until_idle();
  ASSERT_EQ(chip.jobs.size(), 2u);
  EXPECT_EQ(chip.jobs[0].qpn, Qpn{2});
  EXPECT_LT(chip.jobs.cycles()[0], at + 50);
  EXPECT_EQ(chip.jobs[1].qpn, Qpn{1});
  EXPECT_GE(chip.jobs.cycles()[1], at + 500);
  EXPECT_LT(chip.jobs.cycles()[1], at + 600) << "the row was fetched once";
}

// The number is used again while an event of its last user waits for the row.
TEST_F(SegmenterCache, AnEventOfTheLastUserIsNotTheNextOnes) {
  constexpr Cycle kFrom = 100, kTo = 160;
  std::vector<std::unique_ptr<Chip>> chips;
  std::vector<std::unique_ptr<At>> firmware;
  for (Cycle reused = kFrom; reused < kTo; ++reused) {
    Chip& chip = *chips.emplace_back(std::make_unique<Chip>(kTwo, HomeKind::kHost));
    chip.dma.latency = 30;
    firmware.push_back(std::make_unique<At>(sc_core::sc_gen_unique_name("firmware"), chip.clk));
    firmware.back()->at(reused, [&chip] { chip.write(1, Chip::qp(1, 2)); });
    chip.tcp.send_at(kFrom, {FlowId{1}, 1000});
    chip.tcp.send_at(reused + 60, {FlowId{1}, 2 + 18 + 4});  // a Send
  }
  run_until_idle();
  for (const auto& chip : chips) {
    for (unsigned i = 0; i < 2; ++i) chip->post(1, WrOpcode::kSend, 0);
  }
  run_until_idle();
  for (std::size_t n = 0; n < chips.size(); ++n) {
    EXPECT_EQ(chips[n]->jobs.size(), 1u) << "credit of the last user is left, " << n;
    EXPECT_EQ(chips[n]->completions.size(), 1u);
  }
}

// An octet of a part is wrong: of the segmenter's own, or of those of other tables of the transmit side.
class LostTxRow : public SegmenterCache, public testing::WithParamInterface<unsigned> {};
TEST_P(LostTxRow, EndsItsQueuePairUntilItsNumberIsUsedAgain) {
  Chip chip(kOne, HomeKind::kHost);
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u}) chip.post(n, WrOpcode::kSend, 10);  // without credit
  run_until_idle();
  for (const std::uint32_t n : {3u, 4u, 5u, 6u}) touch(chip, n);
  run_until_idle();
  EXPECT_EQ(chip.contexts.tx_table.peek(1), nullptr);
  chip.dma.memory[kRowBytes + GetParam()] ^= 4;
  for (const std::uint32_t n : {1u, 2u}) chip.tcp.send({FlowId{n}, kPlenty});
  run_until_idle();
  EXPECT_THAT(chip.sent(), SizeIs(1)) << "the other queue pair goes on";
  EXPECT_EQ(chip.jobs[0].qpn, Qpn{2});
  ASSERT_EQ(chip.home_events.size(), 1u);
  EXPECT_EQ(chip.home_events[0].context, abi::ContextKind::kQp);
  EXPECT_EQ(chip.home_events[0].index, 1u);
  ASSERT_EQ(chip.events.size(), 1u);
  EXPECT_EQ(chip.events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(chip.events[0].qpn, Qpn{1});
  // Whatever the firmware does then is answered; it hears of the loss once.
  chip.post(1, WrOpcode::kSend, 10);
  chip.firmware.send({{Qpn{1}, TxInternalWork::Kind::kTerminate, wire::rdma::kLocalCatastrophic},
                      {Qpn{1}, TxInternalWork::Kind::kFlush, {}, Cqn{9}}});
  run_until_idle();
  EXPECT_EQ(chip.events.size(), 1u);
  ASSERT_EQ(chip.receive_flushes.size(), 1u);
  EXPECT_EQ(chip.receive_flushes[0].recv_cq, Cqn{9});
  std::vector<WqeIssued::Marker> marks;
  for (const WqeIssued& c : chip.completions) {
    if (c.qpn == Qpn{1}) marks.push_back(c.marker);
  }
  EXPECT_THAT(marks, ElementsAre(WqeIssued::Marker::kNone, WqeIssued::Marker::kFlush));
  EXPECT_EQ(chip.completed()[1].front().second, WcStatus::kWrFlushErr);
  EXPECT_EQ(chip.given_back.size(), 2u);
  // The next user.
  chip.write(1, Chip::qp(1, 2));
  run_until_idle();
  chip.tcp.send({FlowId{1}, kPlenty});
  chip.post(1, WrOpcode::kSend, 10);
  run_until_idle();
  EXPECT_EQ(chip.jobs.size(), 2u);
  EXPECT_EQ(chip.completed()[1].back().second, WcStatus::kSuccess);
  EXPECT_EQ(chip.events.size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Octets, LostTxRow, testing::Values(0, 36, 135, 136, 184, 208, 239, 240, 256, 268, 279));

// A drain that waited in the row is answered.
TEST_F(SegmenterCache, ADrainOfALostRowIsAnswered) {
  Chip chip(kOne, HomeKind::kHost);
  run_until_idle();
  chip.post(1, WrOpcode::kSend, 10);  // without credit
  chip.firmware.send({Qpn{1}, TxInternalWork::Kind::kDrain});
  run_until_idle();
  for (const std::uint32_t n : {3u, 4u, 5u, 6u}) touch(chip, n);
  run_until_idle();
  EXPECT_THAT(chip.completions, IsEmpty());
  chip.dma.memory[kRowBytes + kStateAt] ^= 1;
  chip.post(1, WrOpcode::kSend, 10);
  chip.firmware.send({Qpn{1}, TxInternalWork::Kind::kDrain});
  run_until_idle();
  ASSERT_EQ(chip.completions.size(), 3u);
  EXPECT_EQ(chip.completions[0].marker, WqeIssued::Marker::kDrain);
  EXPECT_EQ(chip.completions[1].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(chip.completions[2].marker, WqeIssued::Marker::kDrain) << "each is answered once";
  EXPECT_EQ(chip.events.size(), 1u);
}
// The firmware hears of all of them, and its work does not wait until it has listened.
TEST_F(SegmenterCache, LostRowsDoNotHoldUpTheFirmwaresWork) {
  constexpr Cycle kListens = 100'000;
  Chip chip(kOne, HomeKind::kHost);
  chip.events.pause(window(0, kListens));
  run_until_idle();
  for (std::uint32_t n = 0; n < kQps; ++n) touch(chip, n);
  run_until_idle();
  for (std::uint32_t n = 0; n < kQps; ++n) chip.dma.memory[n * kRowBytes + kStateAt] ^= 1;
  for (std::uint32_t n = 0; n < 12; ++n) touch(chip, n);
  const Cycle at = chip.clk.now() + 5000;
  ASSERT_LT(at, kListens / 2);
  chip.firmware.send_at(at, {Qpn{3}, TxInternalWork::Kind::kFlush});
  run_until_idle();
  ASSERT_EQ(chip.receive_flushes.size(), 1u);
  EXPECT_LT(chip.receive_flushes.cycles()[0], at + 200);
  EXPECT_GE(chip.events.cycles()[0], kListens);
  EXPECT_EQ(chip.events.size(), chip.home.counters().corrupt);
  EXPECT_GT(chip.events.size(), 8u);
}

}  // namespace
}  // namespace rnic::test
