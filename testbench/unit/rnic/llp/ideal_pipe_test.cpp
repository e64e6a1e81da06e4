// The stages above the boundary over a third lower layer, which is neither MPA over TCP nor SCTP. They must need no
// more of a lower layer than llp.h defines.
#include "testbench/support/ideal_pipe.h"

#include "model/rnic/completion/response_queue.h"
#include "model/rnic/completion/sq_completion.h"
#include "model/rnic/context/stag_work.h"
#include "model/rnic/llp/llp.h"
#include "model/rnic/merge.h"
#include "model/rnic/responder/atomic_alu.h"
#include "model/rnic/responder/irrq.h"
#include "model/rnic/responder/read_responder.h"
#include "model/rnic/rnic_config.h"
#include "model/rnic/rx/ddp_placement.h"
#include "model/rnic/rx/early_placement.h"
#include "model/rnic/rx/rdmap_dispatch.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/rnic/tx/payload_fetch.h"
#include "model/rnic/tx/rdmap_segmenter.h"
#include "testbench/support/contexts.h"
#include "testbench/support/fake_dma.h"
#include "testbench/support/llps.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;

constexpr FlowId kFlow{1}, kOtherFlow{2};
constexpr Qpn kQpn{1}, kOtherQpn{2};

// A chip above the boundary, with its host's memory: work requests arrive fetched, and completions are collected.
struct Half {
  ClockDomain& clk;
  ContextStore contexts{clk, {4, 4, 4, 16}};
  BufferPool pool{4096};
  Netlist net;

  RdmapSegmenter rdmap_segmenter;
  PayloadFetch payload_fetch;
  DdpPlacement ddp_placement;
  EarlyPlacement early_placement;
  RdmapDispatch rdmap_dispatch;
  Irrq irrq;
  ReadResponder read_responder;
  AtomicAlu atomic_alu;
  ResponseQueue response_queue;
  SqCompletion sq_completion;
  StagWork stag_work;
  Merge<QpEvent> stream_errors, qp_events;
  TerminateGenerator terminate_generator;

  Source<FetchedWqe> wqes = drive(rdmap_segmenter.wqe, CurrentUse(contexts));
  Source<TxInternalWork> firmware = drive(rdmap_segmenter.internal_work, CurrentUse(contexts));
  Source<RqDoorbell> posted = drive(ddp_placement.posted);
  Source<FetchedRqe> rqes = drive(ddp_placement.rqe, CurrentUse(contexts));
  Sink<CqeRequest> sent = collect(sq_completion.cqe), received = collect(rdmap_dispatch.cqe);
  Sink<QpEvent> events = collect(qp_events.out);
  FakeDma reads{payload_fetch.dma, payload_fetch.dma_done};
  FakeDma atomic_reads{atomic_alu.read, atomic_alu.read_done};
  FakeDmaWrite placements{ddp_placement.dma, rdmap_dispatch.written, reads.memory};
  FakeDmaWrite originals{response_queue.dma, response_queue.written, reads.memory};
  FakeDmaWrite atomic_writes{atomic_alu.write, atomic_alu.written, atomic_reads.memory};
  FakeDmaWrite early_writes{early_placement.dma, early_placement.written, reads.memory};
  const Stubs others = stub(rdmap_segmenter.taken, ddp_placement.rqe_taken, ddp_placement.srq_arm,
                            ddp_placement.srq_event, stag_work.write, stag_work.written);

  Half(const std::string& name, ClockDomain& clock)
      : clk(clock),
        net(name, clk),
        rdmap_segmenter((name + "_rdmap_segmenter").c_str(), clk, contexts, pool, llp_traits()),
        payload_fetch((name + "_payload_fetch").c_str(), clk, contexts.qps(), {}),
        ddp_placement((name + "_ddp_placement").c_str(), clk, contexts, llp_traits()),
        early_placement((name + "_early_placement").c_str(), clk, {}, contexts, pool, llp_traits()),
        rdmap_dispatch((name + "_rdmap_dispatch").c_str(), clk, contexts),
        irrq((name + "_irrq").c_str(), clk, contexts),
        read_responder((name + "_read_responder").c_str(), clk, contexts),
        atomic_alu((name + "_atomic_alu").c_str(), clk, contexts, {}),
        response_queue((name + "_response_queue").c_str(), clk, contexts),
        sq_completion((name + "_sq_completion").c_str(), clk, contexts),
        stag_work((name + "_stag_work").c_str(), clk, contexts),
        stream_errors((name + "_stream_errors").c_str(), clk),
        qp_events((name + "_qp_events").c_str(), clk),
        terminate_generator((name + "_terminate_generator").c_str(), clk, contexts, pool, {}) {
    net.connect(rdmap_segmenter.out, payload_fetch.in, "jobs");
    net.connect(payload_fetch.lost, sq_completion.lost, "lost");
    net.connect(rdmap_segmenter.issued, sq_completion.issued, "issued");
    net.connect(rdmap_segmenter.read_issued, ddp_placement.read_issued, "reads_issued");
    net.connect(rdmap_segmenter.read_issued_early, early_placement.read_issued, "reads_issued_early");
    net.connect(rdmap_segmenter.flush_rq, ddp_placement.flush, "rq_flushes");
    net.connect(rdmap_segmenter.answered, ddp_placement.answered, "answered");
    net.connect(rdmap_segmenter.read_sent, irrq.sent, "responses_sent");
    net.connect(rdmap_segmenter.atomic_issued, response_queue.issued, "atomics_issued");
    net.connect(ddp_placement.out, rdmap_dispatch.in, "placed", {16, 1, 1});
    net.connect(rdmap_dispatch.read_request, irrq.in, "requests");
    net.connect(rdmap_dispatch.read_done, sq_completion.read_done, "reads_done");
    net.connect(rdmap_dispatch.read_over, early_placement.read_over, "reads_over");
    net.connect(rdmap_dispatch.unblock, rdmap_segmenter.unblock, "unblock");
    net.connect(rdmap_dispatch.atomic_response, response_queue.in, "atomic_responses");
    net.connect(irrq.out, read_responder.in, "reads_due");
    net.connect(irrq.atomic, atomic_alu.in, "atomics_due");
    net.connect(read_responder.out, rdmap_segmenter.read_work, "read_work");
    net.connect(atomic_alu.out, rdmap_segmenter.atomic_work, "atomic_work");
    net.connect(response_queue.done, sq_completion.atomic_done, "atomics_done");
    net.connect(response_queue.unblock, rdmap_segmenter.atomic_unblock, "atomic_unblock");
    net.connect(sq_completion.unblock, rdmap_segmenter.sink_unblock, "sink_unblock");
    net.connect(rdmap_segmenter.stag_request, stag_work.request, "stag_requests");
    net.connect(stag_work.request_done, rdmap_segmenter.stag_request_done, "stag_requests_done");
    net.connect(sq_completion.sink, stag_work.sink, "sink_ends");
    net.connect(stag_work.sink_ended, sq_completion.sink_ended, "sinks_ended");
    for (PushPort<QpEvent>* error :
         {&payload_fetch.event, &rdmap_segmenter.event, &ddp_placement.event, &irrq.event, &read_responder.event,
          &atomic_alu.event, &response_queue.event, &rdmap_dispatch.stream_error}) {
      net.connect(*error, stream_errors.add(), std::string("error of ") + error->owner().basename());
    }
    for (PushPort<QpEvent>* event : {&terminate_generator.event, &rdmap_dispatch.event, &sq_completion.event}) {
      net.connect(*event, qp_events.add(), std::string("event of ") + event->owner().basename());
    }
    net.connect(stream_errors.out, terminate_generator.in, "stream_errors");
    net.connect(terminate_generator.out, rdmap_segmenter.terminate, "terminates");

    open_qp(contexts, kQpn.v, rts_qp(kQpn.v));
    contexts.write(kOtherQpn, on_sctp(rts_qp(kOtherQpn.v)));
    contexts.write(Stag{stag_of(3)}, region(0, 0x10000, abi::kLocalWrite));
    contexts.write(Stag{stag_of(4)}, region(0, 0x10000, abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic));
    contexts.commit();
  }
  void post(WrOpcode opcode, std::uint32_t bytes, std::uint64_t local, std::uint64_t remote,
            std::uint32_t rkey = stag_of(4), Qpn qpn = kQpn) {
    abi::Wqe w;
    w.opcode = opcode;
    w.flags = abi::kWqeSignaled;
    w.num_sge = 1;
    w.sge[0] = {local, bytes, stag_of(3)};
    w.wr_id = next_++;
    w.rkey = rkey;
    w.remote_address = remote;
    if (abi::is_atomic(opcode)) abi::AtomicOperands{5, 0, 0, 0}.put(w);
    wqes.send({qpn, true, w});
  }
  void receive(std::uint32_t bytes, std::uint64_t address) {
    abi::Wqe w;
    w.wr_id = 70;
    w.num_sge = 1;
    w.sge[0] = {address, bytes, stag_of(3)};
    posted.send({kQpn, 1});
    rqes.send({kQpn, true, w});
  }
  // Returns the work requests that have completed, in order.
  std::vector<std::uint64_t> succeeded() const {
    std::vector<std::uint64_t> ids;
    for (const CqeRequest& c : sent) {
      EXPECT_EQ(c.cqe.status, WcStatus::kSuccess);
      ids.push_back(c.cqe.wr_id);
    }
    return ids;
  }
  std::vector<QpEvent::Kind> kinds() const {
    std::vector<QpEvent::Kind> list;
    for (const QpEvent& e : events) list.push_back(e.kind);
    return list;
  }
  std::uint64_t next_ = 1;
};

// Flow 1 uses one lower layer, flow 2 the other one; both are ideal.
class IdealPipeTest : public StageTest {
 protected:
  Half a{"a", clk}, b{"b", clk};
  IdealPipe ab{"ab", clk, {kFlow, kQpn}}, ba{"ba", clk, {kFlow, kQpn}};
  IdealPipe other_ab{"other_ab", clk, {kOtherFlow, kOtherQpn}}, other_ba{"other_ba", clk, {kOtherFlow, kOtherQpn}};

  IdealPipeTest() {
    connect_llp(a.net, a, LlpId::kMpaTcp, llp_of(ab, ba), kIdealLinks);
    connect_llp(b.net, b, LlpId::kMpaTcp, llp_of(ba, ab), kIdealLinks);
    connect_llp(a.net, a, LlpId::kSctp, llp_of(other_ab, other_ba), kOtherIdealLinks);
    connect_llp(b.net, b, LlpId::kSctp, llp_of(other_ba, other_ab), kOtherIdealLinks);
    const Bytes octets = counting(0x4000, 1);
    std::copy(octets.begin(), octets.end(), a.reads.memory.begin());
    const Bytes others = counting(0x4000, 77);
    std::copy(others.begin(), others.end(), b.reads.memory.begin() + 0x8000);
  }
  static Bytes part(const Half& half, std::size_t from, std::size_t bytes) {
    const auto begin = half.reads.memory.begin() + static_cast<std::ptrdiff_t>(from);
    return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
  }
};

TEST_F(IdealPipeTest, WriteReadSendAndAtomicComplete) {
  store_le64(&b.atomic_reads.memory[0x100], 37);
  b.receive(3000, 0x6000);
  a.post(WrOpcode::kRdmaWrite, 5000, 0, 0x1000);
  a.post(WrOpcode::kSend, 3000, 0x100, 0);
  a.post(WrOpcode::kRdmaRead, 4000, 0x5000, 0x8000);
  a.post(WrOpcode::kFetchAdd, 8, 0x7000, 0x100);
  run_until_idle();
  EXPECT_THAT(a.succeeded(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(part(b, 0x1000, 5000), part(a, 0, 5000));
  EXPECT_EQ(part(b, 0x6000, 3000), part(a, 0x100, 3000));
  EXPECT_EQ(part(a, 0x5000, 4000), part(b, 0x8000, 4000));
  EXPECT_EQ(load_le64(&a.reads.memory[0x7000]), 37u);
  EXPECT_EQ(load_le64(&b.atomic_reads.memory[0x100]), 42u);
  ASSERT_EQ(b.received.size(), 1u);
  EXPECT_EQ(b.received[0].cqe.wr_id, 70u);
  EXPECT_EQ(b.received[0].cqe.byte_len, 3000u);
  using Kind = QpEvent::Kind;
  EXPECT_THAT(a.kinds(), ElementsAre(Kind::kFirstFpdu));
  EXPECT_THAT(b.kinds(), ElementsAre(Kind::kFirstFpdu));
}

TEST_F(IdealPipeTest, BothSidesAtOnce) {
  for (Half* half : {&a, &b}) {
    for (unsigned i = 0; i < 4; ++i) {
      half->post(WrOpcode::kRdmaRead, 2000, 0xc000 + 2000 * i, 0x8000);
      half->post(WrOpcode::kRdmaWrite, 2000, 0x100 * i, 0x1000 + 2000 * i);
    }
  }
  run_until_idle();
  EXPECT_THAT(a.succeeded(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(b.succeeded(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(part(a, 0xc000 + 2000 * i, 2000), part(b, 0x8000, 2000)) << i;
}

TEST_F(IdealPipeTest, EachFlowStaysInItsLowerLayer) {
  a.post(WrOpcode::kRdmaWrite, 3000, 0, 0x1000);
  a.post(WrOpcode::kRdmaWrite, 3000, 0x100, 0x3000, stag_of(4), kOtherQpn);
  a.post(WrOpcode::kRdmaRead, 3000, 0x5000, 0x8000, stag_of(4), kOtherQpn);
  run_until_idle();
  EXPECT_THAT(a.succeeded(), testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(part(b, 0x1000, 3000), part(a, 0, 3000));
  EXPECT_EQ(part(b, 0x3000, 3000), part(a, 0x100, 3000));
  EXPECT_EQ(part(a, 0x5000, 3000), part(b, 0x8000, 3000));
  EXPECT_NE(ab.segments->pushed(), 0u);
  EXPECT_EQ(ba.segments->pushed(), 0u);
  EXPECT_NE(other_ba.segments->pushed(), 0u);
}

// The receiver finds the error, its Terminate comes back in the other direction, and both streams end.
TEST_F(IdealPipeTest, ATerminateNamesTheError) {
  a.post(WrOpcode::kRdmaWrite, 100, 0, 0x1000, stag_of(9));
  run_until_idle();
  ASSERT_EQ(b.events.size(), 1u);
  EXPECT_EQ(b.events[0].kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(b.events[0].cause, wire::ddp::kInvalidStag);
  QpContext c = rts_qp(kQpn.v);  // as b's firmware would
  c.state = QpState::kTerminate;
  b.contexts.write(kQpn, c);
  b.contexts.commit();
  b.firmware.send({kQpn, TxInternalWork::Kind::kTerminate, b.events[0].cause});
  run_until_idle();
  ASSERT_FALSE(a.events.empty());
  EXPECT_EQ(a.events.back().kind, QpEvent::Kind::kTerminateReceived);
  EXPECT_EQ(a.events.back().cause, wire::ddp::kInvalidStag);
  EXPECT_THAT(part(b, 0x1000, 100), testing::Each(0));
}

TEST_F(IdealPipeTest, TheEndOfAStreamComesAfterItsSegments) {
  a.post(WrOpcode::kRdmaWrite, 1000, 0, 0x1000);
  run_until_idle();
  ab.close(kFlow);
  run_until_idle();
  EXPECT_EQ(part(b, 0x1000, 1000), part(a, 0, 1000));
  ASSERT_EQ(ab.ends.size(), 1u);
  EXPECT_EQ(ab.ends[0].flow, kFlow);
  EXPECT_TRUE(ab.ends[0].told);
  EXPECT_EQ(b.events.back().kind, QpEvent::Kind::kPeerClosed);
}

}  // namespace
}  // namespace rnic::test
