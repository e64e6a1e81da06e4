#include "model/rnic/rx/ddp_placement.h"

#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/llps.h"
#include "testbench/support/placement_twin.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace ddp = wire::ddp;
namespace rdma = wire::rdma;

constexpr std::uint8_t kAllRights = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteInvalidate;

// The FPDU of a ULPDU. No stage after crc_check looks at its CRC field.
Bytes fpdu(const Bytes& ulpdu) {
  Bytes out(2 + ulpdu.size());
  store_be16(out.data(), static_cast<std::uint16_t>(ulpdu.size()));
  std::copy(ulpdu.begin(), ulpdu.end(), out.begin() + 2);
  out.resize((out.size() + 3) / 4 * 4 + 4);
  return out;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes zeros(std::size_t n) { return Bytes(n, 0); }

// messages.json: send, send_first_of_two, write, read_request with the MSN, MO or STag of the case.
Bytes send(std::uint32_t msn, std::size_t payload, std::uint32_t mo = 0, bool last = true, const char* control = "43") {
  Bytes h = from_hex(std::string(last ? "41" : "01") + control + "00000000 00000000 00000000 00000000");
  store_be32(&h[10], msn);
  store_be32(&h[14], mo);
  return h + Bytes(payload, 0xab);
}
Bytes write(std::uint32_t stag, std::uint64_t to, std::size_t payload, const char* control = "C140") {
  Bytes h = from_hex(std::string(control) + "00000000 0000000000000000");
  store_be32(&h[2], stag);
  store_be64(&h[6], to);
  return h + Bytes(payload, 0xcd);
}
const Bytes kReadRequest =
    from_hex("4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00001000 00000300 0000000000004000");
const Bytes kTerminate = from_hex(
    "4147 00000000 00000002 00000001 00000000 1205C000 0076 4143 00000000 00000000"
    "00000001 00000000");

// From the last beat of an FPDU that is judged with it to its write, or to the dispatcher: both leave in the next
// cycle.
constexpr Cycle kThrough = kToEnd + 1 + kToEnd;
// An STag's entry is used so many cycles after the beat with the DDP header, and so is the queue pair's row; that of an
// event, after it has come.
constexpr Cycle kRow = StagTableConfig{}.read_cycles;
static_assert(RxTableConfig{}.read_cycles == kRow);

// From the first of them on, FPDUs of one beat, in a row.
std::vector<Cycle> one_by_one(Cycle from, unsigned count) {
  std::vector<Cycle> cycles;
  for (unsigned i = 0; i < count; ++i) cycles.push_back(from + i * (kRow + 1));
  return cycles;
}

class DdpPlacementTest : public StageTest {
 protected:
  static ContextStore::Sizes sizes(const TableConfig& stags) {
    ContextStore::Sizes s{4, 4, 4, 16};
    s.stag_table = stags;
    s.rx_table.read_cycles = stags.read_cycles;
    return s;
  }
  ContextStore contexts;
  BufferPool pool{65536};
  At firmware{"firmware", clk};
  DdpPlacement dut{"dut", clk, contexts, llp_traits()};
  const std::shared_ptr<void> twin = stand_in(dut, contexts);
  Source<FpduBeat> wire = drive(dut.in[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<RqDoorbell> doorbells = drive(dut.posted);
  Source<FetchedRqe> fetch = drive(dut.rqe, CurrentUse(contexts));
  Source<ReadIssued> reads = drive(dut.read_issued, CurrentUse(contexts));
  Source<ReadResponseSent> answers = drive(dut.answered);
  Source<RqFlush> flushes = drive(dut.flush, CurrentUse(contexts));
  Sink<RqeTaken> given_back = collect(dut.rqe_taken);
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  Sink<PlacedSegment> placed = collect(dut.out);
  Sink<QpEvent> events = collect(dut.event);
  Source<FpduBeat> sctp = drive(dut.in[LlpId::kSctp], CurrentUse(contexts));
  const Stubs others = stub(dut.srq_arm, dut.srq_event);

  explicit DdpPlacementTest(const TableConfig& stags = StagTableConfig{}) : contexts(clk, sizes(stags)) {
    for (std::uint32_t n = 1; n < 4; ++n) open_qp(contexts, n, rts_qp(n));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, kAllRights));
    contexts.write(Stag{stag_of(4)}, region(0x8000, 0x1000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(5)}, region(0x3000, 0x100, kAllRights, 2));  // another protection domain
    contexts.write(Stag{stag_of(6)}, region(0xffffffffffffff00, 0x100, kAllRights));
    contexts.write(Stag{stag_of(7)}, region(0x6000, 0x100, abi::kRemoteRead));
    contexts.commit();
  }
  void receive(const Bytes& ulpdu, std::uint32_t flow = 1, Cycle from = 0) {
    ulpdu_ = ulpdu;
    auto beats = cut_fpdu(pool, fpdu(ulpdu), 64, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    wire.send_at(from, beats);
  }
  // The payload is already in memory: only its header arrives.
  void receive_placed(const Bytes& ulpdu, std::uint32_t flow = 1) {
    ulpdu_ = ulpdu;
    const Bytes whole = fpdu(ulpdu);
    auto beats = cut_fpdu(pool, {whole.begin(), whole.begin() + 16}, 64, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    beats.back().marker_lane = FpduBeat::kPlaced;
    wire.send(beats);
  }
  // Over SCTP: as the engine passes it, with a length field, and a word instead of the CRC.
  void receive_sctp(const Bytes& ulpdu, std::uint32_t flow = 2, Cycle from = 0) {
    auto beats = cut_fpdu(pool, fpdu(ulpdu), 64, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    sctp.send_at(from, beats);
  }
  // The peer's session Terminate.
  void end_session(std::uint32_t flow = 2, Cycle from = 0) {
    auto beats = cut_fpdu(pool, Bytes(kEndBytes), 64, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    beats.back().marker_lane = FpduBeat::kEnds;
    sctp.send_at(from, beats);
  }
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> q;
    for (const PlacedSegment& s : placed) q.push_back(s.qpn.v);
    return q;
  }
  // The peer's FIN.
  void end(std::uint32_t flow = 1, bool whole = true) {
    auto beats = cut_fpdu(pool, Bytes(kEndBytes), 64, false, 0, FlowId{flow});
    beats.back().crc_ok = true;
    beats.back().marker_ok = whole;
    beats.back().marker_lane = FpduBeat::kEnds;
    wire.send(beats);
  }
  // The peer's RST.
  void reset(bool whole) {
    auto beats = cut_fpdu(pool, {0, static_cast<std::uint8_t>(StreamEnd::kReset), 0, 0}, 64, false, 0, FlowId{1});
    beats.back().crc_ok = true;
    beats.back().marker_ok = whole;
    beats.back().marker_lane = FpduBeat::kEnds;
    wire.send(beats);
  }
  static abi::Wqe buffer(std::uint64_t wr_id, std::initializer_list<abi::Sge> list) {
    abi::Wqe w;
    w.wr_id = wr_id;
    for (const abi::Sge& s : list) w.sge[w.num_sge++] = s;
    return w;
  }
  void post(std::initializer_list<abi::Wqe> wqes, std::uint32_t qpn = 1) {
    doorbells.send({Qpn{qpn}, static_cast<std::uint32_t>(wqes.size())});
    for (const abi::Wqe& w : wqes) fetch.send({Qpn{qpn}, true, w});
  }
  void ask(std::uint32_t stag, std::uint64_t to, std::uint32_t bytes, std::uint32_t qpn = 1) {
    reads.send({Qpn{qpn}, stag, to, bytes});
  }
  void post_one(std::uint32_t bytes) { post({buffer(7, {{0x8000, bytes, stag_of(4)}})}); }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> pieces() const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> p;
    for (const DmaWriteRequest& w : writes) p.emplace_back(w.address, w.bytes);
    return p;
  }
  // The stream stopped with this cause, and no part of the segment was placed or delivered.
  void expect_error(wire::TerminateCause cause) {
    run_until_idle();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, QpEvent::Kind::kStreamError);
    EXPECT_EQ(events[0].qpn, Qpn{1});
    EXPECT_EQ(events[0].cause, cause) << int(events[0].cause.layer) << '/' << int(events[0].cause.etype) << '/'
                                      << int(events[0].cause.code);
    EXPECT_EQ(told(), what_a_terminate_tells(ulpdu_, cause));
    EXPECT_THAT(writes, IsEmpty());
    EXPECT_THAT(placed, IsEmpty());
    EXPECT_EQ(pool.in_use(), 0u);
  }
  // Length and headers of the failed segment, as the stage has kept them.
  Bytes told() const {
    const FailedSegment& f = events[0].failed;
    const Bytes headers(f.octets.begin(), f.octets.begin() + f.ddp_bytes + f.request_bytes);
    return Bytes{static_cast<std::uint8_t>(f.length >> 8), static_cast<std::uint8_t>(f.length)} + headers;
  }
  // 14 or 18 octets of DDP header, plus the next 28 of a Read Request.
  static Bytes what_a_terminate_tells(const Bytes& ulpdu, wire::TerminateCause cause) {
    const std::size_t ddp_bytes = !ulpdu.empty() && ulpdu[0] >= 0x80 ? 14 : 18;
    if (cause.layer == wire::Layer::kLlp || ulpdu.size() < ddp_bytes) return zeros(2);
    const bool read = ddp_bytes == 18 && (ulpdu[1] & 0xf) == 1 && ulpdu.size() >= 46;
    Bytes told = {static_cast<std::uint8_t>(ulpdu.size() >> 8), static_cast<std::uint8_t>(ulpdu.size())};
    told.insert(told.end(), ulpdu.begin(), ulpdu.begin() + static_cast<std::ptrdiff_t>(read ? 46 : ddp_bytes));
    return told;
  }

 private:
  Bytes ulpdu_;  // the last one received
};

TEST_F(DdpPlacementTest, AZeroBasedRegionIsPlacedFromItsFirstOctet) {
  StagContext zero = region(0x1000, 0x100, kAllRights);
  zero.zero_based = true;
  contexts.write(Stag{stag_of(8)}, zero);
  contexts.commit();
  receive(write(stag_of(8), 0x10, 4));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x1010, 4)));
}
TEST_F(DdpPlacementTest, AZeroBasedRegionEndsAtItsLength) {
  StagContext zero = region(0x1000, 0x100, kAllRights);
  zero.zero_based = true;
  contexts.write(Stag{stag_of(8)}, zero);
  contexts.commit();
  receive(write(stag_of(8), 0xfd, 4));
  expect_error(ddp::kBaseOrBounds);
}

// A window of type 2 on region 3, bound by a QP.
StagContext window_of(std::uint32_t qpn, std::uint32_t epoch = 1) {
  StagContext w = region(0x1040, 0x10, abi::kRemoteWrite);
  w.kind = StagKind::kWindow2;
  w.region = stag_of(3);
  w.qpn = Qpn{qpn};
  w.qp_epoch = epoch;
  return w;
}
TEST_F(DdpPlacementTest, AWindowOfTypeTwoServesItsOwnStream) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  receive(write(stag_of(8), 0x1040, 16));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x1040, 16)));
}
TEST_F(DdpPlacementTest, AWindowOfTypeTwoIsNoOtherStreams) {
  contexts.write(Stag{stag_of(8)}, window_of(2));
  contexts.commit();
  receive(write(stag_of(8), 0x1040, 16));
  expect_error(ddp::kStagNotAssociated);
}
TEST_F(DdpPlacementTest, AWindowIsNarrowerThanItsRegion) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  receive(write(stag_of(8), 0x103f, 16));
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(DdpPlacementTest, AWindowEndsWithItsRegion) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.write(Stag{stag_of(3)}, StagContext{});
  contexts.commit();
  receive(write(stag_of(8), 0x1040, 16));
  expect_error(ddp::kInvalidStag);
}
TEST_F(DdpPlacementTest, ARegionWithWindowsCannotBeInvalidatedByAPeer) {
  contexts.write(Stag{stag_of(8)}, window_of(1));
  contexts.commit();
  post_one(16);
  Bytes message = send(1, 4, 0, true, "44");
  store_be32(&message[2], stag_of(3));
  receive(message, 1, 20);
  expect_error(rdma::kForeignStagCannotBeInvalidated);
}

TEST_F(DdpPlacementTest, WriteLeavesOneCycleAfterTheEntryOfItsStagIsThere) {
  receive(write(stag_of(3), 0x1010, 4));
  run_until_idle();
  EXPECT_THAT(wire.cycles(), ElementsAre(0));
  EXPECT_THAT(writes.cycles(), ElementsAre(kThrough + kRow));
  EXPECT_THAT(placed.cycles(), ElementsAre(kThrough + kRow));
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x1010, 4)));
  const DmaWriteRequest& w = writes[0];
  EXPECT_EQ(Bytes(w.src->bytes() + w.src_offset, w.src->bytes() + w.src_offset + w.bytes), from_hex("cdcdcdcd"));
  EXPECT_TRUE(w.notify);
  EXPECT_TRUE(placed[0].awaits_write);
  EXPECT_TRUE(placed[0].last);
  EXPECT_EQ(placed[0].opcode, wire::Opcode::kWrite);
}

TEST_F(DdpPlacementTest, ShortSegmentsWaitForTheirEntriesInTurn) {
  for (int i = 0; i < 6; ++i) receive(write(stag_of(3), 0x1000, 4));
  run_until_idle();
  EXPECT_EQ(placed.cycles(), one_by_one(kThrough + kRow, 6));
}
TEST_F(DdpPlacementTest, SegmentsThatNameNothingWaitForTheirQueuePairAlone) {
  for (int i = 0; i < 6; ++i) receive(write(stag_of(9), 0, 0));
  run_until_idle();
  EXPECT_EQ(placed.cycles(), one_by_one(kThrough + kRow, 6));
}

TEST_F(DdpPlacementTest, LongSegmentsTakeTheirBeats) {
  ask(stag_of(4), 0x8000, 200);
  ask(stag_of(4), 0x80c8, 200);
  receive(write(stag_of(4), 0x8000, 200, "C142"));  // 220 octets: 4 beats
  receive(write(stag_of(4), 0x80c8, 200, "C142"));
  run_until_idle();
  EXPECT_THAT(placed.cycles(), ElementsAre(kThrough + 3, kThrough + 7));
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8000, 200), std::pair(0x80c8, 200)));
}

TEST_F(DdpPlacementTest, BackpressureOnEveryOutputLosesNothing) {
  writes.pause(every(5, 3));
  placed.pause(every(7, 4));
  given_back.pause(every(3, 2));
  events.pause(every(11, 10));
  doorbells.send({Qpn{1}, 8});
  for (std::uint32_t i = 0; i < 8; ++i) {
    fetch.send({Qpn{1}, true, buffer(i, {{0x8000 + 256 * i, 100, stag_of(4)}, {0x8080 + 256 * i, 100, stag_of(4)}})});
    receive(send(i + 1, 150));
  }
  receive(write(stag_of(9), 0, 4), 2);
  receive(write(stag_of(9), 0, 4), 3);
  run_until_idle();
  ASSERT_EQ(placed.size(), 8u);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(placed[i].wr_id, i);
    EXPECT_EQ(pieces()[2 * i], std::pair(std::uint64_t{0x8000 + 256 * i}, 100u));
    EXPECT_EQ(pieces()[2 * i + 1], std::pair(std::uint64_t{0x8080 + 256 * i}, 50u));
    EXPECT_FALSE(writes[2 * i].notify);
    EXPECT_TRUE(writes[2 * i + 1].notify);
  }
  EXPECT_EQ(given_back.size(), 8u);
  EXPECT_EQ(events.size(), 2u);
}

TEST_F(DdpPlacementTest, TheOrderOfCallsChangesNothing) {
  clk.shuffle(17);
  post({buffer(1, {{0x8000, 100, stag_of(4)}}), buffer(2, {{0x8100, 100, stag_of(4)}})});
  receive(send(1, 100));
  receive(write(stag_of(3), 0x1000, 4));
  receive(send(2, 30));
  run_until_idle();
  EXPECT_EQ(writes.cycles(), one_by_one(kThrough + kRow, 3));  // the calendar's cycles, whatever the seed
  EXPECT_EQ(placed.cycles(), one_by_one(kThrough + kRow, 3));
}

TEST_F(DdpPlacementTest, AnIdleStageIsNotCalled) {
  run_until_idle();
  EXPECT_EQ(clk.activity().ticks, 0u);
  receive(write(stag_of(3), 0x1000, 4), 1, 1000);
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 6u + kRow);
}

// choices.md 20, tagged, in the order of the checks: each case fails its own check and all later ones.
TEST_F(DdpPlacementTest, TaggedVersion) {
  receive(write(stag_of(9), ~std::uint64_t{0}, 4, "C240"));
  expect_error(ddp::kTaggedInvalidVersion);
}
TEST_F(DdpPlacementTest, TaggedUnknownStagIndex) {
  receive(write(stag_of(99), ~std::uint64_t{0}, 4));
  expect_error(ddp::kInvalidStag);
}
TEST_F(DdpPlacementTest, TaggedUnknownStagKey) {
  receive(write(stag_of(3, 0x5b), 0x1000, 4));
  expect_error(ddp::kInvalidStag);
}
TEST_F(DdpPlacementTest, TaggedDisabledStag) {
  receive(write(stag_of(8), 0x1000, 4));
  expect_error(ddp::kInvalidStag);
}
TEST_F(DdpPlacementTest, TaggedForeignDomainBeforeRightsWrapAndBounds) {
  receive(write(stag_of(5), ~std::uint64_t{0}, 4));
  expect_error(ddp::kStagNotAssociated);
}
TEST_F(DdpPlacementTest, TaggedWithoutRemoteWriteBeforeWrap) {
  receive(write(stag_of(7), ~std::uint64_t{0}, 4));
  expect_error(ddp::kInvalidStag);  // choices.md 11
}

// A Read Response must be the next part of the data that the oldest outstanding Read asked for (RFC 5040 section
// 5.2.2).
class ReadResponseTest : public DdpPlacementTest {
 protected:
  ReadResponseTest() { ask(stag_of(4), 0x8010, 32); }
  void respond(std::uint32_t stag, std::uint64_t to, std::size_t payload, bool last = true) {
    receive(write(stag, to, payload, last ? "C142" : "8142"), 1, 2);
  }
};
TEST_F(DdpPlacementTest, ReadResponseThatNobodyAskedFor) {
  receive(write(stag_of(4), 0x8000, 4, "C142"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, EmptyReadResponseThatNobodyAskedFor) {
  receive(write(0, 0, 0, "C142"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, ReadResponseToAnotherStream) {
  ask(stag_of(4), 0x8010, 32, 2);
  receive(write(stag_of(4), 0x8010, 32, "C142"), 1, 2);
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, ReadResponseNeedsLocalWrite) {
  ask(stag_of(7), 0x6000, 4);
  receive(write(stag_of(7), 0x6000, 4, "C142"), 1, 2);
  expect_error(ddp::kInvalidStag);
}
TEST_F(ReadResponseTest, InSegmentsAndNothingBehindThem) {
  respond(stag_of(4), 0x8010, 12, false);
  respond(stag_of(4), 0x801c, 20);
  respond(stag_of(4), 0x8030, 1);
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8010, 12), std::pair(0x801c, 20)));
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_FALSE(placed[0].last);
  EXPECT_TRUE(placed[1].last);
  EXPECT_EQ(placed[1].bytes, 32u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, rdma::kUnexpectedOpcode);
}
TEST_F(ReadResponseTest, InTheOrderOfTheReads) {
  ask(0, 0, 0);  // an empty Read names no sink, like the ready-to-receive one
  ask(stag_of(3), 0x1000, 8);
  respond(stag_of(4), 0x8010, 32);
  respond(0x12345678, 77, 0);
  respond(stag_of(3), 0x1000, 8);
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8010, 32), std::pair(0x1000, 8)));
  EXPECT_EQ(placed.size(), 3u);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(ReadResponseTest, OfTheSecondReadFirst) {
  ask(stag_of(3), 0x1000, 32);
  respond(stag_of(3), 0x1000, 32);
  expect_error(ddp::kInvalidStag);
}
TEST_F(ReadResponseTest, IntoAnotherRegion) {
  respond(stag_of(3), 0x1010, 32);
  expect_error(ddp::kInvalidStag);
}
TEST_F(ReadResponseTest, WithAnotherKey) {
  respond(stag_of(4, 0x5b), 0x8010, 32);
  expect_error(ddp::kInvalidStag);
}
TEST_F(ReadResponseTest, OneOctetBeforeTheSink) {
  respond(stag_of(4), 0x800f, 32);
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, OneOctetBehindTheSink) {
  respond(stag_of(4), 0x8011, 31);
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, OneOctetTooLong) {
  respond(stag_of(4), 0x8010, 33);
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, OneOctetTooShort) {
  respond(stag_of(4), 0x8010, 31);
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, EmptyWhereOctetsWereAskedFor) {
  respond(stag_of(4), 0x8010, 0);
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, FullButNotTheLastSegment) {
  respond(stag_of(4), 0x8010, 32, false);
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, WithAGapBetweenItsSegments) {
  respond(stag_of(4), 0x8010, 8, false);
  respond(stag_of(4), 0x8019, 23);
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8010, 8)));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kBaseOrBounds);
}
TEST_F(ReadResponseTest, WhoseSinkWasInvalidatedMeanwhile) {
  firmware.at(1, [&] { contexts.write(Stag{stag_of(4)}, StagContext{}); });
  respond(stag_of(4), 0x8010, 32);
  expect_error(ddp::kInvalidStag);
}
TEST_F(ReadResponseTest, ToAnEarlierUseOfTheQpNumber) {
  firmware.at(1, [&] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  respond(stag_of(4), 0x8010, 32);
  expect_error(rdma::kUnexpectedOpcode);
}

TEST_F(ReadResponseTest, ToARequestOfAnEarlierUseThatComesLate) {
  firmware.at(1, [&] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  reads.send_at(10, {Qpn{1}, stag_of(4), 0x8010, 32, 1});
  wire.pause(window(0, 40));
  respond(stag_of(4), 0x8010, 32);
  expect_error(rdma::kUnexpectedOpcode);
}

TEST_F(DdpPlacementTest, TaggedOffsetWrapsBeforeBounds) {
  receive(write(stag_of(3), 0xfffffffffffffffd, 4));
  expect_error(ddp::kToWrap);
}
TEST_F(DdpPlacementTest, TaggedEndAtTheTopOfTheAddressSpaceWraps) {
  receive(write(stag_of(6), 0xfffffffffffffffc, 4));
  expect_error(ddp::kToWrap);
}
TEST_F(DdpPlacementTest, TaggedOneOctetBelowTheTopIsPlaced) {
  receive(write(stag_of(6), 0xfffffffffffffffb, 4));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0xfffffffffffffffb, 4)));
}
TEST_F(DdpPlacementTest, TaggedOneOctetBeforeTheRegion) {
  receive(write(stag_of(3), 0xfff, 4));
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(DdpPlacementTest, TaggedOneOctetBehindTheRegion) {
  receive(write(stag_of(3), 0x10fd, 4));
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(DdpPlacementTest, TaggedLastOctetsOfTheRegionArePlaced) {
  receive(write(stag_of(3), 0x10fc, 4));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x10fc, 4)));
}
TEST_F(DdpPlacementTest, ZeroLengthTaggedChecksNeitherStagNorOffset) {
  receive(write(0xffffffff, ~std::uint64_t{0}, 0));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(writes, IsEmpty());
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_FALSE(placed[0].awaits_write);
}
TEST_F(DdpPlacementTest, RdmapVersionOfATaggedSegment) {
  receive(write(stag_of(3), 0x1000, 4, "C180"));
  expect_error(rdma::kInvalidVersion);
}
TEST_F(DdpPlacementTest, UntaggedOpcodeInATaggedSegment) {
  receive(write(stag_of(3), 0x1000, 4, "C143"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, ReservedBitsAreIgnored) {
  receive(write(stag_of(3), 0x1000, 4, "FD70"));
  run_until_idle();
  EXPECT_EQ(placed.size(), 1u);
}

// RFC 5044 section 4.1: only the CRC looks at the pad.
TEST_F(DdpPlacementTest, PadIsIgnored) {
  Bytes octets = fpdu(write(stag_of(3), 0x1011, 3));  // 2 + 17 octets and one of pad
  ASSERT_EQ(octets.size(), 24u);
  octets[19] = 0xff;
  auto beats = cut_fpdu(pool, octets, 64, false, 0, FlowId{1});
  beats.back().crc_ok = true;
  wire.send(beats);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x1011, 3)));
}

// Untagged.
TEST_F(DdpPlacementTest, UntaggedVersion) {
  receive(from_hex("4243 00000000 00000007 00000009 00000004 DEADBEEF"));
  expect_error(ddp::kUntaggedInvalidVersion);
}
TEST_F(DdpPlacementTest, UnknownQueueNumberBeforeMsn) {
  receive(from_hex("4143 00000000 00000004 00000009 00000004 DEADBEEF"));
  expect_error(ddp::kInvalidQn);
}
TEST_F(DdpPlacementTest, KnownOpcodeOnTheWrongQueue) {
  receive(from_hex("4143 00000000 00000001 00000001 00000000 DEADBEEF"));
  expect_error(ddp::kInvalidQn);  // choices.md 19
}
TEST_F(DdpPlacementTest, RdmapVersionOfAnUntaggedSegment) {
  receive(from_hex("4183 00000000 00000000 00000001 00000000 DEADBEEF"));
  expect_error(rdma::kInvalidVersion);
}
TEST_F(DdpPlacementTest, UnassignedOpcode) {
  receive(from_hex("414C 00000000 00000000 00000001 00000000 DEADBEEF"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, TaggedOpcodeInAnUntaggedSegment) {
  receive(from_hex("4140 00000000 00000000 00000001 00000000 DEADBEEF"));
  expect_error(rdma::kUnexpectedOpcode);
}
// The QP speaks the RDMAC protocols (draft-carrier-rddp-rnic-interop-00): version 0 of both and nothing else.
class RdmacPlacementTest : public DdpPlacementTest {
 protected:
  RdmacPlacementTest() {
    QpContext c = rts_qp(1);
    c.version = 0;
    open_qp(contexts, 1, c);
  }
};
TEST_F(RdmacPlacementTest, WriteOfVersionZero) {
  receive(write(stag_of(3), 0x1000, 4, "C000"));
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(RdmacPlacementTest, TaggedVersionOne) {
  receive(write(stag_of(9), ~std::uint64_t{0}, 4, "C140"));
  expect_error(ddp::kTaggedInvalidVersion);
}
TEST_F(RdmacPlacementTest, UntaggedVersionOne) {
  receive(from_hex("4143 00000000 00000007 00000009 00000004 DEADBEEF"));
  expect_error(ddp::kUntaggedInvalidVersion);
}
TEST_F(RdmacPlacementTest, TaggedMixture) {
  receive(write(stag_of(3), 0x1000, 4, "C040"));
  expect_error(rdma::kInvalidVersion);
}
TEST_F(RdmacPlacementTest, UntaggedMixture) {
  receive(from_hex("4043 00000000 00000000 00000001 00000000 DEADBEEF"));
  expect_error(rdma::kInvalidVersion);
}
TEST_F(DdpPlacementTest, UntaggedMixtureTheOtherWayRound) {
  receive(from_hex("4003 00000000 00000000 00000001 00000000 DEADBEEF"));
  expect_error(ddp::kUntaggedInvalidVersion);
}
// Wire-facts 8.28: an RDMAC peer cannot know RFC 7306.
TEST_F(RdmacPlacementTest, ImmediateData) {
  receive(from_hex("4008 00000000 00000000 00000001 00000000 0102030405060708"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(RdmacPlacementTest, ImmediateDataWithSolicitedEvent) {
  receive(from_hex("4009 00000000 00000000 00000001 00000000 0102030405060708"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, WithoutTheExtensionsTheirOpcodesAreUnexpected) {
  QpContext c = rts_qp(1);
  c.extensions = false;
  open_qp(contexts, 1, c);
  receive(from_hex("4148 00000000 00000000 00000001 00000000 0102030405060708"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, MsnAheadBeforeTheMissingBuffer) {
  receive(send(2, 4));
  expect_error(ddp::kInvalidMsnRange);
}
TEST_F(DdpPlacementTest, MsnZero) {
  receive(send(0, 4));
  expect_error(ddp::kInvalidMsnRange);
}
TEST_F(DdpPlacementTest, MsnWraps) {
  QpContext c = rts_qp(1);
  c.first_msn = 0xfffffffe;
  contexts.write(Qpn{1}, c);
  contexts.commit();
  const abi::Wqe one = buffer(7, {{0x8000, 4, stag_of(4)}});
  post({one, one, one, one, one});
  for (const std::uint32_t msn : {0xfffffffeu, 0xffffffffu, 0u, 1u, 3u}) receive(send(msn, 4), 1, 40);
  run_until_idle();
  EXPECT_EQ(placed.size(), 4u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidMsnRange);
}
TEST_F(DdpPlacementTest, NoReceiveRequestBeforeTheOffset) {
  receive(send(1, 4, 4));
  expect_error(ddp::kInvalidMsnNoBuffer);
}
TEST_F(DdpPlacementTest, OffsetThatDoesNotContinueBeforeTheLength) {
  post_one(4);
  receive(send(1, 400, 1));
  expect_error(ddp::kInvalidMo);
}
TEST_F(DdpPlacementTest, OneOctetTooLongForTheBuffer) {
  post_one(99);
  receive(send(1, 100));
  expect_error(ddp::kMessageTooLong);
}
TEST_F(DdpPlacementTest, ReceiveRequestWithoutScatterListTakesNoOctet) {
  post({buffer(7, {})});
  receive(send(1, 1));
  expect_error(ddp::kMessageTooLong);
}
TEST_F(DdpPlacementTest, ReceiveRequestWithoutScatterListTakesAnEmptySend) {
  post({buffer(7, {})});
  receive(send(1, 0));
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].wr_id, 7u);
  EXPECT_EQ(placed[0].bytes, 0u);
  EXPECT_EQ(given_back.size(), 1u);
}
TEST_F(DdpPlacementTest, ReceiveRequestWithTooManyElements) {
  abi::Wqe w = buffer(7, {{0x8000, 100, stag_of(4)}});
  w.num_sge = 255;
  post({w});
  receive(send(1, 4));
  expect_error(ddp::kLocalCatastrophic);
}
TEST_F(DdpPlacementTest, ReceiveRequestThatCouldNotBeRead) {
  doorbells.send({Qpn{1}, 1});
  fetch.send({Qpn{1}, false, {}});
  receive(send(1, 4));
  expect_error(ddp::kLocalCatastrophic);
}
TEST_F(DdpPlacementTest, ReceiveBufferOutsideItsRegion) {
  post({buffer(7, {{0x8ffd, 4, stag_of(4)}})});
  receive(send(1, 4));
  expect_error(ddp::kLocalCatastrophic);
}
TEST_F(DdpPlacementTest, ReceiveBufferWithoutLocalWrite) {
  post({buffer(7, {{0x6000, 4, stag_of(7)}})});
  receive(send(1, 4));
  expect_error(ddp::kLocalCatastrophic);
}

// ULPDUs that are shorter than their header.
TEST_F(DdpPlacementTest, EmptyUlpdu) {
  receive({});
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, TaggedHeaderOneOctetShort) {
  receive(from_hex("C140 12345678 00000000000010"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, UntaggedHeaderOneOctetShort) {
  receive(from_hex("4143 00000000 00000000 00000001 000000"));
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, ReadRequestOneOctetShort) {
  receive(Bytes(kReadRequest.begin(), kReadRequest.end() - 1));
  expect_error(rdma::kOperationUnspecified);
}
TEST_F(DdpPlacementTest, ReadRequestOneOctetLong) {
  receive(kReadRequest + zeros(1));
  expect_error(ddp::kMessageTooLong);
}
TEST_F(DdpPlacementTest, ReadRequestWithAnOffset) {
  Bytes r = kReadRequest;
  r[17] = 1;
  receive(r);
  expect_error(ddp::kInvalidMo);
}
TEST_F(DdpPlacementTest, ReadRequestInMoreThanOneSegment) {
  Bytes r = kReadRequest;
  r[0] = 0x01;
  receive(r);
  expect_error(rdma::kOperationUnspecified);
}
TEST_F(DdpPlacementTest, RepeatedReadRequest) {
  receive(kReadRequest);
  receive(kReadRequest);
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidMsnRange);
  ASSERT_EQ(placed.size(), 1u);
  const wire::ReadRequest& r = placed[0].read;
  EXPECT_EQ(r.sink_stag, 0x100u);
  EXPECT_EQ(r.sink_to, 0x2000u);
  EXPECT_EQ(r.size, 0x1000u);
  EXPECT_EQ(r.src_stag, 0x300u);
  EXPECT_EQ(r.src_to, 0x4000u);
}

// IRD is 4.
Bytes read_request(std::uint8_t msn) {
  Bytes r = kReadRequest;
  r[13] = msn;
  return r;
}
TEST_F(DdpPlacementTest, ARequestBeyondIrdEndsTheStreamAndNothingBehindItIsPlaced) {
  for (std::uint8_t msn = 1; msn <= 5; ++msn) receive(read_request(msn));
  receive(write(stag_of(3), 0x1000, 4));
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidMsnNoBuffer);
  EXPECT_EQ(events[0].failed.octets[13], 5u);
  EXPECT_EQ(placed.size(), 4u);
  EXPECT_THAT(pieces(), IsEmpty());
}
// A request counts until the last FPDU of its response is on its way. In that same cycle another request is accepted.
TEST_F(DdpPlacementTest, AnAnswerMakesRoomForARequest) {
  for (std::uint8_t msn = 1; msn <= 4; ++msn) receive(read_request(msn));
  run_until_idle();
  ASSERT_EQ(placed.size(), 4u);
  const Cycle at = clk.now() + 10;
  answers.send_at(at, ReadResponseSent{Qpn{1}, 1});
  receive(read_request(5), 1, at);
  receive(read_request(6), 1, at);
  run_until_idle();
  EXPECT_EQ(placed.size(), 5u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].failed.octets[13], 6u);
}
TEST_F(DdpPlacementTest, AnAnswerOfAnEarlierUseMakesNoRoom) {
  QpContext c = rts_qp(1, 2);
  c.ird = 1;
  contexts.write(Qpn{1}, c);
  contexts.commit();
  receive(read_request(1));
  answers.send_at(clk.now() + 10, ReadResponseSent{Qpn{1}, 1});
  run_until_idle();
  receive(read_request(2));
  run_until_idle();
  EXPECT_EQ(placed.size(), 1u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidMsnNoBuffer);
}
TEST_F(DdpPlacementTest, AnIrdOfZeroTakesNoRequest) {
  QpContext c = rts_qp(1);
  c.ird = 0;
  contexts.write(Qpn{1}, c);
  contexts.commit();
  receive(read_request(1));
  expect_error(ddp::kInvalidMsnNoBuffer);
}
TEST_F(DdpPlacementTest, EachQueuePairHasAnIrdOfItsOwn) {
  for (std::uint8_t msn = 1; msn <= 4; ++msn) receive(read_request(msn), 1);
  for (std::uint8_t msn = 1; msn <= 4; ++msn) receive(read_request(msn), 2);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(placed.size(), 8u);
}
TEST_F(DdpPlacementTest, RequestsOfAnEarlierUseDoNotCount) {
  for (std::uint8_t msn = 1; msn <= 4; ++msn) receive(read_request(msn));
  run_until_idle();
  contexts.write(Qpn{1}, rts_qp(1, 2));
  contexts.commit();
  receive(read_request(1), 1, clk.now() + 1);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(placed.size(), 5u);
}

TEST_F(DdpPlacementTest, NothingOfAnFpduWithABadCrcIsPlaced) {
  wire.send(cut_fpdu(pool, fpdu(write(stag_of(3), 0x1000, 4)), 64, false, 0));
  expect_error(wire::mpa::kCrcMismatch);
}
TEST_F(DdpPlacementTest, CrcErrorComesBeforeMarkerError) {
  auto beats = cut_fpdu(pool, fpdu(write(stag_of(3), 0x1000, 4)), 64, false, 0);
  beats.back().marker_ok = false;
  wire.send(beats);
  expect_error(wire::mpa::kCrcMismatch);
}
TEST_F(DdpPlacementTest, MarkerError) {
  auto beats = cut_fpdu(pool, fpdu(write(stag_of(3), 0x1000, 4)), 64, false, 0);
  beats.back().crc_ok = true;
  beats.back().marker_ok = false;
  wire.send(beats);
  expect_error(wire::mpa::kMarkerMismatch);
}
TEST_F(DdpPlacementTest, NothingAfterAnErrorButOtherStreamsGoOn) {
  receive(write(stag_of(9), 0x1000, 4));
  receive(write(stag_of(3), 0x1000, 4));
  receive(write(stag_of(9), 0x1000, 4));
  receive(write(stag_of(3), 0x1004, 4), 2);
  run_until_idle();
  EXPECT_EQ(events.size(), 1u);
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x1004, 4)));
  EXPECT_EQ(placed[0].qpn, Qpn{2});
}
TEST_F(DdpPlacementTest, NothingOnceTheFirmwareEndsTheStream) {
  firmware.at(0, [this] {
    QpContext c = rts_qp(1);
    c.state = QpState::kTerminate;
    contexts.write(Qpn{1}, c);
  });
  receive(write(stag_of(9), 0x1000, 4), 1, 5);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(placed, IsEmpty());
  EXPECT_EQ(pool.in_use(), 0u);
}

// The peer's FIN.
TEST_F(DdpPlacementTest, TheEndComesBehindTheLastSegmentAndItsWrites) {
  receive(write(stag_of(3), 0x1000, 4));
  end();
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  const PlacedSegment& e = placed[1];
  EXPECT_TRUE(e.ended && e.in_order && !e.awaits_write && !e.last);
  EXPECT_EQ(e.qpn, Qpn{1});
  EXPECT_EQ(e.flow, FlowId{1});
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(DdpPlacementTest, AnEndAmidAnFpduIsAnErrorAndGoesOn) {
  end(1, false);
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(events[0].cause, wire::mpa::kConnectionLost);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_TRUE(placed[0].ended && !placed[0].in_order);
}
TEST_F(DdpPlacementTest, AnEndBehindAnErrorGoesOnAndSaysNothingOfTheQueuePair) {
  receive(write(stag_of(9), 0x1000, 4));
  end();
  run_until_idle();
  EXPECT_EQ(events.size(), 1u);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_TRUE(placed[0].ended && !placed[0].in_order);
  EXPECT_EQ(placed[0].flow, FlowId{1});
}
TEST_F(DdpPlacementTest, AnEndOfAFlowWithoutAQueuePairGoesOn) {
  QpContext elsewhere = rts_qp(1);
  elsewhere.flow = FlowId{3};
  contexts.write(Qpn{1}, elsewhere);
  contexts.commit();
  end();
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_TRUE(placed[0].ended && !placed[0].in_order);
}
// RFC 5041 section 6.2: TCP never does this.
TEST_F(DdpPlacementTest, ASegmentBehindTheEndIsAnError) {
  end();
  receive(write(stag_of(3), 0x1000, 4));
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, wire::mpa::kConnectionLost);
  EXPECT_THAT(pieces(), IsEmpty());
}
TEST_F(DdpPlacementTest, AnEndWaitsBehindASendThatWaitsForItsReceive) {
  doorbells.send({Qpn{1}, 1});
  fetch.send_at(100, {Qpn{1}, true, buffer(7, {{0x8000, 4, stag_of(4)}})});
  receive(send(1, 4));
  end();
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0].wr_id, 7u);
  EXPECT_TRUE(placed[1].in_order);
  const Account::Totals waits = dut.request_waits().totals(200);
  EXPECT_GT(waits.blocked, 80u);
  EXPECT_LE(waits.blocked, 100u);
}

// A Terminate is delivered whatever it looks like, and nothing is delivered after it.
TEST_F(DdpPlacementTest, TerminateIsTheEnd) {
  receive(kTerminate);
  receive(write(stag_of(9), 0x1000, 4));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].opcode, wire::Opcode::kTerminate);
  EXPECT_EQ(placed[0].cause, ddp::kMessageTooLong);
}
TEST_F(DdpPlacementTest, OddTerminatesAreNotAnswered) {
  receive(Bytes(kTerminate.begin(), kTerminate.begin() + 18), 1);             // no control word
  receive(Bytes(kTerminate.begin(), kTerminate.begin() + 21) + zeros(0), 2);  // three octets of it
  Bytes far = kTerminate + zeros(100);
  far[13] = 9;    // MSN
  far[17] = 4;    // MO
  far[0] = 0x01;  // L
  receive(far, 3);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(placed.size(), 3u);
  EXPECT_EQ(placed[0].cause, rdma::kOperationUnspecified);
  EXPECT_EQ(placed[1].cause, rdma::kOperationUnspecified);
  EXPECT_EQ(placed[2].cause, ddp::kMessageTooLong);
  for (const PlacedSegment& s : placed) EXPECT_TRUE(s.malformed);
}

// Sends.
TEST_F(DdpPlacementTest, SendAcrossScatterListAndSegments) {
  post({buffer(7, {{0x8000, 50, stag_of(4)}, {0, 0, 0}, {0x8100, 10, stag_of(4)}, {0x8200, 100, stag_of(4)}})});
  receive(send(1, 55, 0, false));
  receive(send(1, 55, 55, false));
  receive(send(1, 50, 110));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8000, 50), std::pair(0x8100, 5), std::pair(0x8105, 5),
                                    std::pair(0x8200, 50), std::pair(0x8232, 50)));
  ASSERT_EQ(placed.size(), 3u);
  EXPECT_FALSE(placed[1].last);
  EXPECT_TRUE(placed[2].last);
  EXPECT_EQ(placed[2].bytes, 160u);
  EXPECT_EQ(placed[2].wr_id, 7u);
  EXPECT_EQ(given_back.size(), 1u);
}
TEST_F(DdpPlacementTest, SendExactlyFillsItsBuffer) {
  post_one(100);
  receive(send(1, 100));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8000, 100)));
}
TEST_F(DdpPlacementTest, SixElementsLeaveOneACycle) {
  post({buffer(7, {{0x8000, 1, stag_of(4)},
                   {0x8010, 1, stag_of(4)},
                   {0x8020, 1, stag_of(4)},
                   {0x8030, 1, stag_of(4)},
                   {0x8040, 1, stag_of(4)},
                   {0x8050, 1, stag_of(4)}})});
  receive(send(1, 6));
  run_until_idle();
  const Cycle first = kThrough + kRow + 5;  // one entry is asked for in each cycle
  EXPECT_EQ(writes.cycles(), in_a_row(first, 6));
  EXPECT_THAT(placed.cycles(), ElementsAre(first + 5));
}
TEST_F(DdpPlacementTest, SendWaitsForAnAnnouncedRequestAndBlocksWhatFollows) {
  doorbells.send({Qpn{1}, 1});
  fetch.send_at(200, {Qpn{1}, true, buffer(7, {{0x8000, 100, stag_of(4)}})});
  receive(send(1, 4));
  receive(write(stag_of(3), 0x1000, 4), 2);
  run_until_idle();
  EXPECT_EQ(placed.cycles(), one_by_one(200 + kThrough + kRow, 2));
  EXPECT_EQ(placed[0].qpn, Qpn{1});
  EXPECT_TRUE(dut.in_order() || clk.activity().ticks < 100u);  // woken, or replaced by a twin
}
TEST_F(DdpPlacementTest, TheWaitEndsWithTheQp) {
  doorbells.send({Qpn{1}, 1});
  firmware.at(100, [this] { contexts.write(Qpn{1}, QpContext{}); });
  receive(send(1, 4));
  receive(write(stag_of(3), 0x1000, 4), 2);
  run_until_idle(1000);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].qpn, Qpn{2});
  EXPECT_THAT(placed.cycles(), ElementsAre(101 + kThrough + kRow));
}
TEST_F(DdpPlacementTest, InvalidateNamesAnUnknownStag) {
  post_one(100);
  receive(from_hex("4144 00000B00 00000000 00000001 00000000"));
  expect_error(rdma::kUnknownStagCannotBeInvalidated);
}
TEST_F(DdpPlacementTest, InvalidateNamesAForeignStag) {
  post_one(100);
  receive(from_hex("4146 0000055A 00000000 00000001 00000000"));
  expect_error(rdma::kForeignStagCannotBeInvalidated);
  EXPECT_TRUE(contexts.stag(Stag{stag_of(5)})->valid);
}
TEST_F(DdpPlacementTest, InvalidateNamesAnotherStreamsWindow) {
  StagContext w = window_of(2);
  w.allocated = true;
  contexts.write(Stag{stag_of(8)}, w);
  contexts.commit();
  post_one(100);
  receive(from_hex("4144 0000085A 00000000 00000001 00000000"));
  expect_error(rdma::kForeignStagCannotBeInvalidated);
  EXPECT_TRUE(contexts.stag(Stag{stag_of(8)})->valid);
}
TEST_F(DdpPlacementTest, InvalidateNamesTheStreamsOwnWindow) {
  StagContext w = window_of(1);
  w.allocated = true;
  contexts.write(Stag{stag_of(8)}, w);
  contexts.commit();
  post_one(100);
  receive(from_hex("4144 0000085A 00000000 00000001 00000000"));
  receive(write(stag_of(8), 0x1040, 4));
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidStag) << "of the Write behind it";
  ASSERT_EQ(placed.size(), 1u);
}
// RFC 5040 section 6.1: these octets name an STag only in messages that invalidate.
TEST_F(DdpPlacementTest, WhatStandsInPlaceOfAnStagToInvalidateMeansNothingInOtherMessages) {
  post_one(100);
  receive(from_hex("4143 0000035A 00000000 00000001 00000000 DEADBEEF"));
  Bytes request = kReadRequest, terminate = kTerminate;
  for (Bytes* ulpdu : {&request, &terminate}) store_be32(&(*ulpdu)[2], stag_of(3));
  receive(request);
  receive(terminate);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(placed.size(), 3u);
  EXPECT_TRUE(contexts.stag(Stag{stag_of(3)})->valid);
}
TEST_F(DdpPlacementTest, ARegionThatOthersMayShareIsNotAPeersToEnd) {
  contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, kAllRights & ~abi::kRemoteInvalidate));
  contexts.commit();
  post_one(100);
  receive(from_hex("4144 0000035A 00000000 00000001 00000000 DEADBEEF"));
  expect_error(rdma::kForeignStagCannotBeInvalidated);
}
TEST_F(DdpPlacementTest, InvalidateGoesUpWithTheMessage) {
  post_one(100);
  receive(from_hex("4144 0000035A 00000000 00000001 00000000 DEADBEEF"));
  run_until_idle();
  EXPECT_EQ(placed[0].opcode, wire::Opcode::kSendInvalidate);
  EXPECT_EQ(placed[0].stag, 0x35au);
  EXPECT_EQ(named(contexts, 0x35a), nullptr);
}
// Segments after the Send are no longer placed, even before the Send is delivered.
TEST_F(DdpPlacementTest, InvalidateEndsTheStagForTheNextSegment) {
  post_one(100);
  receive(from_hex("0144 0000035A 00000000 00000001 00000000 DEADBEEF"));
  receive(write(stag_of(3), 0x1000, 4));
  receive(from_hex("4144 0000035A 00000000 00000001 00000004 DEADBEEF"));
  receive(write(stag_of(3), 0x1000, 4));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8000, 4), std::pair(0x1000, 4), std::pair(0x8004, 4)));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidStag);
}
// A write counts from the check of its STag: see StagFence.
TEST_F(DdpPlacementTest, AWriteIsUnderWayFromTheCycleOfItsCheck) {
  constexpr Cycle kChecks[] = {kToEnd + kRow, kToEnd + kRow + 2 * (1 + kRow)};  // of the first one and the third one
  std::vector<std::uint64_t> begun, expected;
  for (Cycle c = 1; c < kChecks[1] + 3; ++c) {
    expected.push_back((c > kChecks[0]) + (c > kChecks[1]));
    firmware.at(c, [&] { begun.push_back(contexts.in_flight.begun()[StagWrites::kPlacement]); });
  }
  receive(write(stag_of(3), 0x1000, 4));
  receive(write(0, 0, 0));
  receive(write(stag_of(3), 0x1000, 4));
  run_until_idle();
  EXPECT_EQ(begun, expected);
}

// Ready to receive.
class AbsorbingTest : public DdpPlacementTest {
 protected:
  AbsorbingTest() {
    QpContext c = rts_qp(1);
    c.absorbs_rtr_send = true;
    contexts.write(Qpn{1}, c);
    contexts.commit();
  }
};
TEST_F(AbsorbingTest, FirstEmptySendNeedsNoReceiveRequestTheSecondDoes) {
  receive(send(1, 0));
  receive(send(2, 0));
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_TRUE(placed[0].absorbed);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, ddp::kInvalidMsnNoBuffer);
}
TEST_F(AbsorbingTest, OnlyTheFirstSendIsAbsorbed) {
  post({buffer(1, {{0x8000, 100, stag_of(4)}}), buffer(2, {{0x8100, 100, stag_of(4)}})});
  receive(send(1, 4));
  receive(send(2, 0));
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_FALSE(placed[1].absorbed);
  EXPECT_EQ(placed[1].wr_id, 2u);
}

// The initiator may say ready-to-receive by another message. Its Sends are then its program's.
TEST_F(AbsorbingTest, AnEmptySendBehindTheRtrWriteIsNotAbsorbed) {
  post({buffer(1, {{0x8000, 100, stag_of(4)}})});
  receive(write(0, 0, 0));
  receive(send(1, 0));
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_FALSE(placed[1].absorbed);
  EXPECT_EQ(placed[1].wr_id, 1u);
}

// STag 8: 0x2000 octets that begin 0x40 octets before the end of the first of four pages. Placement does not look at
// the pages: a write brings the list.
class PagedPlacementTest : public DdpPlacementTest {
 protected:
  static constexpr std::uint64_t kVa = 0x7000;
  PagedPlacementTest() {
    StagContext c = region(kVa, 0x2000, kAllRights);
    c.bus = 0xfc0;
    c.log_page = 12;
    c.first_page = 4;
    c.pages = 4;
    contexts.write(Stag{stag_of(8)}, c);
    contexts.commit();
  }
  static constexpr PageList kList = PageList::of(4, 12);
  std::vector<PageList> lists() const {
    std::vector<PageList> all;
    for (const DmaWriteRequest& w : writes) all.push_back(w.list);
    return all;
  }
};
TEST_F(PagedPlacementTest, AWriteAcrossAPageIsOneWrite) {
  receive(write(stag_of(8), kVa + 0x38, 16));
  receive(write(stag_of(8), kVa + 0x48, 4));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0xff8, 16), std::pair(0x1008, 4)));
  EXPECT_THAT(lists(), ElementsAre(kList, kList));
  EXPECT_EQ(writes.cycles(), one_by_one(kThrough + kRow, 2));
  EXPECT_EQ(placed.cycles(), one_by_one(kThrough + kRow, 2));
}
TEST_F(PagedPlacementTest, TheFirstAndTheLastOctetArePlaced) {
  receive(write(stag_of(8), kVa, 1));
  receive(write(stag_of(8), kVa + 0x1fff, 1));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0xfc0, 1), std::pair(0x2fbf, 1)));
}
TEST_F(PagedPlacementTest, OneOctetBeforeTheFirst) {
  receive(write(stag_of(8), kVa - 1, 2));
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(PagedPlacementTest, OneOctetBehindTheLastThoughItsPageGoesOn) {
  receive(write(stag_of(8), kVa + 0x1fff, 2));
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(PagedPlacementTest, AScatterListMayMixPagesAndBusAddresses) {
  post({buffer(7, {{kVa + 0x3e, 4, stag_of(8)}, {0x8000, 4, stag_of(4)}, {kVa + 0x103e, 8, stag_of(8)}})});
  receive(send(1, 16));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0xffe, 4), std::pair(0x8000, 4), std::pair(0x1ffe, 8)));
  EXPECT_THAT(lists(), ElementsAre(kList, PageList{}, kList));
  EXPECT_THAT(placed.cycles(), ElementsAre(kThrough + kRow + 4));  // one for each of the further two entries and writes
}
TEST_F(PagedPlacementTest, AReadResponseGoesToItsPages) {
  ask(stag_of(8), kVa + 0x103f, 2);
  wire.pause(window(0, 5));
  receive(write(stag_of(8), kVa + 0x103f, 2, "C142"));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x1fff, 2)));
  EXPECT_THAT(lists(), ElementsAre(kList));
}

// The end of a stream.
TEST_F(DdpPlacementTest, AFlushCompletesWhatIsPostedAndWhatComesLaterOneACycle) {
  post({buffer(1, {{0x8000, 100, stag_of(4)}}), buffer(2, {}), buffer(3, {})});
  fetch.pause(window(2, 30));
  flushes.send_at(10, {{Qpn{1}, 0, Cqn{7}}, {Qpn{1}, 0, Cqn{8}}});
  wire.pause(window(0, 40));
  receive(send(1, 4));
  run_until_idle();
  EXPECT_THAT(placed.cycles(),
              ElementsAre(10 + kToEnd + kRow + kToEnd, 11 + kToEnd + kRow + kToEnd, 30 + kToEnd + kToEnd));
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_TRUE(placed[i].flushed);
    EXPECT_EQ(placed[i].wr_id, i + 1);
    EXPECT_EQ(placed[i].recv_cq, Cqn{7}) << "of the first one";
  }
  EXPECT_EQ(given_back.size(), 3u);
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(writes, IsEmpty());
}

// A ring of 16 entries: announcing more means that entries were overwritten before they were taken.
TEST_F(DdpPlacementTest, AnOverrunOfTheReceiveRingEndsItsStream) {
  doorbells.send({{Qpn{1}, 16}, {Qpn{1}, 17}, {Qpn{1}, 18}, {Qpn{2}, 1}});
  fetch.send({{Qpn{1}, true, buffer(7, {{0x8000, 100, stag_of(4)}})}, {Qpn{2}, true, buffer(8, {})}});
  wire.pause(window(0, 20));
  receive(send(1, 4));
  receive(send(1, 0), 2);
  run_until_idle();
  EXPECT_THAT(events.cycles(), ElementsAre(1 + kToEnd + kRow + 1 + kToEnd));  // of the second doorbell
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events[0].qpn, Qpn{1});
  EXPECT_EQ(events[0].cause, rdma::kLocalCatastrophic);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].qpn, Qpn{2});
}
TEST_F(DdpPlacementTest, AFullReceiveRingIsNoOverrun) {
  doorbells.send({Qpn{1}, 16});
  fetch.send({Qpn{1}, true, buffer(7, {{0x8000, 100, stag_of(4)}})});
  receive(send(1, 4));
  run_until_idle();
  doorbells.send({Qpn{1}, 17});
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(placed.size(), 1u);
}
TEST_F(DdpPlacementTest, AnOverrunBeforeTheConnectionEndsItsStreamWithTheFirstMessageAtTheLatest) {
  QpContext idle = rts_qp(1);
  idle.state = QpState::kIdle;
  contexts.write(Qpn{1}, idle);
  contexts.commit();
  doorbells.send({Qpn{1}, 17});
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1)); });
  wire.pause(window(0, 20));
  receive(send(1, 4));
  run_until_idle();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
  EXPECT_EQ(events[1].kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(events[1].cause, rdma::kLocalCatastrophic);
  EXPECT_THAT(placed, IsEmpty());
}

// Whatever an entry contains, only memory that the key and the domain allow is written.
class GarbageTest : public DdpPlacementTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(GarbageTest, RandomOctetsInAReceiveRequestEndTheStreamOrStayInItsRegion) {
  Prng prng(GetParam());
  std::array<std::uint8_t, abi::kWqeBytes> octets;
  for (std::uint8_t& o : octets) o = static_cast<std::uint8_t>(prng.below(256));
  abi::Wqe w;
  std::memcpy(static_cast<void*>(&w), octets.data(), octets.size());
  if (GetParam() % 2 != 0) {  // an entry that gets further
    w.num_sge = static_cast<std::uint8_t>(1 + prng.below(abi::kMaxSge));
    w.sge[0].lkey = stag_of(4);
    w.sge[0].address = 0x7ff0 + prng.below(0x1020);
    w.sge[0].length = static_cast<std::uint32_t>(prng.below(64));
  }
  post({w});
  receive(send(1, 32));
  run_until_idle();
  EXPECT_EQ(events.size() + placed.size(), 1u);
  for (const QpEvent& e : events) {
    EXPECT_TRUE(e.cause == ddp::kLocalCatastrophic || e.cause == ddp::kMessageTooLong);
  }
  for (const auto& [address, bytes] : pieces()) {
    EXPECT_GE(address, 0x8000u);
    EXPECT_LE(address + bytes, 0x9000u);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, GarbageTest, testing::Range<std::uint64_t>(0, 40));

// Numbers that come from the host or are outdated.
TEST_F(DdpPlacementTest, DoorbellBeyondTheTableIsDropped) {
  doorbells.send({{Qpn{4}, 1}, {Qpn{0xfffff}, 1}});
  receive(write(stag_of(3), 0x1000, 4));
  run_until_idle();
  EXPECT_EQ(placed.size(), 1u);
}
TEST_F(DdpPlacementTest, AReusedQpStartsAnew) {
  post({buffer(1, {{0x8000, 100, stag_of(4)}}), buffer(2, {{0x8100, 100, stag_of(4)}})});
  receive(send(1, 4));
  receive(send(2, 4, 0, false));  // cut off in the middle
  firmware.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  doorbells.pause(window(1, 30));
  fetch.pause(window(2, 30));
  wire.pause(window(2, 40));
  post({buffer(3, {{0x8200, 100, stag_of(4)}})});
  receive(send(1, 8));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(placed.size(), 3u);
  EXPECT_EQ(placed[2].wr_id, 3u);
  EXPECT_EQ(placed[2].bytes, 8u);
  EXPECT_THAT(pieces().back(), std::pair(std::uint64_t{0x8200}, 8u));
}
// Neither its flush nor its receive request, however late they come.
TEST_F(DdpPlacementTest, WhatIsLeftOfAnEarlierUseOfTheQpNumber) {
  firmware.at(5, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  FetchedRqe earlier{Qpn{1}, true, buffer(1, {{0x8000, 100, stag_of(4)}})};
  earlier.epoch = 1;
  fetch.send_at(10, earlier);
  flushes.send_at(20, {Qpn{1}, 1});
  doorbells.send_at(30, {Qpn{1}, 1});
  fetch.send_at(30, {Qpn{1}, true, buffer(2, {{0x8200, 100, stag_of(4)}})});
  wire.pause(window(0, 60));
  receive(send(1, 8));
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].wr_id, 2u);
  EXPECT_FALSE(placed[0].flushed);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(DdpPlacementTest, AFlowThatItsQpLeftIsDropped) {
  firmware.at(0, [this] {
    QpContext c = rts_qp(1, 2);
    c.flow = FlowId{3};
    contexts.write(Qpn{1}, c);
  });
  receive(write(stag_of(9), 0x1000, 4), 1, 5);
  run_until_idle();
  EXPECT_THAT(placed, IsEmpty());
  EXPECT_THAT(events, IsEmpty());
}

// RFC 7306, with the octets of messages.json. RsvdULP has no meaning.
const Bytes kAtomicRequest = from_hex(
    "414A DEADBEEF 00000001 00000001 00000000 FFFFFFF0 00001234 00000300 0000000000004008 0000000000000005"
    "8000000000000000 0000000000000000 FFFFFFFFFFFFFFFF");
const Bytes kAtomicResponse = from_hex("414B DEADBEEF 00000003 00000001 00000000 00001234 0102030405060708");
const Bytes kImmediate = from_hex("4148 DEADBEEF 00000000 00000001 00000000 0102030405060708");

TEST_F(DdpPlacementTest, AtomicRequest) {
  receive(kAtomicRequest);
  Bytes read = kReadRequest;
  store_be32(&read[10], 2);  // the next MSN of the same queue
  receive(read);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(writes, IsEmpty());
  ASSERT_EQ(placed.size(), 2u);
  const wire::AtomicRequest& a = placed[0].atomic;
  EXPECT_EQ(placed[0].opcode, wire::Opcode::kAtomicRequest);
  EXPECT_EQ(a.opcode(), wire::AtomicOpcode::kFetchAdd);  // whatever the reserved bits are
  EXPECT_EQ(a.request_id, 0x1234u);
  EXPECT_EQ(a.stag, 0x300u);
  EXPECT_EQ(a.to, 0x4008u);
  EXPECT_EQ(a.data, 5u);
  EXPECT_EQ(a.data_mask, 0x8000000000000000u);
}
TEST_F(DdpPlacementTest, AtomicResponse) {
  receive(kAtomicResponse);
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].atomic_response.request_id, 0x1234u);
  EXPECT_EQ(placed[0].atomic_response.original, 0x0102030405060708u);
}
TEST_F(DdpPlacementTest, ImmediateDataUsesAReceiveRequestOfAnySize) {
  post({buffer(7, {}), buffer(8, {{0x8000, 4, stag_of(4)}})});
  receive(kImmediate);
  receive(send(2, 4));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0].immediate.data, 0x0102030405060708u);
  EXPECT_EQ(placed[0].wr_id, 7u);
  EXPECT_EQ(placed[0].bytes, 0u);
  EXPECT_EQ(placed[1].wr_id, 8u);
  EXPECT_EQ(given_back.size(), 2u);
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8000, 4)));
}
TEST_F(DdpPlacementTest, ImmediateDataWaitsForAReceiveRequestThatIsBeingFetched) {
  doorbells.send({Qpn{1}, 1});
  fetch.send_at(60, {Qpn{1}, true, buffer(7, {})});
  receive(kImmediate);
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_GT(placed.cycles()[0], 60u);
}
TEST_F(DdpPlacementTest, ImmediateDataWithoutAReceiveRequest) {
  receive(kImmediate);
  expect_error(ddp::kInvalidMsnNoBuffer);
}
TEST_F(DdpPlacementTest, ImmediateDataOfSevenOctets) {
  post_one(100);
  receive(Bytes(kImmediate.begin(), kImmediate.end() - 1));
  expect_error(rdma::kOperationUnspecified);  // choices.md 5
}
TEST_F(DdpPlacementTest, ImmediateDataOfNineOctets) {
  post_one(100);
  receive(kImmediate + zeros(1));
  expect_error(rdma::kOperationUnspecified);
}
TEST_F(DdpPlacementTest, ImmediateDataThatIsNotTheLastSegment) {
  post_one(100);
  Bytes b = kImmediate;
  b[0] = 0x01;
  receive(b);
  expect_error(rdma::kOperationUnspecified);
}
TEST_F(DdpPlacementTest, ImmediateDataWithAnOffset) {
  post_one(100);
  Bytes b = kImmediate;
  b[17] = 8;
  receive(b);
  expect_error(ddp::kInvalidMo);
}
TEST_F(DdpPlacementTest, AtomicRequestOnTheQueueOfSends) {
  Bytes b = kAtomicRequest;
  b[9] = 0;
  receive(b);
  expect_error(ddp::kInvalidQn);
}
TEST_F(DdpPlacementTest, AtomicRequestWithTheWrongMsn) {
  Bytes b = kAtomicRequest;
  b[13] = 2;
  receive(b);
  expect_error(ddp::kInvalidMsnRange);
}
TEST_F(DdpPlacementTest, AtomicRequestWithAnOffset) {
  Bytes b = kAtomicRequest;
  b[17] = 1;
  receive(b);
  expect_error(ddp::kInvalidMo);
}
TEST_F(DdpPlacementTest, AtomicRequestTooLong) {
  receive(kAtomicRequest + zeros(1));
  expect_error(ddp::kMessageTooLong);
}
TEST_F(DdpPlacementTest, AtomicRequestTooShort) {
  receive(Bytes(kAtomicRequest.begin(), kAtomicRequest.end() - 1));
  expect_error(rdma::kOperationUnspecified);
}
TEST_F(DdpPlacementTest, AtomicResponseOnTheQueueOfRequests) {
  Bytes b = kAtomicResponse;
  b[9] = 1;
  receive(b);
  expect_error(ddp::kInvalidQn);
}
TEST_F(DdpPlacementTest, AtomicResponseOfTheWrongMsn) {
  Bytes b = kAtomicResponse;
  b[13] = 2;
  receive(b);
  expect_error(ddp::kInvalidMsnRange);
}
TEST_F(RdmacPlacementTest, AtomicRequest) {
  Bytes b = kAtomicRequest;
  b[0] = 0x40, b[1] = 0x0a;
  receive(b);
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(RdmacPlacementTest, AtomicResponse) {
  Bytes b = kAtomicResponse;
  b[0] = 0x40, b[1] = 0x0b;
  receive(b);
  expect_error(rdma::kUnexpectedOpcode);
}
TEST_F(DdpPlacementTest, AtomicVersion) {
  Bytes b = kAtomicRequest;
  b[1] = 0x8a;
  receive(b);
  expect_error(rdma::kInvalidVersion);
}

// The record leaves in the cycle in which a write would, and waits for no write.
TEST_F(DdpPlacementTest, WhatIsPlacedIsNotWrittenAgain) {
  receive_placed(write(stag_of(3), 0x1000, 200, "8140"));
  receive(write(stag_of(3), 0x10c8, 10));
  run_until_idle();
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x10c8, 10)));
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_FALSE(placed[0].awaits_write);
  EXPECT_FALSE(placed[0].last);
  EXPECT_TRUE(placed[1].awaits_write);
  EXPECT_EQ(placed[1].bytes, 210u) << "the message's length counts what was placed early";
  EXPECT_EQ(placed.cycles(), one_by_one(kThrough + kRow, 2));
  EXPECT_EQ(contexts.in_flight.begun()[StagWrites::kPlacement], 1u);
}
TEST_F(DdpPlacementTest, WhatIsPlacedIsCheckedAgain) {
  receive_placed(write(stag_of(9), 0x1000, 200));
  expect_error(ddp::kInvalidStag);
}
TEST_F(DdpPlacementTest, WhatIsPlacedIsCheckedAgainForItsBounds) {
  receive_placed(write(stag_of(3), 0x1001, 0x100));
  expect_error(ddp::kBaseOrBounds);
}
TEST_F(DdpPlacementTest, AReadGoesOnBehindWhatIsPlaced) {
  ask(stag_of(4), 0x8000, 300);
  receive(write(stag_of(4), 0x8000, 100, "8142"));
  receive_placed(write(stag_of(4), 0x8064, 150, "8142"));
  receive(write(stag_of(4), 0x80fa, 50, "C142"));
  run_until_idle();
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(pieces(), ElementsAre(std::pair(0x8000, 100), std::pair(0x80fa, 50)));
  ASSERT_EQ(placed.size(), 3u);
  EXPECT_EQ(placed[2].bytes, 300u);
}
TEST_F(DdpPlacementTest, WhatIsPlacedBehindAHoleInAReadIsRefused) {
  ask(stag_of(4), 0x8000, 300);
  receive_placed(write(stag_of(4), 0x8064, 150, "8142"));
  expect_error(ddp::kBaseOrBounds);
}

// QP 2 is on SCTP.
class TwoLayersTest : public DdpPlacementTest {
 protected:
  TwoLayersTest() { open_qp(contexts, 2, on_sctp(rts_qp(2))); }
  // Four beats.
  static Bytes long_write() { return write(stag_of(3), 0x1000, 200); }
  static Bytes short_write() { return write(stag_of(3), 0x1000, 4); }
};
TEST_F(TwoLayersTest, SctpAlonePassesAsFastAsMpa) {
  for (int i = 0; i < 4; ++i) receive_sctp(short_write());
  run_until_idle();
  EXPECT_EQ(placed.cycles(), one_by_one(kThrough + kRow, 4));
  EXPECT_EQ(writes.size(), 4u);
}
TEST_F(TwoLayersTest, LastBeatsOfOneCycleTakeTurns) {
  for (int i = 0; i < 3; ++i) receive(short_write());
  for (int i = 0; i < 3; ++i) receive_sctp(short_write());
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2, 1, 2, 1, 2));
  const Cycle first = kThrough + kRow, next = first + kRow + 1, last = next + kRow + 1;  // their entries come together
  EXPECT_THAT(placed.cycles(), ElementsAre(first, first + 1, next, next + 1, last, last + 1));
}
TEST_F(TwoLayersTest, TheTurnIsThatOfWhoHadItLongerAgo) {
  receive(short_write());
  receive(short_write(), 1, 20);
  receive_sctp(short_write(), 2, 20);
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2, 1));
  EXPECT_THAT(placed.cycles(), ElementsAre(kThrough + kRow, 20 + kThrough + kRow, 21 + kThrough + kRow));
}
TEST_F(TwoLayersTest, BothComeInAtFullRate) {
  receive(long_write());
  receive_sctp(long_write());
  receive_sctp(long_write());
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2, 2));
  EXPECT_THAT(placed.cycles(), ElementsAre(kThrough + 3, kThrough + 4, kThrough + 8));
}
TEST_F(TwoLayersTest, AnFpduOfSctpPassesAmidOneOfMpa) {
  receive(long_write());
  receive_sctp(short_write(), 2, 1);
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(2, 1));
  EXPECT_THAT(placed.cycles(), ElementsAre(1 + kThrough + kRow, 2 + kThrough + kRow));
}
TEST_F(TwoLayersTest, AnFpduOfMpaPassesAmidOneOfSctp) {
  receive_sctp(long_write());
  receive(short_write(), 1, 2);
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2));
  EXPECT_THAT(placed.cycles(), ElementsAre(2 + kThrough + kRow, 3 + kThrough + kRow));
  EXPECT_EQ(writes[1].bytes, 200u);
}
TEST_F(TwoLayersTest, ASendThatWaitsForItsRequestKeepsItsTurn) {
  doorbells.send({Qpn{1}, 1});
  receive(send(1, 4));
  receive_sctp(short_write(), 2, 10);
  fetch.send_at(40, {Qpn{1}, true, buffer(7, {{0x8000, 4, stag_of(4)}})});
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2));
  EXPECT_EQ(placed.cycles(), in_a_row(40 + kThrough + kRow, 2));
}
TEST_F(TwoLayersTest, ASendOverSctpThatWaitsKeepsItsTurnToo) {
  doorbells.send({Qpn{2}, 1});
  receive_sctp(send(1, 4));
  receive(short_write(), 1, 10);
  fetch.send_at(40, {Qpn{2}, true, buffer(7, {{0x8000, 4, stag_of(4)}})});
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(2, 1));
  EXPECT_EQ(placed.cycles(), in_a_row(40 + kThrough + kRow, 2));
}
TEST_F(TwoLayersTest, TheEndOfASessionPassesAmidAnFpduOfMpa) {
  receive(long_write());
  end_session(2, 1);
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_TRUE(placed[0].ended && placed[0].in_order);
  EXPECT_EQ(placed[0].llp, LlpId::kSctp);
  EXPECT_EQ(placed[0].flow, FlowId{2});
  EXPECT_THAT(order(), ElementsAre(2, 1));
  EXPECT_THAT(placed.cycles(), ElementsAre(1 + kThrough + kRow, kThrough + kRow + 2));
}
TEST_F(TwoLayersTest, AFinPassesAmidAnFpduOfSctp) {
  receive_sctp(long_write());
  end();
  run_until_idle();
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_TRUE(placed[0].ended && placed[0].in_order);
  EXPECT_EQ(placed[0].llp, LlpId::kMpaTcp);
  EXPECT_THAT(placed.cycles(), ElementsAre(kThrough + kRow, kThrough + kRow + 1));
}
// The firmware hears of it from TCP, so no error is raised here, wherever the reset comes.
TEST_F(TwoLayersTest, AResetGoesOnAndTellsNothing) {
  for (const bool whole : {true, false}) {
    receive(short_write());
    reset(whole);
  }
  run_until_idle();
  ASSERT_EQ(placed.size(), 4u);
  for (const std::size_t i : {1u, 3u}) {
    EXPECT_TRUE(placed[i].ended && !placed[i].in_order);
    EXPECT_EQ(placed[i].flow, FlowId{1});
  }
  EXPECT_TRUE(events.empty());
}
TEST_F(TwoLayersTest, AnEndOfASessionThatNoQpHearsOfGoesOnAsWell) {
  QpContext elsewhere = on_sctp(rts_qp(2));
  elsewhere.flow = FlowId{0};
  contexts.write(Qpn{2}, elsewhere);
  contexts.commit();
  end_session();
  run_until_idle();
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_TRUE(placed[0].ended && !placed[0].in_order);
  EXPECT_EQ(placed[0].llp, LlpId::kSctp);
  EXPECT_EQ(placed[0].flow, FlowId{2});
}
TEST_F(TwoLayersTest, AnErrorOverSctpIsTheSegmentsOwn) {
  receive_sctp(write(stag_of(9), 0x1000, 4));
  receive_sctp(short_write());
  receive(short_write());
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].qpn, Qpn{2});
  EXPECT_EQ(events[0].cause, ddp::kInvalidStag);
  EXPECT_THAT(order(), ElementsAre(1));
}
// SCTP drops damaged segments, and there are no error codes for them: this would be a bug of ours.
TEST_F(TwoLayersTest, ADamagedSegmentOverSctpStopsTheRun) {
  auto beats = cut_fpdu(pool, fpdu(short_write()), 64, false, 0, FlowId{2});
  beats.back().crc_ok = false;
  sctp.send(beats);
  EXPECT_ANY_THROW(run_until_idle());
}
TEST_F(TwoLayersTest, UnderBackpressureEachStreamKeepsItsOrder) {
  writes.pause(every(5, 3));
  placed.pause(every(7, 4));
  for (std::uint32_t i = 0; i < 12; ++i) {
    receive(write(stag_of(3), 0x1000 + i, i % 3 == 0 ? 100 : 4));
    receive_sctp(write(stag_of(3), 0x1080 + i, i % 4 == 0 ? 100 : 4));
  }
  run_until_idle();
  std::uint64_t next[2] = {0x1000, 0x1080};
  for (const DmaWriteRequest& w : writes) EXPECT_EQ(w.address, next[w.address >= 0x1080]++);
  EXPECT_EQ(next[0] + next[1], 0x1000u + 0x1080 + 24);
  EXPECT_EQ(placed.size(), 24u);
  EXPECT_EQ(pool.in_use(), 24u);  // held by the writes
}

}  // namespace
}  // namespace rnic::test
