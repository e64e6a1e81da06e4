#include "model/rnic/tx/rdmap_segmenter.h"

#include <algorithm>
#include <cstring>

#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/llps.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/sizes.h"
#include "testbench/support/stag_work_beside.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;
using testing::IsEmpty;
using Piece = std::pair<std::uint64_t, std::uint32_t>;

constexpr std::uint32_t kPlenty = 1u << 30;

abi::Wqe wqe(WrOpcode op, std::initializer_list<abi::Sge> list, unsigned flags = abi::kWqeSignaled) {
  abi::Wqe w;
  w.opcode = op;
  w.flags = static_cast<std::uint8_t>(flags);
  for (const abi::Sge& s : list) w.sge[w.num_sge++] = s;
  w.wr_id = 77;
  w.rkey = 0x12345678;
  w.remote_address = 4096;
  w.invalidate_stag = 0xcafe0001;
  return w;
}
// The response to a Read of the region with STag index 8, whose tagged offsets are bus addresses.
ReadWork answer(std::uint32_t qpn, std::uint32_t sink_stag, std::uint64_t sink_to, std::uint64_t src_to,
                std::uint32_t bytes) {
  return {Qpn{qpn}, {sink_stag, sink_to, bytes, stag_of(8), src_to}, {}, 1};
}
abi::Sge sge(std::uint32_t bytes, std::uint64_t address = 0x10000) { return {address, bytes, stag_of(3)}; }

// An event is executed when the row of its QP is read, one in each cycle, and the turn of the QP then reads it again.
// What reads no STag leaves at once: a segment of a message that has begun, an Atomic Response, a message of the
// firmware. A request begins when the entry of its element is read, and so does a segment of a Read Response. The QP's
// next segment then takes a turn of its own.
constexpr Cycle kRow = TxTableConfig{}.read_cycles;
constexpr Cycle kThrough = kToEnd + kRow + kRow + kToEnd;
constexpr Cycle kExecuted = kToEnd + kRow + kToEnd;  // what an event sends without a turn
constexpr Cycle kRead = StagTableConfig{}.read_cycles;
constexpr Cycle kBegins = kThrough + kRead;
constexpr Cycle kNext = kRow + kRead;        // from the start of a request to that of the QP's next one
constexpr Cycle kBehind = 1;                 // another event: credit that comes in the same cycle
constexpr Cycle kFirst = kBehind + kBegins;  // of a test that sends both at its beginning

class RdmapSegmenterTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  BufferPool pool{4096};
  At contexts_at{"contexts_at", clk};
  RdmapSegmenter dut{"dut", clk, contexts, pool, llp_traits()};
  Source<FetchedWqe> fetch = drive(dut.wqe, CurrentUse(contexts));
  Sink<WqeTaken> given_back = collect(dut.taken);
  Source<TxCredit> tcp = drive(dut.credit[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<TxCredit> sctp = drive(dut.credit[LlpId::kSctp], CurrentUse(contexts));
  Source<TxUnblock> rx = drive(dut.unblock, CurrentUse(contexts));
  Source<TxUnblock> response_queue = drive(dut.atomic_unblock, CurrentUse(contexts));
  Source<TxUnblock> sq_completion = drive(dut.sink_unblock, CurrentUse(contexts));
  Source<ReadWork> responder = drive(dut.read_work);
  Source<AtomicWork> alu = drive(dut.atomic_work);
  Sink<AtomicIssued> atomics = collect(dut.atomic_issued);
  Sink<ReadIssued> reads = collect(dut.read_issued);
  Sink<ReadResponseSent> responses = collect(dut.read_sent);
  Source<TxInternalWork> firmware = drive(dut.internal_work, CurrentUse(contexts));
  Source<TerminateMessage> generator = drive(dut.terminate, CurrentUse(contexts));
  Sink<RqFlush> receive_flushes = collect(dut.flush_rq);
  Sink<UlpduJob> jobs = collect(dut.out);
  Sink<WqeIssued> completions = collect(dut.issued);
  Sink<QpEvent> events = collect(dut.event);
  StagWorkBeside stag_work{contexts, dut.stag_request, dut.stag_request_done};
  const Cycle kEnds = StagWorkBeside::answered(contexts, true);  // from the turn of a request that ends an STag on
  const Stubs others = stub(dut.answered, dut.read_issued_early);

  RdmapSegmenterTest() {
    open();
    contexts.commit();
  }
  void open() {
    for (std::uint32_t n = 1; n < 4; ++n) contexts.write(Qpn{n}, rts_qp(n));
    contexts.write(Stag{stag_of(3)}, region(0x10000, 0x10000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(4)}, region(0x10000, 0x10000, 0));
    contexts.write(Stag{stag_of(5)}, region(0x10000, 0x10000, abi::kLocalWrite, 2));
    contexts.write(Stag{stag_of(8)}, region(0, 0x10000, abi::kRemoteRead));
  }
  void change(std::uint32_t qpn, QpContext c, bool markers = false) { open_qp(contexts, qpn, c, markers); }
  void post(const abi::Wqe& w, std::uint32_t qpn = 1) { fetch.send({Qpn{qpn}, true, w}); }
  void closing() {
    QpContext c = rts_qp(1);
    c.state = QpState::kClosing;
    change(1, c);
    allow();
  }
  void allow(std::uint32_t bytes = kPlenty, std::uint32_t flow = 1) { tcp.send({FlowId{flow}, bytes}); }
  static Bytes header(const UlpduJob& j) {
    const std::uint8_t* at = j.ulpdu.buf->bytes() + Ulpdu::kOffset;
    return {at, at + j.header_bytes};
  }
  Bytes header(unsigned i) const { return header(jobs[i]); }
  std::vector<Piece> pieces(unsigned i) const {
    std::vector<Piece> p;
    const UlpduJob& j = jobs[i];
    for (unsigned k = 0; k < j.pieces; ++k) p.emplace_back(j.piece[k].address, j.piece[k].bytes);
    return p;
  }
  std::vector<std::uint16_t> lengths() const {
    std::vector<std::uint16_t> l;
    for (const UlpduJob& j : jobs) l.push_back(j.ulpdu.bytes);
    return l;
  }
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> q;
    for (const UlpduJob& j : jobs) q.push_back(j.qpn.v);
    return q;
  }
  // The opcodes in wire order.
  Bytes opcodes() const {
    Bytes o;
    for (const UlpduJob& j : jobs) o.push_back(header(j)[1] & 0x0f);
    return o;
  }
  void expect_refused(WcStatus status) {
    allow();
    run_until_idle();
    EXPECT_THAT(jobs, IsEmpty());
    ASSERT_EQ(completions.size(), 1u);
    EXPECT_EQ(completions[0].status, status) << int(completions[0].status);
    EXPECT_EQ(completions[0].wr_id, 77u);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
    EXPECT_EQ(events[0].cause, wire::rdma::kLocalCatastrophic);
    EXPECT_EQ(given_back.size(), 1u);
  }
};

TEST_F(RdmapSegmenterTest, AMessageBeginsWhenTheEntryOfItsElementIsRead) {
  allow();
  for (int i = 0; i < 3; ++i) post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  const std::vector<Cycle> expected{kFirst, kFirst + kNext, kFirst + 2 * kNext};
  EXPECT_EQ(jobs.cycles(), expected);
  EXPECT_EQ(completions.cycles(), expected);
  EXPECT_EQ(given_back.cycles(), expected);
}
TEST_F(RdmapSegmenterTest, AMessageThatHasBegunTakesATurnForEachFpdu) {
  allow();
  post(wqe(WrOpcode::kSend, {sge(3 * 1424)}));
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, kFirst + kRow, kFirst + 2 * kRow));
}
TEST_F(RdmapSegmenterTest, AMessageWithoutMemoryLeavesWhenItsRowIsThere) {
  allow();
  for (int i = 0; i < 3; ++i) post(wqe(WrOpcode::kSend, {}));
  run_until_idle();
  const Cycle first = kBehind + kThrough;
  EXPECT_THAT(jobs.cycles(), ElementsAre(first, first + kRow, first + 2 * kRow));
  EXPECT_EQ(contexts.stag_table.counters().accesses, 0u);
}
// Entries are read for the next turns meanwhile.
TEST_F(RdmapSegmenterTest, MessagesOfSeveralQpsBeginOneEachCycle) {
  for (std::uint32_t n = 1; n < 4; ++n) {
    allow(kPlenty, n);
    post(wqe(WrOpcode::kSend, {sge(4)}), n);
  }
  fetch.pause(window(0, 20));
  run_until_idle();
  EXPECT_EQ(jobs.cycles(), in_a_row(20 + kBegins, 3));
}

// A segmenter that has requests and credit, and nothing else.
struct SegmenterBench {
  SegmenterBench(const ContextStore::Sizes& sizes, const RdmapSegmenterConfig& config)
      : clk(sc_core::sc_gen_unique_name("clock"), {}),
        contexts(clk, sizes),
        dut(sc_core::sc_gen_unique_name("dut"), clk, contexts, pool, llp_traits(), config) {
    for (std::uint32_t n = 0; n < contexts.qps(); ++n) contexts.write(Qpn{n}, rts_qp(n));
    contexts.write(Stag{stag_of(3)}, region(0x10000, 0x10000, abi::kLocalWrite));
    contexts.commit();
  }
  void allow(std::uint32_t qpn, std::uint32_t bytes, Cycle from = 0) { tcp.send_at(from, {FlowId{qpn}, bytes}); }
  ClockDomain clk;
  ContextStore contexts;
  BufferPool pool{4096};
  RdmapSegmenter dut;
  Source<FetchedWqe> fetch = drive(dut.wqe, CurrentUse(contexts));
  Source<TxCredit> tcp = drive(dut.credit[LlpId::kMpaTcp], CurrentUse(contexts));
  Sink<UlpduJob> jobs = collect(dut.out);
  const Stubs others = stub(dut.taken, dut.credit[LlpId::kSctp], dut.unblock, dut.atomic_unblock, dut.sink_unblock,
                            dut.read_work, dut.atomic_work, dut.read_sent, dut.answered, dut.internal_work,
                            dut.terminate, dut.issued, dut.atomic_issued, dut.read_issued, dut.read_issued_early,
                            dut.stag_request, dut.stag_request_done, dut.flush_rq, dut.event);
};

// Many queue pairs with a message of twelve FPDUs each, and turns of so many.
class SegmenterTurns : public StageTest, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr std::uint32_t kQps = 24, kEach = 12;
  struct Bench : SegmenterBench {
    explicit Bench(unsigned fpdus) : SegmenterBench({kQps, kQps, 4, 16}, {fpdus}) {}
    void post(std::uint32_t qpn, unsigned fpdus) {
      fetch.send({Qpn{qpn}, true, wqe(WrOpcode::kSend, {sge(fpdus * 1424)})});
    }
    std::vector<std::uint32_t> order() const {
      std::vector<std::uint32_t> q;
      for (const UlpduJob& j : jobs) q.push_back(j.qpn.v);
      return q;
    }
  };
};
// Between two FPDUs of a turn are those of the few others whose turns have begun; after it all others have theirs.
TEST_P(SegmenterTurns, AQueuePairSendsSoManyBeforeTheOthersHaveTheirTurn) {
  const unsigned fpdus = GetParam();
  Bench b(fpdus);
  for (std::uint32_t n = 0; n < kQps; ++n) b.post(n, kEach);
  for (std::uint32_t n = 0; n < kQps; ++n) b.allow(n, kPlenty, 100);
  run_until_idle();
  const std::vector<std::uint32_t> order = b.order();
  ASSERT_EQ(order.size(), kQps * kEach);
  std::map<std::uint32_t, std::vector<std::size_t>> sent;
  for (std::size_t n = 0; n < order.size(); ++n) sent[order[n]].push_back(n);
  constexpr std::size_t kBegun = 8;  // turns whose rows are there
  std::size_t between_turns = 0;
  for (const auto& [qpn, at] : sent) {
    for (std::size_t n = 1; n < kEach; ++n) {
      const std::size_t gap = at[n] - at[n - 1];
      if (n % fpdus == 0) between_turns += gap;
      else EXPECT_LE(gap, kBegun) << "QP " << qpn << ", FPDU " << n;
    }
  }
  const std::size_t turns = kEach / fpdus - 1;
  EXPECT_GT(between_turns, turns * kQps * fpdus * (kQps - kBegun)) << "on average all others send their turns";
  EXPECT_EQ(b.jobs.cycles().back() - b.jobs.cycles()[kQps], kQps * kEach - 1 - kQps) << "one FPDU a cycle";
}
INSTANTIATE_TEST_SUITE_P(Fpdus, SegmenterTurns, testing::Values(1, 2, 3, 4, 6));

TEST_F(SegmenterTurns, OneQueuePairAloneSendsAsBefore) {
  Bench one(1), many(16);
  for (Bench* b : {&one, &many}) {
    b->post(3, kEach);
    b->post(3, 1);
    b->allow(3, kPlenty);
  }
  run_until_idle();
  EXPECT_EQ(one.jobs.size(), kEach + 1);
  EXPECT_EQ(many.jobs.cycles(), one.jobs.cycles());
}
// A turn ends when there is nothing to send or no credit; the next one has its whole length again.
TEST_F(SegmenterTurns, ATurnThatEndsEarlyIsOver) {
  Bench b(4);
  b.post(1, 2);
  b.allow(1, kPlenty);
  run_until_idle();
  for (const std::uint32_t n : {1u, 2u, 3u}) b.post(n, kEach);
  for (const std::uint32_t n : {5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u, 15u, 16u}) b.post(n, kEach);
  for (std::uint32_t n = 2; n < kQps; ++n) b.allow(n, kPlenty);
  run_until_idle();
  std::vector<std::size_t> at;
  const std::vector<std::uint32_t> order = b.order();
  for (std::size_t n = 2; n < order.size(); ++n) {
    if (order[n] == 1) at.push_back(n);
  }
  ASSERT_EQ(at.size(), kEach);
  EXPECT_LE(at[3] - at[0], 3 * 8u);
  EXPECT_GE(at[4] - at[3], 16u);
}

// Of tables with other latencies; one entry a cycle.
class SegmenterReads : public StageTest, public testing::WithParamInterface<unsigned> {};
TEST_P(SegmenterReads, EachElementTakesACycleBehindTheFirst) {
  ContextStore::Sizes sizes{4, 4, 4, 16};
  const Cycle row = GetParam() + 1;
  sizes.stag_table.read_cycles = GetParam();
  sizes.tx_table.read_cycles = static_cast<unsigned>(row);
  SegmenterBench b(sizes, {});
  b.allow(1, kPlenty);
  std::vector<Cycle> expected;
  for (unsigned elements = 1; elements <= abi::kMaxSge; ++elements) {
    abi::Wqe w = wqe(WrOpcode::kSend, {});
    w.num_sge = static_cast<std::uint8_t>(elements);
    for (unsigned i = 0; i < elements; ++i) w.sge[i] = sge(1, 0x10000 + i);
    const Cycle at = 100 * elements;
    b.fetch.send_at(at, {Qpn{1}, true, w});
    expected.push_back(at + kToEnd + row + row + GetParam() + elements - 1 + kToEnd);
  }
  run_until_idle();
  EXPECT_EQ(b.jobs.cycles(), expected);
}
INSTANTIATE_TEST_SUITE_P(ReadCycles, SegmenterReads, testing::Values(1, 2, 3, 7));

// messages.json
TEST_F(RdmapSegmenterTest, HeadersOfEveryMessage) {
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(wqe(WrOpcode::kSendWithInv, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}, abi::kWqeSolicited));
  abi::Wqe invalidate = wqe(WrOpcode::kSendWithInv, {}, abi::kWqeSolicited);
  invalidate.invalidate_stag = 0xcafe0002;
  post(invalidate);
  post(wqe(WrOpcode::kRdmaWrite, {sge(4)}));
  abi::Wqe nothing = wqe(WrOpcode::kRdmaWrite, {});
  nothing.rkey = 0;
  nothing.remote_address = 0;
  post(nothing);
  abi::Wqe read = wqe(WrOpcode::kRdmaRead, {{0x10000, 4096, stag_of(3)}});
  read.rkey = 768;
  read.remote_address = 16384;
  post(read);
  run_until_idle();
  ASSERT_EQ(jobs.size(), 7u);
  EXPECT_EQ(header(0), from_hex("4143 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(header(1), from_hex("4144 cafe0001 00000000 00000002 00000000"));
  EXPECT_EQ(header(2), from_hex("4145 00000000 00000000 00000003 00000000"));
  EXPECT_EQ(header(3), from_hex("4146 cafe0002 00000000 00000004 00000000"));
  EXPECT_EQ(header(4), from_hex("c140 12345678 0000000000001000"));
  EXPECT_EQ(header(5), from_hex("c140 00000000 0000000000000000"));
  EXPECT_EQ(header(6), from_hex("4141 00000000 00000001 00000001 00000000"
                                "0000035a 0000000000010000 00001000 00000300 0000000000004000"));
  EXPECT_THAT(lengths(), ElementsAre(22, 22, 22, 18, 18, 14, 46));
  EXPECT_THAT(pieces(0), ElementsAre(Piece(0x10000, 4)));
  EXPECT_THAT(pieces(6), IsEmpty());
  std::vector<bool> completes;
  for (const UlpduJob& j : jobs) completes.push_back(j.ulpdu.completes_wqe);
  EXPECT_THAT(completes, ElementsAre(true, true, true, true, true, true, false));
  EXPECT_EQ(completions[6].bytes, 4096u);
  EXPECT_EQ(completions[6].opcode, WrOpcode::kRdmaRead);
  EXPECT_TRUE(completions[0].signaled);
  EXPECT_FALSE(completions[2].signaled);
}

// In every segment of any message. QP 1 has an RDMAC peer, QP 2 an IETF one.
TEST_F(RdmapSegmenterTest, VersionsAndTheStagToInvalidateAreTheSameInAllSegments) {
  for (const std::uint32_t qpn : {1, 2}) {
    QpContext c = rts_qp(qpn);
    c.version = static_cast<std::uint8_t>(qpn - 1);
    change(qpn, c);
    allow(kPlenty, qpn);
    for (const WrOpcode op : {WrOpcode::kSendWithInv, WrOpcode::kRdmaWrite}) post(wqe(op, {sge(4000)}), qpn);
    responder.send(answer(qpn, 0x100, 0x2000, 0x7000, 4000));
  }
  run_until_idle();
  ASSERT_EQ(jobs.size(), 2u * 9);
  unsigned sends = 0;
  for (unsigned i = 0; i < 2 * 9; ++i) {
    const unsigned version = jobs[i].ulpdu.flow.v - 1;
    EXPECT_EQ(header(i)[0] & 3u, version) << i;
    EXPECT_EQ(header(i)[1] >> 6u, version) << i;
    if ((header(i)[1] & 0xf) != 4) continue;
    ++sends;
    EXPECT_EQ(load_be32(&header(i)[2]), 0xcafe0001u);
    EXPECT_EQ(load_be32(&header(i)[6]), 0u);
    EXPECT_EQ(load_be32(&header(i)[10]), 1u);
  }
  EXPECT_EQ(sends, 2u * 3);
}

TEST_F(RdmapSegmenterTest, MsnsWrap) {
  QpContext c = rts_qp(1);
  c.first_msn = 0xfffffffe;
  change(1, c);
  allow();
  std::vector<std::uint32_t> sends, reads_sent;
  for (int i = 0; i < 4; ++i) {
    post(wqe(WrOpcode::kSend, {sge(4)}));
    post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  }
  run_until_idle();
  for (const UlpduJob& j : jobs) {
    const Bytes h = header(j);
    (h[9] == 0 ? sends : reads_sent).push_back(load_be32(&h[10]));
  }
  EXPECT_THAT(sends, ElementsAre(0xfffffffe, 0xffffffff, 0, 1));
  EXPECT_THAT(reads_sent, ElementsAre(0xfffffffe, 0xffffffff, 0, 1));
}

TEST_F(RdmapSegmenterTest, RdmacPeersGetVersionZero) {
  QpContext c = rts_qp(1);
  c.version = 0;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(wqe(WrOpcode::kRdmaWrite, {sge(4)}));
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  responder.send(answer(1, 0, 0, 0, 0));
  run_until_idle();
  std::vector<std::pair<int, int>> first;  // DDP control, RDMAP
  for (std::size_t i = 0; i < jobs.size(); ++i) first.emplace_back(header(i)[0], header(i)[1]);
  EXPECT_THAT(first, testing::UnorderedElementsAre(std::pair{0x40, 0x03}, std::pair{0xc0, 0x00}, std::pair{0x40, 0x01},
                                                   std::pair{0xc0, 0x02}));
}
TEST_F(RdmapSegmenterTest, RdmacPeersGetATerminateOfVersionZero) {
  QpContext c = rts_qp(1);
  c.version = 0;
  c.state = QpState::kTerminate;
  change(1, c);
  allow();
  firmware.send({Qpn{1}, TxInternalWork::Kind::kTerminate, wire::mpa::kCrcMismatch});
  run_until_idle();
  EXPECT_EQ(header(0), from_hex("40070000000000000002000000010000000020020000"));
}

// The example of requirement DDP-5.2-01 and following.
TEST_F(RdmapSegmenterTest, MessagesAreCutAtMulpdu) {
  QpContext c = rts_qp(1);
  c.mulpdu = 1500;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend, {sge(2048)}));
  abi::Wqe w = wqe(WrOpcode::kRdmaWrite, {sge(2048)});
  w.remote_address = 16384;
  post(w);
  post(wqe(WrOpcode::kSend, {sge(1482)}));
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(1500, 18 + 566, 1500, 14 + 562, 1500));
  EXPECT_EQ(header(0), from_hex("0143 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(header(1), from_hex("4143 00000000 00000000 00000001 000005ca"));
  EXPECT_EQ(header(2), from_hex("8140 12345678 0000000000004000"));
  EXPECT_EQ(header(3), from_hex("c140 12345678 00000000000045ce"));  // 17870
  EXPECT_EQ(header(4)[0], 0x41);                                     // a message that fits exactly has no empty tail
  EXPECT_THAT(pieces(1), ElementsAre(Piece(0x10000 + 1482, 566)));
  EXPECT_FALSE(jobs[0].ulpdu.completes_wqe);
  EXPECT_TRUE(jobs[1].ulpdu.completes_wqe);
}

// RFC 5044 section 4.5: MULPDU may change at any time, and segments cut before stay unchanged.
TEST_F(RdmapSegmenterTest, AnotherMulpduHoldsForLaterSegmentsOnly) {
  allow();
  post(wqe(WrOpcode::kSend, {sge(4000)}));
  contexts_at.at(kFirst - kToEnd, [this] {
    QpContext c = rts_qp(1);
    c.mulpdu = 1018;
    contexts.write(Qpn{1}, c);
  });
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(1442, 1018, 1018, 18 + 576));
  EXPECT_EQ(header(1), from_hex("0143 00000000 00000000 00000001 00000590"));  // 1424
  EXPECT_EQ(header(3), from_hex("4143 00000000 00000000 00000001 00000d60"));  // 3424
}

// RFC 5041 section 4.2, RFC 5040 section 5.2: a message may start at any octet, at either end, and Writes keep their
// order.
TEST_F(RdmapSegmenterTest, MessagesStartAtAnyOctet) {
  allow();
  abi::Wqe w = wqe(WrOpcode::kRdmaWrite, {sge(5, 0x10003)});
  w.remote_address = 0x1001;
  post(w);
  w.remote_address = 0xffffffff00000007;
  post(w);
  abi::Wqe read = wqe(WrOpcode::kRdmaRead, {sge(5, 0x10007)});
  read.remote_address = 0x2003;
  post(read);
  responder.send_at(20, answer(1, 0x100, 0x3001, 0x7003, 5));
  run_until_idle();
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(header(0), from_hex("c140 12345678 0000000000001001"));
  EXPECT_EQ(header(1), from_hex("c140 12345678 ffffffff00000007"));
  EXPECT_EQ(header(2), from_hex("4141 00000000 00000001 00000001 00000000"
                                "0000035a 0000000000010007 00000005 12345678 0000000000002003"));
  EXPECT_EQ(header(3), from_hex("c142 00000100 0000000000003001"));
  EXPECT_THAT(pieces(0), ElementsAre(Piece(0x10003, 5)));
  EXPECT_THAT(pieces(3), ElementsAre(Piece(0x7003, 5)));
}

// A Read that invalidates its sink looks like any other on the wire; its completion names the STag that ends.
TEST_F(RdmapSegmenterTest, AReadWithInvalidateNamesItsSinkToTheCompletion) {
  allow();
  abi::Wqe read = wqe(WrOpcode::kRdmaReadWithInv, {sge(5, 0x10007)});
  read.remote_address = 0x2003;
  post(read);
  post(wqe(WrOpcode::kRdmaRead, {sge(5)}));
  run_until_idle();
  EXPECT_EQ(header(0), from_hex("4141 00000000 00000001 00000001 00000000"
                                "0000035a 0000000000010007 00000005 12345678 0000000000002003"));
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].opcode, WrOpcode::kRdmaReadWithInv);
  EXPECT_EQ(completions[0].ends, Stag{stag_of(3)});
  EXPECT_EQ(completions[1].ends, std::nullopt);
  EXPECT_TRUE(contexts.stag(Stag{stag_of(3)})->valid) << "until the response is there";
}
// The response is placed before the sink's STag has ended.
TEST_F(RdmapSegmenterTest, AFencedRequestWaitsUntilTheSinkHasEnded) {
  allow();
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4)}));
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4, 0x10100)}));
  post(wqe(WrOpcode::kSend, {sge(4)}, abi::kWqeFence));
  rx.send_at(50, {{TxUnblock::Kind::kReadDone, Qpn{1}}, {TxUnblock::Kind::kReadDone, Qpn{1}}});
  sq_completion.send_at(60, {TxUnblock::Kind::kSinkEnded, Qpn{1}});
  contexts_at.at(80, [this] {
    contexts.write(Stag{stag_of(3)}, StagContext{});
    sq_completion.send_at(81, {TxUnblock::Kind::kSinkEnded, Qpn{1}});
  });
  run_until_idle();
  EXPECT_EQ(jobs.size(), 2u);
  ASSERT_EQ(completions.size(), 3u);
  EXPECT_EQ(completions[2].status, WcStatus::kLocProtErr);
  EXPECT_EQ(completions.cycles()[2], 81 + kBegins);
}
// The peer's FIN comes right after the last response: the fenced request can still be sent, and the drain waits for it.
TEST_F(RdmapSegmenterTest, OnceThePeerHasClosedADrainWaitsForARequestBehindASinkThatEnds) {
  closing();
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4)}));
  post(wqe(WrOpcode::kSend, {}, abi::kWqeSignaled | abi::kWqeFence));
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kDrain});
  rx.send_at(50, {{TxUnblock::Kind::kReadDone, Qpn{1}}, {TxUnblock::Kind::kPeerClosed, Qpn{1}}});
  sq_completion.send_at(60, {TxUnblock::Kind::kSinkEnded, Qpn{1}});
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, 60 + kThrough));
  ASSERT_EQ(completions.size(), 3u);
  EXPECT_EQ(completions[2].marker, WqeIssued::Marker::kDrain);
}
TEST_F(RdmapSegmenterTest, OnceThePeerHasClosedADrainWaitsForNoSinkOfAReadWithoutItsResponse) {
  closing();
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4)}));
  post(wqe(WrOpcode::kSend, {}, abi::kWqeSignaled | abi::kWqeFence));
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kDrain});
  rx.send_at(50, {TxUnblock::Kind::kPeerClosed, Qpn{1}});
  run_until_idle();
  EXPECT_EQ(jobs.size(), 1u);
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[1].marker, WqeIssued::Marker::kDrain);
}
TEST_F(RdmapSegmenterTest, WhatIsNotFencedDoesNotWaitForASink) {
  allow();
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, kFirst + kNext));
}

// RFC 5040 section 4.4: 0 to 2^32-1 octets.
TEST_F(RdmapSegmenterTest, ReadRequestsOfNoOctetAndOfTheMost) {
  contexts.write(Stag{stag_of(6)}, region(0, std::uint64_t{1} << 33, abi::kLocalWrite));
  contexts.commit();
  allow();
  post(wqe(WrOpcode::kRdmaRead, {}));
  post(wqe(WrOpcode::kRdmaRead, {{0x10000, 0xffffffff, stag_of(6)}}));
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(46, 46));
  EXPECT_EQ(header(0), from_hex("4141 00000000 00000001 00000001 00000000"
                                "00000000 0000000000000000 00000000 12345678 0000000000001000"));
  EXPECT_EQ(header(1), from_hex("4141 00000000 00000001 00000002 00000000"
                                "0000065a 0000000000010000 ffffffff 12345678 0000000000001000"));
  // The receive side hears of both in the cycle in which they leave.
  EXPECT_EQ(reads.cycles(), jobs.cycles());
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0].bytes, 0u);
  EXPECT_EQ(reads[1].qpn, Qpn{1});
  EXPECT_EQ(reads[1].sink_stag, 0x65au);
  EXPECT_EQ(reads[1].sink_to, 0x10000u);
  EXPECT_EQ(reads[1].bytes, 0xffffffffu);
}

TEST_F(RdmapSegmenterTest, GatherListAcrossSegments) {
  QpContext c = rts_qp(1);
  c.mulpdu = 128;  // 110 octets of a Send
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend,
           {sge(100, 0x10000), sge(0, 0), sge(20, 0x11000), sge(90, 0x12000), sge(5, 0x13000), sge(6, 0x14000)}));
  run_until_idle();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_THAT(pieces(0), ElementsAre(Piece(0x10000, 100), Piece(0x11000, 10)));
  EXPECT_THAT(pieces(1), ElementsAre(Piece(0x1100a, 10), Piece(0x12000, 90), Piece(0x13000, 5), Piece(0x14000, 5)));
  EXPECT_THAT(pieces(2), ElementsAre(Piece(0x14005, 1)));
}

TEST_F(RdmapSegmenterTest, InlineDataComesFromTheWqe) {
  QpContext c = rts_qp(1);
  c.mulpdu = 128;
  change(1, c);
  allow();
  abi::Wqe w = wqe(WrOpcode::kRdmaWrite, {}, abi::kWqeInline);
  w.inline_bytes = sizeof w.sge;
  for (unsigned i = 0; i < sizeof w.sge; ++i) reinterpret_cast<std::uint8_t*>(w.sge)[i] = static_cast<std::uint8_t>(i);
  post(w);
  run_until_idle();
  ASSERT_THAT(lengths(), ElementsAre(14 + 96));
  EXPECT_THAT(pieces(0), IsEmpty());
  const std::uint8_t* at = jobs[0].ulpdu.buf->bytes() + Ulpdu::kOffset + 14;
  for (unsigned i = 0; i < 96; ++i) ASSERT_EQ(at[i], i);
}

TEST_F(RdmapSegmenterTest, ReadResponseKeepsTheSinkOfTheRequest) {
  allow();
  responder.send(answer(1, 0x100, 8192, 0x7000, 3000));
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(1442, 1442, 14 + 144));
  EXPECT_EQ(header(0), from_hex("8142 00000100 0000000000002000"));
  EXPECT_EQ(header(2), from_hex("c142 00000100 0000000000002b28"));
  EXPECT_THAT(pieces(2), ElementsAre(Piece(0x7000 + 2856, 144)));
  EXPECT_THAT(responses.cycles(), ElementsAre(kFirst + 2 * kNext));  // with its last FPDU
  EXPECT_THAT(completions, IsEmpty());
}

TEST_F(RdmapSegmenterTest, AResponseOfAnEarlierUseIsNotSent) {
  allow();
  contexts_at.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  responder.send_at(30, answer(1, 0x100, 0x2000, 0x7000, 4));
  alu.send_at(31, {Qpn{1}, {5, 6}, {}, 1});
  tcp.send_at(40, {FlowId{1}, 4000});
  ReadWork now = answer(1, 0x100, 0x3000, 0x7000, 4);
  now.epoch = 2;
  responder.send_at(50, now);
  run_until_idle();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(header(0), from_hex("c142 00000100 0000000000003000"));
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].epoch, 2u);
}

TEST_F(RdmapSegmenterTest, ZeroLengthReadResponse) {
  allow();
  responder.send(answer(1, 0, 0, 0, 0));
  run_until_idle();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(header(0), from_hex("c142 00000000 0000000000000000"));
  EXPECT_EQ(responses.size(), 1u);
}

// RFC 5040 section 4.8: the Terminate names the rest of the request.
TEST_F(RdmapSegmenterTest, ARevokedSourceEndsTheResponseWhereItIs) {
  constexpr std::uint32_t kFpdu = 1448;  // of a full MULPDU
  ReadWork read = answer(1, 0x100, 0xfffffff0, 0x7000, 4000);
  read.segment =
      FailedSegment::of(ByteSpan(from_hex("4141 00000000 00000001 00000001 00000000 00000100 00000000fffffff0"
                                          "00000fa0 0000085a 0000000000007000")));
  allow(2 * kFpdu);
  responder.send(read);
  contexts_at.at(20, [&] { contexts.write(Stag{stag_of(8)}, StagContext{}); });
  tcp.pause(window(1, 30));
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  fetch.pause(window(0, 40));
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(1442, 1442));  // and no Send
  EXPECT_THAT(responses, IsEmpty());
  ASSERT_EQ(events.size(), 1u);
  const QpEvent& e = events[0];
  EXPECT_EQ(e.kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(e.cause, wire::rdma::kInvalidStag);
  EXPECT_EQ(e.failed.length, 46);
  EXPECT_EQ(Bytes(e.failed.octets.begin(), e.failed.octets.end()),  // 2856 octets on
            from_hex("4141 00000000 00000001 00000001 00000000 00000100 0000000100000b18"
                     "00000478 0000085a 0000000000007b28"));
}
TEST_F(RdmapSegmenterTest, ASourceRevokedBeforeTheFirstSegmentReturnsTheRequestAsItCame) {
  ReadWork read = answer(1, 0x100, 0x2000, 0x7000, 4000);
  const Bytes request =
      from_hex("7d71 abcdef01 00000001 00000001 00000000 00000100 0000000000002000 00000fa0 0000085a 0000000000007000");
  read.segment = FailedSegment::of(ByteSpan(request));
  responder.send(read);
  contexts_at.at(20, [&] { contexts.write(Stag{stag_of(8)}, region(0, 0x10000, abi::kLocalWrite)); });
  tcp.pause(window(0, 30));
  allow();
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cause, wire::rdma::kAccessRights);
  const auto& octets = events[0].failed.octets;
  EXPECT_EQ(Bytes(octets.begin(), octets.end()), request);
}

// What a turn reads and what the QP sends are decided in different cycles: whatever happens between.
class TurnRaces : public RdmapSegmenterTest, public testing::WithParamInterface<Cycle> {
 protected:
  // Of the stage, in which the entry for a request that comes with the fifth cycle can be used.
  static constexpr Cycle kUse = 5 + kToEnd + kRow + kRow + kRead;
  void revoke(std::uint32_t index) {
    contexts_at.at(GetParam(), [this, index] { contexts.write(Stag{stag_of(index)}, StagContext{}); });
  }
};
// An STag that ends in a cycle is used for the last time in that cycle.
TEST_P(TurnRaces, AnElementsStagEnds) {
  allow();
  revoke(3);
  fetch.send_at(5, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})});
  run_until_idle();
  EXPECT_EQ(jobs.size(), GetParam() >= kUse ? 1u : 0u);
  EXPECT_EQ(completions[0].status, GetParam() >= kUse ? WcStatus::kSuccess : WcStatus::kLocProtErr);
}
TEST_P(TurnRaces, ASourcesStagEnds) {
  allow();
  revoke(8);
  responder.send_at(5, answer(1, 0x100, 0, 0, 4));
  run_until_idle();
  EXPECT_EQ(jobs.size(), GetParam() >= kUse ? 1u : 0u);
  EXPECT_EQ(events.size(), GetParam() >= kUse ? 0u : 1u);
}
// A window is read first, then its region.
TEST_P(TurnRaces, ASourceWindowsRegionEnds) {
  StagContext window = region(0, 0x100, abi::kRemoteRead);
  window.kind = StagKind::kWindow1;
  window.region = stag_of(8);
  contexts.write(Stag{stag_of(9)}, window);
  contexts.commit();
  allow();
  revoke(8);
  ReadWork read = answer(1, 0x100, 0, 0, 4);
  read.request.src_stag = stag_of(9);
  responder.send_at(5, read);
  run_until_idle();
  EXPECT_EQ(jobs.size(), GetParam() >= kUse + kRead ? 1u : 0u);
  if (jobs.empty()) return;
  EXPECT_EQ(jobs.cycles()[0], kUse + kRead + kToEnd);
}
// Of both kinds there is one, and each is sent once.
TEST_P(TurnRaces, AResponseComesAmidTheTurnOfARequest) {
  allow();
  fetch.send_at(5, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})});
  responder.send_at(GetParam(), answer(1, 0x100, 0, 0, 4));
  run_until_idle();
  EXPECT_THAT(opcodes(), testing::UnorderedElementsAre(3, 2));
  EXPECT_EQ(responses.size(), 1u);
  post(wqe(WrOpcode::kSend, {sge(8, 0x10100)}));
  run_until_idle();
  EXPECT_THAT(pieces(2), ElementsAre(Piece(0x10100, 8))) << "no entry is left over";
}
TEST_P(TurnRaces, ARequestComesAmidTheTurnOfAResponse) {
  allow();
  responder.send_at(5, answer(1, 0x100, 0, 0, 3000));
  fetch.send_at(GetParam(), {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4), sge(5, 0x10100)})});
  run_until_idle();
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(responses.size(), 1u);
  EXPECT_EQ(completions.size(), 1u);
  const Bytes sent = opcodes();
  const auto send = static_cast<unsigned>(std::find(sent.begin(), sent.end(), 3) - sent.begin());
  EXPECT_THAT(pieces(send), ElementsAre(Piece(0x10000, 4), Piece(0x10100, 5)));
}
TEST_P(TurnRaces, AMessageOfTheFirmwareGoesFirst) {
  allow();
  fetch.send_at(5, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})});
  firmware.send_at(GetParam(), {Qpn{1}, TxInternalWork::Kind::kRtrWrite});
  run_until_idle();
  const bool first = GetParam() + kToEnd + kRow <= kUse;
  EXPECT_THAT(opcodes(), first ? ElementsAre(0, 3) : ElementsAre(3, 0));
  EXPECT_EQ(completions.size(), 1u);
}
TEST_P(TurnRaces, AFlushCompletesTheRequestOnce) {
  allow();
  fetch.send_at(5, {{Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4), sge(4), sge(4)})}});
  firmware.send_at(GetParam(), {Qpn{1}, TxInternalWork::Kind::kFlush});
  allow(kPlenty, 2);
  fetch.send_at(30, {Qpn{2}, true, wqe(WrOpcode::kSend, {sge(6, 0x10200)})});
  run_until_idle();
  ASSERT_EQ(completions.size(), 3u);
  EXPECT_EQ(given_back.size(), 2u);
  const bool sent = jobs.size() == 2;
  unsigned flushed = 0;
  for (const WqeIssued& c : completions) flushed += c.status == WcStatus::kWrFlushErr;
  EXPECT_EQ(flushed, sent ? 0u : 1u);
  EXPECT_THAT(pieces(sent ? 1 : 0), ElementsAre(Piece(0x10200, 6)));
}
// The number's next user finds nothing of the turn.
TEST_P(TurnRaces, TheQpIsReused) {
  allow();
  fetch.send_at(5, {{Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4), sge(4), sge(4)})}});
  contexts_at.at(GetParam() + 3, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  fetch.send_at(30, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(6, 0x10200)})});
  tcp.send_at(30, {FlowId{1}, 100});
  run_until_idle();
  ASSERT_FALSE(jobs.empty());
  const auto last = static_cast<unsigned>(jobs.size() - 1);
  EXPECT_THAT(pieces(last), ElementsAre(Piece(0x10200, 6)));
  EXPECT_EQ(jobs.cycles()[last], 30 + kFirst);
  EXPECT_EQ(load_be32(&header(last)[10]), 1u);
}
TEST_P(TurnRaces, AResetForgetsTheTurn) {
  struct Reset final : Committed {
    void commit() override { now(); }
    std::function<void()> now;
  };
  Reset reset;
  reset.now = [this] {
    contexts.reset();
    clk.reset(dut);
  };
  fetch.send_at(5, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4), sge(4), sge(4)})});
  responder.send_at(5, answer(2, 0x100, 0, 0, 4));
  allow();
  allow(kPlenty, 2);
  contexts_at.at(GetParam(), [&] { clk.commit_later(reset); });
  contexts_at.at(40, [this] { open(); });
  fetch.send_at(50, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(6, 0x10200)})});
  tcp.send_at(50, {FlowId{1}, 100});
  run_until_idle();
  EXPECT_THAT(pieces(static_cast<unsigned>(jobs.size() - 1)), ElementsAre(Piece(0x10200, 6)));
  EXPECT_EQ(jobs.cycles().back(), 50 + kFirst);
}
INSTANTIATE_TEST_SUITE_P(Cycles, TurnRaces, testing::Range<Cycle>(3, 19));

// Ready to receive, RFC 6581.
TEST_F(RdmapSegmenterTest, ReadyToReceiveGoesFirstAndCompletesNothing) {
  fetch.pause(window(0, 2));
  firmware.send({{Qpn{1}, TxInternalWork::Kind::kRtrSend},
                 {Qpn{2}, TxInternalWork::Kind::kRtrWrite},
                 {Qpn{3}, TxInternalWork::Kind::kRtrRead}});
  tcp.pause(window(0, 20));
  for (std::uint32_t n = 1; n < 4; ++n) {
    allow(kPlenty, n);
    post(wqe(WrOpcode::kSend, {sge(4)}), n);
  }
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_EQ(header(0), from_hex("4143 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(header(1), from_hex("c140 00000000 0000000000000000"));
  EXPECT_EQ(header(2), from_hex("4141 00000000 00000001 00000001 00000000 00000000 0000000000000000 00000000 00000000"
                                "0000000000000000"));
  EXPECT_EQ(header(3), from_hex("4143 00000000 00000000 00000002 00000000"));
  EXPECT_FALSE(jobs[0].ulpdu.completes_wqe);
  EXPECT_FALSE(jobs[1].ulpdu.completes_wqe);
  ASSERT_EQ(completions.size(), 4u);  // three Sends, and the Read that sq_completion must retire silently
  EXPECT_TRUE(completions[0].internal);
  EXPECT_EQ(completions[0].opcode, WrOpcode::kRdmaRead);
  EXPECT_EQ(given_back.size(), 3u);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].qpn, Qpn{3});
  EXPECT_EQ(reads[0].bytes, 0u);
}

// Credit.
TEST_F(RdmapSegmenterTest, CreditOneOctetShortThenEnough) {
  post(wqe(WrOpcode::kSend, {sge(4)}));  // 2 + 22 + 4
  tcp.send({{FlowId{1}, 27}, {FlowId{1}, 1}});
  tcp.pause(window(1, 100));
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(100 + kBegins));
  const Account::Totals account = dut.waits(TxWait::kCredit).totals(110);
  EXPECT_EQ(account.blocked, 100 - kBehind);  // from the first credit's event, and the request's, to the second one's
  EXPECT_EQ(account.empty, 10 + kBehind);
}
TEST_F(RdmapSegmenterTest, CreditCountsTheMarkersAtThePlaceInTheStream) {
  change(1, rts_qp(1), true);
  for (int i = 0; i < 2; ++i) post(wqe(WrOpcode::kSend, {sge(454)}));  // 2 + 472 + 2 + 4 = 480, plain
  tcp.send({{FlowId{1}, 484}, {FlowId{1}, 483}, {FlowId{1}, 1}});      // positions 0 to 483, then 512 lies inside
  tcp.pause(every(50, 49));
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(49 + kBegins, 149 + kBegins));
}
TEST_F(RdmapSegmenterTest, CreditOfOneStreamIsNotAnothers) {
  post(wqe(WrOpcode::kSend, {sge(4)}), 1);
  allow(kPlenty, 2);
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
  EXPECT_EQ(dut.waiting_for(), "QP 1 has work and waits for TCP window");
}
// A DATA chunk: header 16, DDP-SSN 2, the segment, padded to 4 octets.
TEST_F(RdmapSegmenterTest, OverSctpASegmentCostsItsDataChunk) {
  change(1, on_sctp(rts_qp(1)));
  post(wqe(WrOpcode::kSend, {sge(4)}));       // 16 + 2 + 22 = 40
  post(wqe(WrOpcode::kRdmaWrite, {sge(1)}));  // 16 + 2 + 15 = 33, and 3 octets of pad
  sctp.send({{FlowId{1}, 39}, {FlowId{1}, 1}, {FlowId{1}, 35}, {FlowId{1}, 1}});
  sctp.pause(every(50, 49));
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(99 + kBegins, 199 + kBegins));
}
TEST_F(RdmapSegmenterTest, WithoutItsCreditAFlowOfSctpWaitsForSctp) {
  change(1, on_sctp(rts_qp(1)));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  EXPECT_EQ(dut.waiting_for(), "QP 1 has work and waits for SCTP window");
}
TEST_F(RdmapSegmenterTest, CreditOfBothLayersIsTakenInOneCycle) {
  change(2, on_sctp(rts_qp(2)));
  post(wqe(WrOpcode::kSend, {sge(4)}), 1);
  post(wqe(WrOpcode::kSend, {sge(4)}), 2);
  tcp.send_at(50, {FlowId{1}, kPlenty});
  sctp.send_at(50, {FlowId{2}, kPlenty});
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2));
  EXPECT_EQ(jobs.cycles(), in_a_row(50 + kBegins, 2));
}
TEST_F(RdmapSegmenterTest, CreditOfAFlowWithoutAQpIsDropped) {
  post(wqe(WrOpcode::kSend, {sge(4)}), 1);
  tcp.send({FlowId{1}, kPlenty, Qpn{1}, 2});  // another use of its number
  tcp.send({FlowId{1}, kPlenty, Qpn{0}, 1});
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
}

// However long it was on its way: queue pair and flow have the same numbers again, and what is posted to the next use
// waits for the next one's credit.
TEST_F(RdmapSegmenterTest, CreditOfAnEarlierUseIsNobodys) {
  constexpr Cycle kTurns = 2 * kRow + 6;
  std::uint32_t epoch = 1;
  for (Cycle credit = 0; credit < 2 * kTurns; ++credit) {
    SCOPED_TRACE(credit);
    jobs.clear();
    const std::uint32_t earlier = epoch++;
    const Cycle reuse = clk.now() + 10 + kTurns;
    contexts_at.at(reuse, [this, epoch] { contexts.write(Qpn{1}, rts_qp(1, epoch)); });
    tcp.send_at(reuse + credit - kTurns, {FlowId{1}, kPlenty, Qpn{1}, earlier});
    fetch.send_at(reuse + 1, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})});
    run_until_idle();
    EXPECT_THAT(jobs, IsEmpty());
    allow();
    run_until_idle();
    EXPECT_EQ(jobs.size(), 1u);
  }
}

// However many events come from the peer.
TEST_F(RdmapSegmenterTest, InputsTakeTurns) {
  for (int i = 0; i < 500; ++i) rx.send({TxUnblock::Kind::kReadDone, Qpn{2}});
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  responder.send(answer(3, 0x100, 0, 0, 4));
  allow(kPlenty, 3);
  firmware.send({Qpn{1}, TxInternalWork::Kind::kDrain});
  run_until_idle();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_LT(jobs.cycles()[0], kFirst + 10);
  EXPECT_LT(completions.cycles().back(), kFirst + 20);
  EXPECT_GT(jobs.cycles()[1], 500u) << "a response waits for the news that it is due";
}

// Turns of QPs.
TEST_F(RdmapSegmenterTest, QpsTakeTurnsByFpdu) {
  fetch.pause(window(1, 3));
  tcp.pause(window(0, 20));
  for (std::uint32_t n = 1; n < 4; ++n) {
    post(wqe(WrOpcode::kSend, {sge(3 * 1424)}), n);
    allow(kPlenty, n);
  }
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2, 3, 1, 2, 3, 1, 2, 3));
}
TEST_F(RdmapSegmenterTest, SendsAndReadResponsesOfOneQpAlternate) {
  tcp.pause(window(0, 20));
  allow();
  post(wqe(WrOpcode::kSend, {sge(3 * 1424)}));
  responder.send(answer(1, 0x100, 0, 0, 3 * 1428));
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(3, 2, 3, 2, 3, 2));
}
TEST_F(RdmapSegmenterTest, TaggedMessagesOfOneQpAreNotInterleaved) {
  tcp.pause(window(0, 20));
  allow();
  post(wqe(WrOpcode::kRdmaWrite, {sge(2 * 1428)}));
  post(wqe(WrOpcode::kRdmaWrite, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  responder.send(answer(1, 0x100, 0, 0, 3 * 1428));
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(0, 0, 2, 2, 2, 0, 3));
}

// Reads.
TEST_F(RdmapSegmenterTest, ReadsUpToOrdThenOneForEachThatIsDone) {
  allow();
  QpContext c = rts_qp(1);
  c.ord = 2;
  change(1, c);
  for (int i = 0; i < 4; ++i) post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  rx.send_at(50, {TxUnblock::Kind::kReadDone, Qpn{1}});
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, kFirst + kNext, 50 + kBegins));
  EXPECT_EQ(load_be32(&header(2)[10]), 3u);  // MSN
  EXPECT_EQ(dut.waiting_for(), "QP 1 has work and waits for read responses (ORD or fence)");
  const Account::Totals ord = dut.waits(TxWait::kOrd).totals(60);
  EXPECT_EQ(ord.empty, kFirst - kToEnd);
  EXPECT_EQ(ord.busy, 2 * kNext);  // the turns of the second and of the third one
  EXPECT_EQ(ord.blocked, 60 - ord.empty - ord.busy);
  EXPECT_EQ(ord.taken, 2 * (ord.busy + ord.blocked) - 2 * kNext);
  EXPECT_EQ(dut.waits(TxWait::kFence).totals(60).blocked, 0);
}
TEST_F(RdmapSegmenterTest, FenceWaitsForAllReads) {
  allow();
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}, abi::kWqeFence));
  rx.send_at(50, {{TxUnblock::Kind::kReadDone, Qpn{1}}, {TxUnblock::Kind::kReadDone, Qpn{1}}});
  rx.pause(window(51, 80));
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(1, 1, 3, 3));
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, kFirst + kNext, kFirst + 2 * kNext, 80 + kBegins));
}
TEST_F(RdmapSegmenterTest, AReadDoneNobodyAskedForChangesNothing) {
  rx.send({TxUnblock::Kind::kReadDone, Qpn{1}});
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
}

// A responder's fence and the states of a QP.
TEST_F(RdmapSegmenterTest, AResponderWaitsForTheFirstFpdu) {
  QpContext c = rts_qp(1);
  c.responder = true;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  rx.send_at(30, {TxUnblock::Kind::kFirstFpdu, Qpn{1}});
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(30 + kBegins));
}
TEST_F(RdmapSegmenterTest, NothingIsSentOutsideRts) {
  QpContext c = rts_qp(1);
  c.state = QpState::kTerminate;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
}
// RFC 5041 section 6.2: a half-closed stream still carries outstanding responses.
TEST_F(RdmapSegmenterTest, OnceThePeerHasClosedADrainWaitsForTheResponsesThatAreDue) {
  closing();
  rx.send({{TxUnblock::Kind::kRequest, Qpn{1}},
           {TxUnblock::Kind::kRequest, Qpn{1}},
           {TxUnblock::Kind::kPeerClosed, Qpn{1}}});
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kDrain});
  responder.send_at(50, answer(1, 0x100, 0x2000, 0x7000, 4));
  contexts_at.at(89, [this] { responder.send_at(90, answer(1, 0x100, 0x2000, 0x7000, 4)); });
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(50 + kBegins, 90 + kBegins));
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kDrain);
  EXPECT_THAT(completions.cycles(), ElementsAre(90 + kBegins + kRow));
}
TEST_F(RdmapSegmenterTest, BeforeThePeersFinADrainWaitsForNoResponse) {
  closing();
  rx.send({TxUnblock::Kind::kRequest, Qpn{1}});
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kDrain});
  run_until_idle();
  EXPECT_THAT(completions.cycles(), ElementsAre(10 + kThrough));
}
TEST_F(RdmapSegmenterTest, ARequestThatWaitsForWhatCannotComeDoesNotHoldUpTheDrain) {
  QpContext c = rts_qp(1);
  c.state = QpState::kClosing;
  c.ord = 1;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kDrain});
  rx.send_at(100, {TxUnblock::Kind::kPeerClosed, Qpn{1}});
  run_until_idle();
  EXPECT_EQ(jobs.size(), 1u);
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[1].marker, WqeIssued::Marker::kDrain);
  EXPECT_EQ(completions.cycles()[1], 100 + kThrough);
}
TEST_F(RdmapSegmenterTest, WhatWasPostedBeforeAGracefulCloseIsSent) {
  QpContext c = rts_qp(1);
  c.state = QpState::kClosing;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend, {sge(2000)}));
  firmware.send({Qpn{1}, TxInternalWork::Kind::kDrain});
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(1442, 18 + 576));
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kNone);
  EXPECT_EQ(completions[1].marker, WqeIssued::Marker::kDrain);
  EXPECT_THAT(completions.cycles(), ElementsAre(kFirst + kRow, kFirst + 2 * kRow));
}
abi::Wqe local_invalidate(std::uint32_t stag, unsigned flags = abi::kWqeSignaled) {
  abi::Wqe w = wqe(WrOpcode::kLocalInv, {}, flags);
  w.invalidate_stag = stag;
  return w;
}
TEST_F(RdmapSegmenterTest, WorkOnStagsIsDoneInItsTurnAndNeedsNoCredit) {
  post(local_invalidate(stag_of(3)));
  run_until_idle();
  EXPECT_EQ(named(contexts, stag_of(3)), nullptr);
  EXPECT_THAT(completions.cycles(), ElementsAre(kThrough + kEnds + kRow));
  EXPECT_EQ(completions[0].opcode, WrOpcode::kLocalInv);
  EXPECT_EQ(completions[0].status, WcStatus::kSuccess);
  EXPECT_THAT(jobs, IsEmpty());
}
TEST_F(RdmapSegmenterTest, ALocalKeyEndsForTheWorkBehindItsInvalidation) {
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(local_invalidate(stag_of(3)));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  EXPECT_EQ(jobs.size(), 1u);
  ASSERT_EQ(completions.size(), 3u);
  EXPECT_EQ(completions[1].status, WcStatus::kSuccess);
  EXPECT_EQ(completions[2].status, WcStatus::kLocProtErr);
  EXPECT_THAT(completions.cycles(),
              ElementsAre(kFirst, kFirst + kRow + kEnds + kRow, kFirst + kRow + kEnds + kRow + kNext));
}
// RFC 5040 section 8.1.1.
TEST_F(RdmapSegmenterTest, AnInvalidationIsReportedWhenTheWritesUnderWayAreOut) {
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.begin(StagWrites::kAtomic);
  contexts.in_flight.commit();
  contexts_at.at(20, [&] { contexts.in_flight.begin(StagWrites::kPlacement); });  // too late to be for this STag
  contexts_at.at(40, [&] { contexts.in_flight.end(StagWrites::kAtomic); });
  contexts_at.at(50, [&] { contexts.in_flight.end(StagWrites::kPlacement); });
  allow();
  allow(kPlenty, 2);
  post(local_invalidate(stag_of(3)));
  post(wqe(WrOpcode::kRdmaWrite, {}));
  post(wqe(WrOpcode::kRdmaWrite, {}), 2);
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(2, 1));     // other QPs go on
  const Cycle other = 4 * kBehind + kThrough;  // two credits, two requests
  EXPECT_THAT(jobs.cycles(), ElementsAre(other, 51 + kExecuted + kRow));
  EXPECT_THAT(completions.cycles(), ElementsAre(other, 51 + kExecuted, 51 + kExecuted + kRow));
}
TEST_F(RdmapSegmenterTest, AnInvalidationThatWaitsIsNotCalledInTheMeantime) {
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.commit();
  contexts_at.at(1000, [&] { contexts.in_flight.end(StagWrites::kPlacement); });
  post(local_invalidate(stag_of(3)));
  run_until_idle();
  EXPECT_THAT(completions.cycles(), ElementsAre(1001 + kExecuted));
  EXPECT_LT(clk.activity().ticks, 50u);
}
TEST_F(RdmapSegmenterTest, AnInvalidationThatAFlushOvertookIsReportedOnce) {
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.commit();
  contexts_at.at(50, [&] { contexts.in_flight.end(StagWrites::kPlacement); });
  firmware.pause(window(0, 20));
  firmware.send({Qpn{1}, TxInternalWork::Kind::kFlush});
  post(local_invalidate(stag_of(3)));
  run_until_idle();
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kFlush);
  EXPECT_EQ(completions[1].status, WcStatus::kWrFlushErr);
}
TEST_F(RdmapSegmenterTest, AFencedInvalidationWaitsForTheReadsBeforeIt) {
  allow();
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  post(local_invalidate(stag_of(3), abi::kWqeSignaled | abi::kWqeFence));
  rx.send_at(50, {TxUnblock::Kind::kReadDone, Qpn{1}});
  run_until_idle();
  EXPECT_THAT(completions.cycles(), ElementsAre(kFirst, 50 + kThrough + kEnds + kRow));
}
TEST_F(RdmapSegmenterTest, WorkOnStagsThatIsRefusedStopsTheQueue) {
  allow();
  post(local_invalidate(stag_of(9)));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].status, WcStatus::kMwBindErr);
  EXPECT_THAT(jobs, IsEmpty());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kLocalError);
}
TEST_F(RdmapSegmenterTest, AFastRegistrationServesTheWorkBehindIt) {
  StagContext entry;
  entry.allocated = true;
  entry.pd = Pdn{1};
  contexts.write(Stag{stag_of(8)}, entry);
  contexts.commit();
  abi::Wqe reg = wqe(WrOpcode::kRegMr, {}, 0);
  reg.rkey = stag_of(8, 9);
  abi::Registration{0x20000, 0x100, 0, abi::kLocalWrite | abi::kZeroBased}.put(reg);
  allow();
  post(reg);
  post(wqe(WrOpcode::kSend, {{0x10, 4, stag_of(8, 9)}}));
  run_until_idle();
  EXPECT_THAT(pieces(0), ElementsAre(Piece{0x20010, 4})) << "zero-based: a bus address only here";
}

// messages.json: terminate_crc
TEST_F(RdmapSegmenterTest, ATerminateIsTheLastThingSent) {
  QpContext c = rts_qp(1);
  c.state = QpState::kTerminate;
  change(1, c);
  allow();
  post(wqe(WrOpcode::kSend, {sge(4)}));
  firmware.send(
      {{Qpn{1}, TxInternalWork::Kind::kTerminate, wire::mpa::kCrcMismatch}, {Qpn{1}, TxInternalWork::Kind::kDrain}});
  run_until_idle();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(header(0), from_hex("41470000000000000002000000010000000020020000"));
  EXPECT_TRUE(jobs[0].ulpdu.completes_wqe);  // its acknowledgement is awaited
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kTerminate);
  EXPECT_EQ(completions[1].marker, WqeIssued::Marker::kDrain);
}
// The generator's octets follow the DDP header. Once they are there, the host's messages wait forever, and the firmware
// says when the Terminate goes.
TEST_F(RdmapSegmenterTest, TheGeneratorsTerminateGoesOutWhenTheFirmwareSaysSo) {
  allow();
  TerminateMessage t{Qpn{1}, pool.take(), 52};
  const Bytes octets = counting(52);
  std::copy(octets.begin(), octets.end(), t.buf->bytes() + Ulpdu::kOffset + 18);
  generator.send(t);
  t = {};
  fetch.send_at(10, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})});
  const TxInternalWork go{Qpn{1}, TxInternalWork::Kind::kTerminate, wire::ddp::kInvalidStag};
  firmware.send_at(50, {go, go});
  run_until_idle();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs.cycles()[0], 50 + kThrough);
  Bytes expected = from_hex("414700000000000000020000000100000000");
  expected.insert(expected.end(), octets.begin(), octets.end());
  EXPECT_EQ(header(0), expected);
  EXPECT_EQ(jobs[0].ulpdu.bytes, 70u);
}
TEST_F(RdmapSegmenterTest, ATerminateThatIsNeverSentGivesItsBufferBack) {
  generator.send({Qpn{1}, pool.take(), 4});
  contexts_at.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  tcp.send_at(30, {FlowId{1}, 1});
  run_until_idle();
  EXPECT_EQ(pool.in_use(), 0u);
}
TEST_F(RdmapSegmenterTest, AResponderThatSawNoValidFpduSendsNoTerminate) {
  QpContext c = rts_qp(1);
  c.state = QpState::kTerminate;
  c.responder = true;
  change(1, c);
  allow();
  firmware.send(
      {{Qpn{1}, TxInternalWork::Kind::kTerminate, wire::mpa::kCrcMismatch}, {Qpn{1}, TxInternalWork::Kind::kDrain}});
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kDrain) << "the connection closes without it";
}
// Errors of its own that no segment caused: one of the firmware, and one of a stage.
TEST_F(RdmapSegmenterTest, AResponderThatFailsBeforeTheFirstFpduSendsNoTerminate) {
  for (const std::uint32_t qpn : {1u, 2u}) {
    QpContext c = rts_qp(qpn);
    c.state = QpState::kTerminate;
    c.responder = true;
    change(qpn, c);
  }
  allow();
  allow(kPlenty, 2);
  generator.send({Qpn{2}, pool.take(), wire::TerminateHeader::kControlBytes});
  for (const std::uint32_t qpn : {1u, 2u}) {
    firmware.send_at(10, {Qpn{qpn}, TxInternalWork::Kind::kTerminate, wire::rdma::kLocalCatastrophic});
  }
  run_until_idle();
  EXPECT_THAT(jobs, IsEmpty());
}
TEST_F(RdmapSegmenterTest, AResponderWhoseFirstFpduWasValidButWrongSendsItsTerminate) {
  QpContext c = rts_qp(1);
  c.state = QpState::kTerminate;
  c.responder = true;
  change(1, c);
  allow();
  generator.send({Qpn{1}, pool.take(), 4 + 2 + 14});
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kTerminate, wire::ddp::kInvalidStag});
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(7));
}
// RFC 5044 section 7.1.2 rule 4: the FPDU was valid, though DDP could not use it.
TEST_F(RdmapSegmenterTest, AResponderWhoseFirstFpduWasTooShortSendsItsTerminate) {
  QpContext c = rts_qp(1);
  c.state = QpState::kTerminate;
  c.responder = true;
  change(1, c);
  allow();
  generator.send({Qpn{1}, pool.take(), wire::TerminateHeader::kControlBytes});
  firmware.send_at(10, {Qpn{1}, TxInternalWork::Kind::kTerminate, wire::rdma::kUnexpectedOpcode});
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(7));
}
TEST_F(RdmapSegmenterTest, AFlushAndACompletionNeverShareACycle) {
  for (int i = 0; i < 8; ++i) post(wqe(WrOpcode::kSend, {}), 2);
  allow(kPlenty, 2);
  firmware.send_at(3, {{Qpn{1}, TxInternalWork::Kind::kFlush}, {Qpn{3}, TxInternalWork::Kind::kFlush}});
  run_until_idle();
  EXPECT_EQ(completions.size(), 10u);
  // The first flush is executed in the cycle in which the first turn would end.
  std::vector<Cycle> expected;
  for (Cycle at = kBehind + kThrough + 1; expected.size() < 8; at += kRow) expected.push_back(at);
  EXPECT_EQ(jobs.cycles(), expected);
}
TEST_F(RdmapSegmenterTest, ATerminateDoesNotWaitForAMessageThatIsHalfSent) {
  tcp.send({{FlowId{1}, 1448 + 28}, {FlowId{1}, kPlenty}});  // the first segment and the Terminate, then plenty
  tcp.pause(window(1, 40));
  post(wqe(WrOpcode::kSend, {sge(4000)}));
  contexts_at.at(20, [this] {
    QpContext c = rts_qp(1);
    c.state = QpState::kTerminate;
    contexts.write(Qpn{1}, c);
  });
  firmware.send_at(20, {Qpn{1}, TxInternalWork::Kind::kTerminate, wire::mpa::kCrcMismatch});
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(3, 7));
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, 20 + kThrough));
  ASSERT_EQ(completions.size(), 1u);  // the flush will complete the Send
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kTerminate);
}
TEST_F(RdmapSegmenterTest, AFlushCompletesWhatIsPostedAndWhatComesLater) {
  allow(1448 + 2);
  post(wqe(WrOpcode::kSend, {sge(2000)}));  // cut off in the middle
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}, 0));
  responder.send(answer(1, 1, 0, 0, 100));
  firmware.send_at(20, {Qpn{1}, TxInternalWork::Kind::kFlush, {}, Cqn{9}});
  fetch.pause(window(3, 40));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  run_until_idle();
  EXPECT_EQ(jobs.size(), 1u);
  ASSERT_EQ(completions.size(), 4u);
  EXPECT_EQ(completions[0].marker, WqeIssued::Marker::kFlush);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(completions[i].status, WcStatus::kWrFlushErr);
  EXPECT_THAT(receive_flushes.cycles(), ElementsAre(20 + kExecuted));
  EXPECT_EQ(receive_flushes[0].recv_cq, Cqn{9});
  EXPECT_EQ(given_back.size(), 3u);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(RdmapSegmenterTest, AMessageStopsWithItsStream) {
  allow();
  post(wqe(WrOpcode::kSend, {sge(10 * 1424)}));
  contexts_at.at(kFirst + 2 * kRow - kToEnd, [this] {
    QpContext c = rts_qp(1);
    c.state = QpState::kError;
    contexts.write(Qpn{1}, c);
  });
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, kFirst + kRow, kFirst + 2 * kRow));
}
// RFC 5044 section 4.3: markers count from the first octet after the start-up frame. What a ULPDU says of its stream is
// what the marker inserter and the framer go by.
TEST_F(RdmapSegmenterTest, UlpdusSayWhereTheirFpdusStartAndWhatTheFlowHas) {
  change(1, rts_qp(1), true);
  post(wqe(WrOpcode::kSend, {sge(1000)}));
  post(wqe(WrOpcode::kSend, {sge(3)}));
  post(wqe(WrOpcode::kSend, {sge(0)}));
  allow();
  run_until_idle();
  change(1, rts_qp(1, 2), true);  // the number is used again
  post(wqe(WrOpcode::kSend, {sge(3)}));
  allow();
  QpContext plain = on_sctp(rts_qp(2));
  plain.crc = false;
  change(2, plain);
  post(wqe(WrOpcode::kSend, {sge(1000)}), 2);
  sctp.send({FlowId{2}, kPlenty});
  run_until_idle();
  ASSERT_EQ(jobs.size(), 5u);
  // 2 + 18 + 1000 octets, a CRC and three markers: 1,036. 2 + 18 + 3 and a pad, a CRC: 28.
  std::vector<unsigned> starts, epochs;
  for (const UlpduJob& j : jobs) {
    if (j.qpn != Qpn{1}) continue;
    starts.push_back(j.ulpdu.position);
    epochs.push_back(j.epoch);
    EXPECT_TRUE(j.ulpdu.markers);
    EXPECT_TRUE(j.ulpdu.crc);
    EXPECT_EQ(j.ulpdu.llp, LlpId::kMpaTcp);
  }
  EXPECT_THAT(starts, ElementsAre(0, 1036 - 1024, 1036 + 28 - 1024, 0));
  EXPECT_THAT(epochs, ElementsAre(1, 1, 1, 2));
  for (const UlpduJob& j : jobs) {
    if (j.qpn != Qpn{2}) continue;
    EXPECT_FALSE(j.ulpdu.markers);
    EXPECT_FALSE(j.ulpdu.crc);
    EXPECT_EQ(j.ulpdu.llp, LlpId::kSctp);
  }
}

TEST_F(RdmapSegmenterTest, AReusedQpStartsAnew) {
  allow(100);
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(wqe(WrOpcode::kRdmaWrite, {sge(2000)}));  // no credit for it
  contexts_at.at(20, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  fetch.pause(window(2, 30));
  tcp.pause(window(1, 40));
  post(wqe(WrOpcode::kSend, {sge(8)}));
  allow(2 + 26 + 4);
  run_until_idle();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(header(1), from_hex("4143 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(jobs.cycles()[1], 40 + kBegins);
}

// Neither work nor what it waits for.
TEST_F(RdmapSegmenterTest, WhatIsLeftOfAnEarlierUseHasNoEffect) {
  QpContext c = rts_qp(1, 2);
  c.ord = 1;
  change(1, c);
  allow();
  FetchedWqe earlier{Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})};
  earlier.epoch = 1;
  fetch.send(earlier);
  firmware.send({Qpn{1}, TxInternalWork::Kind::kFlush, {}, Cqn{9}, 1});
  for (int i = 0; i < 2; ++i) post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  rx.send_at(50, {TxUnblock::Kind::kReadDone, Qpn{1}, 1});
  rx.send_at(100, {TxUnblock::Kind::kReadDone, Qpn{1}, 2});
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(1, 1));
  EXPECT_EQ(jobs.cycles().back(), 100 + kBegins);
  for (const WqeIssued& w : completions) EXPECT_EQ(w.status, WcStatus::kSuccess);
}

// Requests that fail before any part of them is sent.
TEST_F(RdmapSegmenterTest, WqeThatCouldNotBeRead) {
  abi::Wqe w;
  w.wr_id = 77;
  fetch.send({Qpn{1}, false, w});
  expect_refused(WcStatus::kGeneralErr);
}
TEST_F(RdmapSegmenterTest, UnknownWqeOpcode) {
  post(wqe(static_cast<WrOpcode>(8), {sge(4)}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, TooManyElements) {
  abi::Wqe w = wqe(WrOpcode::kSend, {sge(4)});
  w.num_sge = 255;
  post(w);
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, ReadIntoTwoBuffers) {
  post(wqe(WrOpcode::kRdmaRead, {sge(4), sge(4)}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, ReadWithInvalidateWithoutASink) {
  post(wqe(WrOpcode::kRdmaReadWithInv, {}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, ReadWithInvalidateOfAnUnknownSinkThoughItIsEmpty) {
  post(wqe(WrOpcode::kRdmaReadWithInv, {{0x10000, 0, stag_of(3, 0x5b)}}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, ReadWithInvalidateOfAnotherDomainsSink) {
  post(wqe(WrOpcode::kRdmaReadWithInv, {{0x10000, 4, stag_of(5)}}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, ReadWithInvalidateIntoMemoryWithoutLocalWrite) {
  post(wqe(WrOpcode::kRdmaReadWithInv, {{0x10000, 4, stag_of(4)}}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, ReadWithInvalidateOfARegionWithWindows) {
  StagContext window;
  window.valid = true;
  window.kind = StagKind::kWindow2;
  window.region = stag_of(3);
  contexts.write(Stag{stag_of(9)}, window);
  contexts.commit();
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4)}));
  expect_refused(WcStatus::kMwBindErr);
}
TEST_F(RdmapSegmenterTest, InlineReadWithInvalidate) {
  post(wqe(WrOpcode::kRdmaReadWithInv, {sge(4)}, abi::kWqeInline));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, InlineRead) {
  post(wqe(WrOpcode::kRdmaRead, {}, abi::kWqeInline));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, ReadWithOrdZero) {
  QpContext c = rts_qp(1);
  c.ord = 0;
  change(1, c);
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, InlineDataThatDoesNotFitTheWqe) {
  abi::Wqe w = wqe(WrOpcode::kSend, {}, abi::kWqeInline);
  w.inline_bytes = sizeof w.sge + 1;
  post(w);
  expect_refused(WcStatus::kLocLenErr);
}
TEST_F(RdmapSegmenterTest, MessageOfFourGibibytes) {
  post(wqe(WrOpcode::kSend, {sge(0xffffffff), sge(1)}));
  expect_refused(WcStatus::kLocLenErr);
}
TEST_F(RdmapSegmenterTest, UnknownLocalKey) {
  post(wqe(WrOpcode::kSend, {{0x10000, 4, stag_of(3, 0x5b)}}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, LocalKeyOfAnotherDomain) {
  post(wqe(WrOpcode::kSend, {{0x10000, 4, stag_of(5)}}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, OneOctetBehindTheRegion) {
  post(wqe(WrOpcode::kSend, {sge(4, 0x1fffd)}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, ReadIntoMemoryWithoutLocalWrite) {
  post(wqe(WrOpcode::kRdmaRead, {{0x10000, 4, stag_of(4)}}));
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, SendFromMemoryWithoutLocalWriteAndEmptyElementsOfNoRegion) {
  allow();
  post(wqe(WrOpcode::kSend, {{0x10000, 4, stag_of(4)}, {0, 0, 0xffffffff}}));
  run_until_idle();
  EXPECT_THAT(lengths(), ElementsAre(22));
}
TEST_F(RdmapSegmenterTest, NothingFollowsALocalErrorOnItsQp) {
  allow();
  allow(kPlenty, 2);
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4, 0)}));
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}), 2);
  run_until_idle();
  EXPECT_THAT(order(), ElementsAre(1, 2));
  EXPECT_EQ(events.size(), 1u);
}

// Whatever a program leaves in its ring, each request completes once, and nothing is sent from outside the regions of
// its domain. Half of the requests are random, the others are nearly right.
class GarbageWqe : public RdmapSegmenterTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(GarbageWqe, CompletesAndSendsNothingThatIsNotItsOwn) {
  Prng prng(GetParam());
  const auto some = [&prng](std::initializer_list<std::uint64_t> of) { return of.begin()[prng.below(of.size())]; };
  constexpr std::uint32_t kPosts = 400;
  unsigned succeeded = 0;
  for (std::uint32_t i = 0; i < kPosts; ++i) {
    abi::Wqe w;
    std::array<std::uint8_t, abi::kWqeBytes> octets{};
    for (std::uint8_t& o : octets) o = static_cast<std::uint8_t>(prng.below(256));
    std::memcpy(static_cast<void*>(&w), octets.data(), octets.size());
    if (i % 2 == 0) {
      w.opcode = static_cast<WrOpcode>(prng.below(20));
      w.num_sge %= 8;
      w.inline_bytes %= 200;
      w.invalidate_stag = static_cast<std::uint32_t>(some({stag_of(3), stag_of(4), stag_of(5), w.invalidate_stag}));
      for (abi::Sge& s : w.sge) {
        s = {some({0x10000, 0x1ffff, 0x20000, s.address}),
             static_cast<std::uint32_t>(some({0, 1, 8, 0x10000, 0x10001, s.length})),
             static_cast<std::uint32_t>(some({stag_of(3), stag_of(3), stag_of(4), stag_of(5), s.lkey}))};
      }
    }
    QpContext fresh = rts_qp(1, i + 2);
    change(1, fresh);
    contexts.write(Stag{stag_of(3)}, region(0x10000, 0x10000, abi::kLocalWrite | abi::kMwBind));
    contexts.write(Stag{stag_of(4)}, region(0x10000, 0x10000, 0));
    contexts.commit();
    const Cycle at = i == 0 ? 0 : clk.now() + 10;
    tcp.send_at(at, {FlowId{1}, kPlenty});
    fetch.send_at(at, {Qpn{1}, true, w});
    run_until_idle();
    ASSERT_EQ(completions.size(), i + 1);
    EXPECT_EQ(completions[i].wr_id, w.wr_id);
    const bool success = completions[i].status == WcStatus::kSuccess;
    succeeded += success;
    EXPECT_EQ(events.size(), i + 1 - succeeded) << "an error ends the stream";
  }
  for (unsigned i = 0; i < jobs.size(); ++i) {
    for (const auto& [address, bytes] : pieces(i)) {
      EXPECT_GE(address, 0x10000u);
      EXPECT_LE(address + bytes, 0x20000u);
    }
  }
  EXPECT_GT(succeeded, 5u);
  EXPECT_GT(kPosts - succeeded, 200u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, GarbageWqe, testing::Range<std::uint64_t>(1, 9));

TEST_F(RdmapSegmenterTest, BackpressureOnEveryOutput) {
  jobs.pause(every(7, 3));
  given_back.pause(every(5, 4));
  completions.pause(every(11, 9));
  responses.pause(every(13, 12));
  events.pause(every(17, 16));
  for (std::uint32_t n = 1; n < 4; ++n) {
    allow(kPlenty, n);
    for (std::uint32_t i = 0; i < 10; ++i) post(wqe(WrOpcode::kSend, {sge(1000 + i)}), n);
    post(wqe(WrOpcode::kSend, {sge(4, 0)}), n);
  }
  responder.send({answer(1, 1, 0, 0, 100), answer(2, 1, 0, 0, 100), answer(3, 1, 0, 0, 100)});
  run_until_idle();
  std::array<std::uint32_t, 4> msn{0, 1, 1, 1};
  for (unsigned i = 0; i < jobs.size(); ++i) {
    if (header(i)[1] == 0x42) continue;
    EXPECT_EQ(load_be32(&header(i)[10]), msn[jobs[i].qpn.v]++);
  }
  EXPECT_THAT(msn, ElementsAre(0, 11, 11, 11));
  EXPECT_EQ(responses.size(), 3u);
  EXPECT_EQ(completions.size(), 33u);
  EXPECT_EQ(given_back.size(), 33u);
  EXPECT_EQ(events.size(), 3u);
}

class ShuffledSegmenterTest : public RdmapSegmenterTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledSegmenterTest, TheOrderOfCallsChangesNothing) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  jobs.pause(every(4, 1));
  completions.pause(every(3, 1));
  for (std::uint32_t n = 1; n < 4; ++n) {
    allow(4000, n);
    post(wqe(WrOpcode::kSend, {sge(2000)}), n);
  }
  responder.send(answer(2, 1, 0, 0, 100));
  run_until_idle();
  EXPECT_THAT(jobs.cycles(),
              ElementsAre(kFirst + 1, kFirst + 2, kFirst + 5, kFirst + 6, kFirst + 8, kFirst + 9, kFirst + 10));
  EXPECT_THAT(order(), ElementsAre(1, 2, 3, 1, 2, 3, 2));
}
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledSegmenterTest, testing::Values(0, 1, 2, 3));

TEST_F(RdmapSegmenterTest, AnIdleStageIsNotCalled) {
  fetch.send_at(1000, {Qpn{1}, true, wqe(WrOpcode::kSend, {sge(4)})});
  tcp.send_at(9000, {FlowId{1}, kPlenty});
  run_until_idle();
  EXPECT_THAT(jobs.cycles(), ElementsAre(9000 + kBegins));
  EXPECT_LE(clk.activity().cycles, 15u);
}

// RFC 7306. The headers are those of messages.json, with the fields of wqe().
abi::Wqe atomic(WrOpcode op, abi::AtomicOperands operands, unsigned flags = abi::kWqeSignaled) {
  abi::Wqe w = wqe(op, {sge(8, 0x10008)}, flags);
  operands.put(w);
  return w;
}

TEST_F(RdmapSegmenterTest, FetchAdd) {
  allow();
  post(atomic(WrOpcode::kFetchAdd, {0x0102030405060708, 0x8000000000000000, 5, 6}));
  run_until_idle();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(header(0), from_hex("414A 00000000 00000001 00000001 00000000 00000000 00000001 12345678 0000000000001000"
                                "0102030405060708 8000000000000000 0000000000000000 FFFFFFFFFFFFFFFF"));
  EXPECT_EQ(lengths()[0], 70u);
  EXPECT_EQ(jobs[0].pieces, 0u);
  EXPECT_FALSE(jobs[0].ulpdu.completes_wqe);  // it waits for its response
  ASSERT_EQ(atomics.size(), 1u);
  EXPECT_EQ(atomics.cycles()[0], jobs.cycles()[0]);
  EXPECT_EQ(atomics[0].qpn, Qpn{1});
  EXPECT_EQ(atomics[0].request_id, 1u);
  EXPECT_EQ(atomics[0].sink.address, 0x10008u);
  EXPECT_EQ(completions[0].opcode, WrOpcode::kFetchAdd);
  EXPECT_EQ(completions[0].bytes, 8u);
}
TEST_F(RdmapSegmenterTest, CmpSwap) {
  allow();
  post(atomic(WrOpcode::kCmpSwap, {0x11, 0x22, 0x33, 0x44}));
  run_until_idle();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(header(0), from_hex("414A 00000000 00000001 00000001 00000000 00000002 00000001 12345678 0000000000001000"
                                "0000000000000011 0000000000000022 0000000000000033 0000000000000044"));
}
TEST_F(RdmapSegmenterTest, AtomicResponsesHaveQueueThreeAndMsnsOfTheirOwn) {
  allow();
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  alu.send_at(20, {{Qpn{1}, {0xabcd0001, 0x1122334455667788}, {}, 1}, {Qpn{1}, {0xabcd0002, 0}, {}, 1}});
  alu.pause(window(21, 40));
  run_until_idle();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(header(1), from_hex("414B 00000000 00000003 00000001 00000000 ABCD0001 1122334455667788"));
  EXPECT_EQ(header(2), from_hex("414B 00000000 00000003 00000002 00000000 ABCD0002 0000000000000000"));
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, 20 + kThrough, 40 + kThrough));
  EXPECT_THAT(responses.cycles(), ElementsAre(20 + kThrough, 40 + kThrough));  // and the IRRQ slot is free
}
TEST_F(RdmapSegmenterTest, AnAtomicResponseGoesBetweenTheSegmentsOfAWrite) {
  tcp.pause(window(0, 20));
  allow();
  post(wqe(WrOpcode::kRdmaWrite, {sge(3 * 1428)}));
  alu.send({Qpn{1}, {1, 2}, {}, 1});
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(0, 0xb, 0, 0));
}
TEST_F(RdmapSegmenterTest, ReadsAndAtomicsShareMsnsAndOrd) {
  allow();
  QpContext c = rts_qp(1);
  c.ord = 2;
  change(1, c);
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  for (int i = 0; i < 2; ++i) post(atomic(WrOpcode::kFetchAdd, {}));
  post(wqe(WrOpcode::kRdmaRead, {sge(4)}));
  post(wqe(WrOpcode::kSend, {sge(4)}, abi::kWqeFence));
  const TxUnblock done{TxUnblock::Kind::kReadDone, Qpn{1}};
  rx.send_at(50, {done, done});
  rx.pause(window(51, 110));
  response_queue.send_at(70, {done, done});
  response_queue.pause(window(71, 90));
  run_until_idle();
  EXPECT_THAT(opcodes(), ElementsAre(1, 0xa, 0xa, 1, 3));
  EXPECT_THAT(jobs.cycles(), ElementsAre(kFirst, kFirst + kNext, 50 + kBegins, 70 + kBegins, 110 + kBegins));
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(load_be32(&header(i)[10]), i + 1);  // one sequence for QN 1
  EXPECT_THAT(atomics.cycles(), ElementsAre(kFirst + kNext, 50 + kBegins));
  EXPECT_EQ(atomics[1].request_id, 3u);
}
TEST_F(RdmapSegmenterTest, ImmediateDataSharesTheMsnsOfSends) {
  allow();
  abi::Wqe w = wqe(WrOpcode::kImmediate, {});
  w.remote_address = 0x0102030405060708;
  post(wqe(WrOpcode::kSend, {sge(4)}));
  post(w);
  w.flags |= abi::kWqeSolicited;
  post(w);
  run_until_idle();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(header(1), from_hex("4148 00000000 00000000 00000002 00000000 0102030405060708"));
  EXPECT_EQ(header(2), from_hex("4149 00000000 00000000 00000003 00000000 0102030405060708"));
  EXPECT_EQ(lengths()[1], 26u);
  EXPECT_TRUE(jobs[1].ulpdu.completes_wqe);
  EXPECT_EQ(completions[1].opcode, WrOpcode::kImmediate);
  EXPECT_THAT(atomics, IsEmpty());
}
TEST_F(RdmapSegmenterTest, AtomicOfAnotherLength) {
  post(wqe(WrOpcode::kCmpSwap, {sge(7)}));
  expect_refused(WcStatus::kLocLenErr);
}
TEST_F(RdmapSegmenterTest, AtomicIntoTwoBuffers) {
  post(wqe(WrOpcode::kFetchAdd, {sge(8), sge(8)}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, InlineAtomic) {
  post(atomic(WrOpcode::kFetchAdd, {}, abi::kWqeInline));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, AtomicWithOrdZero) {
  QpContext c = rts_qp(1);
  c.ord = 0;
  change(1, c);
  post(atomic(WrOpcode::kFetchAdd, {}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, AtomicIntoAReadOnlyBuffer) {
  abi::Wqe w = atomic(WrOpcode::kFetchAdd, {});
  w.sge[0].lkey = stag_of(4);
  post(w);
  expect_refused(WcStatus::kLocProtErr);
}
TEST_F(RdmapSegmenterTest, AtomicToAnRdmacPeer) {
  QpContext c = rts_qp(1);
  c.version = 0;
  change(1, c);
  post(atomic(WrOpcode::kFetchAdd, {}));
  expect_refused(WcStatus::kLocQpOpErr);
}
TEST_F(RdmapSegmenterTest, ImmediateDataWithABuffer) {
  post(wqe(WrOpcode::kImmediate, {sge(8)}));
  expect_refused(WcStatus::kLocQpOpErr);
}

// A gather list with one element in a page list: payload_fetch looks its pages up.
TEST_F(RdmapSegmenterTest, ElementsInPagesKeepTheirList) {
  StagContext paged = region(0x7000, 0x1000, abi::kRemoteRead);
  paged.bus = 0x80;
  paged.log_page = 12;
  paged.pages = 2;
  contexts.write(Stag{stag_of(9)}, paged);
  contexts.write_page(0, 0x4000);
  contexts.write_page(1, 0x2000);
  contexts.commit();
  allow();
  abi::Wqe w = wqe(WrOpcode::kSend, {sge(3, 0x10000)});
  w.num_sge = 2;
  w.sge[1] = {0x7010, 5, stag_of(9)};
  post(w);
  responder.send_at(20, {Qpn{1}, {0x100, 0, 2000, stag_of(9), 0x7010}, {}, 1});
  run_until_idle();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_THAT(pieces(0), ElementsAre(Piece(0x10000, 3), Piece(0x90, 5)));
  EXPECT_EQ(jobs[0].piece[0].list, PageList{});
  EXPECT_EQ(jobs[0].piece[1].list, PageList::of(0, 12));
  EXPECT_EQ(jobs[0].piece[1].region, stag_of(9));
  EXPECT_THAT(pieces(2), ElementsAre(Piece(0x90 + 1428, 572)));
  EXPECT_EQ(jobs[2].piece[0].list, PageList::of(0, 12));
  EXPECT_EQ(jobs[2].piece[0].region, stag_of(9));
}

class SegmenterSizes : public RdmapSegmenterTest, public testing::WithParamInterface<Traffic> {};
TEST_P(SegmenterSizes, EveryOctetOfAMessageIsInASegmentInOrder) {
  fetch.pause(GetParam().produce);
  jobs.pause(GetParam().consume);
  allow();
  std::vector<std::uint64_t> expected, sent;
  for (const std::size_t n : sizes(DatapathConfig{}.beat_bytes)) {
    post(n == 0 ? wqe(WrOpcode::kSend, {}) : wqe(WrOpcode::kSend, {sge(static_cast<std::uint32_t>(n))}));
    expected.push_back(n);
  }
  run_until_idle();
  std::uint64_t octets = 0;
  for (const UlpduJob& j : jobs) {
    for (unsigned k = 0; k < j.pieces; ++k) {
      EXPECT_EQ(j.piece[k].address, 0x10000 + octets);
      octets += j.piece[k].bytes;
    }
    EXPECT_LE(j.ulpdu.bytes, rts_qp(1).mulpdu);
    if (wire::DdpControl::last(header(j)[0])) sent.push_back(std::exchange(octets, 0));
  }
  EXPECT_EQ(sent, expected);
  EXPECT_THAT(events, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Datapath, SegmenterSizes, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
