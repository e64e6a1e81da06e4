#include "model/rnic/rx/mpa_deframer.h"

#include <algorithm>
#include <array>
#include <map>

#include "model/rnic/rx/crc_check.h"
#include "testbench/support/mpa_tx_chain.h"
#include "testbench/support/stream_segments.h"

namespace rnic::test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr FlowId kFlow{1}, kMarked{2};

// deframer and crc_check between a source of segments and two sinks.
struct MpaRxChain {
  // Cycles from the first beat of an FPDU to its first output beat, and to the report of its octets. It leaves when its
  // last beat is there.
  static constexpr Cycle through(unsigned beats) {
    return kToEnd + beats + MpaDeframerConfig{}.pipeline_cycles + CrcCheckConfig{}.pipeline_cycles;
  }
  static constexpr Cycle told(unsigned beats) { return kToEnd + beats + beats - 1 + kToEnd; }

  DatapathConfig datapath;
  BufferPool pool{16384};
  std::map<std::uint32_t, FlowFacts> facts;  // by flow
  MpaDeframer deframer;
  CrcCheck crc;
  Netlist net;
  Source<StreamBeat> source = drive(deframer.in, [this](StreamBeat& beat) { beat.set(facts[beat.flow.v]); });
  Sink<RxConsumed> consumed = collect(deframer.consumed);
  Sink<FpduBeat> sink = collect(crc.out, LinkConfig::pipeline(CrcCheckConfig{}));

  explicit MpaRxChain(ClockDomain& clk, unsigned beat_bytes = 64, const std::string& name = "rx", unsigned flows = 8)
      : datapath{beat_bytes},
        deframer((name + "_deframer").c_str(), clk, {}, datapath, flows, pool),
        crc((name + "_crc").c_str(), clk),
        net(name, clk) {
    net.connect(deframer.out, crc.in, "deframed", LinkConfig::pipeline(MpaDeframerConfig{}));
  }
  void set_flow(FlowId flow, bool markers, bool crc_on = true) { facts[flow.v] = {{}, 0, markers, crc_on}; }
  void send(FlowId flow, ByteSpan segment, std::uint64_t offset, Cycle from = 0) {
    source.send_at(from, cut_segment(pool, segment, offset, datapath.beat_bytes, flow));
  }
  std::vector<ReceivedFpdu> received() const { return receive_fpdus(sink.messages(), datapath.beat_bytes); }
  std::vector<Bytes> wires() const {
    std::vector<Bytes> out;
    for (const ReceivedFpdu& fpdu : received()) out.push_back(fpdu.wire);
    return out;
  }
  std::uint64_t consumed_octets(FlowId flow) const {
    std::uint64_t sum = 0;
    for (const RxConsumed& c : consumed) sum += c.flow == flow ? c.bytes : 0;
    return sum;
  }
  void expect_all_returned() const {
    EXPECT_EQ(pool.in_use(), 0u);
    EXPECT_EQ(deframer.collecting().in_use(), 0u);
    EXPECT_EQ(deframer.waiting_for(), "");
  }
};

// FPDUs of one stream, joined.
Bytes stream_of(MpaReference& reference, const std::vector<Bytes>& ulpdus) {
  std::vector<Bytes> fpdus;
  for (const Bytes& ulpdu : ulpdus) fpdus.push_back(reference.fpdu(ulpdu));
  return joined(fpdus);
}

class MpaDeframerTest : public StageTest, public testing::WithParamInterface<unsigned> {
 protected:
  MpaRxChain rx{clk, GetParam()};
  MpaDeframerTest() { rx.set_flow(kMarked, true); }
};
using MpaDeframer64 = MpaDeframerTest;
INSTANTIATE_TEST_SUITE_P(BeatBytes, MpaDeframer64, testing::Values(64u));
INSTANTIATE_TEST_SUITE_P(BeatBytes, MpaDeframerTest, testing::Values(16u, 32u, 64u, 128u));

TEST_P(MpaDeframer64, AnFpduLeavesWhenItsLastOctetIsThere) {
  const Bytes wire = MpaReference{}.fpdu(Bytes(3 * 64 - 6));
  rx.send(kFlow, wire, 0);
  run_until_idle();
  EXPECT_EQ(rx.sink.cycles(), in_a_row(MpaRxChain::through(3), 3));
  EXPECT_THAT(rx.consumed.cycles(), ElementsAre(MpaRxChain::told(3)));  // with the last beat
  EXPECT_EQ(rx.consumed[0].bytes, 192u);
}

TEST_P(MpaDeframer64, AlignedSegmentsFlowAtFullRate) {
  MpaReference reference;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t offset = reference.pos;
    rx.send(kFlow, reference.fpdu(Bytes(i % 2 == 0 ? 24 * 64 - 6 : 58)), offset);
  }
  run_until_idle();
  EXPECT_EQ(rx.sink.cycles(), in_a_row(MpaRxChain::through(24), 10 * 25));
}

TEST_P(MpaDeframer64, EachFpduBoundaryInsideABeatCostsACycle) {
  MpaReference reference;
  rx.send(kFlow, stream_of(reference, {Bytes(10), Bytes(10), Bytes(10), Bytes(10), Bytes(58)}), 0);  // 64 + 64 octets
  run_until_idle();
  EXPECT_EQ(rx.source.cycles(), in_a_row(0, 2));
  EXPECT_EQ(rx.sink.cycles(), in_a_row(MpaRxChain::through(1), 5));
}

// 6 + 4 slots after the stage, 2 FPDUs in it and 4 slots before it are full. The sink takes again in cycle 40,
// crc_check in 41. The deframer sends in 42, takes in 43 a beat that completes an FPDU, and the source has credit in
// 44.
TEST_P(MpaDeframer64, AQueueThatWasFullCompletesNothingInTheCycleInWhichItSends) {
  MpaReference reference;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t offset = reference.pos;
    rx.send(kFlow, reference.fpdu(Bytes(58)), offset);
  }
  rx.sink.pause(window(0, 40));
  run_until_idle();
  EXPECT_THAT(rx.source.cycles(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 44, 45, 46, 47));
  EXPECT_EQ(rx.sink.cycles().back(), 40u + 19u);
}

TEST_P(MpaDeframerTest, WithoutMarkersAnFpduInsideASegmentStaysWhereItIs) {
  MpaReference reference;
  const auto beats = cut_segment(rx.pool, stream_of(reference, {counting(300), counting(500)}), 0, GetParam(), kFlow);
  rx.source.send(beats);
  run_until_idle();
  EXPECT_EQ(rx.pool.in_use(), 1u);
  const auto fpdus = rx.received();
  ASSERT_EQ(fpdus.size(), 2u);
  EXPECT_EQ(fpdus[0].data, beats[0].data);
  EXPECT_EQ(fpdus[1].data, beats[0].data + fpdus[0].wire.size());
  rx.expect_all_returned();
}

// Worked by hand, each on its own flow at its own position.
TEST_P(MpaDeframerTest, TakesTheWorkedExamplesApart) {
  struct Example {
    bool markers;
    std::uint64_t position;
    Bytes wire, words;
  };
  const std::vector<Example> examples = {
      {false, 0, from_hex("0004 DEADBEEF 0000 4AD5C925"), from_hex("0004 DEADBEEF 0000 4AD5C925")},
      {true, 0, from_hex("00000000 0004 DEADBEEF 0000 9DD28182"), from_hex("0004 DEADBEEF 0000 9DD28182")},
      {true, 504, from_hex("0004 DEADBEEF 0000 00000008 0C4D6AB8"), from_hex("0004 DEADBEEF 0000 0C4D6AB8")},
      {false, 0, from_hex("0001 55 00 9717DC70"), from_hex("0001 55 00 9717DC70")},
      {false, 0, from_hex("0003 55AA01 000000 13EEEABA"), from_hex("0003 55AA01 000000 13EEEABA")},
      {false, 0, from_hex("000E C140 00000000 0000000000000000 A30572AB"),
       from_hex("000E C140 00000000 0000000000000000 A30572AB")},
      {true, 0,
       from_hex("00000000 002a4143 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000"
                "00000000 52239983"),
       from_hex("002a4143 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000"
                "52239983")},
      {true, 492,
       from_hex("002a4143 00000000 00000000 00000002 00000000 00000014 00000000 00000000 00000000 00000000 00000000"
                "00000000 84925898"),
       from_hex("002a4143 00000000 00000000 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000"
                "84925898")},
  };
  for (std::uint32_t i = 0; i < examples.size(); ++i) {
    rx.set_flow(FlowId{i}, examples[i].markers);
    rx.deframer.set_position(FlowId{i}, examples[i].position);
    rx.send(FlowId{i}, examples[i].wire, examples[i].position, 1);
  }
  run_until_idle();
  const auto fpdus = rx.received();
  ASSERT_EQ(fpdus.size(), examples.size());
  for (std::size_t i = 0; i < fpdus.size(); ++i) {
    EXPECT_EQ(fpdus[i].words, examples[i].words) << "example " << i;
    EXPECT_EQ(fpdus[i].wire, examples[i].wire) << "example " << i;
    EXPECT_TRUE(fpdus[i].marker_ok && fpdus[i].crc_ok) << "example " << i;
  }
  rx.expect_all_returned();
}

// Worked by hand: markers travel beside the words.
TEST_P(MpaDeframer64, MarkersTravelBesideTheWordTheyStoodBefore) {
  MpaReference reference{true, true, 0};
  rx.send(kMarked, stream_of(reference, {Bytes(1218), Bytes(276), Bytes(26)}), 0);
  run_until_idle();
  std::vector<std::array<unsigned, 3>> markers;  // beat, lane, FPDUPTR
  for (unsigned i = 0; i < rx.sink.size(); ++i) {
    const FpduBeat& b = rx.sink[i];
    if (b.marker_lane != FpduBeat::kNoMarker) markers.push_back({i, b.marker_lane, load_be32(b.marker)});
  }
  // Words 0, 127 and 254 of 306. The third FPDU starts at 1236 + 284; its word 4 follows the marker at 1536.
  EXPECT_THAT(markers, ElementsAre(std::array{0u, 0u, 0u}, std::array{7u, 15u, 508u}, std::array{15u, 14u, 1020u},
                                   std::array{25u, 4u, 16u}));
  rx.received();
}

TEST_P(MpaDeframer64, AMarkerThatDisagreesIsToldButTheLengthFieldCounts) {
  const auto with_marker = [&](std::uint32_t flow, const char* marker) {
    rx.set_flow(FlowId{flow}, true, false);
    Bytes wire = MpaReference{true, false, 0}.fpdu(counting(600));
    const Bytes octets = from_hex(marker);
    std::copy(octets.begin(), octets.end(), wire.begin() + 512);
    rx.send(FlowId{flow}, wire, 0);
  };
  with_marker(0, "000001FC");  // 508
  with_marker(1, "000001F8");
  with_marker(2, "000001FF");  // the two low bits count as 0
  with_marker(3, "ABCD01FC");  // the reserved half is ignored
  with_marker(4, "00000000");
  run_until_idle();
  std::vector<bool> ok;
  for (const ReceivedFpdu& fpdu : rx.received()) {
    ok.push_back(fpdu.marker_ok);
    EXPECT_EQ(fpdu.words.size(), 608u);
  }
  EXPECT_THAT(ok, ElementsAre(true, false, true, true, false));
  EXPECT_EQ(rx.deframer.counters().bad_markers, 2u);
}

// A short stream around a marker, cut in two at each of its octets: in the length field, in the marker, in the CRC.
TEST_P(MpaDeframer64, EveryCutOfAStreamInTwoGivesTheSame) {
  MpaRxChain many(clk, 64, "many", 2048);
  std::map<FlowId, std::vector<Bytes>> expected, got;
  for (const bool markers : {false, true}) {
    MpaReference reference{markers, true, 492};
    const std::vector<Bytes> fpdus = {reference.fpdu(counting(42)), reference.fpdu(counting(3)),
                                      reference.fpdu(counting(450)), reference.fpdu(counting(70))};
    const Bytes stream = joined(fpdus);
    for (std::size_t cut = 1; cut < stream.size(); ++cut) {
      const FlowId flow{static_cast<std::uint32_t>(2 * cut + markers)};
      many.set_flow(flow, markers);
      many.deframer.set_position(flow, 492);
      many.send(flow, ByteSpan(stream).subspan(0, cut), 492, 1);
      many.send(flow, ByteSpan(stream).subspan(cut), 492 + cut, 1);
      expected[flow] = fpdus;
    }
  }
  run_until_idle();
  for (const ReceivedFpdu& fpdu : many.received()) {
    got[fpdu.flow].push_back(fpdu.wire);
    EXPECT_TRUE(fpdu.marker_ok && fpdu.crc_ok);
  }
  EXPECT_EQ(got, expected);
  many.expect_all_returned();
}

TEST_P(MpaDeframerTest, TheLargestFpduStraddlesManySegments) {
  Prng rng(5);
  for (const bool markers : {false, true}) {
    const FlowId flow = markers ? kMarked : kFlow;
    MpaReference reference{markers, true, 0};
    const std::vector<Bytes> fpdus = {reference.fpdu(random_bytes(rng, 65535)),
                                      reference.fpdu(random_bytes(rng, 65534))};
    const Bytes stream = joined(fpdus);
    const std::size_t before = rx.sink.size();
    for (std::size_t at = 0; at < stream.size(); at += 1459) {
      rx.send(flow, ByteSpan(stream).subspan(at, 1459), at, clk.now() + 1);
    }
    run_until_idle();
    const auto& beats = rx.sink.messages();
    const auto got = receive_fpdus({beats.begin() + static_cast<std::ptrdiff_t>(before), beats.end()}, GetParam());
    ASSERT_EQ(got.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(got[i].wire, fpdus[i]);
      EXPECT_TRUE(got[i].marker_ok && got[i].crc_ok);
    }
    EXPECT_EQ(rx.consumed_octets(flow), stream.size());
  }
  EXPECT_EQ(rx.deframer.counters().straddling, 4u);
  rx.expect_all_returned();
}

// Several flows, with interleaved segments that are cut anywhere.
struct Stream {
  MpaReference reference;
  std::vector<Bytes> fpdus;
  Bytes octets;
  std::size_t sent = 0;
};

// The same random traffic for any chain.
std::vector<Stream> send_random_traffic(MpaRxChain& rx, std::uint64_t seed) {
  Prng rng(seed);
  std::vector<Stream> streams(6);
  for (std::uint32_t f = 0; f < streams.size(); ++f) {
    Stream& s = streams[f];
    s.reference.markers = f % 2 != 0;
    s.reference.crc = f != 4;
    rx.set_flow(FlowId{f}, s.reference.markers, s.reference.crc);
    for (int i = 0; i < 60; ++i) {
      const std::size_t size = rng.below(3) == 0   ? rng.below(20)
                               : rng.below(3) == 0 ? rng.below(6000)
                                                   : rng.below(1460);
      s.fpdus.push_back(s.reference.fpdu(random_bytes(rng, size)));
    }
    s.octets = joined(s.fpdus);
  }
  const auto pending = [](const Stream& s) { return s.sent < s.octets.size(); };
  while (std::any_of(streams.begin(), streams.end(), pending)) {
    const auto f = static_cast<std::uint32_t>(rng.below(streams.size()));
    Stream& s = streams[f];
    if (!pending(s)) continue;
    const ByteSpan segment =
        ByteSpan(s.octets).subspan(s.sent, rng.below(4) == 0 ? rng.between(1, 9) : rng.between(1, 1460));
    rx.send(FlowId{f}, segment, s.sent);
    s.sent += segment.size();
  }
  return streams;
}

void expect_streams(const MpaRxChain& rx, const std::vector<Stream>& streams) {
  std::vector<std::vector<Bytes>> got(streams.size());
  for (const ReceivedFpdu& fpdu : rx.received()) {
    got[fpdu.flow.v].push_back(fpdu.wire);
    EXPECT_TRUE(fpdu.marker_ok && fpdu.crc_ok);
    EXPECT_EQ(fpdu.crc_on, streams[fpdu.flow.v].reference.crc);
  }
  for (std::uint32_t f = 0; f < streams.size(); ++f) {
    ASSERT_EQ(got[f], streams[f].fpdus) << "flow " << f;
    EXPECT_EQ(rx.consumed_octets(FlowId{f}), streams[f].octets.size());
  }
  rx.expect_all_returned();
}

TEST_P(MpaDeframerTest, AnyCutAndAnyInterleavingGiveTheSameFpdus) {
  const auto streams = send_random_traffic(rx, 2026);
  run_until_idle();
  expect_streams(rx, streams);
}

TEST_P(MpaDeframerTest, BackpressureOnEitherOutputLosesNothing) {
  const auto streams = send_random_traffic(rx, 77);
  rx.sink.pause(at_random(1, 50));
  rx.source.pause(at_random(2, 30));
  rx.consumed.pause(every(40, 39));
  run_until_idle();
  expect_streams(rx, streams);
}

TEST_P(MpaDeframerTest, OrderOfCallsDoesNotMatter) {
  ClockDomain shuffled_clk("shuffled_clk", {});
  shuffled_clk.shuffle(4);
  MpaRxChain shuffled(shuffled_clk, GetParam(), "shuffled");
  for (MpaRxChain* chain : {&rx, &shuffled}) {
    send_random_traffic(*chain, 3);
    chain->sink.pause(at_random(5, 30));
    chain->consumed.pause(at_random(6, 60));
  }
  run_until_idle();
  EXPECT_EQ(shuffled.sink.cycles(), rx.sink.cycles());
  EXPECT_EQ(shuffled.consumed.cycles(), rx.consumed.cycles());
  EXPECT_EQ(shuffled.wires(), rx.wires());
}

TEST_P(MpaDeframerTest, ANewStreamForgetsHalfAnFpduAndItsBuffer) {
  MpaReference first{true, true, 0}, second{true, true, 0};
  const Bytes half = first.fpdu(counting(3000)), whole = second.fpdu(counting(100));
  rx.send(kMarked, ByteSpan(half).subspan(0, 1000), 0);
  run_until_idle();
  EXPECT_EQ(rx.deframer.collecting().in_use(), 1u);
  EXPECT_EQ(rx.pool.in_use(), 0u);
  rx.send(kMarked, whole, 0, clk.now() + 5);
  run_until_idle();
  EXPECT_THAT(rx.wires(), ElementsAre(whole));
  rx.expect_all_returned();
}

// The rest of a segment is in the stage when the number's next use is known.
TEST_P(MpaDeframerTest, ANewStreamBeginsBehindTheOldOnesLastSegment) {
  MpaReference first, second;
  const Bytes old = first.fpdu(counting(1000)), fresh = second.fpdu(counting(100));
  rx.send(kFlow, old, 0);
  rx.source.pause(window(2, 50));
  sc_core::sc_start(sc_core::sc_time::from_value(20 * clk.period_ps()));
  rx.send(kFlow, fresh, 0, clk.now() + 1);
  run_until_idle();
  EXPECT_THAT(rx.wires(), ElementsAre(old, fresh));
  rx.expect_all_returned();
}

TEST_P(MpaDeframer64, OctetsOutOfOrderAreABug) {
  rx.send(kFlow, MpaReference{}.fpdu(counting(100)), 4);
  EXPECT_THAT([&] { run_until_idle(); }, testing::ThrowsMessage<sc_core::sc_report>(testing::HasSubstr("offset")));
}

// Framer, inserter and CRC of the transmit side; segments cut anywhere; deframer and check.
TEST_P(MpaDeframerTest, WhatTheTransmitSideSendsComesBack) {
  MpaTxChain tx(clk, GetParam());
  Prng rng(123);
  std::vector<std::vector<Bytes>> ulpdus(8);
  for (std::uint32_t f = 0; f < 8; ++f) {
    tx.set_flow(FlowId{f}, f % 2 != 0, f % 3 != 0);
    rx.set_flow(FlowId{f}, f % 2 != 0, f % 3 != 0);
  }
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t f = rng.below(8);
    ulpdus[f].push_back(random_bytes(rng, rng.below(wire::mulpdu(1460, f % 2 != 0) + 1)));
    tx.send(FlowId{static_cast<std::uint32_t>(f)}, ulpdus[f].back());
  }
  run_until_idle();
  std::vector<Bytes> streams(8);
  for (const SentFpdu& fpdu : tx.sent()) {
    Bytes& s = streams[fpdu.flow.v];
    s.insert(s.end(), fpdu.wire.begin(), fpdu.wire.end());
  }
  for (std::uint32_t f = 0; f < 8; ++f) {
    for (std::size_t at = 0; at < streams[f].size();) {
      const ByteSpan segment = ByteSpan(streams[f]).subspan(at, rng.between(1, 1460));
      rx.send(FlowId{f}, segment, at, clk.now() + 1);
      at += segment.size();
    }
  }
  run_until_idle();
  std::vector<std::vector<Bytes>> got(8);
  for (const ReceivedFpdu& fpdu : rx.received()) {
    EXPECT_TRUE(fpdu.marker_ok && fpdu.crc_ok);
    got[fpdu.flow.v].push_back(Bytes(&fpdu.words[2], &fpdu.words[2] + load_be16(fpdu.words.data())));
  }
  EXPECT_EQ(got, ulpdus);
  EXPECT_EQ(tx.pool.in_use(), 0u);
  rx.expect_all_returned();
}

// Length field and tagged DDP header of an FPDU whose payload is placed.
Bytes placed_header(std::uint16_t ulpdu_length) {
  Bytes header = from_hex("0000 C140 00000000 0000000000000000");
  store_be16(header.data(), ulpdu_length);
  return header;
}

// Its single beat leaves like an FPDU of one beat, and counts as all octets of the FPDU.
TEST_P(MpaDeframer64, WhatIsPlacedPassesAsItsHeader) {
  rx.source.send(placed_fpdu(rx.pool, placed_header(1442), 0, kFlow));
  run_until_idle();
  EXPECT_THAT(rx.sink.cycles(), ElementsAre(MpaRxChain::through(1)));
  EXPECT_THAT(rx.consumed.cycles(), ElementsAre(MpaRxChain::told(1)));
  EXPECT_EQ(rx.consumed[0].bytes, 1448u);
  const auto fpdus = rx.received();
  ASSERT_EQ(fpdus.size(), 1u);
  EXPECT_TRUE(fpdus[0].placed && fpdus[0].crc_ok && fpdus[0].marker_ok);
  EXPECT_EQ(fpdus[0].words, placed_header(1442));
  rx.expect_all_returned();
}

// Whatever precedes and follows it, with markers in all places.
TEST_P(MpaDeframerTest, TheStreamGoesOnBehindWhatIsPlaced) {
  for (const FlowId flow : {kFlow, kMarked}) {
    MpaReference reference{flow == kMarked, true, 0};
    for (std::uint16_t n = 0; n < 200; ++n) {
      const std::uint64_t offset = reference.pos;
      const auto ulpdu_length = static_cast<std::uint16_t>(14 + 7 * n);
      const Bytes fpdu = reference.fpdu(Bytes(ulpdu_length));
      const Cycle from = clk.now() + 1;
      if (n % 2 == 0) rx.send(flow, fpdu, offset, from);
      else rx.source.send_at(from, placed_fpdu(rx.pool, placed_header(ulpdu_length), offset, flow));
    }
    run_until_idle();
    const auto fpdus = rx.received();
    ASSERT_EQ(fpdus.size(), 200u);
    for (std::size_t n = 0; n < 200; ++n) {
      EXPECT_TRUE(fpdus[n].crc_ok && fpdus[n].marker_ok) << n;
      EXPECT_EQ(fpdus[n].placed, n % 2 != 0);
      EXPECT_EQ(fpdus[n].words.size() == 16, n % 2 != 0);
    }
    EXPECT_EQ(rx.consumed_octets(flow), reference.pos);
    rx.sink.clear();
    rx.expect_all_returned();
  }
}

// A framing that was accepted without markers, but was not the stream's.
TEST_P(MpaDeframerTest, WhatIsPlacedAmidAnFpduIsAFramingError) {
  const Bytes begun = MpaReference{}.fpdu(Bytes(500));
  rx.send(kFlow, ByteSpan(begun).subspan(0, 300), 0);
  rx.source.send(placed_fpdu(rx.pool, placed_header(100), 300, kFlow));
  run_until_idle();
  const auto fpdus = rx.received();
  ASSERT_EQ(fpdus.size(), 1u);
  EXPECT_TRUE(fpdus[0].placed && fpdus[0].crc_ok);
  EXPECT_FALSE(fpdus[0].marker_ok);
  rx.expect_all_returned();
}

// The FIN is one beat, after the last FPDU, and has no octets in the stream.
TEST_P(MpaDeframer64, TheFinLeavesBehindTheLastFpduInItsOwnBeat) {
  const Bytes fpdu = MpaReference{}.fpdu(Bytes(500));
  rx.send(kFlow, fpdu, 0);
  rx.source.send(end_of_stream(rx.pool, fpdu.size(), kFlow));
  run_until_idle();
  const auto fpdus = rx.received();
  ASSERT_EQ(fpdus.size(), 2u);
  EXPECT_FALSE(fpdus[0].ends);
  EXPECT_TRUE(fpdus[1].ends && fpdus[1].crc_ok && fpdus[1].marker_ok);
  EXPECT_EQ(rx.sink.cycles().back() - rx.sink.cycles()[rx.sink.cycles().size() - 2], 1u);
  EXPECT_EQ(rx.consumed_octets(kFlow), fpdu.size());
  EXPECT_EQ(rx.deframer.counters().fpdus, 1u);
  rx.expect_all_returned();
}
TEST_P(MpaDeframerTest, AFinAmidAnFpduIsAFramingErrorWhereverItCutsIt) {
  for (const FlowId flow : {kFlow, kMarked}) {
    for (std::size_t cut = 1; cut < 80; ++cut) {
      const Bytes fpdu = MpaReference{flow == kMarked, true, 0}.fpdu(Bytes(70));
      rx.set_flow(flow, flow == kMarked);
      const Cycle from = clk.now() + 1;
      const std::size_t there = std::min(cut, fpdu.size());
      rx.send(flow, ByteSpan(fpdu).subspan(0, there), 0, from);
      rx.source.send_at(from, end_of_stream(rx.pool, there, flow));
      run_until_idle();
      const auto fpdus = rx.received();
      ASSERT_EQ(fpdus.size(), there == fpdu.size() ? 2u : 1u) << cut;
      EXPECT_TRUE(fpdus.back().ends && fpdus.back().crc_ok);
      EXPECT_EQ(fpdus.back().marker_ok, there == fpdu.size()) << cut;
      rx.sink.clear();
      rx.expect_all_returned();
    }
  }
  EXPECT_EQ(rx.deframer.counters().bad_markers, 0u);
}

}  // namespace
}  // namespace rnic::test
