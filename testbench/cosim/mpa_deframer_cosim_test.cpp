#include "model/rnic/rx/mpa_deframer.h"
#include "rtl-stubs/verilated/verilated_mpa_deframer.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/stream_cosim.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stream_segments.h"

namespace rnic::test {
namespace {

constexpr unsigned kFlows = 2048, kBusy = 8, kBeatBytes = sizeof(Vmpa_deframer::in_data_i);

struct DeframerSide : Chain<MpaDeframer, StreamBeat, rtl::MpaDeframerPins> {
  static constexpr const char* kBlock = "mpa_deframer";
  BufferPool frames{pool.block_bytes()};  // the stage removes markers into these
  Sink<RxConsumed> consumed = collect(block.consumed);

  DeframerSide(const std::string& name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(MpaDeframerConfig{}), MpaDeframerConfig{}, DatapathConfig{kBeatBytes},
              kFlows, frames) {}
  void attach_twin() { rtl.emplace(block); }
  void run_as(const Traffic& traffic) {
    Chain::run_as(traffic);
    consumed.pause(traffic.control);
  }
  void clear() {
    Chain::clear();
    consumed.clear();
  }
};

// Of each flow its own, but for what was negotiated.
FlowFacts facts_of(FlowId flow, bool markers, bool crc = true) {
  return {Qpn{0x12340000 + flow.v}, static_cast<std::uint8_t>(0x5a ^ flow.v), markers, crc};
}

// All sides send the same; returns the number of beats.
std::size_t send_segment(const std::vector<DeframerSide*>& sides, Cycle from, FlowId flow, const FlowFacts& facts,
                         ByteSpan octets, std::uint64_t offset) {
  for (DeframerSide* side : sides) {
    auto beats = cut_segment(side->pool, octets, offset, kBeatBytes, flow);
    for (StreamBeat& beat : beats) beat.set(facts);
    side->source.send_at(from, beats);
  }
  return (octets.size() + kBeatBytes - 1) / kBeatBytes;
}

// Interleaved flows, cut anywhere; some markers have a bit error. Some FPDUs are placed already, a few of them where no
// FPDU starts. Sometimes a FIN comes, anywhere; if it comes at a word boundary, the stream then goes on as if there had
// been none.
class RandomStreams {
 public:
  FpdusUnderWay under_way;

  RandomStreams() {
    for (unsigned f = 0; f < kBusy; ++f) begin(f);
  }
  static bool has_markers(unsigned f) { return f % 2 != 0; }
  static bool has_crc(unsigned f) { return f % 3 != 0; }
  static FlowFacts facts(unsigned f) { return facts_of(FlowId{f}, has_markers(f), has_crc(f)); }
  // The flow's stream ends here, perhaps in the middle of an FPDU, and another one begins.
  void begin(unsigned f) {
    under_way.dropped(FlowId{f}, 0);
    streams_[f] = Stream{};
    streams_[f].reference.markers = has_markers(f);
    streams_[f].reference.crc = has_crc(f);
  }
  std::size_t send(Prng& rng, Cycle from, const std::vector<DeframerSide*>& sides) {
    const unsigned f = open_flow(rng);
    Stream& s = streams_[f];
    const bool amid = rng.below(64) == 0 && s.sent % 4 == 0;
    if (rng.below(3) == 0 && (s.pending.empty() || amid)) return send_placed(rng, from, f, sides);
    if (rng.below(32) == 0 && (s.sent % 4 == 0 || over() + 1 < kBusy)) return send_end(from, f, sides);
    if ((s.pending.size() < 9000 && rng.below(3) != 0) || s.pending.empty() || rng.below(4) == 0) grow(f, rng);
    const std::size_t limit = rng.below(4) == 0 ? 9 : rng.below(16) == 0 ? 8960 : 1460;
    const std::size_t most = std::min(limit, s.pending.size());
    const std::size_t bytes = rng.below(4) == 0 ? most : rng.between(1, most);
    const std::size_t beats =
        send_segment(sides, from, FlowId{f}, facts(f), ByteSpan(s.pending).subspan(0, bytes), s.sent);
    s.pending.erase(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(bytes));
    s.sent += bytes;
    return beats;
  }

 private:
  struct Stream {
    MpaReference reference;
    Bytes pending;
    std::uint64_t sent = 0;
    bool over = false;  // after a FIN in the middle of a word
  };
  unsigned over() const {
    return static_cast<unsigned>(
        std::count_if(streams_.begin(), streams_.end(), [](const Stream& s) { return s.over; }));
  }
  unsigned open_flow(Prng& rng) const {
    auto f = static_cast<unsigned>(rng.below(kBusy));
    while (streams_[f].over) f = (f + 1) % kBusy;
    return f;
  }
  // Drops the pending octets: the stream continues after the FPDU.
  std::size_t send_placed(Prng& rng, Cycle from, unsigned f, const std::vector<DeframerSide*>& sides) {
    Stream& s = streams_[f];
    s.pending.clear();
    under_way.dropped(FlowId{f}, s.sent);
    under_way.sent(FlowId{f}, s.sent);
    Bytes header = random_bytes(rng, 16);
    const FlowEnd end{s.reference.markers, static_cast<wire::StreamPosition>(s.sent)};
    const std::size_t ulpdu = 14 + random_ulpdu_bytes(rng, end, kBeatBytes) % (0x10000 - 14);
    store_be16(header.data(), static_cast<std::uint16_t>(ulpdu));
    for (DeframerSide* side : sides) {
      StreamBeat beat = placed_fpdu(side->pool, header, s.sent, FlowId{f});
      beat.set(facts(f));
      side->source.send_at(from, beat);
    }
    FlowEnd next = end;
    next.append(ulpdu);
    s.sent += next.position - end.position;
    s.reference.pos = s.sent;
    return 1;
  }
  std::size_t send_end(Cycle from, unsigned f, const std::vector<DeframerSide*>& sides) {
    Stream& s = streams_[f];
    s.pending.clear();
    under_way.dropped(FlowId{f}, s.sent);
    s.reference.pos = s.sent;
    s.over = s.sent % 4 != 0;
    for (DeframerSide* side : sides) {
      StreamBeat beat = end_of_stream(side->pool, s.sent, FlowId{f});
      beat.set(facts(f));
      side->source.send_at(from, beat);
    }
    return 1;
  }
  void grow(unsigned f, Prng& rng) {
    Stream& s = streams_[f];
    under_way.sent(FlowId{f}, s.reference.pos);
    const FlowEnd end{s.reference.markers, static_cast<wire::StreamPosition>(s.reference.pos)};
    Bytes fpdu = s.reference.fpdu(random_bytes(rng, random_ulpdu_bytes(rng, end, kBeatBytes)));
    const std::size_t marker = wire::octets_to_marker(end.position);
    if (end.markers && marker < fpdu.size() && rng.below(8) == 0) {
      fpdu[marker + rng.below(4)] ^= static_cast<std::uint8_t>(1u << rng.below(8));
    }
    s.pending.insert(s.pending.end(), fpdu.begin(), fpdu.end());
  }
  std::array<Stream, kBusy> streams_;
};

class DeframerCosim : public StreamCosim<DeframerSide, RandomStreams> {
 protected:
  void compare() override {
    expect_same(model.consumed, twin.consumed);
    StreamCosim::compare();
    for (const DeframerSide* side : {&model, &twin}) EXPECT_EQ(side->pool.in_use() + side->frames.in_use(), 0u);
    EXPECT_EQ(model.block.collecting().in_use(), twin.block.collecting().in_use());
    EXPECT_EQ(model.block.counters().fpdus, twin.block.counters().fpdus);
    EXPECT_EQ(model.block.counters().straddling, twin.block.counters().straddling);
    EXPECT_EQ(model.block.counters().markers, twin.block.counters().markers);
    EXPECT_EQ(model.block.counters().bad_markers, twin.block.counters().bad_markers);
  }
  void begin_round(Prng& rng) override { generator.begin(static_cast<unsigned>(rng.below(kBusy))); }
};

TEST_P(DeframerCosim, AgreesInEveryBeatAndEveryCycle) {
  agree(20260105);
  EXPECT_GT(model.block.counters().bad_markers, 0u);
}
TEST_P(DeframerCosim, BehavesAsNewAfterAResetAmidAnFpdu) { agree_after_resets(20260115); }
// FPDUs of up to 2 octets: a stream from its beginning.
void send_small(Prng& rng, Cycle from, const std::vector<DeframerSide*>& sides) {
  MpaReference reference{RandomStreams::has_markers(0), RandomStreams::has_crc(0)};
  for (int segment = 0; segment < 60; ++segment) {
    const std::uint64_t offset = reference.pos;
    Bytes octets;
    for (int i = 0; i < 100; ++i) {
      const Bytes fpdu = reference.fpdu(Bytes(rng.below(3)));
      octets.insert(octets.end(), fpdu.begin(), fpdu.end());
    }
    send_segment(sides, from, FlowId{0}, RandomStreams::facts(0), octets, offset);
  }
}
// A beat with several FPDUs takes one cycle for each.
TEST_P(DeframerCosim, BehavesAsNewAfterAResetAmidABeat) {
  Prng rng = seeded(20260117);
  agree_after_resets_amid(rng, [&](DeframerSide& other) { send_small(rng, clk.now() + 1, {&other}); });
}

// Verilator notes a failed assertion in the context of its thread, not in the block's own.
TEST(VerilatedBlock, AFailedAssertionOfOneOfTwoIsNoticed) {
  rtl::VerilatedBlock<rtl::MpaDeframerPins> first, second;
  first->in_valid_i = first->out_ready_i = first->consumed_ready_i = 1;  // a beat without octets
  for (auto* block : {&first, &second}) {
    (*block)->clk_i = 0;
    (*block)->eval();
  }
  EXPECT_TRUE(second.edge());
  EXPECT_FALSE(first.edge());
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
        const FlowFacts facts = facts_of(flow, markers);
        model.block.set_position(flow, start);
        twin.block.set_position(flow, start);
        send_segment({&model, &twin}, clk.now() + 1, flow, facts, ByteSpan(stream).subspan(0, cut), start);
        send_segment({&model, &twin}, clk.now() + 1, flow, facts, ByteSpan(stream).subspan(cut), start + cut);
      }
    }
    check();
  }
}

// The rest of a segment is in the stage when the flow's next stream is sent, for which something else was negotiated.
TEST_P(DeframerCosim, AgreesOnAStreamBehindAnother) {
  MpaReference old{true, true, 0}, fresh{false, false, 0};
  send_segment({&model, &twin}, clk.now() + 1, FlowId{1}, facts_of(FlowId{1}, true), old.fpdu(counting(1300)), 0);
  while (model.source.cycles().size() < 4) sc_core::sc_start(sc_core::sc_time::from_value(clk.period_ps()));
  send_segment({&model, &twin}, clk.now() + 1, FlowId{1}, facts_of(FlowId{1}, false, false), fresh.fpdu(counting(100)),
               0);
  check();
  EXPECT_EQ(model.block.counters().fpdus, 2u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, DeframerCosim, kTraffics, traffic_name);

using DeframerBoard = DeframerCosim;
TEST_P(DeframerBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree(20260125);
  expect_right();
}
TEST_P(DeframerBoard, IsRightAfterResetsAmidAnFpdu) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree_after_resets(20260135);
  expect_right();
}
TEST_P(DeframerBoard, IsRightAfterResetsAmidABeat) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  Prng rng = seeded(20260137);
  agree_after_resets_amid(rng, [&](DeframerSide& other) { send_small(rng, clk.now() + 1, {&other}); });
  expect_right();
}
// What is complete may leave before the beat that it ends in is taken.
TEST_P(DeframerBoard, IsRightOnSeveralFpdusInABeat) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  Prng rng = seeded(20260126);
  twin.run_as({"full_rate", {}, {}});
  send_small(rng, clk.now() + 1, {&twin});
  check();
  expect_right();
}
INSTANTIATE_TEST_SUITE_P(Once, DeframerBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
