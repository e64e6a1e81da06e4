#include "testbench/unit/why/hand_made_run.h"

namespace rnic::test {
namespace {

using testing::HasSubstr;
using why::Symptom;

// The frame of a.0.1 comes at 1,500 ns, and tcp_rx takes it 600 ns later. Placement rests meanwhile, until it has the
// receive request b.rq0.4 of a.0.0, whose first segment came at 1,450.
class KeptFrameTest : public testing::Test {
 protected:
  const RequestId held = HandMadeRun::send(a, 1), message = HandMadeRun::send(a, 0), used = HandMadeRun::receive(b, 4);
  HandMadeRun run;

  KeptFrameTest() {
    run.event(1000, a, TraceKind::kPosted, {held});
    run.event(1100, a, TraceKind::kWqeFetched, {held, "write"});
    run.event(1120, a, TraceKind::kSegmented, {held, "", 0, 100});
    run.event(1180, a, TraceKind::kFrameSent, {held, "", 0, 154});
    run.frame(1500, a, held, {100, 7, 100, 0});
    run.event(2100, b, TraceKind::kFrameReceived, {held, "", 0, 154});
    run.frame(2300, b, {}, {7, 200});
    run.event(2320, a, TraceKind::kCompleted, {held});
    run.event(2340, a, TraceKind::kPolled, {held});
  }
  void receive_request(std::uint64_t posted_ns, std::uint64_t fetched_ns) {
    run.event(1450, b, TraceKind::kCrcChecked, {message, "", 0});
    run.event(posted_ns, b, TraceKind::kPosted, {used});
    run.event(fetched_ns, b, TraceKind::kWqeFetched, {used});
    run.event(2090, b, TraceKind::kPlaced, {message, "", TraceEvent::kNone, 100});
    run.event(2095, b, TraceKind::kCompleted, {message, "", TraceEvent::kNone, 100, "cqes", used});
  }
};

TEST_F(KeptFrameTest, WhatHeldItMayNotBeRecorded) {
  EXPECT_THAT(run.cause(Symptom::kSlow),
              HasSubstr("not recorded mac_rx: mac_rx of b kept the last frame of a.0.1 for 0.600 us"));
}

TEST_F(KeptFrameTest, AReceiveRequestThatWasFetchedAfterItsMessageHadCome) {
  receive_request(1200, 2080);
  const why::Answer answer = run.answer(Symptom::kSlow);
  EXPECT_THAT(
      HandMadeRun::text_of(answer),
      HasSubstr("setting receive_fetch: mac_rx of b kept the last frame of a.0.1 for 0.600 us: b.rq0.4 was fetched "
                "0.880 us after it was posted, 0.630 us after a.0.0 had come"));
  EXPECT_EQ(answer.cause->frame, 1u);
  EXPECT_EQ(answer.cause->setting, "nodes.b.rnic.rx.rqe_fetch.prefetch");
}

TEST_F(KeptFrameTest, MemoryIfThatIsHalfOfTheWaitForTheFetch) {
  run.setting("b", "host.root_complex.memory_read_ns", 315);
  receive_request(1200, 2080);
  EXPECT_THAT(run.cause(Symptom::kSlow), HasSubstr("setting memory: "));
}

TEST_F(KeptFrameTest, AReceiveRequestThatWasPostedLate) {
  receive_request(1460, 2080);
  EXPECT_THAT(run.cause(Symptom::kSlow),
              HasSubstr("program receive_late: mac_rx of b kept the last frame of a.0.1 for 0.600 us: "
                        "b.rq0.4 was posted after its message had come"));
}

TEST_F(KeptFrameTest, OneThatWasFetchedInTimeHeldNothing) {
  receive_request(1200, 1440);
  EXPECT_THAT(run.cause(Symptom::kSlow), HasSubstr("not recorded mac_rx: "));
}

// 24 octets a cycle of 100 ns: seven cycles for a frame of 154.
TEST_F(KeptFrameTest, TheDatapathIfItWasBusyMeanwhile) {
  run.setting("b", "rnic.datapath.beat_bytes", 24);
  run.setting("b", "rnic.clock_period_ps", 100'000);
  EXPECT_THAT(run.cause(Symptom::kSlow), HasSubstr("setting datapath: "));
}

// Writes of 100 octets in 128 on the wire, each octet of which takes 4 ns, in 512 of 600 ns: no limit yet.
TEST_F(KeptFrameTest, TheLinkToTheHostIfItWasBusyMeanwhile) {
  run.setting("b", "rnic.pcie.link.generation", 1);
  run.setting("b", "rnic.pcie.link.width", 1);
  run.setting("b", "rnic.pcie.link.dllp_bytes_per_tlp", 4);
  run.event(1510, b, TraceKind::kTlpWrite, {message, "", TraceEvent::kNone, 100, "pcie.upstream"});
  EXPECT_THAT(run.cause(Symptom::kSlow), HasSubstr("not recorded mac_rx: "));
}

TEST_F(KeptFrameTest, TheLinkToTheHostIfItWasBusyForNineTenths) {
  run.setting("b", "rnic.pcie.link.generation", 1);
  run.setting("b", "rnic.pcie.link.width", 1);
  run.setting("b", "rnic.pcie.link.dllp_bytes_per_tlp", 4);
  run.event(1510, b, TraceKind::kTlpWrite, {message, "", TraceEvent::kNone, 108, "pcie.upstream"});
  EXPECT_THAT(run.cause(Symptom::kSlow), HasSubstr("setting pcie_link: "));
}

TEST_F(KeptFrameTest, CreditsIfWritesWaitedWithTheLinkFree) {
  run.event(1490, b, TraceKind::kPlaced, {message, "", TraceEvent::kNone, 100});
  run.event(1900, b, TraceKind::kTlpWrite, {message, "", TraceEvent::kNone, 100, "pcie.upstream"});
  run.setting("b", "rnic.pcie.link.generation", 4);
  run.setting("b", "rnic.pcie.link.width", 16);
  EXPECT_THAT(run.cause(Symptom::kSlow), HasSubstr("setting posted_credits: "));
}

// An acknowledgement that its own node keeps from 1,900 to 2,500.
TEST(KeptAcknowledgementTest, IsTakenInTheOrderInWhichItsOwnersFramesCame) {
  HandMadeRun run;
  const RequestId flow{2, RequestId::Kind::kFlow, 0, 0, 0}, id = HandMadeRun::send(a, 1);
  run.frame(1450, b, flow, {7, 100});
  run.event(1460, a, TraceKind::kFrameReceived, {flow});
  run.event(1000, a, TraceKind::kPosted, {id});
  run.event(1180, a, TraceKind::kSegmented, {id, "", 0, 100});
  run.event(1180, a, TraceKind::kFrameSent, {id, "", 0, 154});
  run.frame(1500, a, id, {100, 7, 100, 0});
  run.event(1500, b, TraceKind::kFrameReceived, {id, "", 0, 154});
  run.frame(1900, b, flow, {7, 200});
  run.event(2500, a, TraceKind::kFrameReceived, {flow});
  run.event(2510, a, TraceKind::kCompleted, {id});
  run.event(2520, a, TraceKind::kPolled, {id});
  EXPECT_THAT(run.cause(Symptom::kSlow),
              HasSubstr("not recorded mac_rx: mac_rx of a kept the acknowledgement of a.0.1 for 0.600 us"));
}

}  // namespace
}  // namespace rnic::test
