#include "model/rnic/completion/cqe_writer.h"

#include <cstring>

#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CqeRequest entry(std::uint64_t wr_id, std::uint32_t cqn = 1, bool solicited = false) {
  CqeRequest r;
  r.cqn = Cqn{cqn};
  r.cqe.wr_id = wr_id;
  r.cqe.flags = solicited ? abi::kCqeSolicited : 0;
  return r;
}
constexpr bool kSolicitedOnly = true;

// CQ 1 has 4 entries at 0x1000, CQ 2 has 2048 at 0x8000.
class CqeWriterTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  CqeWriter dut{"dut", clk, contexts};  // its buffers outlive what the sinks hold
  Link<CqeRequest> receive{"receive", clk, {2, 1, 1}};
  Link<CqeRequest> send{"send", clk, {2, 1, 1}};
  Link<CqArm> arm{"arm", clk, {2, 1, 1}};
  Link<DmaWriteRequest> dma{"dma", clk, {2, 1, 1}};
  Link<CqNotify> notify{"notify", clk, {2, 1, 1}};
  Source<CqeRequest> receives{"receives", clk};
  Source<CqeRequest> sends{"sends", clk};
  Source<CqArm> host{"host", clk};
  Sink<DmaWriteRequest> writes{"writes", clk};
  Sink<CqNotify> notified{"notified", clk};
  At firmware{"firmware", clk};

  CqeWriterTest() {
    receives.out(receive);
    sends.out(send);
    host.out(arm);
    dut.receive(receive);
    dut.send(send);
    dut.arm(arm);
    dut.dma(dma);
    dut.notify(notify);
    writes.in(dma);
    notified.in(notify);
    contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1});
    contexts.write(Cqn{2}, CqContext{true, 11, 0x8000, 1});
    contexts.commit();
  }
  abi::Cqe cqe(unsigned i) const {
    const DmaWriteRequest& w = writes.beats()[i];
    abi::Cqe c;
    std::memcpy(&c, w.src->bytes() + w.src_offset, sizeof c);
    return c;
  }
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> a;
    for (const DmaWriteRequest& w : writes.beats()) a.push_back(w.address);
    return a;
  }
  std::vector<unsigned> phases() const {
    std::vector<unsigned> p;
    for (unsigned i = 0; i < writes.beats().size(); ++i) p.push_back(cqe(i).phase);
    return p;
  }
  void produce(unsigned n, std::uint32_t cqn = 1, Cycle from = 0) {
    for (unsigned i = 0; i < n; ++i) receives.script({entry(i, cqn)}, from);
  }
};

TEST_F(CqeWriterTest, AnEntryIsWrittenInTheCycleItCameOneACycle) {
  produce(3);
  run_until_idle();
  EXPECT_THAT(writes.cycles(), ElementsAre(2, 3, 4));
  EXPECT_EQ(writes.beats()[0].bytes, 32u);
}

TEST_F(CqeWriterTest, ThePhaseFlipsEachTimeTheRingWraps) {
  produce(9);
  run_until_idle();
  EXPECT_THAT(addresses(), ElementsAre(0x1000, 0x1020, 0x1040, 0x1060, 0x1000, 0x1020, 0x1040, 0x1060, 0x1000));
  EXPECT_THAT(phases(), ElementsAre(1, 1, 1, 1, 0, 0, 0, 0, 1));
}

TEST_F(CqeWriterTest, TheEntryAsTheHostSeesIt) {
  CqeRequest r = entry(0x1122334455667788, 1, true);
  r.cqe.byte_len = 0x01020304;
  r.cqe.qpn = 5;
  r.cqe.opcode = abi::WcOpcode::kRecv;
  r.cqe.status = abi::WcStatus::kLocProtErr;
  r.cqe.immediate = 0xaabb;
  receives.script({r});
  run_until_idle();
  const std::uint8_t* at = writes.beats()[0].src->bytes();
  const std::vector<std::uint8_t> expected{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xbb, 0xaa, 0,
                                           0,    0,    0,    0,    0,    4,    3,    2,    1,    5,    0,
                                           0,    0,    0,    0,    0,    0,    128,  4,    1,    1};
  EXPECT_EQ(std::vector<std::uint8_t>(at, at + 32), expected);
}

TEST_F(CqeWriterTest, SendAndReceiveCompletionsTakeTurns) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    receives.script({entry(i)});
    sends.script({entry(100 + i)});
  }
  run_until_idle();
  std::vector<std::uint64_t> ids;
  for (unsigned i = 0; i < 6; ++i) ids.push_back(cqe(i).wr_id);
  EXPECT_THAT(ids, ElementsAre(0, 100, 1, 101, 2, 102));
}

// Arming.
TEST_F(CqeWriterTest, AnArmedQueueIsNotifiedOnce) {
  host.script({{Cqn{1}, false, 0}});
  produce(2, 1, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(12));
  EXPECT_EQ(notified.beats()[0].cqn, Cqn{1});
}
TEST_F(CqeWriterTest, ArmingBehindAnEntryThatTheHostHasNotSeenNotifiesAtOnce) {
  produce(2);
  host.script({{Cqn{1}, false, 1}}, 20);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(22));
}
TEST_F(CqeWriterTest, ArmingWithAllSeenWaits) {
  produce(2);
  host.script({{Cqn{1}, false, 2}}, 20);
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
}
TEST_F(CqeWriterTest, AnArmAndAnEntryOfOneCycleNotify) {
  produce(1);
  host.script({{Cqn{1}, false, 0}});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(3));
  EXPECT_THAT(writes.cycles(), ElementsAre(3));  // the arm goes first and takes the cycle
}
TEST_F(CqeWriterTest, SolicitedOnlyPassesOverOthers) {
  host.script({{Cqn{1}, kSolicitedOnly, 0}});
  receives.script({entry(1), entry(2, 1, true)}, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(13));
}
TEST_F(CqeWriterTest, AnErrorCountsAsSolicited) {
  host.script({{Cqn{1}, kSolicitedOnly, 0}});
  CqeRequest bad = entry(1);
  bad.cqe.status = abi::WcStatus::kWrFlushErr;
  sends.script({bad}, 10);
  run_until_idle();
  EXPECT_EQ(notified.beats().size(), 1u);
}
TEST_F(CqeWriterTest, ASolicitedEntryNotSeenNotifiesAtOnceASeenOneDoesNot) {
  receives.script({entry(1), entry(2, 1, true), entry(3)});
  host.script({{Cqn{1}, kSolicitedOnly, 2}}, 20);  // only the third is new
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
  host.script({{Cqn{1}, kSolicitedOnly, 1}}, clk.now() + 10);
  run_until_idle();
  EXPECT_EQ(notified.beats().size(), 1u);
}
TEST_F(CqeWriterTest, MoreThanHalfTheIndexUnseenStillNotifies) {
  produce(1500, 2);
  host.script({{Cqn{2}, false, 0}}, 2000);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(2002));
}
TEST_F(CqeWriterTest, ASolicitedEntryLongAgoIsNotTakenForANewOne) {
  receives.script({entry(0, 2, true)});
  produce(1500, 2);
  host.script({{Cqn{2}, kSolicitedOnly, 1501}}, 2000);
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
}
TEST_F(CqeWriterTest, TheConsumerIndexWraps) {
  produce(2050, 2);
  host.script({{Cqn{2}, false, 2}}, 3000);
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
  produce(1, 2, clk.now() + 1);
  run_until_idle();
  EXPECT_EQ(notified.beats().size(), 1u);
}

// Numbers that come from the host or belong to the past.
TEST_F(CqeWriterTest, ArmDoorbellsThatNameNoCqAreDropped) {
  host.script({{Cqn{3}, false, 0}, {Cqn{4}, false, 0}, {Cqn{0xffffff}, true, 5}});
  run_until_idle();
  EXPECT_EQ(dut.stray_doorbells().value(), 3u);
}
TEST_F(CqeWriterTest, AnEntryForADestroyedCqIsDropped) {
  receives.script({entry(1, 3), entry(2, 1)});
  run_until_idle();
  ASSERT_EQ(writes.beats().size(), 1u);
  EXPECT_EQ(cqe(0).wr_id, 2u);
}
TEST_F(CqeWriterTest, AReusedCqStartsAnew) {
  produce(6);
  host.script({{Cqn{1}, false, 6}}, 10);
  firmware.at(20, [this] { contexts.write(Cqn{1}, CqContext{true, 2, 0x4000, 2}); });
  receives.pause(window(6, 30));
  produce(1);
  run_until_idle();
  EXPECT_EQ(addresses().back(), 0x4000u);
  EXPECT_EQ(phases().back(), 1u);
  EXPECT_THAT(notified.beats(), IsEmpty());
}

class ShuffledCqeTest : public CqeWriterTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledCqeTest, BackpressureAndTheOrderOfCallsLoseNothing) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  writes.pause(every(5, 3));
  notified.pause(every(7, 6));
  host.pause(every(6, 5));
  for (std::uint64_t i = 0; i < 10; ++i) {
    receives.script({entry(i)});
    sends.script({entry(100 + i)});
    host.script({{Cqn{1}, false, 0}});
  }
  run_until_idle();
  ASSERT_EQ(writes.beats().size(), 20u);
  EXPECT_EQ(addresses().back(), 0x1060u);
  EXPECT_EQ(writes.cycles().back(), 88u);
  EXPECT_EQ(notified.beats().size(), 10u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledCqeTest, testing::Values(0, 1, 2));

TEST_F(CqeWriterTest, AnIdleStageIsNotCalled) {
  produce(1, 1, 7000);
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 4u);
}

}  // namespace
}  // namespace rnic::test
