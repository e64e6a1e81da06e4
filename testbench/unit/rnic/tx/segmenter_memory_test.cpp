// rdmap_segmenter with a transmit memory that is too small: who waits for room, and when it goes on.
#include "model/rnic/tx/rdmap_segmenter.h"
#include "testbench/support/contexts.h"
#include "testbench/support/llps.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t kPlenty = 1u << 30;
constexpr std::uint32_t kFpdu = 1448;  // of a whole MULPDU of 1442
constexpr Cycle kRow = TxTableConfig{}.read_cycles, kRead = StagTableConfig{}.read_cycles;
constexpr Cycle kGoesOn = kRow + kToEnd;          // from the call on, of a message that has begun
constexpr Cycle kBegins = kRow + kRead + kToEnd;  // of one that has not

class SegmenterMemoryTest : public StageTest {
 protected:
  explicit SegmenterMemoryTest(std::uint32_t octets = kFpdu) : memory(clk, {octets, 100}, FlowId{0}, 4) {
    dut.keep_in(LlpId::kMpaTcp, memory);
    contexts.write(Stag{stag_of(3)}, region(0x10000, 0x10000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(8)}, region(0, 0x10000, abi::kRemoteRead));
    for (std::uint32_t n = 1; n < 4; ++n) contexts.write(Qpn{n}, rts_qp(n));
    contexts.commit();
    script.at(0, [this] {
      for (std::uint32_t n = 1; n < 4; ++n) memory.open(FlowId{n});
    });
  }
  void post(std::uint32_t qpn, std::uint32_t bytes, WrOpcode op = WrOpcode::kRdmaWrite, Cycle at = 0) {
    abi::Wqe w;
    w.opcode = op;
    w.flags = abi::kWqeSignaled;
    w.sge[w.num_sge++] = {0x10000, bytes, stag_of(3)};
    w.rkey = 0x12345678;
    w.remote_address = 4096;
    fetch.send_at(at, {Qpn{qpn}, true, w});
  }
  void allow(std::uint32_t flow) { tcp.send({FlowId{flow}, kPlenty}); }
  void give_back(Cycle at, std::uint32_t flow, std::uint32_t octets) {
    script.at(at, [this, flow, octets] { memory.give_back(FlowId{flow}, octets, 1); });
  }
  // Octets of the FPDUs in the order in which they left, with their QPs.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sent() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    for (const UlpduJob& j : jobs) all.emplace_back(j.qpn.v, j.octets);
    return all;
  }
  Account::Totals waits(Cycle until) { return dut.waits(room_of(LlpId::kMpaTcp)).totals(until); }

  ContextStore contexts{clk, {4, 4, 4, 16}};
  BufferPool pool{4096};
  At script{"script", clk};
  llp::TransmitMemory memory;
  RdmapSegmenter dut{"dut", clk, contexts, pool, llp_traits()};
  Source<FetchedWqe> fetch = drive(dut.wqe, CurrentUse(contexts));
  Sink<WqeTaken> given_back = collect(dut.taken);
  Source<TxCredit> tcp = drive(dut.credit[LlpId::kMpaTcp], CurrentUse(contexts));
  Source<TxCredit> sctp = drive(dut.credit[LlpId::kSctp], CurrentUse(contexts));
  Source<ReadWork> responder = drive(dut.read_work);
  Source<TxInternalWork> firmware = drive(dut.internal_work, CurrentUse(contexts));
  Source<TerminateMessage> generator = drive(dut.terminate, CurrentUse(contexts));
  Sink<RqFlush> receive_flushes = collect(dut.flush_rq);
  Sink<UlpduJob> jobs = collect(dut.out);
  Sink<WqeIssued> completions = collect(dut.issued);
  Sink<QpEvent> events = collect(dut.event);
  const Stubs others =
      stub(dut.answered, dut.read_issued_early, dut.read_issued, dut.read_sent, dut.atomic_issued, dut.atomic_work,
           dut.unblock, dut.atomic_unblock, dut.sink_unblock, dut.stag_request, dut.stag_request_done);
};

TEST_F(SegmenterMemoryTest, TheNextFpduLeavesWhenTheRoomOfTheOneBeforeIsGivenBack) {
  allow(1);
  post(1, 3000);
  give_back(100, 1, kFpdu);
  give_back(200, 1, kFpdu);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, kFpdu), std::pair(1u, kFpdu), std::pair(1u, 164u)));
  EXPECT_EQ(jobs.cycles()[1], 101 + kGoesOn);
  EXPECT_EQ(jobs.cycles()[2], 201 + kGoesOn);
  EXPECT_EQ(memory.used().octets, 164u);
  // From the turn of the first one to the call, twice; in the turn nobody waits.
  const Cycle first = jobs.cycles()[0] - kToEnd;
  const Account::Totals account = waits(300);
  EXPECT_EQ(account.blocked, (101 - first) + (201 - (101 + kRow)));
  EXPECT_EQ(account.busy, 0u);
  EXPECT_EQ(dut.waits(TxWait::kCredit).totals(300).blocked, 0u);
  EXPECT_EQ(memory.counters().waits, 2u);
}

TEST_F(SegmenterMemoryTest, ARequestThatBeginsWaitsForItsTurnAndItsStag) {
  allow(1), allow(2);
  post(1, 1400);
  post(2, 1400, WrOpcode::kRdmaWrite, 30);
  give_back(100, 1, 1420);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, 1420u), std::pair(2u, 1420u)));
  EXPECT_EQ(jobs.cycles()[1], 101 + kBegins);
  EXPECT_THAT(completions, SizeIs(2));
}

// Each time that one FPDU is acknowledged.
TEST_F(SegmenterMemoryTest, QueuePairsGetRoomInTurn) {
  for (std::uint32_t n = 1; n < 4; ++n) allow(n), post(n, 2 * 1428, WrOpcode::kRdmaWrite, 20 * n);
  Cycle at = 200;
  for (const std::uint32_t n : {1, 2, 3, 1, 2}) give_back(at += 50, n, kFpdu);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, kFpdu), std::pair(2u, kFpdu), std::pair(3u, kFpdu),
                                  std::pair(1u, kFpdu), std::pair(2u, kFpdu), std::pair(3u, kFpdu)));
}

TEST_F(SegmenterMemoryTest, AReadResponseWaitsLikeARequest) {
  allow(1), allow(2);
  post(1, 1400);
  responder.send_at(30, {Qpn{2}, {0x100, 0x2000, 64, stag_of(8), 0x7000}, {}, 1});
  give_back(100, 1, 1420);
  run_until_idle();
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[1].qpn, Qpn{2});
  EXPECT_EQ(jobs.cycles()[1], 101 + kBegins);
}

TEST_F(SegmenterMemoryTest, ATerminateWaitsForRoomToo) {
  allow(1), allow(2);
  post(1, 1428);
  firmware.send_at(30, {Qpn{2}, TxInternalWork::Kind::kTerminate, wire::rdma::kUnexpectedOpcode});
  give_back(100, 1, kFpdu);
  run_until_idle();
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[1].qpn, Qpn{2});
  EXPECT_GT(jobs.cycles()[1], 101u);
}

TEST_F(SegmenterMemoryTest, AFlushDoesNotWaitAndThoseAfterItGetTheRoom) {
  for (std::uint32_t n = 1; n < 4; ++n) allow(n), post(n, 1400, WrOpcode::kRdmaWrite, 20 * n);
  firmware.send_at(100, {Qpn{2}, TxInternalWork::Kind::kFlush});
  give_back(200, 1, 1420);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, 1420u), std::pair(3u, 1420u)));
  ASSERT_THAT(completions, SizeIs(4));
  EXPECT_LT(completions.cycles()[2], 200u);
  EXPECT_EQ(completions[2].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(memory.used().octets, 1420u);
  EXPECT_EQ(memory.used().records, 1u);
}

// The number's next user is on another flow; what was promised to the one before goes to the next in turn.
TEST_F(SegmenterMemoryTest, AQueuePairThatIsGoneWhenItIsCalledLetsTheNextOneSend) {
  for (std::uint32_t n = 1; n < 4; ++n) allow(n);
  post(1, 1400);
  post(2, 1400, WrOpcode::kRdmaWrite, 40);
  post(3, 1400, WrOpcode::kRdmaWrite, 60);
  script.at(100, [this] {
    QpContext c = rts_qp(2, 2);
    c.flow = FlowId{0};
    contexts.write(Qpn{2}, c);
  });
  give_back(200, 1, 1420);
  give_back(300, 3, 1420);
  tcp.send_at(110, {FlowId{0}, kPlenty});
  post(2, 1200, WrOpcode::kRdmaWrite, 120);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, 1420u), std::pair(3u, 1420u), std::pair(2u, 1220u)));
  EXPECT_EQ(memory.held(FlowId{0}).octets, 1220u);
  EXPECT_EQ(memory.held(FlowId{2}).octets, 0u);
  EXPECT_EQ(memory.used().records, 1u);
}

// Both flows of one number wait, and are called one after the other.
TEST_F(SegmenterMemoryTest, OfTwoFlowsOfOneNumberTheFirstLeavesItsRoom) {
  for (std::uint32_t n = 1; n < 4; ++n) allow(n);
  post(1, 1400);
  post(2, 600, WrOpcode::kRdmaWrite, 40);
  script.at(100, [this] {
    QpContext c = rts_qp(2, 2);
    c.flow = FlowId{0};
    contexts.write(Qpn{2}, c);
  });
  tcp.send_at(110, {FlowId{0}, kPlenty});
  post(2, 700, WrOpcode::kRdmaWrite, 120);
  give_back(200, 1, 1420);
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, 1420u), std::pair(2u, 720u)));
  EXPECT_EQ(memory.held(FlowId{2}).records, 0u);
  EXPECT_EQ(memory.used().octets, 720u);
}

TEST_F(SegmenterMemoryTest, AResetForgetsThoseThatWait) {
  allow(1), allow(2);
  post(1, 1400);
  post(2, 1400, WrOpcode::kRdmaWrite, 30);
  script.at(100, [this] {
    memory.reset();
    contexts.reset();
    clk.reset(dut);
  });
  run_until_idle();
  EXPECT_THAT(sent(), ElementsAre(std::pair(1u, 1420u)));
  EXPECT_EQ(memory.used().octets, 0u);
}

TEST_F(SegmenterMemoryTest, FlowsOfAnotherLowerLayerDoNotWait) {
  open_qp(contexts, 3, on_sctp(rts_qp(3)));
  allow(1);
  sctp.send({FlowId{3}, kPlenty});
  post(1, 3000);
  post(3, 3000);
  run_until_idle();
  EXPECT_THAT(jobs, SizeIs(1 + 3));
  EXPECT_EQ(dut.waiting_for(), "QP 1 has work and waits for room in the TCP transmit memory");
}

class RoomForFour : public SegmenterMemoryTest {
 protected:
  RoomForFour() : SegmenterMemoryTest(4 * kFpdu) {}
};

// The peer of QP 1 answers nothing, that of QP 2 everything at once.
TEST_F(RoomForFour, APeerThatDoesNotAnswerHoldsHalf) {
  allow(1), allow(2);
  post(1, 20 * 1428);
  post(2, 20 * 1428, WrOpcode::kRdmaWrite, 60);
  std::size_t seen = 0;
  for (Cycle at = 100; at < 3000; at += 10) {
    script.at(at, [&] {
      for (; seen < jobs.size(); ++seen) {
        if (jobs[seen].qpn == Qpn{2}) memory.give_back(FlowId{2}, jobs[seen].octets, 1);
      }
    });
  }
  run_until_idle();
  EXPECT_EQ(memory.held(FlowId{1}).octets, 2 * kFpdu);
  EXPECT_EQ(memory.held(FlowId{2}).octets, 0u);
  EXPECT_THAT(jobs, SizeIs(2 + 20));
}

// Short FPDUs of a response use what a long request was called for; the request waits again.
TEST_F(SegmenterMemoryTest, AResponseThatComesMeanwhileMayUseTheRoomOfTheRequest) {
  allow(1), allow(2);
  post(1, 1400);
  post(2, 1400, WrOpcode::kSend, 30);
  responder.send_at(60, {Qpn{2}, {0x100, 0x2000, 64, stag_of(8), 0x7000}, {}, 1});
  give_back(100, 1, 1420);
  for (Cycle at = 150; at < 400; at += 50) {
    script.at(at, [this] {
      if (memory.held(FlowId{2}).octets != 0) memory.give_back(FlowId{2}, memory.held(FlowId{2}).octets, 1);
    });
  }
  run_until_idle();
  ASSERT_THAT(jobs, SizeIs(3));
  EXPECT_EQ(memory.used().records, 0u);
}

}  // namespace
}  // namespace rnic::test
