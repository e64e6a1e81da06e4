// Scoreboards of stages with races: of a message and what races with it either may be first, and nothing else may be.
#include <iterator>
#include <numeric>

#include "model/common/bytes.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/unit/golden/devices.h"
#include "testbench/unit/golden/segments.h"

namespace rnic::test {
namespace {

using testing::HasSubstr;

const std::vector<Drain> kIrrq{drains<rnic_queued_read>(RNIC_IRRQ_OUT), drains<rnic_queued_atomic>(RNIC_IRRQ_ATOMIC),
                               drains<rnic_qp_event>(RNIC_IRRQ_EVENT)};
const std::vector<Drain> kResponses{
    drains<rnic_dma_write>(RNIC_RESPONSE_QUEUE_DMA), drains<rnic_atomic_done>(RNIC_RESPONSE_QUEUE_DONE),
    drains<rnic_tx_unblock>(RNIC_RESPONSE_QUEUE_UNBLOCK), drains<rnic_qp_event>(RNIC_RESPONSE_QUEUE_EVENT)};
const std::vector<Drain> kTerminates{drains<rnic_terminate_message>(RNIC_TERMINATE_GENERATOR_OUT),
                                     drains<rnic_qp_event>(RNIC_TERMINATE_GENERATOR_EVENT)};
const std::vector<Drain> kPlacements{
    drains<rnic_dma_write>(RNIC_DDP_PLACEMENT_DMA), drains<rnic_placed_segment>(RNIC_DDP_PLACEMENT_OUT),
    drains<rnic_rqe_taken>(RNIC_DDP_PLACEMENT_RQE_TAKEN), drains<rnic_srq_event>(RNIC_DDP_PLACEMENT_SRQ_EVENT),
    drains<rnic_qp_event>(RNIC_DDP_PLACEMENT_EVENT)};

struct Stages {
  const char* kind;
  const std::vector<Drain>& ports;
};
const Stages kOfIrrq{"irrq", kIrrq}, kOfResponses{"response_queue", kResponses},
    kOfTerminates{"terminate_generator", kTerminates}, kOfPlacement{"ddp_placement", kPlacements};

// The last two moves race, before those of `after`: the board passes either order of the device, and not the outcomes
// of both.
void either_may_be_first(const Stages& of, std::vector<Move> moves, const std::string& what,
                         const std::vector<Move>& after = {}) {
  std::vector<std::size_t> order(moves.size() + after.size()), other;
  std::iota(order.begin(), order.end(), std::size_t{0});
  other = order;
  const std::size_t second = moves.size() - 1;
  std::swap(other[second], other[second - 1]);
  const auto run = [&](bool swapped, unsigned gap) {
    moves[second].cycle = moves[second - 1].cycle + gap;
    std::vector<Move> all = moves;
    all.insert(all.end(), after.begin(), after.end());
    return run_of(of.kind, all, swapped ? other : order, of.ports);
  };
  for (const bool swapped : {false, true}) {
    for (const unsigned gap : {0u, 1u, 5u, 40u}) {
      EXPECT_EQ(judged(of.kind, run(swapped, gap)).text, "") << what << ", cycles " << gap << ", swapped " << swapped;
    }
  }
  // Far apart, it is the order of acceptance that counts.
  EXPECT_EQ(judged(of.kind, run(false, 500)).text, "") << what << ", apart";
  EXPECT_EQ(judged(of.kind, run(true, 500)).status, RNIC_E_MISMATCH) << what << ", apart and swapped";
  std::vector<Move> both = run(false, 0);
  const std::vector<Move> swapped = run(true, 0);
  const std::uint64_t since = moves[second - 1].cycle;
  const auto given_of_both = [&](const std::vector<Move>& all) {
    return std::count_if(all.begin() + static_cast<std::ptrdiff_t>(order.size()), all.end(),
                         [&](const Move& m) { return m.cycle >= since; });
  };
  if (given_of_both(both) == 0 || given_of_both(swapped) == 0) return;  // one of them is ignored
  std::copy_if(swapped.begin() + static_cast<std::ptrdiff_t>(order.size()), swapped.end(), std::back_inserter(both),
               [&](const Move& m) { return m.cycle >= since; });
  EXPECT_EQ(judged(of.kind, both).status, RNIC_E_MISMATCH) << what << ", both";
}

rnic_queued_request request(std::uint32_t number, std::uint32_t qpn = 3) {
  rnic_queued_request r = sized<rnic_queued_request>();
  r.qpn = qpn;
  r.epoch = r.pd = 1;
  r.read_size = number;
  r.segment_length = static_cast<std::uint16_t>(number);
  return r;
}
Move open_qp(std::uint32_t qpn, std::uint32_t flow = 0, std::uint16_t ird = 4) {
  rnic_qp_row qp = qp_row();
  qp.flow = flow;
  qp.ird = ird;
  return row(1, "qp", qpn, qp);
}
Move end_qp(std::uint32_t qpn, std::uint32_t flow = 0) {
  rnic_qp_row qp = qp_row();
  qp.flow = flow;
  qp.valid = 0;
  return row(600, "qp", qpn, qp);
}

TEST(GoldenRaces, ARequestAtIrdAndAResponseThatHasLeft) {
  const rnic_read_response_sent sent{sizeof sent, 3, 1, {}};
  either_may_be_first(kOfIrrq,
                      {open_qp(3, 0, 1), accepts(500, RNIC_IRRQ_IN, request(1)), accepts(600, RNIC_IRRQ_SENT, sent),
                       accepts(600, RNIC_IRRQ_IN, request(2))},
                      "at IRD");
}

// The request beyond IRD, behind one that is queued: a response that left before that one made room for it.
TEST(GoldenRaces, AnOverrunIsOfTheRequestThatItNames) {
  const rnic_read_response_sent sent{sizeof sent, 3, 1, {}};
  const std::vector<Move> moves{open_qp(3, 0, 2),
                                accepts(500, RNIC_IRRQ_IN, request(1)),
                                accepts(501, RNIC_IRRQ_IN, request(2)),
                                accepts(600, RNIC_IRRQ_SENT, sent),
                                accepts(602, RNIC_IRRQ_IN, request(3)),
                                accepts(604, RNIC_IRRQ_IN, request(4))};
  std::vector<Move> all = run_of("irrq", moves, {0, 1, 2, 3, 4, 5}, kIrrq);
  EXPECT_EQ(judged("irrq", all).text, "");
  for (Move& move : all) {
    if (move.cycle == 603) move.cycle = 640;  // the response's successor waits for its link, the overrun does not
  }
  EXPECT_EQ(judged("irrq", all).text, "");
}

TEST(GoldenRaces, ARequestAndTheEndOfItsQueuePair) {
  either_may_be_first(kOfIrrq,
                      {open_qp(3), open_qp(4), accepts(500, RNIC_IRRQ_IN, request(1, 4)), end_qp(3),
                       accepts(600, RNIC_IRRQ_IN, request(2))},
                      "the end");
}

rnic_qp_event stream_error(std::uint32_t qpn) {
  rnic_qp_event error = sized<rnic_qp_event>();
  error.kind = 2;
  error.qpn = qpn;
  error.cause_layer = 1;
  error.cause_etype = 2;
  error.cause_code = 2;
  return error;
}

TEST(GoldenRaces, AnErrorAndTheEndOfItsQueuePair) {
  either_may_be_first(kOfTerminates,
                      {open_qp(3), open_qp(4), accepts(500, RNIC_TERMINATE_GENERATOR_IN, stream_error(4)), end_qp(3),
                       accepts(600, RNIC_TERMINATE_GENERATOR_IN, stream_error(3))},
                      "an error");
}

rnic_atomic_issued issued(std::uint32_t qpn, std::uint32_t number, std::uint64_t sink) {
  rnic_atomic_issued a = sized<rnic_atomic_issued>();
  a.qpn = qpn;
  a.epoch = 1;
  a.request_id = number;
  a.sink_address = sink;
  a.sink_length = 8;
  a.sink_lkey = stag_numbered(7);
  return a;
}
rnic_delivered_atomic response(std::uint32_t qpn, std::uint32_t number) {
  rnic_delivered_atomic r = sized<rnic_delivered_atomic>();
  r.qpn = qpn;
  r.epoch = r.pd = 1;
  r.response_request_id = number;
  r.response_original = 0x0102030405060700 + number;
  return r;
}
Move sink_row(std::uint64_t cycle, bool valid) {
  rnic_stag_context sink = region_row(0x9000, 64, kLocalWrites);
  sink.valid = valid;
  return row(cycle, "stag", 7, sink);
}
const rnic_dma_write_done kWritten{sizeof kWritten, 0, 1, {}};

TEST(GoldenRaces, AResponseAndItsRequest) {
  either_may_be_first(kOfResponses,
                      {open_qp(3), sink_row(1, true), accepts(600, RNIC_RESPONSE_QUEUE_ISSUED, issued(3, 40, 0x9000)),
                       accepts(600, RNIC_RESPONSE_QUEUE_IN, response(3, 40))},
                      "a request");
}

TEST(GoldenRaces, AResponseAndTheEndOfItsSink) {
  either_may_be_first(kOfResponses,
                      {open_qp(3), sink_row(1, true), accepts(500, RNIC_RESPONSE_QUEUE_ISSUED, issued(3, 40, 0x9000)),
                       sink_row(600, false), accepts(600, RNIC_RESPONSE_QUEUE_IN, response(3, 40))},
                      "a sink");
}

Move segment(std::uint64_t cycle, std::uint32_t qpn, const Bytes& ulpdu, std::uint32_t port = RNIC_DDP_PLACEMENT_IN) {
  rnic_fpdu m = sized<rnic_fpdu>();
  m.qpn = qpn;
  m.flow = 100 + qpn;
  m.life = m.crc_on = m.marker_ok = m.crc_ok = 1;
  return accepts(cycle, port, m, MpaReference{}.fpdu(ulpdu));
}
Move target_row(std::uint64_t cycle, bool valid) {
  rnic_stag_context target = region_row(0x100000, 0x10000, kLocalWrites | kRemoteWrites | kRemoteReads);
  target.valid = valid;
  return row(cycle, "stag", 1, target);
}
Bytes write_to(std::uint64_t offset, std::size_t octets) {
  return tagged(kWrite, true, stag_numbered(1), 0x100000 + offset, counting(octets));
}
Move posted(std::uint64_t cycle, std::uint32_t qpn) {
  return accepts(cycle, RNIC_DDP_PLACEMENT_POSTED, rnic_rq_doorbell{sizeof(rnic_rq_doorbell), 0, {}, qpn, 1});
}
Move fetched(std::uint64_t cycle, std::uint32_t qpn) {
  rnic_fetched_rqe rqe = sized<rnic_fetched_rqe>();
  rqe.rqn_number = qpn;
  rqe.ok = rqe.wqe_num_sge = 1;
  rqe.epoch = 1;
  rqe.wqe_wr_id = 77;
  rqe.wqe_sge_address[0] = 0x100000;
  rqe.wqe_sge_length[0] = 100;
  rqe.wqe_sge_lkey[0] = stag_numbered(1);
  return accepts(cycle, RNIC_DDP_PLACEMENT_RQE, rqe);
}
// Queue pairs 3 and 4 are open, and another segment has passed.
std::vector<Move> placed_before(std::uint16_t ird = 1) {
  return {open_qp(3, 103, ird), open_qp(4, 104), target_row(1, true), segment(400, 4, write_to(0, 8))};
}
std::vector<Move> operator+(std::vector<Move> moves, const std::vector<Move>& more) {
  moves.insert(moves.end(), more.begin(), more.end());
  return moves;
}

TEST(GoldenRaces, ASegmentAndTheEndOfItsStream) {
  const rnic_rq_flush flush{sizeof flush, 3, 1, 5};
  either_may_be_first(kOfPlacement,
                      placed_before() + std::vector<Move>{accepts(600, RNIC_DDP_PLACEMENT_FLUSH, flush),
                                                          segment(600, 3, write_to(8, 8))},
                      "a flush");
  either_may_be_first(kOfPlacement,
                      placed_before() + std::vector<Move>{end_qp(3, 103), segment(600, 3, write_to(8, 8))}, "the end");
}

// The peer's FIN directly after it: what was ignored before shows nothing else.
TEST(GoldenRaces, AnIgnoredSegmentAndTheFinBehindIt) {
  const rnic_rq_flush flush{sizeof flush, 3, 1, 5};
  rnic_fpdu fin = sized<rnic_fpdu>();
  fin.qpn = 3;
  fin.flow = 103;
  fin.life = fin.crc_on = fin.marker_ok = fin.crc_ok = fin.ends = 1;
  const std::vector<Move> moves =
      placed_before() + std::vector<Move>{accepts(600, RNIC_DDP_PLACEMENT_FLUSH, flush),
                                          segment(605, 3, write_to(8, 8)),
                                          accepts(610, RNIC_DDP_PLACEMENT_IN, fin, Bytes(4))};
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, {0, 1, 2, 3, 4, 5, 6}, kPlacements)).text, "");
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, {0, 1, 2, 3, 5, 4, 6}, kPlacements)).text, "");
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, {0, 1, 2, 3, 5, 6, 4}, kPlacements)).text, "");
}

// A doorbell beside a Write is nothing that the Write needs: that it announces too much ends the queue after it.
TEST(GoldenRaces, AWriteAndADoorbellThatAnnouncesTooMuch) {
  const rnic_rq_doorbell doorbell{sizeof doorbell, 0, {}, 3, 17};
  const std::vector<Move> moves =
      placed_before() +
      std::vector<Move>{segment(600, 3, write_to(8, 8)), accepts(601, RNIC_DDP_PLACEMENT_POSTED, doorbell)};
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, {0, 1, 2, 3, 4, 5}, kPlacements)).text, "");
}

TEST(GoldenRaces, ASegmentAndTheEndOfItsStag) {
  either_may_be_first(kOfPlacement,
                      placed_before() + std::vector<Move>{target_row(600, false), segment(600, 3, write_to(8, 8))},
                      "an STag");
}

TEST(GoldenRaces, ASendAndItsReceiveRequest) {
  const Move send = segment(600, 3, untagged(kSend, {}, counting(8)));
  either_may_be_first(kOfPlacement, placed_before() + std::vector<Move>{posted(600, 3), send}, "a doorbell",
                      {fetched(1200, 3)});
}

TEST(GoldenRaces, AReadResponseAndItsRead) {
  const rnic_read_issued read{sizeof read, 3, stag_numbered(1), {}, 0x100000, 8, 1};
  const Move answer = segment(600, 3, tagged(kReadResponse, true, stag_numbered(1), 0x100000, counting(8)));
  either_may_be_first(kOfPlacement,
                      placed_before() + std::vector<Move>{accepts(600, RNIC_DDP_PLACEMENT_READ_ISSUED, read), answer},
                      "a Read");
}

TEST(GoldenRaces, AReadRequestAtIrd) {
  const auto request_of = [](std::uint32_t msn) {
    Bytes read;
    for (const std::uint64_t value : {0x77u, 0u, 0u, 8u, stag_numbered(1), 0u, 0x100000u}) put(read, value, 4);
    return untagged(kReadRequest, {1, msn}, read);
  };
  const rnic_read_response_sent sent{sizeof sent, 3, 1, {}};
  either_may_be_first(kOfPlacement,
                      placed_before(1) + std::vector<Move>{segment(500, 3, request_of(1)),
                                                           accepts(600, RNIC_DDP_PLACEMENT_ANSWERED, sent),
                                                           segment(600, 3, request_of(2))},
                      "at IRD");
}

// ---- What is free beside the cycles, and what is not

// The record of a segment, as the stage gives it, and its write.
struct Placed {
  std::vector<Move> in;
  rnic_dma_write write{};
  Bytes octets;
  rnic_placed_segment record{};

  explicit Placed(const Move& segment, std::vector<Move> before = placed_before()) : in(std::move(before)) {
    const Stage stage = open("ddp_placement");
    in.push_back(segment);
    for (const Move& move : in) EXPECT_EQ(move.take(stage.get()), RNIC_OK) << rnic_stage_text(stage.get());
    const auto writes = drain_octets<rnic_dma_write>(stage, RNIC_DDP_PLACEMENT_DMA);
    const auto records = drain<rnic_placed_segment>(stage, RNIC_DDP_PLACEMENT_OUT);
    write = writes.back().message;
    octets = writes.back().octets;
    record = records.back();
    in.push_back(gives(420, RNIC_DDP_PLACEMENT_DMA, writes[0].message, writes[0].octets));
    in.push_back(gives(420, RNIC_DDP_PLACEMENT_OUT, records[0]));
  }
  Move piece(std::uint64_t cycle, std::size_t from, std::size_t to, bool notify) const {
    rnic_dma_write part = write;
    part.address += from;
    part.notify = notify;
    part.tag = 9;  // the device's own
    return gives(
        cycle, RNIC_DDP_PLACEMENT_DMA, part,
        Bytes(octets.begin() + static_cast<std::ptrdiff_t>(from), octets.begin() + static_cast<std::ptrdiff_t>(to)));
  }
  Verdict verdict(const std::vector<Move>& writes, std::uint64_t recorded) const {
    auto all = in;
    all.insert(all.end(), writes.begin(), writes.end());
    all.push_back(gives(recorded, RNIC_DDP_PLACEMENT_OUT, record));
    return judged("ddp_placement", all);
  }
};

TEST(GoldenRaces, WritesMayBeCutAndAreBeforeTheirRecord) {
  const Placed p(segment(600, 3, write_to(16, 100)));
  EXPECT_EQ(p.verdict({p.piece(610, 0, 100, true)}, 610).text, "");
  EXPECT_EQ(p.verdict({p.piece(610, 0, 40, false), p.piece(611, 40, 100, true)}, 640).text, "");
  EXPECT_EQ(p.verdict({p.piece(611, 64, 100, true), p.piece(612, 0, 64, false)}, 640).status, RNIC_E_MISMATCH)
      << "notice with another octet than the last one";
  EXPECT_THAT(p.verdict({p.piece(611, 0, 100, true)}, 610).text, HasSubstr("dma_write 2 is missing"));
  EXPECT_THAT(p.verdict({p.piece(610, 0, 40, true), p.piece(610, 40, 100, true)}, 611).text, HasSubstr("notify"));
  EXPECT_THAT(p.verdict({p.piece(610, 0, 40, false), p.piece(610, 40, 100, false)}, 611).text, HasSubstr("notify"));
  EXPECT_THAT(p.verdict({p.piece(610, 0, 40, false)}, 611).text, HasSubstr("is missing"));
  EXPECT_THAT(p.verdict({p.piece(610, 0, 100, true), p.piece(612, 0, 100, true)}, 610).text,
              HasSubstr("is one too many"));
  EXPECT_THAT(p.verdict({}, 610).text, HasSubstr("is missing"));
  Placed other = p;
  other.octets[70] ^= 1;
  EXPECT_THAT(p.verdict({other.piece(610, 0, 100, true)}, 611).text, HasSubstr("octet 70"));
  EXPECT_THAT(p.verdict({other.piece(610, 0, 40, false), other.piece(610, 40, 100, true)}, 611).text,
              HasSubstr("octet 70: expected"));
  other = p;
  other.write.address += 8;
  EXPECT_EQ(p.verdict({other.piece(610, 0, 100, true)}, 611).status, RNIC_E_MISMATCH);
}

// A Send into two pieces of a shared queue's request, which is taken before the record leaves.
TEST(GoldenRaces, ASharedRequestIsTakenBeforeItsRecord) {
  rnic_srq_context queue = sized<rnic_srq_context>();
  queue.valid = queue.epoch = 1;
  queue.log_entries = 4;
  rnic_qp_row qp = qp_row();
  qp.flow = 103;
  qp.shares_rq = 1;
  qp.srq = 2;
  rnic_fetched_rqe rqe = sized<rnic_fetched_rqe>();
  rqe.rqn_shared = rqe.ok = 1;
  rqe.rqn_number = rqe.wqe_num_sge = 2;
  rqe.epoch = 1;
  for (unsigned i = 0; i < 2; ++i) {
    rqe.wqe_sge_address[i] = 0x100000 + 64 * i;
    rqe.wqe_sge_length[i] = 4;
    rqe.wqe_sge_lkey[i] = stag_numbered(1);
  }
  const rnic_rq_doorbell doorbell{sizeof doorbell, 1, {}, 2, 1};
  std::vector<Move> moves{row(1, "srq", 2, queue),
                          row(1, "qp", 3, qp),
                          target_row(1, true),
                          accepts(500, RNIC_DDP_PLACEMENT_POSTED, doorbell),
                          accepts(510, RNIC_DDP_PLACEMENT_RQE, rqe),
                          segment(600, 3, untagged(kSend, {}, counting(8)))};
  const Stage stage = open("ddp_placement");
  for (const Move& move : moves) EXPECT_EQ(move.take(stage.get()), RNIC_OK) << rnic_stage_text(stage.get());
  std::vector<Move> all = moves;
  kPlacements[2](stage, 602, all);
  kPlacements[0](stage, 603, all);
  kPlacements[1](stage, 604, all);
  ASSERT_EQ(all.size(), moves.size() + 4);
  EXPECT_EQ(judged("ddp_placement", all).text, "");
  all.push_back(all[moves.size()]);
  EXPECT_THAT(judged("ddp_placement", all).text, HasSubstr("rqe_taken 2 of queue 2 is one too many"));
}

TEST(GoldenRaces, QueuePairsAndBothInputsMayOvertakeEachOther) {
  std::vector<Move> moves = placed_before();
  const std::vector<std::size_t> in_order{0, 1, 2, 3, 4, 5, 6, 7}, other{0, 1, 2, 3, 6, 4, 7, 5};
  moves.push_back(segment(600, 3, write_to(0, 40)));
  moves.push_back(segment(601, 3, write_to(40, 50)));
  moves.push_back(segment(602, 4, write_to(0, 60), RNIC_DDP_PLACEMENT_SCTP_IN));
  moves.push_back(segment(603, 4, write_to(60, 70), RNIC_DDP_PLACEMENT_SCTP_IN));
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, in_order, kPlacements)).text, "");
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, other, kPlacements, 20)).text, "");
  const std::vector<std::size_t> wrong{0, 1, 2, 3, 5, 4, 6, 7};
  EXPECT_EQ(judged("ddp_placement", run_of("ddp_placement", moves, wrong, kPlacements, 20)).status, RNIC_E_MISMATCH);
}

// A queue pair on a shared receive queue, to which so many requests are announced, and one has come.
std::vector<Move> on_a_shared_queue(std::uint32_t announced) {
  rnic_srq_context srq = sized<rnic_srq_context>();
  srq.valid = srq.epoch = srq.pd = 1;
  srq.log_entries = 3;
  rnic_qp_row qp = qp_row();
  qp.flow = 103;
  qp.shares_rq = 1;
  qp.srq = 9;
  rnic_fetched_rqe rqe = sized<rnic_fetched_rqe>();
  rqe.rqn_shared = rqe.ok = rqe.epoch = rqe.wqe_num_sge = 1;
  rqe.rqn_number = 9;
  rqe.wqe_sge_address[0] = 0x100000;
  rqe.wqe_sge_length[0] = 100;
  rqe.wqe_sge_lkey[0] = stag_numbered(1);
  const rnic_rq_doorbell doorbell{sizeof doorbell, 1, {}, 9, announced};
  return {target_row(1, true),
          row(1, "srq", 9, srq),
          row(1, "qp", 3, qp),
          open_qp(4, 104),
          accepts(500, RNIC_DDP_PLACEMENT_POSTED, doorbell),
          accepts(510, RNIC_DDP_PLACEMENT_RQE, rqe)};
}

// Its first segment takes it, whose payload may come later.
TEST(GoldenRaces, ARequestOfASharedQueueIsTakenBeforeItsSend) {
  std::vector<Move> moves = on_a_shared_queue(1);
  moves.push_back(segment(700, 3, untagged(kSend, {}, counting(8))));
  const std::vector<Drain> others{drains<rnic_dma_write>(RNIC_DDP_PLACEMENT_DMA),
                                  drains<rnic_placed_segment>(RNIC_DDP_PLACEMENT_OUT)};
  rnic_rqe_taken taken = sized<rnic_rqe_taken>();
  taken.rqn_shared = taken.epoch = 1;
  taken.rqn_number = 9;
  std::vector<Move> all = run_of("ddp_placement", moves, {0, 1, 2, 3, 4, 5, 6}, others);
  all.push_back(gives(690, RNIC_DDP_PLACEMENT_RQE_TAKEN, taken));
  EXPECT_EQ(judged("ddp_placement", all).text, "");
  all.push_back(gives(692, RNIC_DDP_PLACEMENT_RQE_TAKEN, taken));
  EXPECT_THAT(judged("ddp_placement", all).text, HasSubstr("rqe_taken 2 of queue 9 is one too many"));
}

// More are announced than the queue has room for: the event is of the segment that finds it so, before the stream ends.
TEST(GoldenRaces, ASendToASharedQueueThatIsOverrun) {
  std::vector<Move> moves = on_a_shared_queue(9);
  moves.erase(moves.end() - 1);
  moves.push_back(segment(700, 3, untagged(kSend, {}, counting(8))));
  moves.push_back(accepts(720, RNIC_DDP_PLACEMENT_FLUSH, rnic_rq_flush{sizeof(rnic_rq_flush), 3, 1, 5}));
  const std::vector<Move> all = run_of("ddp_placement", moves, {0, 1, 2, 3, 4, 5, 6}, kPlacements);
  EXPECT_GT(all.size(), moves.size());
  EXPECT_EQ(judged("ddp_placement", all).text, "");
}

// The answers to the device's writes are in the order of those.
TEST(GoldenRaces, ResponsesOfQueuePairsMayOvertakeEachOther) {
  rnic_dma_write_done failed = kWritten;
  rnic_delivered_atomic same = response(4, 41);  // in its value
  same.response_original = response(3, 40).response_original;
  failed.ok = 0;
  for (const bool overtakes : {false, true}) {
    std::vector<Move> moves{open_qp(3),
                            open_qp(4),
                            sink_row(1, true),
                            accepts(500, RNIC_RESPONSE_QUEUE_ISSUED, issued(3, 40, 0x9000)),
                            accepts(500, RNIC_RESPONSE_QUEUE_ISSUED, issued(4, 41, 0x9008)),
                            accepts(600, RNIC_RESPONSE_QUEUE_IN, response(3, 40)),
                            accepts(601, RNIC_RESPONSE_QUEUE_IN, same),
                            accepts(700, RNIC_RESPONSE_QUEUE_WRITTEN, kWritten),
                            accepts(720, RNIC_RESPONSE_QUEUE_WRITTEN, failed)};
    std::vector<std::size_t> order(moves.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (overtakes) std::swap(order[5], order[6]);
    EXPECT_EQ(judged("response_queue", run_of("response_queue", moves, order, kResponses, 10)).text, "");
    // And the other way round: the one whose write failed is not done.
    std::vector<Move> wrong = run_of("response_queue", moves, order, kResponses, 10);
    std::swap(moves[7].tell, moves[8].tell);
    wrong[7].tell = moves[7].tell;
    wrong[8].tell = moves[8].tell;
    EXPECT_EQ(judged("response_queue", wrong).status, RNIC_E_MISMATCH);
  }
}

// A write names no queue pair: it is not of the oldest response, if that is ignored as its queue pair has ended.
TEST(GoldenRaces, AWriteIsOfTheResponseWithItsValue) {
  const std::vector<Move> moves{open_qp(3),
                                open_qp(4),
                                sink_row(1, true),
                                accepts(500, RNIC_RESPONSE_QUEUE_ISSUED, issued(3, 40, 0x9000)),
                                accepts(500, RNIC_RESPONSE_QUEUE_ISSUED, issued(4, 41, 0x9008)),
                                accepts(598, RNIC_RESPONSE_QUEUE_IN, response(3, 40)),
                                end_qp(3),
                                accepts(601, RNIC_RESPONSE_QUEUE_IN, response(4, 41)),
                                accepts(700, RNIC_RESPONSE_QUEUE_WRITTEN, kWritten)};
  const std::vector<std::size_t> ends_first{0, 1, 2, 3, 4, 6, 5, 7, 8};
  EXPECT_EQ(judged("response_queue", run_of("response_queue", moves, ends_first, kResponses, 10)).text, "");
}

// A response of a use that is over lets no request pass the row of its own use.
TEST(GoldenRaces, ARequestIsOfTheUseThatItNames) {
  rnic_qp_row next = qp_row();
  next.epoch = 2;
  rnic_atomic_issued asked = issued(3, 40, 0x9000);
  rnic_delivered_atomic answer = response(3, 40);
  asked.epoch = answer.epoch = 2;
  const std::vector<Move> moves{sink_row(1, true),
                                row(600, "qp", 3, next),
                                accepts(601, RNIC_RESPONSE_QUEUE_IN, response(3, 39)),
                                accepts(602, RNIC_RESPONSE_QUEUE_ISSUED, asked),
                                accepts(603, RNIC_RESPONSE_QUEUE_IN, answer),
                                accepts(700, RNIC_RESPONSE_QUEUE_WRITTEN, kWritten)};
  EXPECT_EQ(judged("response_queue", run_of("response_queue", moves, {0, 1, 2, 3, 4, 5}, kResponses)).text, "");
}

TEST(GoldenRaces, NothingIsDoneBeforeItIsWritten) {
  const std::vector<Move> moves{
      open_qp(3), sink_row(1, true), accepts(500, RNIC_RESPONSE_QUEUE_ISSUED, issued(3, 40, 0x9000)),
      accepts(600, RNIC_RESPONSE_QUEUE_IN, response(3, 40)), accepts(700, RNIC_RESPONSE_QUEUE_WRITTEN, kWritten)};
  std::vector<Move> all = run_of("response_queue", moves, {0, 1, 2, 3, 4}, kResponses);
  EXPECT_EQ(judged("response_queue", all).text, "");
  for (Move& move : all) {
    if (move.cycle == 703) move.cycle = 690;
  }
  EXPECT_THAT(judged("response_queue", all).text, HasSubstr("is one too many"));
}

// ---- atomic_alu

// FetchAdds of 1 at one word, of queue pairs 1 to 4: what a device does is written down by hand.
struct Adds {
  static constexpr std::uint64_t kWord = 0x7008;
  std::vector<Move> moves;

  Adds() {
    for (std::uint32_t qpn = 1; qpn <= 4; ++qpn) moves.push_back(row(1, "qp", qpn, qp_row()));
    moves.push_back(row(1, "stag", 1, region_row(0x7000, 64, kRemoteReads | kRemoteWrites | kRemoteAtomics)));
  }
  Adds& asked(std::uint64_t cycle, std::uint32_t qpn, std::uint32_t epoch = 1) {
    rnic_queued_atomic q = sized<rnic_queued_atomic>();
    q.qpn = qpn;
    q.epoch = epoch;
    q.pd = 1;
    q.request_request_id = 10 * qpn;
    q.request_stag = stag_numbered(1);
    q.request_to = kWord;
    q.request_data = 1;
    moves.push_back(accepts(cycle, RNIC_ATOMIC_ALU_IN, q));
    return *this;
  }
  // Read in a cycle, with its answer some cycles later.
  Adds& read(std::uint64_t cycle, std::uint64_t value, std::uint64_t address = kWord, std::uint64_t after = 20) {
    rnic_dma_read_request r = sized<rnic_dma_read_request>();
    r.address = address;
    r.bytes = 8;
    r.tag = ++tag_;
    moves.push_back(gives(cycle, RNIC_ATOMIC_ALU_READ, r));
    rnic_dma_read_done done = sized<rnic_dma_read_done>();
    done.tag = tag_;
    done.ok = 1;
    moves.push_back(accepts(cycle + after, RNIC_ATOMIC_ALU_READ_DONE, done, word(value)));
    return *this;
  }
  Adds& fails_to_read(std::uint64_t cycle) {
    rnic_dma_read_request r = sized<rnic_dma_read_request>();
    r.address = kWord;
    r.bytes = 8;
    r.tag = ++tag_;
    moves.push_back(gives(cycle, RNIC_ATOMIC_ALU_READ, r));
    rnic_dma_read_done done = sized<rnic_dma_read_done>();
    done.tag = tag_;
    moves.push_back(accepts(cycle + 20, RNIC_ATOMIC_ALU_READ_DONE, done, {}));
    return *this;
  }
  Adds& fail(std::uint64_t cycle, std::uint32_t qpn) {
    rnic_qp_event error = sized<rnic_qp_event>();
    error.kind = 2;
    error.qpn = qpn;
    moves.push_back(gives(cycle, RNIC_ATOMIC_ALU_EVENT, error));
    return *this;
  }
  Adds& write(std::uint64_t cycle, std::uint64_t value, std::uint64_t answered = 0) {
    rnic_dma_write w = sized<rnic_dma_write>();
    w.address = kWord;
    w.notify = 1;
    moves.push_back(gives(cycle, RNIC_ATOMIC_ALU_WRITE, w, word(value)));
    moves.push_back(accepts(answered == 0 ? cycle + 10 : answered, RNIC_ATOMIC_ALU_WRITTEN, kWritten));
    return *this;
  }
  Adds& answer(std::uint64_t cycle, std::uint32_t qpn, std::uint64_t original) {
    rnic_atomic_work a = sized<rnic_atomic_work>();
    a.qpn = qpn;
    a.epoch = 1;
    a.response_request_id = 10 * qpn;
    a.response_original = original;
    moves.push_back(gives(cycle, RNIC_ATOMIC_ALU_OUT, a));
    return *this;
  }
  Adds& others(std::uint64_t cycle) {
    const rnic_host_write other{sizeof other, {}, kWord, 8, {}};
    moves.push_back(accepts(cycle, RNIC_ATOMIC_ALU_OTHERS, other));
    return *this;
  }
  Adds& end(std::uint64_t cycle, std::uint32_t qpn) {
    rnic_qp_row gone = qp_row();
    gone.valid = 0;
    moves.push_back(row(cycle, "qp", qpn, gone));
    return *this;
  }
  std::string text() const { return judged("atomic_alu", moves).text; }

 private:
  static Bytes word(std::uint64_t value) {
    Bytes octets(8);
    store_le64(octets.data(), value);
    return octets;
  }
  std::uint32_t tag_ = 70;
};

TEST(GoldenRaces, AnAtomicReadsItsWordOrTakesTheResultBeforeIt) {
  EXPECT_EQ(Adds().asked(500, 1).read(510, 7).write(540, 8).answer(560, 1, 7).text(), "");
  // In flight together: forwarded, in either order, or read again.
  EXPECT_EQ(Adds()
                .asked(500, 1)
                .asked(504, 2)
                .read(510, 7)
                .write(540, 8)
                .write(545, 9)
                .answer(560, 1, 7)
                .answer(565, 2, 8)
                .text(),
            "");
  EXPECT_EQ(Adds()
                .asked(500, 1)
                .asked(504, 2)
                .read(510, 7)
                .write(540, 8)
                .write(545, 9)
                .answer(560, 2, 7)
                .answer(565, 1, 8)
                .text(),
            "");
  EXPECT_EQ(Adds()
                .asked(500, 1)
                .asked(504, 2)
                .read(510, 7)
                .write(540, 8)
                .read(550, 8)
                .answer(560, 1, 7)
                .write(575, 9)
                .answer(590, 2, 8)
                .text(),
            "");
  // The host has written meanwhile.
  EXPECT_EQ(Adds()
                .asked(500, 1)
                .asked(504, 2)
                .read(510, 7)
                .write(540, 8)
                .read(550, 100)
                .answer(560, 1, 7)
                .write(575, 101)
                .answer(590, 2, 100)
                .text(),
            "");
}

// One of a use that is over, behind it, does not hurry it.
TEST(GoldenRaces, AnAtomicMayTakeLong) {
  EXPECT_EQ(Adds().asked(500, 1).asked(510, 1, 0).read(700, 7).write(740, 8).answer(760, 1, 7).text(), "");
}

// Its queue pair has ended during it: what it has written is not the next one's, and nor is what it has read.
TEST(GoldenRaces, AnAtomicWithoutAnAnswerIsOfNoOther) {
  EXPECT_EQ(Adds()
                .asked(500, 1)
                .asked(505, 3)
                .read(510, 7)
                .end(520, 1)
                .write(540, 8)
                .asked(700, 2)
                .read(710, 8)
                .write(740, 9)
                .answer(780, 2, 8)
                .read(800, 9)
                .write(840, 10)
                .answer(860, 3, 9)
                .text(),
            "");
  EXPECT_EQ(Adds()
                .asked(500, 1)
                .fails_to_read(510)
                .end(520, 1)
                .others(600)
                .others(700)
                .others(701)
                .asked(800, 2)
                .asked(804, 3)
                .fails_to_read(810)
                .fail(840, 2)
                .fail(842, 3)
                .text(),
            "");
}

TEST(GoldenRaces, AnAtomicThatIsLostIsFound) {
  // Both have read the word before either wrote it.
  EXPECT_THAT(Adds()
                  .asked(500, 1)
                  .asked(504, 2)
                  .read(510, 7)
                  .read(511, 7)
                  .write(540, 8)
                  .write(545, 8)
                  .answer(560, 1, 7)
                  .answer(565, 2, 7)
                  .text(),
              HasSubstr("atomic_alu: "));
  // A result of another value, a write of another value, an original from nowhere.
  EXPECT_THAT(Adds().asked(500, 1).read(510, 7).write(540, 9).answer(560, 1, 7).text(), HasSubstr("octet 0"));
  EXPECT_THAT(Adds().asked(500, 1).read(510, 7).write(540, 8).answer(560, 1, 6).text(),
              HasSubstr("response_original: expected 7, seen 6"));
  EXPECT_THAT(Adds().asked(500, 1).write(540, 8).answer(560, 1, 7).text(), HasSubstr("is missing"));
  // A cached result, after the answer: the processor may have written the word.
  EXPECT_THAT(Adds()
                  .asked(500, 1)
                  .read(510, 7)
                  .write(540, 8)
                  .answer(560, 1, 7)
                  .asked(600, 2)
                  .write(640, 9)
                  .answer(660, 2, 8)
                  .text(),
              HasSubstr("is missing"));
  EXPECT_THAT(Adds()
                  .asked(500, 1)
                  .asked(501, 3)
                  .read(510, 7)
                  .write(540, 8)
                  .answer(560, 1, 7)
                  .asked(600, 2)
                  .write(640, 9)
                  .answer(660, 2, 8)
                  .read(670, 9)
                  .write(700, 10)
                  .answer(720, 3, 9)
                  .text(),
              HasSubstr("is missing"))
      << "though another one is under way";
  // The answer before the write, or before the answer to that.
  EXPECT_THAT(Adds().asked(500, 1).read(510, 7).write(570, 8).answer(560, 1, 7).text(), HasSubstr("is missing"));
  EXPECT_THAT(Adds().asked(500, 1).read(510, 7).write(540, 8, 570).answer(560, 1, 7).text(),
              HasSubstr("is one too many"));
  // A read or a write that belongs to none.
  EXPECT_THAT(Adds().asked(500, 1).read(510, 7).read(512, 3, 0x7010).write(540, 8).answer(560, 1, 7).text(),
              HasSubstr("is one too many"));
  EXPECT_THAT(Adds().asked(500, 1).read(510, 7).write(540, 8).write(541, 8).answer(560, 1, 7).text(),
              HasSubstr("one too many"));
}

// An atomic that has begun is executed, one that comes later is refused.
TEST(GoldenRaces, AnAtomicAndTheEndOfItsStag) {
  Adds a;
  rnic_stag_context ended = region_row(0x7000, 64, kRemoteReads | kRemoteWrites | kRemoteAtomics);
  ended.valid = 0;
  a.asked(500, 1).read(510, 7, Adds::kWord, 400);
  a.moves.push_back(row(600, "stag", 1, ended));
  a.write(940, 8).answer(960, 1, 7);
  EXPECT_EQ(a.text(), "");
  Adds late = a;
  rnic_qp_event refused = stream_error(2);
  refused.cause_layer = refused.cause_code = 0;
  refused.cause_etype = 1;
  late.asked(1100, 2).moves.push_back(gives(1110, RNIC_ATOMIC_ALU_EVENT, refused));
  EXPECT_EQ(late.text(), "");
  EXPECT_NE(a.asked(1100, 2).read(1110, 8).write(1140, 9).answer(1160, 2, 8).text(), "");
}

// What host memory takes does not count for the device.
TEST(GoldenRaces, MemoryMayTakeItsTime) {
  const auto far = [](bool answers) {
    Adds a;
    a.asked(500, 1).read(510, 7, Adds::kWord, 30'000).write(40'000, 8, 70'000);
    if (answers) a.answer(70'010, 1, 7);
    return a.asked(80'000, 2).read(80'010, 8).write(80'040, 9).answer(80'060, 2, 8).text();
  };
  EXPECT_EQ(far(true), "");
  EXPECT_THAT(far(false), HasSubstr("is missing"));
}

// RFC 7306 section 5.4, rule 5: a Write before an atomic is seen by it.
TEST(GoldenRaces, AnAtomicSeesTheWritesBeforeIt) {
  const auto with = [](std::uint64_t others, bool again) {
    Adds a;
    a.asked(500, 1).read(510, 7).others(others).asked(530, 2).write(540, 8).answer(560, 1, 7);
    if (again) a.read(561, 8).write(600, 9).answer(620, 2, 8);
    else a.write(562, 9).answer(580, 2, 8);
    return a.text();
  };
  EXPECT_EQ(with(515, true), "");
  EXPECT_THAT(with(515, false), HasSubstr("is missing"));
  EXPECT_EQ(with(550, false), "") << "after it was accepted";
}

// Its queue pair ends during it: it may have been executed, but then rightly.
TEST(GoldenRaces, AnAtomicAndTheEndOfItsQueuePair) {
  const auto amid = [](std::uint64_t result) {
    return Adds()
        .asked(500, 2)
        .read(505, 7)
        .write(530, 8)
        .answer(545, 2, 7)
        .asked(600, 1)
        .read(610, 8)
        .end(620, 1)
        .write(640, result)
        .text();
  };
  EXPECT_EQ(amid(9), "");
  EXPECT_THAT(amid(10), HasSubstr("is one too many"));
  EXPECT_EQ(Adds().asked(500, 2).read(505, 7).write(530, 8).answer(545, 2, 7).asked(600, 1).end(601, 1).text(), "");
  EXPECT_EQ(Adds().asked(600, 1).read(610, 7).write(640, 8).answer(660, 1, 7).end(660, 1).text(), "");
}

}  // namespace
}  // namespace rnic::test
