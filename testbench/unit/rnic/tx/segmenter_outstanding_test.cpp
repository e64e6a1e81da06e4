// rdmap_segmenter with few places for requests that are outstanding: who waits to begin, and when it goes on.
#include "model/rnic/tx/rdmap_segmenter.h"
#include "testbench/support/contexts.h"
#include "testbench/support/llps.h"
#include "testbench/support/stag_work_beside.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint32_t kPlenty = 1u << 30;
constexpr Cycle kRow = TxTableConfig{}.read_cycles, kRead = StagTableConfig{}.read_cycles;
constexpr Cycle kBegins = kRow + kRead + kToEnd;  // from the call on, of a request with one element

class SegmenterOutstandingTest : public StageTest {
 protected:
  explicit SegmenterOutstandingTest(std::uint32_t requests = 1) : outstanding(clk, requests, 4) {
    dut.bound_by(outstanding);
    contexts.write(Stag{stag_of(3)}, region(0x10000, 0x10000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(8)}, region(0, 0x10000, abi::kRemoteRead));
    for (std::uint32_t n = 1; n < 4; ++n) contexts.write(Qpn{n}, rts_qp(n));
    contexts.commit();
    for (std::uint32_t n = 1; n < 4; ++n) tcp.send({FlowId{n}, kPlenty});
  }
  static abi::Wqe work(WrOpcode op, std::uint32_t bytes) {
    abi::Wqe w;
    w.opcode = op;
    w.flags = abi::kWqeSignaled;
    w.sge[w.num_sge++] = {0x10000, bytes, stag_of(3)};
    w.rkey = 0x12345678;
    w.remote_address = 4096;
    return w;
  }
  void post(Cycle at, std::uint32_t qpn, WrOpcode op = WrOpcode::kRdmaWrite, std::uint32_t bytes = 100) {
    fetch.send_at(at, {Qpn{qpn}, true, work(op, bytes)});
  }
  void complete(Cycle at, std::uint32_t qpn, std::uint32_t requests = 1) {
    script.at(at, [this, qpn, requests] { outstanding.give_back(Qpn{qpn}, requests); });
  }
  std::vector<std::uint32_t> sent() const {
    std::vector<std::uint32_t> qps;
    for (const UlpduJob& j : jobs) qps.push_back(j.qpn.v);
    return qps;
  }

  ContextStore contexts{clk, {4, 4, 4, 16}};
  BufferPool pool{4096};
  At script{"script", clk};
  OutstandingRequests outstanding;
  RdmapSegmenter dut{"dut", clk, contexts, pool, llp_traits()};
  Source<FetchedWqe> fetch = drive(dut.wqe, CurrentUse(contexts));
  Sink<WqeTaken> given_back = collect(dut.taken);
  Source<TxCredit> tcp = drive(dut.credit[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<ReadWork> responder = drive(dut.read_work);
  Source<TxInternalWork> firmware = drive(dut.internal_work, CurrentUse(contexts));
  Sink<RqFlush> receive_flushes = collect(dut.flush_rq);
  Sink<UlpduJob> jobs = collect(dut.out);
  Sink<WqeIssued> issued = collect(dut.issued);
  Sink<QpEvent> events = collect(dut.event);
  Sink<StagRequest> stag_requests = collect(dut.stag_request);
  Source<StagRequestDone> stag_work = drive(dut.stag_request_done, CurrentUse(contexts));
  const Stubs others =
      stub(dut.answered, dut.read_issued_early, dut.read_issued, dut.read_sent, dut.atomic_issued, dut.atomic_work,
           dut.unblock, dut.atomic_unblock, dut.sink_unblock, dut.terminate, dut.credit[LlpId::kSctp]);
};

TEST_F(SegmenterOutstandingTest, TheNextRequestBeginsWhenThePlaceOfTheOneBeforeIsGivenBack) {
  post(20, 1), post(30, 1), post(40, 1);
  complete(100, 1);
  complete(200, 1);
  run_until_idle();
  ASSERT_THAT(jobs, SizeIs(3));
  EXPECT_EQ(jobs.cycles()[1], 101 + kBegins);
  EXPECT_EQ(jobs.cycles()[2], 201 + kBegins);
  const Account::Totals account = dut.waits(kTxOutstanding).totals(300);
  EXPECT_GT(account.blocked, 100u);
  EXPECT_EQ(outstanding.counters().waits, 2u);
  EXPECT_EQ(outstanding.counters().records_max, 1u);
  EXPECT_EQ(outstanding.used().records, 1u);
}

TEST_F(SegmenterOutstandingTest, ARequestThatHasBegunAndAReadResponseNeedNone) {
  post(20, 1, WrOpcode::kRdmaWrite, 3000);
  responder.send_at(40, {Qpn{1}, {0x100, 0x2000, 64, stag_of(8), 0x7000}, {}, 1});
  responder.send_at(40, {Qpn{2}, {0x100, 0x2000, 64, stag_of(8), 0x7000}, {}, 1});
  run_until_idle();
  EXPECT_THAT(jobs, SizeIs(3 + 2));
  EXPECT_EQ(outstanding.used().records, 1u);
}

TEST_F(SegmenterOutstandingTest, QueuePairsBeginInTheOrderOfTheirWait) {
  post(20, 1);
  post(40, 2), post(50, 3), post(60, 1);
  for (const auto& [at, qpn] : {std::pair(100u, 1u), {200u, 2u}, {300u, 3u}}) complete(at, qpn);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(1, 2, 3, 1));
  EXPECT_THAT(dut.waiting_for(), testing::IsEmpty());
}

TEST_F(SegmenterOutstandingTest, WorkOnStagsAndRequestsThatFailTakeAPlaceToo) {
  post(20, 1);
  abi::Wqe local;
  local.opcode = WrOpcode::kLocalInv;
  local.rkey = stag_of(3);
  fetch.send_at(40, {Qpn{2}, true, local});
  fetch.send_at(60, {Qpn{3}, false, work(WrOpcode::kSend, 10)});  // it could not be read
  complete(100, 1);
  stag_work.send_at(150, {Qpn{2}, 0, WcStatus::kSuccess});
  complete(200, 2);
  complete(300, 3);
  run_until_idle();
  EXPECT_THAT(stag_requests.cycles(), ElementsAre(101 + kRow + kToEnd));
  ASSERT_THAT(issued, SizeIs(3));
  EXPECT_EQ(issued[1].opcode, WrOpcode::kLocalInv);
  EXPECT_EQ(issued[2].status, WcStatus::kGeneralErr);
  EXPECT_GT(issued.cycles()[2], 200u);
  EXPECT_EQ(outstanding.used().records, 0u);
}

// A request whose first FPDU is sent keeps its place until it is flushed; the others are flushed one after the other.
TEST_F(SegmenterOutstandingTest, EachRequestIsFlushedWithAPlaceOfItsOwn) {
  post(20, 1), post(30, 1), post(35, 1);
  firmware.send_at(60, {Qpn{1}, TxInternalWork::Kind::kFlush});
  complete(100, 1);
  complete(200, 1);
  complete(300, 1);
  run_until_idle();
  std::vector<WcStatus> statuses;
  for (const WqeIssued& w : issued) {
    if (w.marker == WqeIssued::Marker::kNone) statuses.push_back(w.status);
  }
  EXPECT_THAT(statuses, ElementsAre(WcStatus::kSuccess, WcStatus::kWrFlushErr, WcStatus::kWrFlushErr));
  EXPECT_THAT(issued.cycles()[2], 101 + kRow + kToEnd);
  EXPECT_EQ(outstanding.used().records, 0u);
}

// Its request has begun and waits for credit: nobody completes it.
TEST_F(SegmenterOutstandingTest, ANumberThatIsUsedAgainGivesBackThePlaceOfARequestThatHasBegun) {
  QpContext poor = rts_qp(0);
  open_qp(contexts, 0, poor);
  tcp.send_at(10, {FlowId{0}, 1500});
  post(20, 0, WrOpcode::kRdmaWrite, 3000);
  post(40, 2);
  script.at(100, [this] {
    QpContext c = rts_qp(0, 2);
    contexts.write(Qpn{0}, c);
  });
  tcp.send_at(150, {FlowId{0}, kPlenty});
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(0, 2));
  EXPECT_EQ(jobs.cycles()[1], 150 + kToEnd + kRow + 1 + kBegins);
  EXPECT_EQ(outstanding.held(Qpn{0}).records, 0u);
  EXPECT_EQ(outstanding.held(Qpn{2}).records, 1u);
}

// What was promised to the one before goes to the next in turn.
TEST_F(SegmenterOutstandingTest, AQueuePairThatIsGoneWhenItIsCalledLetsTheNextOneBegin) {
  post(20, 1);
  post(40, 2), post(60, 3);
  script.at(80, [this] { contexts.write(Qpn{2}, rts_qp(2, 2)); });
  complete(100, 1);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(1, 3));
  EXPECT_EQ(outstanding.held(Qpn{2}).records, 0u);
}

TEST_F(SegmenterOutstandingTest, AResetForgetsThoseThatWait) {
  post(20, 1), post(40, 2);
  script.at(100, [this] {
    outstanding.reset();
    contexts.reset();
    clk.reset(dut);
  });
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(1));
  EXPECT_EQ(outstanding.used().records, 0u);
}

class FourOutstanding : public SegmenterOutstandingTest {
 protected:
  FourOutstanding() : SegmenterOutstandingTest(4) {}
};

// Half of them for all, and the other half in parts of those that hold some, and of the next one.
TEST_F(FourOutstanding, APeerThatDoesNotAnswerHoldsHalf) {
  for (Cycle at = 20; at < 70; at += 10) post(at, 1);
  for (Cycle at = 100; at < 140; at += 10) post(at, 2);
  std::size_t seen = 0;
  for (Cycle at = 100; at < 1000; at += 10) {
    script.at(at, [&] {
      for (; seen < issued.size(); ++seen) {
        if (issued[seen].qpn == Qpn{2}) outstanding.give_back(Qpn{2});
      }
    });
  }
  run_until_idle();
  EXPECT_EQ(outstanding.held(Qpn{1}).records, 2u);
  EXPECT_EQ(outstanding.held(Qpn{2}).records, 0u);
  EXPECT_THAT(issued, SizeIs(2 + 4));
}

}  // namespace
}  // namespace rnic::test
