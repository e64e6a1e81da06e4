// rdmap_segmenter through the C interface: the segments of a message, against their figures in the RFCs.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "model/common/prng.h"
#include "testbench/unit/golden/handles.h"
#include "testbench/unit/golden/segments.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint8_t kOpSend = 0, kOpWrite = 1, kOpRead = 2, kOpFetchAdd = 5, kSignaled = 1, kSolicited = 2;

struct Segmenter {
  const Stage stage;
  rnic_qp_row row = qp_row();

  explicit Segmenter(std::uint16_t mulpdu, std::uint16_t ord = 4, const std::string& settings = "{}")
      : stage(open("rdmap_segmenter", settings)) {
    row.mulpdu = mulpdu;
    row.ord = ord;
    row.flow = 9;
    set_row(stage, "qp", 2, &row);
    const rnic_stag_context flat = region_row(0x10000, 0x100000, kLocalWrites | kRemoteReads);
    set_row(stage, "stag", 1, &flat);
  }
  void allow(std::uint32_t octets) {
    const rnic_tx_credit credit{sizeof credit, 9, octets, 2, 1, {}};
    ASSERT_EQ(rnic_rdmap_segmenter_push_credit(stage.get(), &credit), RNIC_OK) << rnic_stage_text(stage.get());
  }
  void post(const rnic_fetched_wqe& wqe) {
    ASSERT_EQ(rnic_rdmap_segmenter_push_wqe(stage.get(), &wqe), RNIC_OK) << rnic_stage_text(stage.get());
  }
  std::vector<WithOctets<rnic_ulpdu_job>> jobs() {
    return drain_octets<rnic_ulpdu_job>(stage, RNIC_RDMAP_SEGMENTER_OUT);
  }
};

rnic_fetched_wqe wqe_of(std::uint8_t opcode, std::uint64_t wr_id,
                        const std::vector<std::pair<std::uint64_t, std::uint32_t>>& sges = {}) {
  rnic_fetched_wqe wqe = sized<rnic_fetched_wqe>();
  wqe.qpn = 2;
  wqe.ok = wqe.epoch = 1;
  wqe.opcode = opcode;
  wqe.flags = kSignaled;
  wqe.wqe_wr_id = wr_id;
  wqe.rkey = 0xabcdef12;
  wqe.remote_address = 0x5000;
  for (const auto& [address, length] : sges) {
    wqe.wqe_sge_address[wqe.wqe_num_sge] = address;
    wqe.wqe_sge_length[wqe.wqe_num_sge] = length;
    wqe.wqe_sge_lkey[wqe.wqe_num_sge++] = stag_numbered(1);
  }
  return wqe;
}

// A message of up to six pieces is cut every MULPDU octets, headers included (RFC 5041 section 5.2, RFC 5044 section
// 4.5).
TEST(GoldenSegmenter, MessagesAreCutAtMulpdu) {
  Prng rng(23);
  std::uint32_t msn = 0;
  for (const std::uint16_t mulpdu : {std::uint16_t{128}, std::uint16_t{1442}, std::uint16_t{8934}}) {
    Segmenter dut(mulpdu);
    dut.allow(1u << 30);
    msn = 0;
    for (std::uint64_t n = 0; n < 60; ++n) {
      const bool write = rng.below(2) != 0;
      std::vector<std::pair<std::uint64_t, std::uint32_t>> sges;
      std::vector<std::uint64_t> message;  // the address of each octet
      for (std::size_t i = rng.below(7); i-- > 0;) {
        const auto length = static_cast<std::uint32_t>(rng.below(2u * mulpdu));
        const std::uint64_t address = 0x10000 + rng.below(0x80000);
        sges.emplace_back(address, length);
        for (std::uint32_t o = 0; o < length; ++o) message.push_back(address + o);
      }
      rnic_fetched_wqe wqe = wqe_of(write ? kOpWrite : kOpSend, n, sges);
      const bool solicited = !write && rng.below(2) != 0;
      if (solicited) wqe.flags |= kSolicited;
      dut.post(wqe);
      if (!write) ++msn;
      const auto jobs = dut.jobs();
      const std::size_t room = mulpdu - (write ? 14u : 18u);
      ASSERT_EQ(jobs.size(), std::max<std::size_t>(1, (message.size() + room - 1) / room));
      std::size_t done = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        const rnic_ulpdu_job& job = jobs[i].message;
        const bool last = i + 1 == jobs.size();
        const auto at = static_cast<std::uint32_t>(done);
        EXPECT_EQ(jobs[i].octets, write ? tagged(kWrite, last, 0xabcdef12, 0x5000 + done, {})
                                        : untagged(solicited ? 5 : kSend, {0, msn, at, last}, {}));
        EXPECT_EQ(job.ulpdu_completes_wqe, last);
        EXPECT_EQ(job.ulpdu_flow, 9u);
        for (unsigned p = 0; p < job.pieces; ++p) {
          for (std::uint32_t o = 0; o < job.piece_bytes[p]; ++o)
            ASSERT_EQ(job.piece_address[p] + o, message.at(done++));
        }
        EXPECT_EQ(job.ulpdu_bytes, jobs[i].octets.size() + done - at);
      }
      EXPECT_EQ(done, message.size());
    }
    EXPECT_EQ(drain<rnic_wqe_issued>(dut.stage, RNIC_RDMAP_SEGMENTER_ISSUED).size(), 60u);
    EXPECT_EQ(drain<rnic_wqe_taken>(dut.stage, RNIC_RDMAP_SEGMENTER_TAKEN).size(), 60u);
    EXPECT_THAT(drain<rnic_qp_event>(dut.stage, RNIC_RDMAP_SEGMENTER_EVENT), IsEmpty());
  }
}

// Nothing leaves without credit; an FPDU of n octets takes n with length field, pad and CRC (RFC 5044 section 4.1).
TEST(GoldenSegmenter, AnFpduLeavesWhenItsCreditIsThere) {
  Segmenter dut(1442);
  dut.post(wqe_of(kOpSend, 1, {{0x10000, 100}}));
  EXPECT_THAT(dut.jobs(), IsEmpty());
  dut.allow(2 + 18 + 100 + 4 - 1);
  EXPECT_THAT(dut.jobs(), IsEmpty());
  dut.allow(1);
  const auto jobs = dut.jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].message.credit, 124);
}

// Requests of ours count against ORD until they are answered (RFC 5040 section 5.2.1, RFC 7306 section 5.2).
TEST(GoldenSegmenter, ReadsAndAtomicsWaitForOrd) {
  Segmenter dut(1442, 2);
  dut.allow(1u << 20);
  dut.post(wqe_of(kOpRead, 1, {{0x10000, 500}}));
  rnic_fetched_wqe atomic = wqe_of(kOpFetchAdd, 2, {{0x10200, 8}});
  atomic.wqe_sge_address[1] = 7;  // the operands are where further elements would be: to add, and its mask
  dut.post(atomic);
  dut.post(wqe_of(kOpRead, 3, {{0x10300, 1}}));
  auto jobs = dut.jobs();
  ASSERT_EQ(jobs.size(), 2u);
  Bytes request;
  for (const std::uint64_t field :
       {std::uint64_t{stag_numbered(1)}, std::uint64_t{0}, std::uint64_t{0x10000}, std::uint64_t{500},
        std::uint64_t{0xabcdef12}, std::uint64_t{0}, std::uint64_t{0x5000}}) {
    put(request, field, 4);
  }
  EXPECT_EQ(jobs[0].octets, untagged(kReadRequest, {1, 1}, request));
  // RFC 7306 figure 4: operation, identifier, STag, TO, add data and mask, compare data and mask.
  Bytes fields;
  put(fields, 0, 4);
  put(fields, 2, 4);
  put(fields, 0xabcdef12, 4);
  put(fields, 0x5000, 8);
  put(fields, 7, 8);
  put(fields, 0, 8);
  put(fields, 0, 8);
  put(fields, ~std::uint64_t{0}, 8);
  EXPECT_EQ(jobs[1].octets, untagged(10, {1, 2}, fields));
  const auto issued = drain<rnic_read_issued>(dut.stage, RNIC_RDMAP_SEGMENTER_READ_ISSUED);
  ASSERT_EQ(issued.size(), 1u);
  EXPECT_EQ(issued[0].sink_to, 0x10000u);
  EXPECT_EQ(issued[0].bytes, 500u);
  EXPECT_EQ(drain<rnic_atomic_issued>(dut.stage, RNIC_RDMAP_SEGMENTER_ATOMIC_ISSUED).size(), 1u);
  rnic_tx_unblock done = sized<rnic_tx_unblock>();
  done.kind = 1;  // a Read is done
  done.qpn = 2;
  done.epoch = 1;
  ASSERT_EQ(rnic_rdmap_segmenter_push_unblock(dut.stage.get(), &done), RNIC_OK);
  jobs = dut.jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_THAT(Bytes(jobs[0].octets.begin() + 10, jobs[0].octets.begin() + 14), ElementsAre(0, 0, 0, 3));
}

// A Read Response of several segments, an Atomic Response, and a Terminate, which is the last message.
TEST(GoldenSegmenter, ResponsesAndATerminate) {
  Segmenter dut(200);
  dut.allow(1u << 20);
  rnic_read_work read = sized<rnic_read_work>();
  read.qpn = 2;
  read.epoch = 1;
  read.request_sink_stag = 0x777;
  read.request_sink_to = 0x123456789;
  read.request_size = 400;
  read.request_src_stag = stag_numbered(1);
  read.request_src_to = 0x20000;
  ASSERT_EQ(rnic_rdmap_segmenter_push_read_work(dut.stage.get(), &read), RNIC_OK) << rnic_stage_text(dut.stage.get());
  auto jobs = dut.jobs();
  ASSERT_EQ(jobs.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(jobs[i].octets, tagged(kReadResponse, i == 2, 0x777, 0x123456789 + 186 * i, {}));
    EXPECT_EQ(jobs[i].message.piece_address[0], 0x20000u + 186 * i);
    EXPECT_EQ(jobs[i].message.piece_bytes[0], i == 2 ? 28u : 186u);
  }
  EXPECT_EQ(drain<rnic_read_response_sent>(dut.stage, RNIC_RDMAP_SEGMENTER_READ_SENT).size(), 1u);

  rnic_atomic_work atomic = sized<rnic_atomic_work>();
  atomic.qpn = 2;
  atomic.epoch = 1;
  atomic.response_request_id = 0x42;
  atomic.response_original = 0x1122334455667788;
  ASSERT_EQ(rnic_rdmap_segmenter_push_atomic_work(dut.stage.get(), &atomic), RNIC_OK);
  jobs = dut.jobs();
  ASSERT_EQ(jobs.size(), 1u);
  Bytes response;
  put(response, 0x42, 4);
  put(response, 0x1122334455667788, 8);
  EXPECT_EQ(jobs[0].octets, untagged(11, {3, 1}, response));

  Bytes header = from_hex("1100C000 0012 C140 00000099 0000000000000010");
  rnic_terminate_message terminate = message<rnic_terminate_message>(header);
  terminate.qpn = 2;
  terminate.epoch = 1;
  ASSERT_EQ(rnic_rdmap_segmenter_push_terminate(dut.stage.get(), &terminate), RNIC_OK)
      << rnic_stage_text(dut.stage.get());
  EXPECT_THAT(dut.jobs(), IsEmpty()) << "the firmware says when";
  rnic_tx_internal_work work = sized<rnic_tx_internal_work>();
  work.qpn = 2;
  work.epoch = 1;
  work.kind = 3;
  work.cause_layer = work.cause_etype = 1;
  ASSERT_EQ(rnic_rdmap_segmenter_push_internal_work(dut.stage.get(), &work), RNIC_OK);
  dut.post(wqe_of(kOpSend, 9));
  jobs = dut.jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].octets, untagged(7, {2, 1}, header));
}

TEST(GoldenSegmenter, WhatDoesNotFitIsRefused) {
  Segmenter dut(1442);
  rnic_qp_row row = dut.row;
  row.mulpdu = 127;
  refused(dut.stage, "qp", 2, row, "mulpdu is 127");
  row.mulpdu = 1442;
  row.log_sq = 1;
  row.epoch = 2;
  set_row(dut.stage, "qp", 2, &row);
  rnic_fetched_wqe wqe = wqe_of(kOpSend, 1);
  wqe.epoch = 2;
  dut.post(wqe);
  dut.post(wqe);
  refused(dut.stage, RNIC_RDMAP_SEGMENTER_WQE, wqe, "as many as its ring");
  wqe.qpn = 256;
  refused(dut.stage, RNIC_RDMAP_SEGMENTER_WQE, wqe, "no 256");
  rnic_read_work read = sized<rnic_read_work>();
  read.qpn = 2;
  read.epoch = 2;
  read.request_size = 4;
  ASSERT_EQ(rnic_rdmap_segmenter_push_read_work(dut.stage.get(), &read), RNIC_OK);
  refused(dut.stage, RNIC_RDMAP_SEGMENTER_READ_WORK, read, "still sending");
  rnic_tx_internal_work work = sized<rnic_tx_internal_work>();
  work.qpn = 2;
  work.epoch = 2;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(rnic_rdmap_segmenter_push_internal_work(dut.stage.get(), &work), RNIC_OK);
  refused(dut.stage, RNIC_RDMAP_SEGMENTER_INTERNAL_WORK, work, "2 messages");
  work.kind = 6;
  refused(dut.stage, RNIC_RDMAP_SEGMENTER_INTERNAL_WORK, work, "kind");
  Bytes header(53);
  rnic_terminate_message terminate = message<rnic_terminate_message>(header);
  refused(dut.stage, RNIC_RDMAP_SEGMENTER_TERMINATE, terminate, "4 to 52");
}

}  // namespace
}  // namespace rnic::test
