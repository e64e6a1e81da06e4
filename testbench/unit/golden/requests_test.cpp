// irrq, atomic_alu, response_queue and terminate_generator through the C interface, against references written from the
// RFCs.
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "model/common/bytes.h"
#include "model/common/prng.h"
#include "testbench/unit/golden/handles.h"
#include "testbench/unit/rnic/responder/masked_reference.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// ---- irrq: of each QP one request at a time is handed on, in their order (RFC 5040 section 5.2); one beyond IRD ends
// the stream (RFC 5041 section 7.1: no buffer).

struct InboundQueues {
  struct Qp {
    std::uint32_t epoch = 1;
    unsigned ird = 0;
    bool over = false;
    std::deque<std::pair<bool, std::uint32_t>> held;  // is_atomic, number; the front one is being answered
  };
  std::vector<Qp> qps;
  std::vector<std::uint32_t> reads, atomics, overruns;  // numbers, as they are handed on

  void hand_on(std::pair<bool, std::uint32_t> r) { (r.first ? atomics : reads).push_back(r.second); }
  void request(std::uint32_t qpn, std::uint32_t epoch, bool is_atomic, std::uint32_t number) {
    Qp& q = qps[qpn];
    if (epoch != q.epoch || q.over) return;
    if (q.held.size() == q.ird) {
      q.over = true;
      overruns.push_back(number);
      return;
    }
    q.held.emplace_back(is_atomic, number);
    if (q.held.size() == 1) hand_on(q.held.front());
  }
  void sent(std::uint32_t qpn, std::uint32_t epoch) {
    Qp& q = qps[qpn];
    if (epoch != q.epoch || q.held.empty()) return;
    q.held.pop_front();
    if (!q.held.empty()) hand_on(q.held.front());
  }
};

TEST(GoldenRequests, IrrqHandsOnOneOfEachQueuePair) {
  constexpr std::uint32_t kQps = 8;
  const Stage irrq = open("irrq", R"({"qps": 8, "max_ird": 5})");
  InboundQueues reference;
  reference.qps.resize(kQps);
  Prng rng(3);
  const auto renew = [&](std::uint32_t qpn) {
    InboundQueues::Qp& q = reference.qps[qpn];
    const std::uint32_t epoch = q.epoch + 1;
    q = {};
    q.epoch = epoch;
    q.ird = static_cast<unsigned>(rng.below(6));
    rnic_qp_row row = qp_row(epoch);
    row.ird = static_cast<std::uint16_t>(q.ird);
    set_row(irrq, "qp", qpn, &row);
  };
  for (std::uint32_t qpn = 0; qpn < kQps; ++qpn) renew(qpn);
  for (std::uint32_t number = 1; number <= 20'000; ++number) {
    const auto qpn = static_cast<std::uint32_t>(rng.below(kQps));
    const std::uint32_t epoch = reference.qps[qpn].epoch - (rng.below(30) == 0);
    if (rng.below(60) == 0) renew(qpn);
    if (rng.below(2) == 0) {
      rnic_read_response_sent sent{sizeof sent, qpn, epoch, {}};
      ASSERT_EQ(rnic_irrq_push_sent(irrq.get(), &sent), RNIC_OK) << rnic_stage_text(irrq.get());
      reference.sent(qpn, epoch);
      continue;
    }
    rnic_queued_request r = sized<rnic_queued_request>();
    r.is_atomic = rng.below(2) != 0;
    r.qpn = qpn;
    r.epoch = epoch;
    r.read_size = r.atomic_request_id = number;
    r.segment_length = static_cast<std::uint16_t>(number);
    ASSERT_EQ(rnic_irrq_push_in(irrq.get(), &r), RNIC_OK) << rnic_stage_text(irrq.get());
    reference.request(qpn, epoch, r.is_atomic != 0, number);
  }
  std::vector<std::uint32_t> reads, atomics, overruns;
  for (const rnic_queued_read& r : drain<rnic_queued_read>(irrq, RNIC_IRRQ_OUT)) reads.push_back(r.request_size);
  for (const auto& a : drain<rnic_queued_atomic>(irrq, RNIC_IRRQ_ATOMIC)) atomics.push_back(a.request_request_id);
  for (const rnic_qp_event& e : drain<rnic_qp_event>(irrq, RNIC_IRRQ_EVENT)) {
    EXPECT_THAT((std::array{e.kind, e.cause_layer, e.cause_etype, e.cause_code}), ElementsAre(2, 1, 2, 2));
    overruns.push_back(e.failed_length);
  }
  EXPECT_EQ(reads, reference.reads);
  EXPECT_EQ(atomics, reference.atomics);
  EXPECT_EQ(overruns, reference.overruns);
  EXPECT_GT(reads.size(), 300u);
  EXPECT_GT(overruns.size(), 30u);
}

// ---- atomic_alu, before host memory that the test keeps

struct AtomicMemory {
  const Stage alu;
  std::map<std::uint64_t, std::uint64_t> words;  // by address, as the host has them

  explicit AtomicMemory(const char* settings) : alu(open("atomic_alu", settings)) {
    const rnic_qp_row qp = qp_row();
    for (std::uint32_t n = 0; n < 4; ++n) set_row(alu, "qp", n, &qp);
  }
  rnic_queued_atomic request(std::uint32_t number, std::uint32_t qpn, std::uint32_t stag, std::uint64_t to) {
    rnic_queued_atomic q = sized<rnic_queued_atomic>();
    q.qpn = qpn;
    q.epoch = q.pd = 1;
    q.request_request_id = number;
    q.request_stag = stag;
    q.request_to = to;
    return q;
  }
  void push(const rnic_queued_atomic& q) {
    ASSERT_EQ(rnic_atomic_alu_push_in(alu.get(), &q), RNIC_OK) << rnic_stage_text(alu.get());
  }
  // Answers what the ALU reads and writes, until there is no more.
  void serve() {
    for (bool more = true; more;) {
      more = false;
      for (const rnic_dma_read_request& r : drain<rnic_dma_read_request>(alu, RNIC_ATOMIC_ALU_READ)) {
        Bytes octets(8);
        store_le64(octets.data(), words[r.address]);
        rnic_dma_read_done done = message<rnic_dma_read_done>(octets);
        done.tag = r.tag;
        done.ok = 1;
        ASSERT_EQ(rnic_atomic_alu_push_read_done(alu.get(), &done), RNIC_OK) << rnic_stage_text(alu.get());
        more = true;
      }
      for (const auto& w : drain_octets<rnic_dma_write>(alu, RNIC_ATOMIC_ALU_WRITE)) {
        ASSERT_EQ(w.octets.size(), 8u);
        words[w.message.address] = load_le64(w.octets.data());
        const rnic_dma_write_done done{sizeof done, 0, 1, {}};
        ASSERT_EQ(rnic_atomic_alu_push_written(alu.get(), &done), RNIC_OK) << rnic_stage_text(alu.get());
        more = true;
      }
    }
  }
};

// Several QPs at a few words, by a region and by a list of pages; several are in flight at one word.
TEST(GoldenRequests, AtomicsAreThoseOfTheReference) {
  for (const char* settings : {"{}", R"({"operations": 2, "pipeline_cycles": 9, "initiation_interval": 1})"}) {
    AtomicMemory memory(settings);
    rnic_stag_context flat = region_row(0x7000, 64, kRemoteReads | kRemoteWrites | kRemoteAtomics), paged = flat;
    set_row(memory.alu, "stag", 1, &flat);
    paged.zero_based = 1;  // two pages, of which 16 octets are in the first one
    paged.bus = 4096 - 16;
    paged.log_page = 12;
    paged.first_page = 6;
    paged.pages = 2;
    set_row(memory.alu, "stag", 2, &paged);
    for (std::uint32_t page : {6u, 7u}) {
      const rnic_page_entry entry{sizeof entry, {}, 0x40000u + 0x10000u * page};
      set_row(memory.alu, "page", page, &entry);
    }
    std::map<std::uint64_t, std::uint64_t> expected;
    std::map<std::uint32_t, std::uint64_t> originals;
    Prng rng(11);
    for (std::uint32_t number = 0; number < 600; ++number) {
      const std::uint64_t place = 8 * rng.below(6);
      const bool in_pages = rng.below(2) != 0;
      const std::uint64_t address = !in_pages    ? 0x7000 + place
                                    : place < 16 ? 0x40000 + 6 * 0x10000 + 4096 - 16 + place
                                                 : 0x40000 + 7 * 0x10000 + place - 16;
      rnic_queued_atomic q = memory.request(number, static_cast<std::uint32_t>(rng.below(4)),
                                            stag_numbered(in_pages ? 2 : 1), in_pages ? place : 0x7000 + place);
      const std::uint64_t before = originals[number] = expected[address];
      q.request_operation = rng.below(2) == 0 ? 0 : 2;
      q.request_data = rng.next();
      q.request_data_mask = rng.next() & rng.next();
      q.request_compare = rng.below(2) == 0 ? before : rng.next();
      q.request_compare_mask = rng.below(3) == 0 ? 0xff : ~std::uint64_t{0};
      expected[address] = q.request_operation == 0 ? reference_add(before, q.request_data, q.request_data_mask)
                                                   : reference_swap(before, q.request_compare, q.request_compare_mask,
                                                                    q.request_data, q.request_data_mask);
      memory.push(q);
      if (rng.below(8) == 0) memory.serve();
    }
    memory.serve();
    for (const auto& [address, value] : expected) EXPECT_EQ(memory.words[address], value) << std::hex << address;
    const auto answers = drain<rnic_atomic_work>(memory.alu, RNIC_ATOMIC_ALU_OUT);
    ASSERT_EQ(answers.size(), 600u);
    for (const rnic_atomic_work& a : answers) EXPECT_EQ(a.response_original, originals[a.response_request_id]);
  }
}

// RFC 7306 section 8.2 and RFC 5040 section 7.1: layer 0, type 1 or 2, and a code for each check.
TEST(GoldenRequests, AtomicsThatFailAChecksEndTheirStream) {
  AtomicMemory memory("{}");
  const std::uint8_t all = kRemoteReads | kRemoteWrites | kRemoteAtomics;
  rnic_stag_context row = region_row(0x7000, 64, all);
  set_row(memory.alu, "stag", 1, &row);
  row.access = kRemoteReads | kRemoteWrites;
  set_row(memory.alu, "stag", 2, &row);
  row = region_row(0x7004, 64, all);
  set_row(memory.alu, "stag", 3, &row);
  row = region_row(0x7000, 64, all);
  row.pd = 2;
  set_row(memory.alu, "stag", 4, &row);
  struct Case {
    std::uint32_t stag;
    std::uint64_t to;
    std::uint32_t operation;
    unsigned type, code;
  };
  const Case cases[] = {{stag_numbered(5), 0x7000, 0, 1, 0},
                        {stag_numbered(1) + 1, 0x7000, 0, 1, 0},
                        {stag_numbered(1), 0x7040, 0, 1, 1},
                        {stag_numbered(1), 0x6ff8, 2, 1, 1},
                        {stag_numbered(2), 0x7000, 2, 1, 2},
                        {stag_numbered(4), 0x7000, 0, 1, 3},
                        {stag_numbered(1), ~std::uint64_t{0}, 0, 1, 4},
                        {stag_numbered(1), 0x7000, 1, 2, 6},
                        {stag_numbered(3), 0x7004, 0, 2, 7},
                        {0xffffffff, 0x7000, 0, 1, 0}};
  for (const Case& c : cases) {
    rnic_queued_atomic q = memory.request(1, 2, c.stag, c.to);
    q.request_operation = c.operation;
    memory.push(q);
    const auto events = drain<rnic_qp_event>(memory.alu, RNIC_ATOMIC_ALU_EVENT);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_THAT(
        (std::array<unsigned, 4>{events[0].qpn, events[0].cause_layer, events[0].cause_etype, events[0].cause_code}),
        ElementsAre(2u, 0u, c.type, c.code));
    EXPECT_THAT(drain<rnic_dma_read_request>(memory.alu, RNIC_ATOMIC_ALU_READ), testing::IsEmpty());
  }
}

// A word that another one has written while an atomic was under way is read again (RFC 7306 section 5.4, rule 5).
TEST(GoldenRequests, AnAtomicSeesWhatOthersWroteBeforeIt) {
  for (const bool written : {false, true}) {
    AtomicMemory memory("{}");
    const rnic_stag_context row = region_row(0x7000, 64, kRemoteReads | kRemoteWrites | kRemoteAtomics);
    set_row(memory.alu, "stag", 1, &row);
    rnic_queued_atomic q = memory.request(1, 0, stag_numbered(1), 0x7008);
    q.request_data = 5;
    memory.words[0x7008] = 100;
    memory.push(q);
    const auto first = drain<rnic_dma_read_request>(memory.alu, RNIC_ATOMIC_ALU_READ);
    ASSERT_EQ(first.size(), 1u);
    const rnic_host_write other{sizeof other, {}, 0x7000, written ? 16u : 8u, {}};
    ASSERT_EQ(rnic_atomic_alu_push_others(memory.alu.get(), &other), RNIC_OK);
    q.request_request_id = 2;
    memory.push(q);
    EXPECT_THAT(drain<rnic_dma_read_request>(memory.alu, RNIC_ATOMIC_ALU_READ), testing::IsEmpty());
    Bytes octets{100, 0, 0, 0, 0, 0, 0, 0};
    rnic_dma_read_done done = message<rnic_dma_read_done>(octets);
    done.tag = first[0].tag;
    done.ok = 1;
    ASSERT_EQ(rnic_atomic_alu_push_read_done(memory.alu.get(), &done), RNIC_OK);
    if (written) memory.words[0x7008] = 1000;  // and what the first one wrote is lost
    const auto write = drain_octets<rnic_dma_write>(memory.alu, RNIC_ATOMIC_ALU_WRITE);
    ASSERT_EQ(write.size(), written ? 1u : 2u);
    for (std::size_t i = 0; i < write.size(); ++i) {
      const rnic_dma_write_done answered{sizeof answered, 0, 1, {}};
      ASSERT_EQ(rnic_atomic_alu_push_written(memory.alu.get(), &answered), RNIC_OK);
    }
    memory.serve();
    const auto answers = drain<rnic_atomic_work>(memory.alu, RNIC_ATOMIC_ALU_OUT);
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].response_original, 100u);
    EXPECT_EQ(answers[1].response_original, written ? 1000u : 105u);
  }
}

// ---- response_queue

TEST(GoldenRequests, AtomicResponsesAnswerTheirRequestsInOrder) {
  const Stage queue = open("response_queue");
  const rnic_qp_row qp = qp_row();
  set_row(queue, "qp", 3, &qp);
  const rnic_stag_context sink = region_row(0x9000, 64, kLocalWrites);
  set_row(queue, "stag", 7, &sink);
  for (std::uint32_t n = 0; n < 3; ++n) {
    rnic_atomic_issued issued = sized<rnic_atomic_issued>();
    issued.qpn = 3;
    issued.epoch = 1;
    issued.request_id = 40 + n;
    issued.sink_address = 0x9000 + 8 * n;
    issued.sink_length = 8;
    issued.sink_lkey = stag_numbered(7);
    ASSERT_EQ(rnic_response_queue_push_issued(queue.get(), &issued), RNIC_OK) << rnic_stage_text(queue.get());
  }
  for (std::uint32_t n = 0; n < 3; ++n) {
    rnic_delivered_atomic response = sized<rnic_delivered_atomic>();
    response.qpn = 3;
    response.epoch = response.pd = 1;
    response.response_request_id = n == 2 ? 99 : 40 + n;  // the last one names another request
    response.response_original = 0x1122334455667700 + n;
    ASSERT_EQ(rnic_response_queue_push_in(queue.get(), &response), RNIC_OK) << rnic_stage_text(queue.get());
  }
  const auto writes = drain_octets<rnic_dma_write>(queue, RNIC_RESPONSE_QUEUE_DMA);
  ASSERT_EQ(writes.size(), 2u);
  for (std::uint8_t n = 0; n < 2; ++n) {
    EXPECT_EQ(writes[n].message.address, 0x9000u + 8u * n);
    EXPECT_EQ(writes[n].message.notify, 1);
    EXPECT_THAT(writes[n].octets, ElementsAre(n, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11));
  }
  EXPECT_THAT(drain<rnic_atomic_done>(queue, RNIC_RESPONSE_QUEUE_DONE), testing::IsEmpty());
  const rnic_dma_write_done done{sizeof done, 0, 1, {}};
  for (int n = 0; n < 2; ++n) ASSERT_EQ(rnic_response_queue_push_written(queue.get(), &done), RNIC_OK);
  EXPECT_EQ(drain<rnic_atomic_done>(queue, RNIC_RESPONSE_QUEUE_DONE).size(), 2u);
  EXPECT_EQ(drain<rnic_tx_unblock>(queue, RNIC_RESPONSE_QUEUE_UNBLOCK).size(), 2u);
  const auto events = drain<rnic_qp_event>(queue, RNIC_RESPONSE_QUEUE_EVENT);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT((std::array{events[0].kind, events[0].cause_layer, events[0].cause_etype, events[0].cause_code}),
              ElementsAre(2, 0, 2, 0xff));
}

// ---- terminate_generator

// Wire-facts of RFC 5040 section 4.8, figure 10: the Terminate of a Read Request with an STag that is not valid.
TEST(GoldenRequests, TheTerminateOfAStreamsFirstError) {
  const Bytes headers =
      from_hex("4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00001000 00000300 0000000000004000");
  for (const bool draft : {false, true}) {
    const Stage stage = open("terminate_generator", draft ? R"({"foreign_stag_is_invalid": true})" : "{}");
    rnic_qp_row qp = qp_row();
    set_row(stage, "qp", 2, &qp);
    rnic_qp_event error = sized<rnic_qp_event>();
    error.kind = 2;
    error.qpn = 2;
    error.cause_etype = 1;
    error.cause_code = 3;  // not of the stream
    error.failed_length = 46;
    error.failed_ddp_bytes = 18;
    error.failed_request_bytes = 28;
    std::copy(headers.begin(), headers.end(), error.failed_octets);
    for (int times = 0; times < 2; ++times)
      ASSERT_EQ(rnic_terminate_generator_push_in(stage.get(), &error), RNIC_OK) << rnic_stage_text(stage.get());
    auto terminates = drain_octets<rnic_terminate_message>(stage, RNIC_TERMINATE_GENERATOR_OUT);
    ASSERT_EQ(terminates.size(), 1u);
    Bytes expected = from_hex(draft ? "0100E000 002E" : "0103E000 002E");
    expected.insert(expected.end(), headers.begin(), headers.end());
    EXPECT_EQ(terminates[0].octets, expected);
    EXPECT_EQ(terminates[0].message.qpn, 2u);
    EXPECT_EQ(drain<rnic_qp_event>(stage, RNIC_TERMINATE_GENERATOR_EVENT).size(), 1u);

    // The next use of the number has a Terminate of its own.
    qp.epoch = 2;
    set_row(stage, "qp", 2, &qp);
    ASSERT_EQ(rnic_terminate_generator_push_in(stage.get(), &error), RNIC_OK);
    terminates = drain_octets<rnic_terminate_message>(stage, RNIC_TERMINATE_GENERATOR_OUT);
    ASSERT_EQ(terminates.size(), 1u);
    EXPECT_EQ(terminates[0].message.epoch, 2u);
  }
}

// ---- what a caller may do wrong: a sentence, and nothing has changed

TEST(GoldenRequests, RowsThatDoNotFitAreRefused) {
  const Stage alu = open("atomic_alu", R"({"qps": 4, "stags": 3, "pages": 8, "max_ird": 2})");
  rnic_qp_row qp = qp_row();
  qp.ird = qp.ord = 2;
  refused(alu, "qp", 4, qp, "rows 0 to 3, and no 4");
  qp.ird = 3;
  refused(alu, "qp", 0, qp, "ird is 3, but max_ird 2");
  qp.ird = 2;
  qp.state = 5;
  refused(alu, "qp", 0, qp, "qp_row.state is 5");
  qp.state = 1;
  qp.log_rq = 12;
  refused(alu, "qp", 0, qp, "2^11");
  qp.log_rq = 4;
  qp.shares_rq = 1;
  qp.srq = 64;
  refused(alu, "qp", 0, qp, "shared receive queues 0 to 63");
  rnic_stag_context stag = region_row(0, 8192, 0);
  refused(alu, "stag", 3, stag, "rows 0 to 2");
  stag.kind = 3;
  refused(alu, "stag", 0, stag, "kind is 3");
  stag.kind = 0;
  stag.log_page = 11;
  refused(alu, "stag", 0, stag, "log_page is 11");
  stag.log_page = 12;
  stag.pages = 1;
  refused(alu, "stag", 0, stag, "do not fit 1 pages");
  stag.pages = 2;
  stag.first_page = 1 << 20;
  refused(alu, "stag", 0, stag, "first_page");
  rnic_page_entry page{sizeof page, {}, 0x1000};
  refused(alu, "page", 8, page, "rows 0 to 7");
  page.address = 0x1008;
  refused(alu, "page", 7, page, "aligned");
}

TEST(GoldenRequests, MessagesThatDoNotFitAreRefused) {
  const Stage alu = open("atomic_alu", R"({"qps": 4})"), queue = open("response_queue", R"({"qps": 4, "max_ord": 2})"),
              terminate = open("terminate_generator", R"({"qps": 4})"), irrq = open("irrq", R"({"qps": 4})");
  rnic_queued_atomic q = sized<rnic_queued_atomic>();
  q.qpn = 4;
  refused(alu, RNIC_ATOMIC_ALU_IN, q, "QPs 0 to 3, and no 4");
  q.qpn = 0;
  q.segment_ddp_bytes = 15;
  refused(alu, RNIC_ATOMIC_ALU_IN, q, "DDP header has 15");
  Bytes octets(8);
  rnic_dma_read_done read = message<rnic_dma_read_done>(octets);
  refused(alu, RNIC_ATOMIC_ALU_READ_DONE, read, "no read with tag 0");
  const rnic_dma_write_done written{sizeof written, 0, 1, {}};
  refused(alu, RNIC_ATOMIC_ALU_WRITTEN, written, "no write waits");
  refused(queue, RNIC_RESPONSE_QUEUE_WRITTEN, written, "no write waits");

  const rnic_qp_row qp = qp_row();
  rnic_qp_row small = qp;
  small.ord = 2;
  set_row(queue, "qp", 0, &small);
  rnic_atomic_issued issued = sized<rnic_atomic_issued>();
  issued.epoch = 1;
  for (int n = 0; n < 2; ++n) ASSERT_EQ(rnic_response_queue_push_issued(queue.get(), &issued), RNIC_OK);
  refused(queue, RNIC_RESPONSE_QUEUE_ISSUED, issued, "has 2 outstanding");

  rnic_qp_event error = sized<rnic_qp_event>();
  error.kind = 0;
  refused(terminate, RNIC_TERMINATE_GENERATOR_IN, error, "qp_event.kind");
  error.kind = 7;
  refused(terminate, RNIC_TERMINATE_GENERATOR_IN, error, "qp_event.kind is 7");
  error.kind = 2;
  error.failed_ddp_bytes = 18;
  error.failed_request_bytes = 29;
  refused(terminate, RNIC_TERMINATE_GENERATOR_IN, error, "Read Request has 29");
  const rnic_read_response_sent sent{sizeof sent, 9, 1, {}};
  refused(irrq, RNIC_IRRQ_SENT, sent, "no 9");

  // A read that is answered with another number of octets waits for its answer still.
  set_row(alu, "qp", 0, &qp);
  const rnic_stag_context row = region_row(0x7000, 64, kRemoteReads | kRemoteWrites | kRemoteAtomics);
  set_row(alu, "stag", 1, &row);
  q = sized<rnic_queued_atomic>();
  q.epoch = q.pd = 1;
  q.request_stag = stag_numbered(1);
  q.request_to = 0x7000;
  ASSERT_EQ(rnic_atomic_alu_push_in(alu.get(), &q), RNIC_OK);
  const auto reads = drain<rnic_dma_read_request>(alu, RNIC_ATOMIC_ALU_READ);
  ASSERT_EQ(reads.size(), 1u);
  read.tag = reads[0].tag;
  read.ok = 1;
  read.octets_n = 7;
  refused(alu, RNIC_ATOMIC_ALU_READ_DONE, read, "7 octets, but 8");
  read.octets_n = 8;
  EXPECT_EQ(rnic_atomic_alu_push_read_done(alu.get(), &read), RNIC_OK);
  refused(alu, RNIC_ATOMIC_ALU_READ_DONE, read, "no read with tag");
}

// A row takes effect between what was pushed before and after it, also on a stage that is held up.
TEST(GoldenRequests, ARowIsForWhatIsPushedAfterIt) {
  AtomicMemory memory(R"({"operations": 1})");
  rnic_stag_context row = region_row(0x7000, 64, kRemoteReads | kRemoteWrites | kRemoteAtomics);
  set_row(memory.alu, "stag", 1, &row);
  rnic_queued_atomic q = memory.request(1, 0, stag_numbered(1), 0x7000);
  memory.push(q);
  q.request_request_id = 2;
  q.request_to = 0x7008;
  memory.push(q);  // waits for the one before it
  row.valid = 0;
  set_row(memory.alu, "stag", 1, &row);
  memory.serve();
  EXPECT_EQ(drain<rnic_atomic_work>(memory.alu, RNIC_ATOMIC_ALU_OUT).size(), 1u);
  EXPECT_EQ(drain<rnic_qp_event>(memory.alu, RNIC_ATOMIC_ALU_EVENT).size(), 1u);
}

}  // namespace
}  // namespace rnic::test
