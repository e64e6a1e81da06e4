#include "model/rnic/rx/early_placement.h"

#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/llps.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stage_test.h"
#include "testbench/support/stream_segments.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr FlowId kPlain{1}, kMarked{2};
constexpr std::uint8_t kRights = abi::kLocalWrite | abi::kRemoteWrite;

Bytes tagged(std::uint32_t stag, std::uint64_t to, const Bytes& payload, const char* control = "C140") {
  Bytes b = from_hex(std::string(control) + "00000000 0000000000000000");
  store_be32(&b[2], stag);
  store_be64(&b[6], to);
  b.insert(b.end(), payload.begin(), payload.end());
  return b;
}
Bytes response(std::uint32_t stag, std::uint64_t to, const Bytes& payload) { return tagged(stag, to, payload, "C142"); }
const Bytes kSend = from_hex("4143 00000000 00000000 00000001 00000000 0102030405060708");

constexpr Cycle kStag = StagTableConfig{}.read_cycles;  // an FPDU waits for the entry of its STag

class EarlyPlacementTest : public StageTest {
 protected:
  ContextStore contexts;
  BufferPool pool{16384};
  At firmware{"firmware", clk};
  EarlyPlacement dut{"dut", clk, {}, contexts, pool, llp_traits()};
  bool crc = true;  // negotiated
  Source<StreamBeat> tcp = drive(dut.in[LlpId::kMpaTcp], [this](StreamBeat& beat) {
    beat.markers = beat.flow == kMarked;
    beat.crc = crc;
    CurrentUse{contexts}(beat);
  });
  Source<ReadIssued> issued = drive(dut.read_issued, CurrentUse(contexts));
  Source<ReadDone> over = drive(dut.read_over, CurrentUse(contexts));
  Sink<EarlyPlaced> told = collect(dut.out[LlpId::kMpaTcp]);
  Source<StreamBeat> sctp = drive(dut.in[LlpId::kSctp], CurrentUse(contexts));
  Sink<EarlyPlaced> sctp_told = collect(dut.out[LlpId::kSctp]);
  Bytes octets = Bytes(1 << 16);
  FakeDmaWrite memory{dut.dma, dut.written, octets};

  explicit EarlyPlacementTest(const ContextStore::Sizes& sizes = {4, 4, 4, 16, 1, 16}) : contexts(clk, sizes) {
    memory.hold = 5;
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, rts_qp(n), n == kMarked.v);
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x1000, kRights));
    contexts.write(Stag{stag_of(4)}, region(0x8000, 0x1000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(5)}, region(0x3000, 0x100, kRights, 2));  // another protection domain
    contexts.commit();
  }
  void send(FlowId flow, const Bytes& segment, std::uint64_t offset, Cycle from = 0) {
    tcp.send_at(from, cut_segment(pool, segment, offset, 64, flow));
  }
  // Sends one FPDU with a marker in its own segment. Returns its size on the wire.
  std::uint32_t send_fpdu(const Bytes& ulpdu, std::uint64_t offset = 4096) {
    MpaReference reference{true, true, offset};
    const Bytes fpdu = reference.fpdu(ulpdu);
    send(kMarked, fpdu, offset);
    return static_cast<std::uint32_t>(fpdu.size());
  }
  Bytes at(std::uint64_t address, std::size_t bytes) const {
    const auto from = octets.begin() + static_cast<std::ptrdiff_t>(address);
    return {from, from + static_cast<std::ptrdiff_t>(bytes)};
  }
  // Offset and octets of the placed FPDUs.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> placed() const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> p;
    for (const EarlyPlaced& e : told) {
      if (e.bytes != 0) p.emplace_back(e.offset, e.bytes);
    }
    return p;
  }
  // Each segment has ended, and nothing is held back.
  void expect_at_rest(std::size_t segments) {
    std::size_t ends = 0;
    for (const EarlyPlaced& e : told) ends += e.last;
    EXPECT_EQ(ends, segments);
    told.clear();
    EXPECT_EQ(pool.in_use(), 0u);
    EXPECT_EQ(dut.headers().in_use(), 0u);
    EXPECT_TRUE(contexts.in_flight.at_rest(StagWrites::kEarly));
    EXPECT_EQ(dut.waiting_for(), "");
  }
  void expect_left_alone() {
    run_until_idle();
    EXPECT_THAT(memory.writes(), IsEmpty());
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].bytes, 0u);
    EXPECT_TRUE(told[0].last);
    expect_at_rest(1);
  }
};

// Three beats: taken in cycles 1 to 3, read again in 4 to 6, checked in 10, its STag looked up meanwhile, written a
// cycle later; reported when the write is out.
TEST_F(EarlyPlacementTest, AnFpduIsWrittenWhenItIsCheckedAndToldWhenItIsWritten) {
  const Bytes payload = counting(192 - 24);
  const std::uint32_t bytes = send_fpdu(tagged(stag_of(3), 0x1010, payload));
  run_until_idle();
  EXPECT_EQ(bytes, 192u);
  EXPECT_THAT(memory.cycles(), ElementsAre(12 + kStag));
  EXPECT_THAT(told.cycles(), ElementsAre(19 + kStag, 20 + kStag));
  EXPECT_THAT(memory.writes(), ElementsAre(std::pair(0x1010, 168)));
  EXPECT_EQ(at(0x1010, 168), payload);
  EXPECT_EQ(told[0].flow, kMarked);
  EXPECT_EQ(told[0].offset, 4096u);
  EXPECT_EQ(told[0].bytes, 192u);
  EXPECT_FALSE(told[0].last);
  EXPECT_TRUE(told[1].last);
  EXPECT_EQ(told[1].offset, 4096u);
  EXPECT_EQ(dut.counters().fpdus, 1u);
  EXPECT_EQ(dut.counters().payload_bytes, 168u);
  expect_at_rest(1);
}

TEST_F(EarlyPlacementTest, TheHeaderStandsForTheFpdu) {
  MpaReference reference{true, true, 512};
  const Bytes ulpdu = tagged(stag_of(3), 0x1000, counting(700));
  const Bytes fpdu = reference.fpdu(ulpdu);
  send(kMarked, fpdu, 512);
  run_until_idle();
  ASSERT_EQ(told.size(), 2u);
  const std::uint8_t* const header = told[0].header->bytes();
  EXPECT_EQ(Bytes(header, header + 16), Bytes(fpdu.begin() + 4, fpdu.begin() + 20)) << "a marker stands before it";
  EXPECT_EQ(at(0x1000, 700), counting(700));
  expect_at_rest(1);
}

// The second segment comes in during work on the first one; segments without a store wait in the link.
TEST_F(EarlyPlacementTest, ASegmentComesInBesideTheOneAtWork) {
  for (unsigned i = 0; i < 4; ++i) send_fpdu(tagged(stag_of(3), 0x1000 + 168 * i, counting(168)), 512 * i);
  run_until_idle();
  EXPECT_THAT(tcp.cycles(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13 + kStag, 14 + kStag));
  EXPECT_THAT(memory.cycles(), ElementsAre(12 + kStag, 15 + 2 * kStag, 23 + 2 * kStag, 26 + 3 * kStag));
  EXPECT_EQ(placed().size(), 4u);
  expect_at_rest(4);
}

TEST_F(EarlyPlacementTest, ARowOfFpdusIsPlacedPieceByPiece) {
  MpaReference reference{true, true, 1024};
  const Bytes row = joined({reference.fpdu(tagged(stag_of(3), 0x1000, counting(30, 1))), reference.fpdu(kSend),
                            reference.fpdu(tagged(stag_of(3), 0x1100, counting(30, 2))),
                            reference.fpdu(tagged(stag_of(3), 0x1200, {}))});
  send(kMarked, row, 1024);
  run_until_idle();
  EXPECT_THAT(placed(), ElementsAre(std::pair(1024, 56), std::pair(1024 + 56 + 32, 52)));
  EXPECT_EQ(at(0x1100, 30), counting(30, 2));
  EXPECT_EQ(dut.counters().untagged, 2u);
  expect_at_rest(1);
}

TEST_F(EarlyPlacementTest, ASegmentInAPageListIsOneWriteThatBringsTheList) {
  StagContext listed = region(0x4000, 0x2000, kRights);
  listed.log_page = 12;
  listed.bus = 0xf00;
  listed.first_page = 2;
  listed.pages = 3;
  contexts.write(Stag{stag_of(6)}, listed);
  contexts.commit();
  send_fpdu(tagged(stag_of(6), 0x4000, counting(0x200)));
  run_until_idle();
  EXPECT_THAT(memory.writes(), ElementsAre(std::pair(0xf00, 0x200)));
  EXPECT_THAT(memory.lists(), ElementsAre(PageList::of(2, 12)));
  EXPECT_EQ(placed().size(), 1u);
  expect_at_rest(1);
}

// The segment begins in the middle of an FPDU that ends in it; the next FPDU has a marker.
TEST_F(EarlyPlacementTest, AMarkerLocatesAnFpduInsideASegment) {
  MpaReference reference{true, true, 300};
  const Bytes first = reference.fpdu(tagged(stag_of(3), 0x1000, counting(400)));
  const std::uint64_t second_at = reference.pos;
  const Bytes second = reference.fpdu(tagged(stag_of(3), 0x1400, counting(600)));
  Bytes segment = joined({first, second});
  segment.erase(segment.begin(), segment.begin() + 101);
  send(kMarked, segment, 401);
  run_until_idle();
  EXPECT_THAT(placed(), ElementsAre(std::pair(second_at, second.size())));
  EXPECT_EQ(at(0x1400, 600), counting(600));
  EXPECT_EQ(at(0x1000, 4), Bytes(4));
  expect_at_rest(1);
}

TEST_F(EarlyPlacementTest, ASegmentThatStartsAmidAnFpduIsNotLocated) {
  MpaReference reference{true, true, 4};
  Bytes segment = reference.fpdu(tagged(stag_of(3), 0x1000, counting(600)));
  segment.erase(segment.begin(), segment.begin() + 8);
  send(kMarked, segment, 12);
  expect_left_alone();
  EXPECT_EQ(dut.counters().not_located, 1u);
}

// A program sends data that look like an RDMA Write, complete and with a correct CRC, and the network cuts its Send
// just there.
class Disguised : public EarlyPlacementTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Markers, Disguised, testing::Bool());
TEST_P(Disguised, APayloadThatLooksLikeAWriteIsNotPlaced) {
  const bool markers = GetParam();
  for (std::uint64_t offset = 516; offset < 992; offset += 4) {  // between two markers
    MpaReference reference{markers, true, offset};
    send(markers ? kMarked : kPlain, reference.fpdu(tagged(stag_of(3), 0x1000, counting(4))), offset);
    run_until_idle();
    EXPECT_THAT(memory.writes(), IsEmpty()) << offset;
  }
  EXPECT_EQ(dut.counters().segments, 119u);
  EXPECT_EQ(dut.counters().not_located, 119u);
  expect_at_rest(119);
}

TEST_F(EarlyPlacementTest, AWrongCrcIsLeftToTheWayInOrder) {
  MpaReference reference{true, true, 0};
  Bytes segment = reference.fpdu(tagged(stag_of(3), 0x1000, counting(400)));
  segment[100] ^= 1;
  send(kMarked, segment, 0);
  expect_left_alone();
  EXPECT_EQ(dut.counters().bad_crc, 1u);
}

TEST_F(EarlyPlacementTest, WithoutCrcAMarkerIsEnough) {
  crc = false;
  send_fpdu(tagged(stag_of(3), 0x1000, counting(400)));
  run_until_idle();
  EXPECT_EQ(placed().size(), 1u);
  EXPECT_EQ(at(0x1000, 400), counting(400));
}

class Invalid : public EarlyPlacementTest {
 protected:
  void expect_invalid(const Bytes& ulpdu) {
    send_fpdu(ulpdu);
    expect_left_alone();
    EXPECT_EQ(dut.counters().invalid, 1u);
  }
};
TEST_F(Invalid, UnknownStag) { expect_invalid(tagged(stag_of(9), 0x1000, counting(4))); }
TEST_F(Invalid, OtherDomain) { expect_invalid(tagged(stag_of(5), 0x3000, counting(4))); }
TEST_F(Invalid, NoRemoteWrite) { expect_invalid(tagged(stag_of(4), 0x8000, counting(4))); }
TEST_F(Invalid, OneOctetBehindTheRegion) { expect_invalid(tagged(stag_of(3), 0x1ffd, counting(4))); }
TEST_F(Invalid, DdpVersion) { expect_invalid(tagged(stag_of(3), 0x1000, counting(4), "C040")); }
TEST_F(Invalid, RdmapVersion) { expect_invalid(tagged(stag_of(3), 0x1000, counting(4), "C100")); }
TEST_F(Invalid, UntaggedOpcode) { expect_invalid(tagged(stag_of(3), 0x1000, counting(4), "C143")); }
TEST_F(Invalid, ReadThatNobodyAskedFor) { expect_invalid(response(stag_of(4), 0x8000, counting(4))); }
TEST_F(Invalid, StreamThatIsOver) {
  QpContext qp = rts_qp(2);
  qp.state = QpState::kTerminate;
  open_qp(contexts, 2, qp, true);
  expect_invalid(tagged(stag_of(3), 0x1000, counting(4)));
}
TEST_F(Invalid, FlowWithoutAQueuePair) {
  QpContext qp = rts_qp(2);
  qp.flow = FlowId{3};
  open_qp(contexts, 2, qp, true);
  expect_invalid(tagged(stag_of(3), 0x1000, counting(4)));
}
// One beat is taken up in cycle 6; its STag is judged when the entry is there, as it is then.
constexpr Cycle kJudged = 6 + kStag;
class StagThatEnds : public EarlyPlacementTest, public testing::WithParamInterface<Cycle> {};
TEST_P(StagThatEnds, AllowsNothingFromTheNextCycleOn) {
  const Cycle ended = GetParam();
  StagWrites::Counts begun{};
  firmware.at(ended, [&] { contexts.write(Stag{stag_of(3)}, StagContext{}); });
  firmware.at(ended + 1, [&] { begun = contexts.in_flight.begun(); });
  send_fpdu(tagged(stag_of(3), 0x1000, counting(4)));
  run_until_idle();
  EXPECT_EQ(placed().size(), ended < kJudged ? 0u : 1u);
  EXPECT_EQ(begun, contexts.in_flight.begun()) << "a write begins after the end of its STag";
  expect_at_rest(1);
}
INSTANTIATE_TEST_SUITE_P(Cycles, StagThatEnds, testing::Range(Cycle{4}, kJudged + 3));

// So does its queue pair, whose row is looked up at the same time.
class StreamThatEnds : public EarlyPlacementTest, public testing::WithParamInterface<Cycle> {};
TEST_P(StreamThatEnds, TakesNothingFromTheNextCycleOn) {
  QpContext ended = rts_qp(kMarked.v);
  ended.state = QpState::kTerminate;
  firmware.at(GetParam(), [&] { contexts.write(Qpn{kMarked.v}, ended); });
  send_fpdu(tagged(stag_of(3), 0x1000, counting(4)));
  run_until_idle();
  EXPECT_EQ(placed().size(), GetParam() < kJudged ? 0u : 1u);
  expect_at_rest(1);
}
INSTANTIATE_TEST_SUITE_P(Cycles, StreamThatEnds, testing::Range(Cycle{4}, kJudged + 3));

// Its octets are the next one's as little, whatever numbers that has.
class StreamOfAnEarlierUse : public EarlyPlacementTest, public testing::WithParamInterface<Cycle> {};
TEST_P(StreamOfAnEarlierUse, IsPlacedForNobody) {
  firmware.at(GetParam(), [&] { contexts.write(Qpn{kMarked.v}, rts_qp(kMarked.v, 2)); });
  MpaReference reference{true, true, 4096};
  auto beats = cut_segment(pool, reference.fpdu(tagged(stag_of(3), 0x1000, counting(4))), 4096, 64, kMarked);
  for (StreamBeat& beat : beats) beat.qpn = Qpn{kMarked.v}, beat.life = 1;
  tcp.send(beats);
  run_until_idle();
  EXPECT_EQ(placed().size(), GetParam() < kJudged ? 0u : 1u);
  expect_at_rest(1);
}
INSTANTIATE_TEST_SUITE_P(Cycles, StreamOfAnEarlierUse, testing::Range(Cycle{0}, kJudged + 3));

class SlowRows : public EarlyPlacementTest {
 protected:
  static constexpr unsigned kRow = 9;
  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s{4, 4, 4, 16, 1, 16};
    s.rx_table.read_cycles = kRow;
    return s;
  }
  SlowRows() : EarlyPlacementTest(sizes()) {}
};
TEST_F(SlowRows, AreWaitedFor) {
  send_fpdu(tagged(stag_of(3), 0x1010, counting(192 - 24)));
  run_until_idle();
  EXPECT_THAT(memory.cycles(), ElementsAre(12 + kRow));
}

// Its region's entry is looked up when its own is there.
TEST_F(EarlyPlacementTest, AWindowIsJudgedWhenTheEntryOfItsRegionIsThereToo) {
  StagContext window = region(0x1000, 0x1000, kRights);
  window.kind = StagKind::kWindow1;
  window.region = stag_of(3);
  contexts.write(Stag{stag_of(8)}, window);
  contexts.commit();
  send_fpdu(tagged(stag_of(8), 0x1010, counting(192 - 24)));
  run_until_idle();
  EXPECT_THAT(memory.cycles(), ElementsAre(12 + 2 * kStag));
}

// Any part of any outstanding Read, and nothing else.
TEST_F(EarlyPlacementTest, AReadResponseBelongsToAnOutstandingRead) {
  issued.send({{Qpn{2}, stag_of(4), 0x8000, 64}, {Qpn{2}, stag_of(4), 0x8100, 64}, {Qpn{3}, stag_of(4), 0x8200, 64}});
  send_fpdu(response(stag_of(4), 0x8100, counting(32)), 1 * 512);
  send_fpdu(response(stag_of(4), 0x8010, counting(48)), 2 * 512);
  send_fpdu(response(stag_of(4), 0x8011, counting(48)), 3 * 512);  // one octet too far
  send_fpdu(response(stag_of(4), 0x7fff, counting(4)), 4 * 512);
  send_fpdu(response(stag_of(4), 0x8200, counting(32)), 5 * 512);  // of another stream
  send_fpdu(response(stag_of(3), 0x8100, counting(32)), 6 * 512);
  run_until_idle();
  EXPECT_THAT(placed(), ElementsAre(std::pair(512, 56), std::pair(1024, 72)));
  EXPECT_EQ(dut.counters().invalid, 4u);
  expect_at_rest(6);
}

// One beat comes in cycle 1 and is judged when the entry of its STag is there. The stage knows of the Read's end in the
// cycle in which it comes.
class ReadOver : public EarlyPlacementTest, public testing::WithParamInterface<Cycle> {};
TEST_P(ReadOver, AReadThatIsOverTakesNothingMore) {
  if (GetParam() % 2 == 0) clk.shuffle(GetParam() + 1);
  issued.send({Qpn{2}, stag_of(4), 0x8000, 64});
  over.send_at(GetParam(), {Qpn{2}});  // at the stage a cycle later
  send_fpdu(response(stag_of(4), 0x8000, counting(30)));
  run_until_idle();
  EXPECT_EQ(memory.writes().size(), GetParam() + 1 <= kJudged ? 0u : 1u);
}
INSTANTIATE_TEST_SUITE_P(Cycles, ReadOver, testing::Range(Cycle{3}, kJudged + 3));

TEST_F(EarlyPlacementTest, AReusedQueuePairKnowsNoReadsOfItsPast) {
  issued.send({Qpn{2}, stag_of(4), 0x8000, 64});
  run_until_idle();
  open_qp(contexts, 2, rts_qp(2, 2), true);
  send_fpdu(response(stag_of(4), 0x8000, counting(30)));
  run_until_idle();
  EXPECT_EQ(dut.counters().invalid, 1u);
}

TEST_F(EarlyPlacementTest, WhatIsLeftOfAnEarlierUseNamesNoRead) {
  open_qp(contexts, 2, rts_qp(2, 2), true);
  issued.send({{Qpn{2}, stag_of(4), 0x8000, 64, 2}, {Qpn{2}, stag_of(4), 0x9000, 64, 1}});
  over.send({Qpn{2}, false, 1});
  run_until_idle();
  send_fpdu(response(stag_of(4), 0x9000, counting(30)));
  send_fpdu(response(stag_of(4), 0x8000, counting(30)));
  run_until_idle();
  EXPECT_EQ(dut.counters().invalid, 1u);
  EXPECT_EQ(memory.writes().size(), 1u);
}

// From its first beat to the end of its writes.
TEST_F(EarlyPlacementTest, ASegmentIsUnderWayUntilItsLastWriteIsOut) {
  std::vector<bool> rest;
  for (const Cycle c : {Cycle{1}, Cycle{2}, 12 + kStag, 19 + kStag, 20 + kStag}) {
    firmware.at(c, [&] { rest.push_back(contexts.in_flight.at_rest(StagWrites::kEarly)); });
  }
  send_fpdu(tagged(stag_of(3), 0x1010, counting(168)));
  run_until_idle();
  EXPECT_THAT(told.cycles(), ElementsAre(19 + kStag, 20 + kStag));
  EXPECT_THAT(rest, ElementsAre(true, false, false, false, true));
}

class ShuffledEarly : public EarlyPlacementTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledEarly, BackpressureLosesNothingAndTheOrderOfCallsChangesNothing) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  memory.pause = every(5, 4);
  memory.hold = 40;
  told.pause(every(3, 2));
  Prng rng(7);
  Bytes expected(0x1000);
  for (std::uint64_t to = 0x1000, marker = 512; to < 0x1f00; marker += 512) {
    const Bytes payload = random_bytes(rng, std::min<std::uint64_t>(rng.between(1, 300), 0x2000 - to));
    std::copy(payload.begin(), payload.end(), expected.begin() + static_cast<std::ptrdiff_t>(to - 0x1000));
    send_fpdu(tagged(stag_of(3), to, payload), marker - 4 * rng.below(5));
    to += payload.size();
  }
  run_until_idle();
  EXPECT_EQ(at(0x1000, 0x1000), expected);
  EXPECT_EQ(dut.counters().not_located + dut.counters().bad_crc + dut.counters().invalid, 0u);
  EXPECT_EQ(told.cycles().back(), 227u);
  expect_at_rest(placed().size());
}
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledEarly, testing::Values(0, 1, 2, 3));

// ---- SCTP: a DDP segment after its length field, and nothing else.

Bytes message(const Bytes& ulpdu) {
  Bytes m(2 + ulpdu.size());
  store_be16(m.data(), static_cast<std::uint16_t>(ulpdu.size()));
  std::copy(ulpdu.begin(), ulpdu.end(), m.begin() + 2);
  return m;
}

TEST_F(EarlyPlacementTest, ASegmentOfSctpIsLocatedAsItIs) {
  const Bytes payload = counting(192 - 20);
  sctp.send(cut_segment(pool, message(tagged(stag_of(3), 0x1010, payload)), 77, 64, kPlain));
  run_until_idle();
  EXPECT_THAT(memory.cycles(), ElementsAre(12 + kStag));  // as an FPDU over TCP
  EXPECT_EQ(at(0x1010, 172), payload);
  EXPECT_THAT(told, IsEmpty());
  ASSERT_EQ(sctp_told.size(), 2u);
  EXPECT_EQ(sctp_told[0].offset, 77u);
  EXPECT_EQ(sctp_told[0].bytes, 188u);
  EXPECT_TRUE(sctp_told[1].last);
  sctp_told.clear();
  expect_at_rest(0);
}

// Beats of both inputs alternate: each segment is taken whole, and answered where it came from.
TEST_F(EarlyPlacementTest, SegmentsOfBothInputsDoNotMix) {
  const Bytes of_sctp = counting(300), of_tcp = Bytes(300, 0x5a);
  for (unsigned i = 0; i < 8; ++i) {
    sctp.send(cut_segment(pool, message(tagged(stag_of(3), 0x1000, of_sctp)), i, 64, kPlain));
    send_fpdu(tagged(stag_of(3), 0x1800, of_tcp));
  }
  sctp.pause(every(3, 1));
  tcp.pause(every(2, 1));
  run_until_idle();
  EXPECT_EQ(at(0x1000, 300), of_sctp);
  EXPECT_EQ(at(0x1800, 300), of_tcp);
  EXPECT_EQ(told.size(), 16u);
  ASSERT_EQ(sctp_told.size(), 16u);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(sctp_told[i].offset, i / 2);
  EXPECT_EQ(dut.counters().fpdus, 16u);
}

}  // namespace
}  // namespace rnic::test
