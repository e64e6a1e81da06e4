#include "model/rnic/rx/rdmap_dispatch.h"

#include <set>
#include <utility>
#include <vector>

#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::Opcode;

PlacedSegment segment(Opcode op, std::uint32_t qpn = 1, bool awaits_write = false, bool last = true) {
  PlacedSegment s;
  s.qpn = Qpn{qpn};
  s.opcode = op;
  s.last = last;
  s.awaits_write = awaits_write;
  return s;
}
PlacedSegment send(std::uint64_t wr_id, Opcode op = Opcode::kSend) {
  PlacedSegment s = segment(op);
  s.wr_id = wr_id;
  s.bytes = 100;
  return s;
}

// The peer's FIN.
PlacedSegment end_of(std::uint32_t flow, bool in_order, std::uint32_t qpn = 1) {
  PlacedSegment s;
  s.qpn = Qpn{qpn};
  s.ended = true;
  s.in_order = in_order;
  s.flow = FlowId{flow};
  return s;
}

// A stream's first segment lifts the fence and leaves in the cycle after it came. The end of a wait counts from the
// next cycle on.
constexpr Cycle kThrough = kToEnd + 1 + kToEnd, kAfterWait = 1 + kToEnd;

// What ddp_placement reports: the first segment of a stream opens it.
class Placement {
 public:
  explicit Placement(Source<PlacedSegment>& source) : source_(source) {}
  void send(PlacedSegment s) { source_.send(mark(std::move(s))); }
  void send(const std::vector<PlacedSegment>& list) {
    for (const PlacedSegment& s : list) send(s);
  }
  void send_at(Cycle cycle, PlacedSegment s) { source_.send_at(cycle, mark(std::move(s))); }
  template <class Pause>
  void pause(Pause pause) {
    source_.pause(pause);
  }
  // The number's next use.
  void reuse(std::uint32_t qpn) {
    open_.erase(qpn);
    ++reused_[qpn];
  }

 private:
  PlacedSegment mark(PlacedSegment s) {
    s.epoch = 1 + reused_[s.qpn.v];
    s.pd = Pdn{1};
    const bool is_first = !s.flushed && !s.ended && open_.insert(s.qpn.v).second;
    s.opens = is_first && s.opcode != Opcode::kTerminate;  // a stream that ends with its first FPDU never existed
    return s;
  }
  Source<PlacedSegment>& source_;
  std::set<std::uint32_t> open_;
  std::map<std::uint32_t, std::uint32_t> reused_;
};

class RdmapDispatchTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16}};
  At firmware{"firmware", clk};
  RdmapDispatch dut{"dut", clk, contexts};
  Source<PlacedSegment> segments = drive(dut.in);
  Placement placement{segments};
  Source<DmaWriteDone> engine = drive(dut.written);
  Sink<CqeRequest> cqes = collect(dut.cqe, {2, 1, 1});
  Sink<QueuedRequest> read_requests = collect(dut.read_request);
  Sink<DeliveredAtomic> atomic_responses = collect(dut.atomic_response);
  Sink<ReadDone> reads_done = collect(dut.read_done);
  Sink<ReadDone> reads_over = collect(dut.read_over);
  Sink<TxUnblock> unblocks = collect(dut.unblock);
  Sink<QpEvent> events = collect(dut.event);
  Sink<QpEvent> errors = collect(dut.stream_error);
  Sink<StreamEnded> ends = collect(dut.ended[LlpId::kMpaTcp]);
  Sink<StreamEnded> sctp_ends = collect(dut.ended[LlpId::kSctp]);

  RdmapDispatchTest() {
    open_qp(contexts, 1, rts_qp(1));
    open_qp(contexts, 2, rts_qp(2));
    contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100, abi::kRemoteWrite));
    contexts.write(Stag{stag_of(4)}, region(0x2000, 0x100, abi::kRemoteWrite));
    contexts.commit();
  }
};

TEST_F(RdmapDispatchTest, TheFirstSegmentOfAStreamLiftsTheFenceACycleBeforeItIsDelivered) {
  placement.send({send(1), send(2), send(3)});
  run_until_idle();
  ASSERT_EQ(unblocks.size(), 1u);
  EXPECT_EQ(unblocks[0].kind, TxUnblock::Kind::kFirstFpdu);
  EXPECT_EQ(unblocks[0].qpn, Qpn{1});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kFirstFpdu);
  EXPECT_THAT(unblocks.cycles(), ElementsAre(kToEnd + kToEnd));
  EXPECT_EQ(cqes.cycles(), in_a_row(kThrough, 3));  // then one per cycle
}

TEST_F(RdmapDispatchTest, ReceiveCompletion) {
  PlacedSegment invalidating = send(0x1122334455667788, Opcode::kSendSeInvalidate);
  invalidating.stag = stag_of(3);
  invalidating.recv_cq = Cqn{3};
  PlacedSegment plain = send(9);
  plain.stag = stag_of(4);  // RsvdULP of a plain Send has no meaning
  placement.send({invalidating, plain});
  run_until_idle();
  ASSERT_EQ(cqes.size(), 2u);
  const CqeRequest& c = cqes[0];
  EXPECT_EQ(c.cqn, Cqn{3});
  EXPECT_EQ(c.cqe.wr_id, 0x1122334455667788u);
  EXPECT_EQ(c.cqe.byte_len, 100u);
  EXPECT_EQ(c.cqe.qpn, 1u);
  EXPECT_EQ(c.cqe.opcode, abi::WcOpcode::kRecv);
  EXPECT_EQ(c.cqe.status, abi::WcStatus::kSuccess);
  EXPECT_EQ(c.cqe.flags, abi::kCqeSolicited);
  EXPECT_EQ(c.cqe.immediate, stag_of(3));
  EXPECT_EQ(cqes[1].cqe.flags, 0);
  EXPECT_EQ(cqes[1].cqe.immediate, 0u);
}

// The STag ended at placement. Writes to it from elsewhere must be out (RFC 5040 section 8.1.1).
TEST_F(RdmapDispatchTest, ASendWithInvalidateWaitsForTheAtomicsUnderWay) {
  contexts.in_flight.begin(StagWrites::kAtomic);
  contexts.in_flight.begin(StagWrites::kPlacement);  // of a later segment
  contexts.in_flight.commit();
  firmware.at(10, [&] { contexts.in_flight.begin(StagWrites::kAtomic); });  // of another STag
  firmware.at(30, [&] { contexts.in_flight.end(StagWrites::kAtomic); });
  placement.send({send(1), send(2, Opcode::kSendInvalidate), send(3, Opcode::kSendInvalidate), send(4)});
  firmware.at(50, [&] { contexts.in_flight.end(StagWrites::kAtomic); });
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(kThrough, 30 + kAfterWait, 50 + kAfterWait, 51 + kAfterWait));
}
TEST_F(RdmapDispatchTest, WhoWaitsIsNotCalledInTheMeantime) {
  contexts.in_flight.begin(StagWrites::kAtomic);
  contexts.in_flight.commit();
  firmware.at(1000, [&] { contexts.in_flight.end(StagWrites::kAtomic); });
  placement.send(send(1, Opcode::kSendInvalidate));
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(1000 + kAfterWait));
  EXPECT_LT(clk.activity().ticks, 50u);
}
TEST_F(RdmapDispatchTest, ASendWithInvalidateWaitsForNothingElse) {
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.commit();
  placement.send({send(1), send(2, Opcode::kSendInvalidate), send(3)});
  run_until_idle();
  EXPECT_EQ(cqes.cycles(), in_a_row(kThrough, 3));
}
TEST_F(RdmapDispatchTest, APlacementIsOutWhenItIsDelivered) {
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.commit();
  const StagWrites::Counts begun = contexts.in_flight.begun();
  std::vector<bool> over;
  for (Cycle c = 21; c < 24; ++c) {
    firmware.at(c, [&] { over.push_back(contexts.in_flight.over(begun, StagWrites::kPlacement)); });
  }
  PlacedSegment s = segment(Opcode::kWrite);
  s.awaits_write = true;
  placement.send(s);
  engine.send_at(20, DmaWriteDone{});
  run_until_idle();
  EXPECT_THAT(over, ElementsAre(false, false, true));
}

TEST_F(RdmapDispatchTest, AFlushedReceiveRequestCompletesWithAnErrorAndLiftsNoFence) {
  PlacedSegment s = segment(Opcode::kSend);
  s.flushed = true;
  s.wr_id = 5;
  placement.send(s);
  run_until_idle();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].cqe.wr_id, 5u);
  EXPECT_EQ(cqes[0].cqe.status, abi::WcStatus::kWrFlushErr);
  EXPECT_THAT(unblocks, IsEmpty());
}

TEST_F(RdmapDispatchTest, WritesAreSilent) {
  placement.send({segment(Opcode::kWrite), segment(Opcode::kWrite, 1, false, false)});
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
  EXPECT_THAT(reads_done, IsEmpty());
}

TEST_F(RdmapDispatchTest, MiddleSegmentsAndAbsorbedSendsCompleteNothing) {
  PlacedSegment absorbed = segment(Opcode::kSend);
  absorbed.absorbed = true;
  placement.send({absorbed, segment(Opcode::kSend, 1, false, false), segment(Opcode::kReadResponse, 1, false, false)});
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
  EXPECT_THAT(reads_done, IsEmpty());
  EXPECT_EQ(unblocks.size(), 1u);  // the fence is lifted nevertheless
}

TEST_F(RdmapDispatchTest, ReadResponseCompletesTheReadAndFreesItsOrdSlot) {
  placement.send(segment(Opcode::kReadResponse));
  run_until_idle();
  EXPECT_THAT(reads_done.cycles(), ElementsAre(kThrough));
  ASSERT_EQ(unblocks.size(), 2u);
  EXPECT_EQ(unblocks[1].kind, TxUnblock::Kind::kReadDone);
}

TEST_F(RdmapDispatchTest, ReadRequestGoesToTheIrrqAndTerminateToTheFirmware) {
  PlacedSegment read = segment(Opcode::kReadRequest);
  read.read = {0x100, 0x2000, 0x1000, 0x300, 0x4000};
  PlacedSegment terminate = segment(Opcode::kTerminate);
  terminate.cause = wire::ddp::kMessageTooLong;
  placement.send({read, terminate});
  run_until_idle();
  ASSERT_EQ(read_requests.size(), 1u);
  EXPECT_EQ(std::get<QueuedRead>(read_requests[0]).request.src_to, 0x4000u);
  EXPECT_THAT(cqes, IsEmpty());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].kind, QpEvent::Kind::kTerminateReceived);
  EXPECT_EQ(events[1].cause, wire::ddp::kMessageTooLong);
}

TEST_F(RdmapDispatchTest, PayloadIsDeliveredWhenItsLastWriteCannotBeOvertaken) {
  PlacedSegment s = send(1);
  s.awaits_write = true;
  placement.send({s, send(2)});
  engine.send_at(50, DmaWriteDone{});
  run_until_idle();
  EXPECT_THAT(cqes.cycles(),
              ElementsAre(50 + kThrough, 51 + kThrough));  // nothing passes, and the fence is lifted first
}

// RFC 5040 section 5.5, and section 12.2 for the pairs: delivery is in order and after placement. So a Read Request of
// any length is not answered before that, and a Send proves that the Writes before it are in memory.
TEST_F(RdmapDispatchTest, ReadRequestsAndSendsAreDeliveredBehindTheWritesAndSendsBeforeThem) {
  PlacedSegment sent = send(1);
  sent.awaits_write = true;
  placement.send(
      {segment(Opcode::kWrite, 1, true), segment(Opcode::kReadRequest), send(2), sent, segment(Opcode::kReadRequest)});
  engine.send_at(50, {DmaWriteDone{}, DmaWriteDone{}});
  engine.pause(window(51, 80));
  run_until_idle();
  EXPECT_THAT(read_requests.cycles(), ElementsAre(51 + kThrough, 80 + kThrough));
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].cqe.wr_id, 2u);
  EXPECT_EQ(cqes[1].cqe.wr_id, 1u);
  EXPECT_THAT(cqes.cycles(), ElementsAre(52 + kThrough, 80 + kToEnd + kToEnd));
}

TEST_F(RdmapDispatchTest, ASendCompletesBeforeAnEarlierReadRequestIsAnswered) {
  placement.send({segment(Opcode::kReadRequest), send(1)});
  read_requests.pause(window(0, 500));
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(kThrough + 1));
  EXPECT_THAT(read_requests.cycles(), ElementsAre(500));
}

TEST_F(RdmapDispatchTest, EveryOutputHoldsTheStageBack) {
  cqes.pause(window(0, 20));
  read_requests.pause(window(20, 40));
  unblocks.pause(window(40, 60));
  events.pause(window(60, 80));
  reads_done.pause(window(80, 100));
  std::vector<PlacedSegment> work;
  for (int i = 0; i < 40; ++i) {
    work.push_back(send(static_cast<std::uint64_t>(i)));
    work.push_back(segment(Opcode::kReadRequest));
    work.push_back(segment(Opcode::kReadResponse));
    work.push_back(segment(Opcode::kTerminate));
  }
  placement.send(work);
  run_until_idle();
  EXPECT_EQ(read_requests.size(), 40u);
  EXPECT_EQ(reads_done.size(), 40u);
  EXPECT_EQ(unblocks.size(), 81u);  // the first FPDU's, requests and responses
  EXPECT_EQ(events.size(), 41u);
  ASSERT_EQ(cqes.size(), 40u);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(cqes[i].cqe.wr_id, i);
}

// RFC 7306 section 7: no answer is sent before the Immediate Data is complete. Two completions wait in the link, the
// third in front of it.
TEST_F(RdmapDispatchTest, AnAtomicWaitsForTheCompletionOfTheImmediateDataBeforeIt) {
  cqes.pause(window(0, 100));
  for (std::uint64_t i = 1; i <= 3; ++i) placement.send(send(i, Opcode::kImmediate));
  placement.send(segment(Opcode::kAtomicRequest));
  run_until_idle();
  ASSERT_EQ(cqes.size(), 3u);
  ASSERT_EQ(read_requests.size(), 1u);
  EXPECT_GT(read_requests.cycles()[0], 100u);
}

TEST_F(RdmapDispatchTest, TheOrderOfCallsChangesNothing) {
  clk.shuffle(5);
  cqes.pause(every(3, 2));
  placement.send({send(1), send(2), segment(Opcode::kReadResponse, 2), send(3), send(4)});
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(kThrough + 2, kThrough + 5, kThrough + 8, 11 + kThrough));
  EXPECT_THAT(reads_done.cycles(), ElementsAre(kThrough + 5));  // a full link holds back any next item
}

TEST_F(RdmapDispatchTest, AReusedQpHasAFirstSegmentAgain) {
  placement.send(send(1));
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  placement.reuse(1);
  placement.send(send(2));
  placement.pause(window(1, 20));
  run_until_idle();
  EXPECT_THAT(unblocks.cycles(), ElementsAre(kToEnd + kToEnd, 20 + kToEnd + kToEnd));
}

// It waits for its write when the number begins its next use.
TEST_F(RdmapDispatchTest, NothingOfAnEarlierUseIsDelivered) {
  PlacedSegment s = send(1);
  s.awaits_write = true;
  placement.send({s, segment(Opcode::kReadRequest), segment(Opcode::kAtomicResponse), segment(Opcode::kTerminate),
                  segment(Opcode::kReadResponse), end_of(1, true)});
  engine.send_at(20, DmaWriteDone{});
  firmware.at(10, [this] { contexts.write(Qpn{1}, rts_qp(1, 2)); });
  run_until_idle();
  EXPECT_THAT(cqes, IsEmpty());
  EXPECT_THAT(read_requests, IsEmpty());
  EXPECT_THAT(atomic_responses, IsEmpty());
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(unblocks, IsEmpty());
  EXPECT_THAT(reads_over, IsEmpty());
  EXPECT_EQ(ends.size(), 1u) << "of the lower layer's connection";
}

TEST_F(RdmapDispatchTest, NothingIsDeliveredToADestroyedQp) {
  PlacedSegment s = send(1);
  s.awaits_write = true;
  placement.send({s, segment(Opcode::kTerminate), segment(Opcode::kSend, 2)});
  engine.send_at(20, DmaWriteDone{});
  firmware.at(10, [this] { contexts.write(Qpn{1}, QpContext{}); });
  run_until_idle();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].cqe.qpn, 2u);
  EXPECT_TRUE(engine.out->empty());
}

TEST_F(RdmapDispatchTest, AnIdleStageIsNotCalled) {
  placement.send_at(5000, send(1));
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 5u);
}

TEST_F(RdmapDispatchTest, AtomicRequestsAndReadRequestsLeaveInWireOrder) {
  PlacedSegment read = segment(Opcode::kReadRequest), atomic = segment(Opcode::kAtomicRequest);
  read.read.size = 9;
  atomic.atomic = wire::AtomicRequest::fetch_add(5, 6);
  placement.send({atomic, read, atomic});
  run_until_idle();
  EXPECT_EQ(read_requests.cycles(), in_a_row(kThrough, 3));
  EXPECT_EQ(std::get<QueuedAtomic>(read_requests[0]).request.data, 5u);
  EXPECT_EQ(std::get<QueuedRead>(read_requests[1]).request.size, 9u);
  EXPECT_EQ(std::get<QueuedAtomic>(read_requests[2]).qpn, Qpn{1});
  EXPECT_THAT(cqes, IsEmpty());  // never delivered to the host
}

TEST_F(RdmapDispatchTest, AnAtomicResponseGoesToItsQueueAndCompletesNothingHere) {
  PlacedSegment s = segment(Opcode::kAtomicResponse);
  s.atomic_response = {7, 0x1122334455667788};
  placement.send(s);
  run_until_idle();
  EXPECT_THAT(atomic_responses.cycles(), ElementsAre(kThrough));
  EXPECT_EQ(atomic_responses[0].qpn, Qpn{1});
  EXPECT_EQ(atomic_responses[0].response.request_id, 7u);
  EXPECT_EQ(atomic_responses[0].response.original, 0x1122334455667788u);
  EXPECT_THAT(reads_done, IsEmpty());
  EXPECT_EQ(unblocks.size(), 1u);  // only the fence
}

TEST_F(RdmapDispatchTest, ImmediateDataIsInItsCompletionAndSolicitsWhenItSaysSo) {
  PlacedSegment plain = segment(Opcode::kImmediate), solicited = segment(Opcode::kImmediateSe);
  plain.wr_id = 3;
  plain.immediate.data = 0x0102030405060708;
  solicited.wr_id = 4;
  placement.send({send(2), plain, solicited});
  run_until_idle();
  ASSERT_EQ(cqes.size(), 3u);
  const abi::Cqe& c = cqes[1].cqe;
  EXPECT_EQ(c.wr_id, 3u);
  EXPECT_EQ(c.opcode, abi::WcOpcode::kRecvRdmaWithImm);
  EXPECT_EQ(c.immediate, 0x0102030405060708u);
  EXPECT_EQ(c.byte_len, 0u);
  EXPECT_EQ(c.flags, 0);
  EXPECT_EQ(cqes[2].cqe.flags, abi::kCqeSolicited);
  EXPECT_EQ(cqes.cycles(), in_a_row(kThrough, 3));  // among the Sends, in order
}

PlacedSegment read_end() { return segment(Opcode::kReadResponse); }

TEST_F(RdmapDispatchTest, TheEndOfAReadIsToldToEarlyPlacementWithItsDelivery) {
  PlacedSegment begin = read_end();
  begin.last = false;
  placement.send({begin, read_end()});
  run_until_idle();
  EXPECT_THAT(reads_done.cycles(), ElementsAre(kThrough + 1));
  EXPECT_THAT(reads_over.cycles(), ElementsAre(kThrough + 1));
  EXPECT_EQ(reads_over[0].qpn, Qpn{1});
}
// A completed Read returns its sink to the owner: segments accepted before the end was known must be out.
TEST_F(RdmapDispatchTest, TheEndOfAReadWaitsForWhatIsPlacedEarly) {
  contexts.in_flight.begin(StagWrites::kEarly);
  contexts.in_flight.commit();
  firmware.at(20, [&] { contexts.in_flight.begin(StagWrites::kEarly); });  // this one knows of the end
  firmware.at(30, [&] { contexts.in_flight.end(StagWrites::kEarly); });
  firmware.at(60, [&] { contexts.in_flight.end(StagWrites::kEarly); });
  placement.send({send(1), read_end(), send(2)});
  run_until_idle();
  EXPECT_THAT(reads_over.cycles(), ElementsAre(kThrough + 1));
  EXPECT_THAT(reads_done.cycles(), ElementsAre(30 + kAfterWait));
  EXPECT_THAT(cqes.cycles(), ElementsAre(kThrough, 31 + kAfterWait));
}
TEST_F(RdmapDispatchTest, ASendWithInvalidateWaitsForWhatIsPlacedEarly) {
  contexts.in_flight.begin(StagWrites::kEarly);
  contexts.in_flight.commit();
  firmware.at(30, [&] { contexts.in_flight.end(StagWrites::kEarly); });
  placement.send({send(1), send(2, Opcode::kSendInvalidate)});
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(kThrough, 30 + kAfterWait));
}

TEST_F(RdmapDispatchTest, TheEndIsToldBehindTheLastDelivery) {
  PlacedSegment last = send(1);
  last.awaits_write = true;
  contexts.in_flight.begin(StagWrites::kPlacement);
  placement.send({last, end_of(3, true)});
  engine.send_at(40, DmaWriteDone{});
  run_until_idle();
  EXPECT_THAT(cqes.cycles(), ElementsAre(40 + kThrough));
  EXPECT_THAT(ends.cycles(), ElementsAre(41 + kThrough));
  EXPECT_EQ(ends[0].flow, FlowId{3});
  EXPECT_THAT(sctp_ends, IsEmpty());
  ASSERT_EQ(events.size(), 2u);  // after the first FPDU's
  EXPECT_EQ(events[1].kind, QpEvent::Kind::kPeerClosed);
  EXPECT_EQ(events[1].qpn, Qpn{1});
  EXPECT_EQ(events.cycles()[1], 41 + kThrough);
  ASSERT_EQ(unblocks.size(), 2u);
  EXPECT_EQ(unblocks[1].kind, TxUnblock::Kind::kPeerClosed);
  ASSERT_EQ(reads_done.size(), 1u);
  EXPECT_TRUE(reads_done[0].closed);
}
TEST_F(RdmapDispatchTest, TheEndOfASessionIsToldToSctpAndWhetherTheFirmwareHearsOfIt) {
  PlacedSegment heard = end_of(3, true), unheard = end_of(2, false);
  heard.llp = unheard.llp = LlpId::kSctp;
  placement.send({heard, unheard});
  run_until_idle();
  EXPECT_THAT(ends, IsEmpty());
  EXPECT_EQ(sctp_ends.cycles(), in_a_row(kToEnd + kToEnd, 2));
  EXPECT_EQ(sctp_ends[0].flow, FlowId{3});
  EXPECT_TRUE(sctp_ends[0].told);
  EXPECT_EQ(sctp_ends[1].flow, FlowId{2});
  EXPECT_FALSE(sctp_ends[1].told);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kPeerClosed);
}
TEST_F(RdmapDispatchTest, OfASessionWhoseQpIsGoneTheFirmwareHearsFromSctp) {
  PlacedSegment end = end_of(3, true);
  end.llp = LlpId::kSctp;
  QpContext gone = rts_qp(1);
  gone.valid = false;
  contexts.write(Qpn{1}, gone);
  contexts.commit();
  placement.send(end);
  run_until_idle();
  ASSERT_EQ(sctp_ends.size(), 1u);
  EXPECT_FALSE(sctp_ends[0].told);
  EXPECT_THAT(events, IsEmpty());
}
TEST_F(RdmapDispatchTest, TheEndIsNoFirstFpdu) {
  placement.send(end_of(3, true));
  run_until_idle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, QpEvent::Kind::kPeerClosed);
}
TEST_F(RdmapDispatchTest, OfAnEndBehindAnErrorOnlyTcpHears) {
  placement.send(end_of(3, false));
  run_until_idle();
  EXPECT_EQ(ends.size(), 1u);
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(unblocks, IsEmpty());
}
TEST_F(RdmapDispatchTest, ARequestIsAnnouncedToTheTransmitSide) {
  placement.send({segment(Opcode::kReadRequest), segment(Opcode::kAtomicRequest)});
  run_until_idle();
  ASSERT_EQ(unblocks.size(), 3u);  // the first FPDU's, and one each
  EXPECT_EQ(unblocks[1].kind, TxUnblock::Kind::kRequest);
  EXPECT_EQ(unblocks[2].kind, TxUnblock::Kind::kRequest);
  EXPECT_EQ(unblocks.cycles()[1], read_requests.cycles()[0]);
}

// ---- Octets without a page

TEST_F(RdmapDispatchTest, AMessageWithoutAPageCompletesInErrorAndEndsItsStream) {
  PlacedSegment lost = send(7);
  lost.awaits_write = true;
  placement.send({send(6), lost, send(8), segment(Opcode::kReadResponse), segment(Opcode::kReadRequest)});
  engine.send({0, false});
  run_until_idle();
  ASSERT_EQ(cqes.size(), 3u);
  EXPECT_EQ(cqes[0].cqe.status, abi::WcStatus::kSuccess);
  EXPECT_EQ(cqes[1].cqe.status, abi::WcStatus::kLocQpOpErr);
  EXPECT_EQ(cqes[1].cqe.wr_id, 7u);
  EXPECT_EQ(cqes[2].cqe.status, abi::WcStatus::kLocQpOpErr) << "nothing behind it is delivered";
  EXPECT_THAT(reads_done, IsEmpty());
  EXPECT_THAT(read_requests, IsEmpty());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, QpEvent::Kind::kStreamError);
  EXPECT_EQ(errors[0].cause, wire::ddp::kLocalCatastrophic);
  EXPECT_EQ(dut.counters().lost, 4u);
}

TEST_F(RdmapDispatchTest, OtherStreamsAndTheNumbersNextLifeGoOnAfterALoss) {
  placement.send({segment(Opcode::kWrite, 1, true), segment(Opcode::kSend, 2)});
  engine.send({0, false});
  firmware.at(50, [this] { open_qp(contexts, 1, rts_qp(1, 2)); });
  placement.reuse(1);
  placement.send_at(60, send(9));
  run_until_idle();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].cqe.qpn, 2u);
  EXPECT_EQ(cqes[1].cqe.status, abi::WcStatus::kSuccess);
  EXPECT_EQ(errors.size(), 1u);
}

TEST_F(RdmapDispatchTest, AfterALossReceiveRequestsAreStillFlushedAndThePeersEndIsPassedOn) {
  PlacedSegment flushed = send(3), end;
  flushed.flushed = true;
  end.qpn = Qpn{1};
  end.ended = end.in_order = true;
  placement.send({segment(Opcode::kWrite, 1, true), flushed, end});
  engine.send({0, false});
  run_until_idle();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].cqe.status, abi::WcStatus::kWrFlushErr);
  EXPECT_EQ(ends.size(), 1u);
}

}  // namespace
}  // namespace rnic::test
