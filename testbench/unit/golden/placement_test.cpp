// ddp_placement and placement through the C interface: segments and what becomes of them, written from RFC 5040 and RFC
// 5041 octet by octet.
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "model/common/prng.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/unit/golden/handles.h"
#include "testbench/unit/golden/segments.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A stage with host memory: what it writes lands in `memory`, by the pages that the test has given.
struct Placement {
  const Stage stage;
  const bool chain;  // with terminate_generator
  std::map<std::uint32_t, std::uint64_t> pages;
  std::map<std::uint64_t, std::uint8_t> memory;

  explicit Placement(const char* kind, const std::string& settings)
      : stage(open(kind, settings)), chain(std::string(kind) == "placement") {}

  void qp(std::uint32_t n, std::uint32_t flow, std::uint32_t epoch = 1) {
    rnic_qp_row row = qp_row(epoch);
    row.flow = flow;
    row.recv_cq = 20 + n;
    set_row(stage, "qp", n, &row);
  }
  void page(std::uint32_t index, std::uint64_t address) {
    const rnic_page_entry entry{sizeof entry, {}, address};
    set_row(stage, "page", index, &entry);
    pages[index] = address;
  }
  void receive(std::uint32_t qpn, const Bytes& ulpdu, bool crc_ok = true, std::uint32_t port = 0) {
    Bytes fpdu = MpaReference{}.fpdu(ulpdu);
    rnic_fpdu m = message<rnic_fpdu>(fpdu);
    m.qpn = qpn;
    m.flow = 100 + qpn;
    m.life = m.crc_on = m.marker_ok = 1;
    m.crc_ok = crc_ok;
    ASSERT_EQ(rnic_stage_push(stage.get(), port, &m), RNIC_OK) << rnic_stage_text(stage.get());
  }
  // The ring has so many requests now; this is the next one.
  void post(std::uint32_t qpn, std::uint32_t producer, const rnic_fetched_rqe& rqe) {
    const rnic_rq_doorbell doorbell{sizeof doorbell, 0, {}, qpn, producer};
    ASSERT_EQ(rnic_ddp_placement_push_posted(stage.get(), &doorbell), RNIC_OK) << rnic_stage_text(stage.get());
    ASSERT_EQ(rnic_ddp_placement_push_rqe(stage.get(), &rqe), RNIC_OK) << rnic_stage_text(stage.get());
  }
  // Returns the writes' octets, of each.
  std::vector<std::size_t> land() {
    std::vector<std::size_t> sizes;
    for (const auto& w : drain_octets<rnic_dma_write>(stage, RNIC_DDP_PLACEMENT_DMA)) {
      const std::uint32_t first = w.message.page_list >> 5, log_page = w.message.page_list & 31;
      for (std::size_t i = 0; i < w.octets.size(); ++i) {
        std::uint64_t at = w.message.address + i;
        if (log_page != 0)
          at = pages.at(first + static_cast<std::uint32_t>(at >> log_page)) + (at & ((1u << log_page) - 1));
        memory[at] = w.octets[i];
      }
      sizes.push_back(w.octets.size());
    }
    return sizes;
  }
  std::vector<rnic_placed_segment> records() { return drain<rnic_placed_segment>(stage, RNIC_DDP_PLACEMENT_OUT); }
  std::vector<rnic_qp_event> events() {
    return drain<rnic_qp_event>(stage, std::uint32_t{RNIC_DDP_PLACEMENT_EVENT} + (chain ? 1 : 0));
  }
};

rnic_fetched_rqe rqe_of(std::uint32_t qpn, std::uint64_t wr_id, const std::vector<std::array<std::uint64_t, 3>>& sges) {
  rnic_fetched_rqe rqe = sized<rnic_fetched_rqe>();
  rqe.rqn_number = qpn;
  rqe.ok = 1;
  rqe.epoch = 1;
  rqe.wqe_wr_id = wr_id;
  for (const auto& [address, length, stag] : sges) {
    rqe.wqe_sge_address[rqe.wqe_num_sge] = address;
    rqe.wqe_sge_length[rqe.wqe_num_sge] = static_cast<std::uint32_t>(length);
    rqe.wqe_sge_lkey[rqe.wqe_num_sge++] = static_cast<std::uint32_t>(stag);
  }
  return rqe;
}

// Host memory that the test writes itself, octet by octet: a region on the bus and one in three pages of 4 KiB, which
// begins 4000 octets into the first one.
constexpr std::uint64_t kFlat = 0x100000, kVirtual = 0x7000'0000;
constexpr std::uint32_t kSize = 8000;
void two_regions(Placement& placement) {
  const std::uint8_t rights = kLocalWrites | kRemoteWrites;
  const rnic_stag_context flat = region_row(kFlat, kSize, rights);
  set_row(placement.stage, "stag", 1, &flat);
  rnic_stag_context paged = region_row(kVirtual, kSize, rights);
  paged.bus = 4000;
  paged.log_page = 12;
  paged.first_page = 5;
  paged.pages = 3;
  set_row(placement.stage, "stag", 2, &paged);
  for (const std::uint32_t i : {5u, 6u, 7u}) placement.page(i, 0x900000 - 0x10000 * std::uint64_t{i});
}
std::uint64_t bus(bool in_pages, std::uint64_t offset) {
  if (!in_pages) return kFlat + offset;
  const std::uint64_t at = 4000 + offset;
  return 0x900000 - 0x10000 * (5 + at / 4096) + at % 4096;
}

TEST(GoldenPlacement, WritesAndSendsLandWhereTheReferenceHasThem) {
  for (const char* settings : {R"({"beat_bytes": 16, "qps": 4})", "{}", R"({"beat_bytes": 128})"}) {
    Placement placement("ddp_placement", settings);
    two_regions(placement);
    for (std::uint32_t qpn = 0; qpn < 4; ++qpn) placement.qp(qpn, 100 + qpn);
    std::map<std::uint64_t, std::uint8_t> expected;
    std::vector<std::uint64_t> completed, expected_completed;
    std::array<std::uint32_t, 4> sent{};
    Prng rng(17);
    for (std::uint64_t n = 0; n < 150; ++n) {
      const auto qpn = static_cast<std::uint32_t>(rng.below(4));
      if (rng.below(2) == 0) {  // an RDMA Write, in one segment of its own
        const bool in_pages = rng.below(2) != 0;
        const std::uint32_t octets = static_cast<std::uint32_t>(rng.below(1'400)),
                            from = static_cast<std::uint32_t>(rng.below(kSize - octets));
        const Bytes payload = random_bytes(rng, octets);
        placement.receive(
            qpn, tagged(kWrite, true, stag_numbered(in_pages ? 2 : 1), (in_pages ? kVirtual : kFlat) + from, payload));
        for (std::uint32_t i = 0; i < octets; ++i) expected[bus(in_pages, from + i)] = payload[i];
        continue;
      }
      // A Send over three elements, in two segments.
      std::array<std::uint32_t, 3> length, from;
      std::array<bool, 3> in_pages;
      std::vector<std::array<std::uint64_t, 3>> sges;
      for (unsigned i = 0; i < 3; ++i) {
        length[i] = static_cast<std::uint32_t>(rng.below(700));
        from[i] = static_cast<std::uint32_t>(rng.below(kSize - length[i]));
        in_pages[i] = rng.below(2) != 0;
        sges.push_back({(in_pages[i] ? kVirtual : kFlat) + from[i], length[i], stag_numbered(in_pages[i] ? 2 : 1)});
      }
      const std::uint32_t room = length[0] + length[1] + length[2];
      const auto size = static_cast<std::uint32_t>(rng.below(room + 1)),
                 first = static_cast<std::uint32_t>(rng.below(size + 1));
      const Bytes payload = random_bytes(rng, size);
      placement.post(qpn, ++sent[qpn], rqe_of(qpn, n, sges));
      const Bytes head(payload.begin(), payload.begin() + first), tail(payload.begin() + first, payload.end());
      placement.receive(qpn, untagged(kSend, {0, sent[qpn], 0, false}, head));
      placement.receive(qpn, untagged(kSend, {0, sent[qpn], first, true}, tail));
      std::uint32_t at = 0;
      for (unsigned i = 0; i < 3; ++i) {
        for (std::uint32_t o = 0; o < length[i] && at < size; ++o)
          expected[bus(in_pages[i], from[i] + o)] = payload[at++];
      }
      expected_completed.push_back(n);
      expected_completed.push_back(size);
    }
    placement.land();
    EXPECT_EQ(placement.memory, expected) << settings;
    EXPECT_THAT(placement.events(), IsEmpty());
    for (const rnic_placed_segment& s : placement.records()) {
      if (s.opcode != kSend || !s.last) continue;
      completed.push_back(s.wr_id);
      completed.push_back(s.bytes);
      EXPECT_EQ(s.recv_cq, 20 + s.qpn);
    }
    EXPECT_EQ(completed, expected_completed);
    EXPECT_GT(completed.size(), 100u);
  }
}

// Each check of RFC 5041 section 7.1 and RFC 5040 section 7.1 has its cause: layer, type, code.
TEST(GoldenPlacement, WhatIsWrongWithASegmentHasItsCause) {
  const Bytes octets = counting(8);
  Bytes version2 = tagged(kWrite, true, stag_numbered(1), kFlat, octets);
  version2[0] = 0xc2;
  struct Case {
    const char* what;
    Bytes ulpdu;
    bool crc_ok;
    unsigned layer, type, code;
  };
  const Case cases[] = {
      {"no such STag", tagged(kWrite, true, stag_numbered(3), kFlat, octets), true, 1, 1, 0},
      {"another key", tagged(kWrite, true, stag_numbered(1) ^ 1, kFlat, octets), true, 1, 1, 0},
      {"outside of the table", tagged(kWrite, true, 0xffffffff, kFlat, octets), true, 1, 1, 0},
      {"an octet beyond the end", tagged(kWrite, true, stag_numbered(1), kFlat + kSize - 7, octets), true, 1, 1, 1},
      {"an octet before", tagged(kWrite, true, stag_numbered(1), kFlat - 1, octets), true, 1, 1, 1},
      {"of another domain", tagged(kWrite, true, stag_numbered(4), kFlat, octets), true, 1, 1, 2},
      {"TO wraps", tagged(kWrite, true, stag_numbered(1), ~std::uint64_t{0} - 3, octets), true, 1, 1, 3},
      {"DDP version", version2, true, 1, 1, 4},
      {"no right to write, for which DDP has no code", tagged(kWrite, true, stag_numbered(5), kFlat, octets), true, 1,
       1, 0},
      {"a response to nothing", tagged(kReadResponse, true, stag_numbered(1), kFlat, octets), true, 0, 2, 6},
      {"queue number", untagged(kSend, {4}, octets), true, 1, 2, 1},
      {"no buffer", untagged(kSend, {}, octets), true, 1, 2, 2},
      {"MSN", untagged(kSend, {0, 2}, octets), true, 1, 2, 3},
      {"opcode", untagged(12, {0, 1}, octets), true, 0, 2, 6},
      {"no header", Bytes{0x41}, true, 0, 2, 6},
      {"CRC", tagged(kWrite, true, stag_numbered(1), kFlat, octets), false, 2, 0, 2},
  };
  for (const Case& c : cases) {
    Placement placement("placement", "{}");
    two_regions(placement);
    rnic_stag_context row = region_row(kFlat, kSize, kRemoteWrites);
    row.pd = 2;
    set_row(placement.stage, "stag", 4, &row);
    row = region_row(kFlat, kSize, kLocalWrites | kRemoteReads);
    set_row(placement.stage, "stag", 5, &row);
    placement.qp(3, 103);
    placement.receive(3, c.ulpdu, c.crc_ok);
    placement.receive(3, tagged(kWrite, true, stag_numbered(1), kFlat, octets));  // nothing more is placed
    EXPECT_THAT(placement.land(), IsEmpty()) << c.what;
    const auto terminates = drain_octets<rnic_terminate_message>(placement.stage, RNIC_PLACEMENT_TERMINATE);
    ASSERT_EQ(terminates.size(), 1u) << c.what;
    EXPECT_EQ(terminates[0].octets[0], c.layer << 4 | c.type) << c.what;
    EXPECT_EQ(terminates[0].octets[1], c.code) << c.what;
    if (c.layer != 2 && c.ulpdu.size() > 14) {  // its length and its DDP header (RFC 5040 section 4.8)
      Bytes told = from_hex("C000");
      put(told, c.ulpdu.size(), 2);
      told.insert(told.end(), c.ulpdu.begin(), c.ulpdu.begin() + ((c.ulpdu[0] & 0x80) != 0 ? 14 : 18));
      EXPECT_EQ(Bytes(terminates[0].octets.begin() + 2, terminates[0].octets.end()), told) << c.what;
    }
    EXPECT_EQ(placement.events().size(), 1u);
  }
}

// Requests of the peer count against IRD until they are answered (RFC 6581 section 9.1); ours make room for responses.
TEST(GoldenPlacement, ReadsOfBothSides) {
  Placement placement("ddp_placement", "{}");
  two_regions(placement);
  placement.qp(2, 102);
  Bytes request;
  for (const std::uint64_t field : {0x11u, 0u, 0x2000u, 64u, 0x22u, 0u, 0x3000u}) put(request, field, 4);
  for (std::uint32_t msn = 1; msn <= 4; ++msn) placement.receive(2, untagged(kReadRequest, {1, msn}, request));
  const auto requests = placement.records();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].read_sink_stag, 0x11u);
  EXPECT_EQ(requests[0].read_sink_to, 0x2000u);
  EXPECT_EQ(requests[0].read_size, 64u);
  EXPECT_EQ(requests[0].read_src_stag, 0x22u);
  EXPECT_EQ(requests[0].read_src_to, 0x3000u);
  EXPECT_EQ(requests[0].headers_request_bytes, 28);

  rnic_read_issued issued = sized<rnic_read_issued>();
  issued.qpn = 2;
  issued.epoch = 1;
  issued.sink_stag = stag_numbered(1);
  issued.sink_to = kFlat + 100;
  issued.bytes = 12;
  ASSERT_EQ(rnic_ddp_placement_push_read_issued(placement.stage.get(), &issued), RNIC_OK);
  placement.receive(2, tagged(kReadResponse, false, stag_numbered(1), kFlat + 100, counting(8)));
  placement.receive(2, tagged(kReadResponse, true, stag_numbered(1), kFlat + 108, counting(4)));
  EXPECT_THAT(placement.land(), ElementsAre(8, 4));
  EXPECT_EQ(placement.records().size(), 2u);

  const rnic_read_response_sent answered{sizeof answered, 2, 1, {}};
  ASSERT_EQ(rnic_ddp_placement_push_answered(placement.stage.get(), &answered), RNIC_OK);
  placement.receive(2, untagged(kReadRequest, {1, 5}, request));
  EXPECT_THAT(placement.events(), IsEmpty());
  placement.receive(2, untagged(kReadRequest, {1, 6}, request));
  const auto events = placement.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT((std::array{events[0].cause_layer, events[0].cause_etype, events[0].cause_code}), ElementsAre(1, 2, 2));
}

// Two QPs share a queue: the first message takes its first request; one that is left when a stream ends stays there.
TEST(GoldenPlacement, ASharedQueueAndAFlush) {
  Placement placement("ddp_placement", "{}");
  two_regions(placement);
  rnic_srq_context srq = sized<rnic_srq_context>();
  srq.valid = srq.epoch = srq.pd = 1;
  srq.log_entries = 3;
  set_row(placement.stage, "srq", 9, &srq);
  for (std::uint32_t qpn : {0u, 1u}) {
    rnic_qp_row row = qp_row();
    row.flow = 100 + qpn;
    row.shares_rq = 1;
    row.srq = 9;
    set_row(placement.stage, "qp", qpn, &row);
  }
  placement.qp(2, 102);
  const rnic_srq_arm arm{sizeof arm, 9, 2, 77};
  const rnic_rq_doorbell doorbell{sizeof doorbell, 1, {}, 9, 3};
  ASSERT_EQ(rnic_ddp_placement_push_posted(placement.stage.get(), &doorbell), RNIC_OK);
  ASSERT_EQ(rnic_ddp_placement_push_srq_arm(placement.stage.get(), &arm), RNIC_OK);
  for (std::uint64_t n = 0; n < 3; ++n) {
    rnic_fetched_rqe rqe = rqe_of(9, 50 + n, {{kFlat + 64 * n, 64, stag_numbered(1)}});
    rqe.rqn_shared = 1;
    ASSERT_EQ(rnic_ddp_placement_push_rqe(placement.stage.get(), &rqe), RNIC_OK)
        << rnic_stage_text(placement.stage.get());
  }
  placement.receive(1, untagged(kSend, {}, counting(5)));
  placement.receive(0, untagged(kSend, {}, counting(6)));
  const auto records = placement.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].wr_id, 50u);
  EXPECT_EQ(records[0].qpn, 1u);
  EXPECT_EQ(records[1].wr_id, 51u);
  EXPECT_EQ(drain<rnic_rqe_taken>(placement.stage, RNIC_DDP_PLACEMENT_RQE_TAKEN).size(), 2u);
  const auto limit = drain<rnic_srq_event>(placement.stage, RNIC_DDP_PLACEMENT_SRQ_EVENT);
  ASSERT_EQ(limit.size(), 1u);
  EXPECT_EQ(limit[0].serial, 77u);

  placement.post(2, 1, rqe_of(2, 60, {}));
  rnic_rq_flush flush = sized<rnic_rq_flush>();
  flush.qpn = 2;
  flush.epoch = 1;
  flush.recv_cq = 22;
  ASSERT_EQ(rnic_ddp_placement_push_flush(placement.stage.get(), &flush), RNIC_OK);
  const auto flushed = placement.records();
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].flushed, 1);
  EXPECT_EQ(flushed[0].wr_id, 60u);
  EXPECT_EQ(flushed[0].recv_cq, 22u);
}

// A Send with Invalidate ends the STag that it names, for what comes after it.
TEST(GoldenPlacement, AnInvalidatedStagIsGone) {
  Placement placement("ddp_placement", "{}");
  two_regions(placement);
  placement.qp(2, 102);
  rnic_stag_context row = region_row(kFlat, kSize, kRemoteWrites);
  row.allocated = 1;
  set_row(placement.stage, "stag", 6, &row);
  placement.post(2, 1, rqe_of(2, 1, {}));
  placement.receive(2, tagged(kWrite, true, stag_numbered(6), kFlat, counting(8)));
  placement.receive(2, untagged(kSendInvalidate, {0, 1, 0, true, stag_numbered(6)}, {}));
  placement.receive(2, tagged(kWrite, true, stag_numbered(6), kFlat, counting(8)));
  EXPECT_THAT(placement.land(), ElementsAre(8));
  EXPECT_EQ(placement.records().size(), 2u);
  EXPECT_EQ(placement.events().size(), 1u);
}

TEST(GoldenPlacement, WhatDoesNotFitIsRefused) {
  Placement placement("ddp_placement", R"({"qps": 4, "srqs": 2, "max_ord": 1, "max_ird": 4})");
  const Stage& stage = placement.stage;
  rnic_qp_row row = qp_row();
  row.ord = 1;
  row.flow = 102;
  row.llp = 1;
  set_row(stage, "qp", 2, &row);
  Bytes octets(12);
  octets[1] = 7;
  rnic_fpdu fpdu = message<rnic_fpdu>(octets);
  fpdu.marker_ok = fpdu.crc_ok = 1;
  refused(stage, 0, fpdu, "its length field says 7");
  octets[1] = 6;
  fpdu.qpn = 4;
  refused(stage, 0, fpdu, "no 4");
  fpdu.qpn = 2;
  fpdu.placed = 1;
  refused(stage, 0, fpdu, "fpdu.placed");
  fpdu.placed = fpdu.crc_ok = 0;
  refused(stage, 1, fpdu, "over SCTP");
  Bytes word(4);
  rnic_fpdu end = message<rnic_fpdu>(word);
  end.qpn = 2;
  end.flow = 102;
  end.life = end.ends = end.marker_ok = 1;
  ASSERT_EQ(rnic_ddp_placement_push_sctp_in(stage.get(), &end), RNIC_OK) << rnic_stage_text(stage.get());
  fpdu.crc_ok = fpdu.life = 1;
  fpdu.flow = 102;
  refused(stage, 1, fpdu, "has ended");

  rnic_rq_doorbell doorbell{sizeof doorbell, 0, {}, 4, 1};
  refused(stage, RNIC_DDP_PLACEMENT_POSTED, doorbell, "QPs 0 to 3");
  doorbell.rqn_shared = 1;
  doorbell.rqn_number = 2;
  refused(stage, RNIC_DDP_PLACEMENT_POSTED, doorbell, "shared receive queues 0 to 1");
  const rnic_srq_arm arm{sizeof arm, 2, 0, 0};
  refused(stage, RNIC_DDP_PLACEMENT_SRQ_ARM, arm, "no 2");
  const rnic_fetched_rqe rqe = rqe_of(2, 0, {});
  refused(stage, RNIC_DDP_PLACEMENT_RQE, rqe, "no doorbell");
  rnic_read_issued issued = sized<rnic_read_issued>();
  issued.qpn = 2;
  issued.epoch = 1;
  ASSERT_EQ(rnic_ddp_placement_push_read_issued(stage.get(), &issued), RNIC_OK);
  refused(stage, RNIC_DDP_PLACEMENT_READ_ISSUED, issued, "has 1 Reads");
  rnic_rq_flush flush = sized<rnic_rq_flush>();
  flush.qpn = 99;
  refused(stage, RNIC_DDP_PLACEMENT_FLUSH, flush, "no 99");
}

}  // namespace
}  // namespace rnic::test
