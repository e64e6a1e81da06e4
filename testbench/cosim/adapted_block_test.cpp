// Somebody's RTL in a stage's place, by its port map: what leaves is what the stage gives, in other cycles.
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/mpa_framer_pins.h"
#include "rtl-stubs/verilated/verilated_crc.h"
#include "rtl-stubs/verilated/verilated_terminate_generator.h"
#include "testbench/cosim/stream_cosim.h"
#include "testbench/support/contexts.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/mpa_tx_chain.h"

#include "Vaxis_crc.h"
#include "Vaxis_crc_bug.h"
#include "Vaxis_crc_narrow.h"
#include "Vaxis_framer_block.h"
#include "Vaxis_markers_block.h"
#include "Vfcs_append_block.h"

namespace rnic::test {
namespace {

constexpr unsigned kBeatBytes = sizeof(Vaxis_crc::in_data_i);

ByteSpan octets(const FpduBeat& beat) { return rtl::octets_of(beat); }
ByteSpan octets(const QpEvent&) { return {}; }
ByteSpan octets(const TerminateMessage& m) {
  return {m.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes, m.bytes};
}

// The first difference in content; empty if there is none.
template <class T>
std::string difference(const Sink<T>& stage, const Sink<T>& adapted) {
  if (stage.size() != adapted.size()) return fmt::format("{} messages, not {}", adapted.size(), stage.size());
  const std::vector<Signal> signals = signals_of<T>();
  std::vector<std::uint64_t> s(signals.size()), a(signals.size());
  for (std::size_t i = 0; i < stage.size(); ++i) {
    StoreFields of_stage(s.data()), of_adapted(a.data());
    visit_fields(of_stage, stage[i]);
    visit_fields(of_adapted, adapted[i]);
    for (std::size_t k = 0; k < signals.size(); ++k) {
      if (s[k] != a[k]) return fmt::format("message {}: {} is {}, not {}", i, signals[k].name, a[k], s[k]);
    }
    const ByteSpan of = octets(stage[i]), given = octets(adapted[i]);
    if (!std::equal(of.begin(), of.end(), given.begin())) return fmt::format("message {}: its octets", i);
  }
  return "";
}

template <class Block, class V>
struct Adapted : Chain<Block, FpduBeat, rtl::CrcPins<V, Block>> {
  using Base = Chain<Block, FpduBeat, rtl::CrcPins<V, Block>>;
  Adapted(const std::string& name, ClockDomain& clk) : Base(name, clk, LinkConfig::pipeline(CrcCheckConfig{})) {}
};

// FPDUs with and without markers, CRC and errors, and what stands for one that is placed or for a FIN.
struct Received {
  static std::vector<FpduBeat> fpdu(Prng rng, BufferPool& pool) {
    const bool markers = rng.below(2) != 0, crc_on = rng.below(8) != 0;
    const FlowEnd flow{markers, static_cast<wire::StreamPosition>(4 * rng.below(1024))};
    MpaReference reference{markers, true, flow.position};
    Bytes wire = reference.fpdu(random_octets(rng, random_ulpdu_bytes(rng, flow, kBeatBytes)));
    if (rng.below(4) == 0) wire[rng.below(wire.size())] ^= static_cast<std::uint8_t>(1u << rng.below(8));
    const unsigned kind = static_cast<unsigned>(rng.below(8));
    if (kind < 2) wire = random_octets(rng, kind == 0 ? 16 : 4);
    const FlowId id{static_cast<std::uint32_t>(rng.below(65536))};
    auto beats = cut_fpdu(pool, wire, kBeatBytes, markers && kind >= 2, flow.position, id);
    for (FpduBeat& b : beats) {
      b.crc_on = crc_on;
      if (kind < 2) b.marker_lane = kind == 0 ? FpduBeat::kPlaced : FpduBeat::kEnds;
    }
    return beats;
  }
};

// FPDUs to be sealed: the field's octets are there, and stay as they are without CRC.
struct Framed {
  static std::vector<FpduBeat> fpdu(Prng rng, BufferPool& pool) {
    const FlowEnd flow{rng.below(2) != 0, static_cast<wire::StreamPosition>(4 * rng.below(1024))};
    MpaReference reference{flow.markers, false, flow.position};
    const Bytes wire = reference.fpdu(random_octets(rng, random_ulpdu_bytes(rng, flow, kBeatBytes)));
    auto beats = cut_fpdu(pool, wire, kBeatBytes, false, 0, FlowId{static_cast<std::uint32_t>(rng.below(8))});
    const bool crc_on = rng.below(4) != 0;
    for (FpduBeat& b : beats) b.crc_on = crc_on;
    beats.back().completes_wqe = rng.below(2) != 0;
    return beats;
  }
};

template <class Block, class V, class Traffic>
class Adaptation : public StageTest {
 protected:
  Adaptation() { adapted.rtl.emplace(adapted.block); }
  void send(Prng& rng) {
    const Prng same(rng.next());
    stage.source.send(Traffic::fpdu(same, stage.pool));
    adapted.source.send(Traffic::fpdu(same, adapted.pool));
  }
  std::string compare() {
    run_until_idle();
    const std::string text = difference(stage.sink, adapted.sink);
    compared += stage.sink.size();
    stage.clear();
    adapted.clear();
    return text;
  }
  // A block that was stopped and reset in the middle of an FPDU goes on as a new one.
  void agrees_after_resets(std::uint64_t seed) {
    Prng rng = seeded(seed);
    std::deque<Adapted<Block, V>> others;
    for (int i = 0; i < 6; ++i) {
      Adapted<Block, V>& other = others.emplace_back("other" + std::to_string(i), clk);
      other.rtl.emplace(other.block);
    }
    for (Adapted<Block, V>& other : others) {
      for (int k = 0; k < 20; ++k) other.source.send(Traffic::fpdu(Prng(rng.next()), other.pool));
      sc_core::sc_start(sc_core::sc_time::from_value(rng.between(10, 100) * clk.period_ps()));
      other.block.be_replaced(stopped_);
      adapted.rtl->take_over(*other.rtl);
      for (int k = 0; k < 20; ++k) send(rng);
      ASSERT_EQ(compare(), "");
    }
    EXPECT_GT(compared, 500u);
  }
  // Under each pattern.
  void agrees(std::uint64_t seed) {
    Prng rng = seeded(seed);
    const test::Traffic patterns[] = {{"full_rate", {}, {}},
                                      {"back_pressure", {}, every(3, 2), every(40, 39)},
                                      {"long_stall", {}, every(1000, 300), every(1300, 300)},
                                      {"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)}};
    for (const test::Traffic& pattern : patterns) {
      stage.run_as(pattern);
      adapted.run_as(pattern);
      for (int i = 0; i < 150; ++i) send(rng);
      ASSERT_EQ(compare(), "") << pattern.name;
    }
    EXPECT_GT(compared, 5000u);
  }
  Adapted<Block, V> stage{"stage", clk}, adapted{"adapted", clk};
  std::size_t compared = 0;

 private:
  Stopped stopped_;
};

using AxisCrc = Adaptation<CrcCheck, Vaxis_crc, Received>;
TEST_F(AxisCrc, GivesWhatTheStageGives) {
  agrees(20260501);
  EXPECT_GT(stage.block.counters().bad, 50u);
  EXPECT_EQ(stage.block.counters().bad, adapted.block.counters().bad);
}
using AxisCrcNarrow = Adaptation<CrcCheck, Vaxis_crc_narrow, Received>;
TEST_F(AxisCrcNarrow, GivesWhatTheStageGives) { agrees(20260502); }
using FcsAppend = Adaptation<CrcInsert, Vfcs_append_block, Framed>;
TEST_F(FcsAppend, GivesWhatTheStageGives) { agrees(20260503); }

TEST_F(AxisCrc, BehavesAsNewAfterAReset) { agrees_after_resets(20260511); }
TEST_F(AxisCrcNarrow, BehavesAsNewAfterAReset) { agrees_after_resets(20260512); }
TEST_F(FcsAppend, BehavesAsNewAfterAReset) { agrees_after_resets(20260513); }

// The octets after an FPDU's end count in its CRC.
using AxisCrcBug = Adaptation<CrcCheck, Vaxis_crc_bug, Received>;
TEST_F(AxisCrcBug, IsSeen) {
  Prng rng = seeded(20260504);
  for (int i = 0; i < 50; ++i) send(rng);
  EXPECT_THAT(compare(), testing::HasSubstr("crc_ok is 0, not 1"));
}

// Its octets leave no earlier than it can: three cycles later than the stage, with the adapter's own registers.
TEST_F(AxisCrc, IsLater) {
  Prng rng = seeded(20260505);
  send(rng);
  run_until_idle();
  ASSERT_FALSE(stage.sink.cycles().empty());
  EXPECT_GE(adapted.sink.cycles().front(), stage.sink.cycles().front() + 3);
}

// At full rate it loses no more than the cycles of the markers, which its stream has as words.
TEST_F(AxisCrc, KeepsUp) {
  constexpr int kFpdus = 20, kBeats = 23;
  for (int i = 0; i < kFpdus; ++i) {
    for (auto* side : {&stage, &adapted}) {
      side->source.send(cut_fpdu(side->pool, Bytes(kBeats * kBeatBytes), kBeatBytes, i % 2 != 0, 4));
    }
  }
  run_until_idle();
  const auto cycles = [](const auto& sink) { return sink.cycles().back() - sink.cycles().front(); };
  EXPECT_LE(cycles(adapted.sink), cycles(stage.sink) + kFpdus);
}

// FPDUs that leave with more words, of flows that go on; it gets a word at a time.
struct Markers : Chain<MarkerInserter, FpduBeat, rtl::MarkerInserterPinsOf<Vaxis_markers_block>> {
  BufferPool marked{pool.block_bytes()};
  Markers(const char* name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(MarkerInserterConfig{}), DatapathConfig{kBeatBytes}, marked) {}
};
class AxisMarkers : public StageTest {
 protected:
  AxisMarkers() { adapted.rtl.emplace(adapted.block, adapted.marked); }
  void send(Prng& rng) {
    const std::size_t n = rng.below(4);
    FlowEnd& flow = flows_[n];
    flow.markers = n % 2 != 0;
    MpaReference plain;
    plain.crc = false;
    const std::size_t bytes = random_ulpdu_bytes(rng, flow, kBeatBytes);
    const Bytes wire = plain.fpdu(random_octets(rng, std::min<std::size_t>(bytes, 1500)));
    Ulpdu start;
    start.flow = FlowId{static_cast<std::uint32_t>(n)};
    start.markers = flow.markers;
    start.position = static_cast<std::uint16_t>(flow.position % wire::kMarkerInterval);
    const bool completes = rng.below(2) != 0;
    for (Markers* side : {&stage, &adapted}) {
      auto beats = cut_fpdu(side->pool, wire, kBeatBytes, false, 0, start.flow);
      beats.back().completes_wqe = completes;
      beats.front().set_start(start);
      side->source.send(beats);
    }
    flow.append(std::min<std::size_t>(bytes, 1500));
  }
  Markers stage{"stage", clk}, adapted{"adapted", clk};

 private:
  std::array<FlowEnd, 4> flows_;
};
TEST_F(AxisMarkers, GivesWhatTheStageGives) {
  Prng rng = seeded(20260508);
  for (const test::Traffic& pattern :
       {test::Traffic{"full_rate", {}, {}}, test::Traffic{"long_stall", {}, every(1000, 300), every(1300, 300)},
        test::Traffic{"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)}}) {
    stage.run_as(pattern);
    adapted.run_as(pattern);
    for (int i = 0; i < 100; ++i) send(rng);
    run_until_idle();
    ASSERT_EQ(difference(stage.sink, adapted.sink), "") << pattern.name;
    stage.clear();
    adapted.clear();
  }
  EXPECT_GT(stage.block.counters().markers, 100u);
  EXPECT_EQ(stage.block.counters().markers, adapted.block.counters().markers);
  EXPECT_EQ(adapted.pool.in_use() + adapted.marked.in_use(), 0u);
}

// ULPDUs of any number of octets, read from their memory; it leaves no room for the CRC field.
struct Framers : Chain<MpaFramer, Ulpdu, rtl::MpaFramerPinsOf<Vaxis_framer_block>> {
  Framers(const char* name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(MpaFramerConfig{}), DatapathConfig{kBeatBytes}) {}
};
class AxisFramer : public StageTest {
 protected:
  AxisFramer() { adapted.rtl.emplace(adapted.block); }
  void send(Prng& rng, std::size_t bytes) {
    const Bytes octets = random_octets(rng, bytes);
    const FlowId flow{static_cast<std::uint32_t>(rng.below(8))};
    const bool completes = rng.below(2) != 0, markers = rng.below(2) != 0, crc = rng.below(4) != 0;
    const auto position = static_cast<std::uint16_t>(4 * rng.below(128));
    for (Framers* side : {&stage, &adapted}) {
      Ulpdu ulpdu = make_ulpdu(side->pool, octets, flow, completes);
      ulpdu.markers = markers;
      ulpdu.crc = crc;
      ulpdu.position = position;
      side->source.send(std::move(ulpdu));
    }
  }
  void agrees(const char* what) {
    run_until_idle();
    ASSERT_GT(stage.sink.size(), 0u);
    ASSERT_EQ(difference(stage.sink, adapted.sink), "") << what;
    stage.clear();
    adapted.clear();
    EXPECT_EQ(adapted.pool.in_use(), 0u);
  }
  Framers stage{"stage", clk}, adapted{"adapted", clk};
};
TEST_F(AxisFramer, GivesWhatTheStageGives) {
  Prng rng = seeded(20260509);
  for (std::size_t bytes = 0; bytes < 3 * kBeatBytes; ++bytes) send(rng, bytes);
  agrees("each size");
  for (const test::Traffic& pattern :
       {test::Traffic{"long_stall", {}, every(1000, 300), every(1300, 300)},
        test::Traffic{"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)}}) {
    stage.run_as(pattern);
    adapted.run_as(pattern);
    for (int i = 0; i < 60; ++i) send(rng, random_ulpdu_bytes(rng, FlowEnd{}, kBeatBytes) % 2000);
    agrees(pattern.name);
  }
}

// A message for each field of a packed structure, a table beside it, and an asynchronous reset that is active when
// high.
struct Terminates {
  BufferPool pool{1024};
  TerminateGenerator block;
  Source<QpEvent> errors = drive(block.in);
  Sink<TerminateMessage> out = collect(block.out);
  Sink<QpEvent> event = collect(block.event);
  Terminates(const char* name, ClockDomain& clk, const ContextStore& contexts) : block(name, clk, contexts, pool) {}
  void run_as(const test::Traffic& traffic) {
    errors.pause(traffic.produce);
    out.pause(traffic.consume);
    event.pause(traffic.control);
  }
};

class TermMaker : public StageTest {
 protected:
  static constexpr unsigned kQps = 16;
  void SetUp() override {
    for (std::uint32_t n = 0; n < kQps; ++n) open_qp(contexts, n, rts_qp(n));
  }
  // Each queue pair is in use, in one of several epochs, or is not.
  void renew(Prng& rng) {
    for (std::uint32_t n = 0; n < kQps; ++n) {
      QpContext context = rts_qp(n, static_cast<std::uint32_t>(rng.below(4)));
      context.valid = rng.below(8) != 0;
      contexts.write(Qpn{n}, context);
    }
  }
  static QpEvent error(Prng& rng) {
    QpEvent e;
    e.kind = rng.below(2) == 0 ? QpEvent::Kind::kStreamError : QpEvent::Kind::kLocalError;
    e.qpn = Qpn{static_cast<std::uint32_t>(rng.below(kQps))};
    e.cause = {static_cast<wire::Layer>(rng.below(3)), static_cast<std::uint8_t>(rng.below(3)),
               static_cast<std::uint8_t>(rng.below(16))};
    e.failed.length = static_cast<std::uint16_t>(rng.below(8) == 0 ? 0 : rng.next());
    constexpr std::uint8_t kDdpBytes[] = {0, 14, 18};
    e.failed.ddp_bytes = kDdpBytes[rng.below(3)];
    e.failed.request_bytes = e.failed.ddp_bytes != 0 && rng.below(2) == 0 ? 28 : 0;
    for (std::uint8_t& octet : e.failed.octets) octet = static_cast<std::uint8_t>(rng.next());
    e.malformed = rng.below(2) != 0;
    return e;
  }
  ContextStore contexts{clk, {kQps, kQps, 1, 1}};
  Terminates stage{"stage", clk, contexts}, adapted{"adapted", clk, contexts};
  rtl::Twin<rtl::TerminateGeneratorPins> rtl{adapted.block, contexts, adapted.pool, TerminateConfig{}};
};
TEST_F(TermMaker, GivesWhatTheStageGives) {
  Prng rng = seeded(20260506);
  for (const test::Traffic& pattern :
       {test::Traffic{"full_rate", {}, {}}, test::Traffic{"long_stall", {}, every(1000, 700), every(1300, 700)},
        test::Traffic{"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)}}) {
    stage.run_as(pattern);
    adapted.run_as(pattern);
    for (int round = 0; round < 100; ++round) {
      renew(rng);
      for (int i = 0; i < 20; ++i) {
        const QpEvent e = error(rng);
        stage.errors.send(e);
        adapted.errors.send(e);
      }
      run_until_idle();
    }
  }
  EXPECT_GT(stage.out.size(), 400u);
  EXPECT_EQ(difference(stage.out, adapted.out), "");
  EXPECT_EQ(difference(stage.event, adapted.event), "");
}

// Its clock runs while it thinks, though nothing waits on its links.
TEST_F(TermMaker, FinishesWhatCameLast) {
  Prng rng = seeded(20260507);
  adapted.errors.send(error(rng));
  run_until_idle();
  EXPECT_EQ(adapted.out.size(), 1u);
}

}  // namespace
}  // namespace rnic::test
