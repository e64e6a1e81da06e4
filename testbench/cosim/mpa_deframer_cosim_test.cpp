#include "model/rnic/rx/mpa_deframer.h"
#include "rtl-stubs/verilated/mpa_deframer_pins.h"
#include "testbench/cosim/cosim.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stream_segments.h"

namespace rnic::test {
namespace {

constexpr unsigned kFlows = 2048, kBusy = 8;

// Stage or twin, with the pool that the stage takes markers out in.
struct DeframerChain : Chain<MpaDeframer, StreamBeat> {
  Link<RxConsumed> link_consumed;
  Sink<RxConsumed> consumed;
  DeframerChain(const std::string& name, ClockDomain& clk, const ContextStore& contexts, BufferPool& frames)
      : Chain(name, clk, MpaDeframer::output_link({}), MpaDeframerConfig{}, DatapathConfig{}, contexts, frames),
        link_consumed(name + "_consumed", clk, {}),
        consumed((name + "_credit").c_str(), clk) {
    block.consumed(link_consumed);
    consumed.in(link_consumed);
  }
};

// A flow's FPDUs, as far as they are not sent.
struct Stream {
  MpaReference reference;
  Bytes pending;
  std::uint64_t sent = 0;

  std::size_t append(const Bytes& ulpdu) {
    const Bytes fpdu = reference.fpdu(ulpdu);
    pending.insert(pending.end(), fpdu.begin(), fpdu.end());
    return fpdu.size();
  }
};

// The smallest and the largest, the MULPDUs of both usual EMSS, and those that end beside a marker.
std::size_t random_ulpdu_bytes(Prng& rng, const Stream& s) {
  const bool markers = s.reference.markers;
  switch (rng.below(12)) {
    case 0:
      return rng.below(4);
    case 1:
      return wire::mulpdu(1460, markers);
    case 2:
      return rng.below(16) == 0 ? wire::mulpdu(8960, markers) : wire::mulpdu(536, markers);
    case 3:
      return rng.below(64) == 0 ? 0xffff - rng.below(2) : 26 + rng.below(40);
    case 4:
    case 5: {  // its last word ends some words before a marker's place, right there, or behind it
      const std::size_t to_marker = wire::octets_to_marker(static_cast<wire::StreamPosition>(s.reference.pos));
      return to_marker + 508 * rng.between(1, 2) - 4 * rng.below(8) + 14;
    }
    default:
      return rng.below(1460);
  }
}

class DeframerCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  ContextStore contexts{clk, {1, kFlows, 1, 1}};
  BufferPool frames_model{16384}, frames_twin{16384};
  DeframerChain model{"model", clk, contexts, frames_model}, twin{"twin", clk, contexts, frames_twin};
  rtl::Twin<rtl::MpaDeframerPins> rtl{twin.block, contexts};

  DeframerCosim() {
    for (DeframerChain* chain : {&model, &twin}) {
      chain->run_as(GetParam());
      chain->consumed.pause(GetParam().control);
    }
  }
  void set_flow(FlowId flow, const MpaReference& stream, std::uint32_t epoch = 0) {
    FlowContext c;
    c.rx_markers = stream.markers;
    c.crc = stream.crc;
    c.epoch = epoch;
    contexts.write(flow, c);
  }
  std::size_t send(FlowId flow, ByteSpan segment, std::uint64_t offset) {
    const Cycle from = clk.now() + 1;
    const auto beats = cut_segment(model.pool, segment, offset, 64, flow);
    model.source.script(beats, from);
    twin.source.script(cut_segment(twin.pool, segment, offset, 64, flow), from);
    return beats.size();
  }
  void check() {
    run_until_idle();
    expect_same(model.sink, twin.sink);
    expect_same(model.consumed, twin.consumed);
    for (DeframerChain* chain : {&model, &twin}) {
      chain->clear();
      chain->consumed.clear();
    }
    EXPECT_EQ(model.pool.in_use() + frames_model.in_use(), 0u);
    EXPECT_EQ(twin.pool.in_use() + frames_twin.in_use(), 0u);
    EXPECT_EQ(model.block.collecting().in_use(), twin.block.collecting().in_use());
  }
  void expect_equal_counters() const {
    EXPECT_EQ(model.block.fpdus().value(), twin.block.fpdus().value());
    EXPECT_EQ(model.block.straddling().value(), twin.block.straddling().value());
    EXPECT_EQ(model.block.markers().value(), twin.block.markers().value());
    EXPECT_EQ(model.block.bad_markers().value(), twin.block.bad_markers().value());
  }
};

// Flows that are interleaved, cut anywhere, and begin again in the middle of an FPDU; markers with wrong octets.
class RandomStreams {
 public:
  RandomStreams() {
    for (unsigned f = 0; f < kBusy; ++f) begin(f);
  }
  const MpaReference& reference(unsigned f) const { return streams_[f].reference; }
  void begin(unsigned f) {
    streams_[f] = Stream{};
    streams_[f].reference.markers = f % 2 != 0;
    streams_[f].reference.crc = f % 3 != 0;
  }
  struct Segment {
    unsigned flow;
    std::uint64_t offset;
    Bytes octets;
  };
  Segment next(Prng& rng) {
    const auto f = static_cast<unsigned>(rng.below(kBusy));
    Stream& s = streams_[f];
    if (s.pending.size() < 9000 || rng.below(4) == 0) grow(s, rng);
    const std::size_t limit = rng.below(4) == 0 ? 9 : rng.below(16) == 0 ? 8960 : 1460;
    const std::size_t most = std::min(limit, s.pending.size());
    const std::size_t bytes = rng.below(4) == 0 ? most : rng.between(1, most);
    Segment segment{f, s.sent, Bytes(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(bytes))};
    s.pending.erase(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(bytes));
    s.sent += bytes;
    return segment;
  }

 private:
  static void grow(Stream& s, Prng& rng) {
    const std::uint64_t start = s.reference.pos;
    const std::size_t size = s.append(random_bytes(rng, random_ulpdu_bytes(rng, s)));
    const std::size_t marker = wire::octets_to_marker(static_cast<wire::StreamPosition>(start));
    if (!s.reference.markers || marker >= size || rng.below(8) != 0) return;
    s.pending[s.pending.size() - size + marker + rng.below(4)] ^= static_cast<std::uint8_t>(1u << rng.below(8));
  }
  std::array<Stream, kBusy> streams_;
};

TEST_P(DeframerCosim, AgreesInEveryBeatAndEveryCycle) {
  Prng rng = seeded(20260105);
  RandomStreams streams;
  std::array<std::uint32_t, kBusy> epochs{};
  for (unsigned f = 0; f < kBusy; ++f) set_flow(FlowId{f}, streams.reference(f));
  constexpr std::size_t kRound = 4000;
  for (unsigned round = rounds(kRound); round-- > 0 && !HasFatalFailure();) {
    for (std::size_t beats = 0; beats < kRound;) {
      const auto segment = streams.next(rng);
      beats += send(FlowId{segment.flow}, segment.octets, segment.offset);
    }
    check();
    const auto f = static_cast<unsigned>(rng.below(kBusy));
    streams.begin(f);
    set_flow(FlowId{f}, streams.reference(f), ++epochs[f]);
  }
  expect_equal_counters();
  EXPECT_GT(model.block.bad_markers().value(), 10u);
}

// A stream around a marker, and around the wrap of 32-bit positions, cut in two at each of its octets.
TEST_P(DeframerCosim, AgreesForEveryCutOfAStreamInTwo) {
  for (const std::uint64_t start : {std::uint64_t{492}, (std::uint64_t{1} << 32) - 20}) {
    std::uint32_t next = 0;
    for (const bool markers : {false, true}) {
      MpaReference reference{markers, true, start};
      const Bytes stream = joined({reference.fpdu(counting(42)), reference.fpdu(counting(3)),
                                   reference.fpdu(counting(450)), reference.fpdu({}), reference.fpdu(counting(70))});
      for (std::size_t cut = 1; cut < stream.size(); ++cut) {
        const FlowId flow{next++};
        set_flow(flow, reference);
        model.block.set_position(flow, start);
        twin.block.set_position(flow, start);
        send(flow, ByteSpan(stream).subspan(0, cut), start);
        send(flow, ByteSpan(stream).subspan(cut), start + cut);
      }
    }
    check();
  }
  expect_equal_counters();
}

// The rest of a segment that was in the stage when its context changed belongs to the old stream.
TEST_P(DeframerCosim, AgreesOnAnEpochThatChangesInsideASegment) {
  MpaReference old{true, true, 0}, fresh{false, false, 0};
  set_flow(FlowId{1}, old);
  send(FlowId{1}, old.fpdu(counting(1300)), 0);
  sc_core::sc_start(sc_core::sc_time::from_value(12 * clk.period_ps()));
  set_flow(FlowId{1}, fresh, 1);
  send(FlowId{1}, fresh.fpdu(counting(100)), 0);
  check();
  expect_equal_counters();
  EXPECT_EQ(model.block.fpdus().value(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, DeframerCosim, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
