#include "model/rnic/completion/cqe_writer.h"

#include <cstring>
#include <functional>

#include "model/common/bytes.h"
#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using abi::WcStatus;
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

// Host memory as far as the stage reads it: a request seen in cycle c is answered in cycle c + latency, with what the
// host's program says then.
class HostRecords final : public Stage {
 public:
  PopPort<DmaReadRequest> in{*this, "in"};
  PushPort<DmaReadDone> out{*this, "out"};
  std::function<std::uint32_t(std::uint64_t)> taken;  // by the address of the record
  Cycle latency = 10;
  bool ok = true;

  HostRecords(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  const std::vector<std::uint64_t>& addresses() const { return addresses_; }
  const std::vector<Cycle>& cycles() const { return cycles_; }

  Wake tick() override {
    if (in->can_pop()) {
      request_ = in->pop();
      EXPECT_EQ(request_.bytes, 4u);
      addresses_.push_back(request_.address);
      cycles_.push_back(now());
      due_ = now() + latency;
    }
    if (due_ != kNever && due_ <= now() && out->can_push()) {
      store_le32(request_.dst, taken(request_.address));
      out->push({request_.tag, ok});
      due_ = kNever;
    }
    return due_ == kNever ? Wake::on_traffic() : Wake::at_cycle(due_);
  }

 private:
  DmaReadRequest request_;
  Cycle due_ = kNever;
  std::vector<std::uint64_t> addresses_;
  std::vector<Cycle> cycles_;
};

// CQ 1 has 4 entries at 0x1000, CQ 2 has 1024 at 0x8000. The host takes entries as they come unless a test says so.
class CqeWriterTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  CqeWriter dut{"dut", clk, contexts};  // its buffers outlive what the sinks hold
  Link<CqeRequest> receive{"receive", clk, {2, 1, 1}};
  Link<CqeRequest> send{"send", clk, {2, 1, 1}};
  Link<CqArm> arm{"arm", clk, {2, 1, 1}};
  Link<DmaWriteRequest> dma{"dma", clk, {2, 1, 1}};
  Link<CqNotify> notify{"notify", clk, {2, 1, 1}};
  Link<DmaReadRequest> read_record{"read_record", clk, {2, 1, 1}};
  Link<DmaReadDone> record_read{"record_read", clk, {2, 1, 1}};
  Link<CqOverflow> overflow{"overflow", clk, {2, 1, 1}};
  Source<CqeRequest> receives{"receives", clk};
  Source<CqeRequest> sends{"sends", clk};
  Source<CqArm> host{"host", clk};
  Sink<DmaWriteRequest> writes{"writes", clk};
  Sink<CqNotify> notified{"notified", clk};
  HostRecords records{"records", clk};
  Sink<CqOverflow> overflows{"overflows", clk};
  At firmware{"firmware", clk};
  static constexpr std::uint64_t kRecord1 = 0x1000 + 4 * 32, kRecord2 = 0x8000 + 1024 * 32;

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
    dut.read_record(read_record);
    records.in(read_record);
    records.out(record_read);
    dut.record_read(record_read);
    dut.overflow(overflow);
    overflows.in(overflow);
    records.taken = [this](std::uint64_t record) { return written_to(record); };
    contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1});
    contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 1});
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
  // Entries that the sink has of the ring before a record.
  std::uint32_t written_to(std::uint64_t record) const {
    const std::uint64_t base = record == kRecord1 ? 0x1000 : 0x8000;
    std::uint32_t n = 0;
    for (const DmaWriteRequest& w : writes.beats()) n += w.address >= base && w.address < record;
    return n;
  }
  void host_takes(std::uint32_t n) {
    records.taken = [n](std::uint64_t) { return n; };
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
TEST_F(CqeWriterTest, AFullRingUnseenNotifies) {
  produce(1024, 2);
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
  host.script({{Cqn{2}, false, 2}}, 4000);
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
  produce(1, 2, clk.now() + 1);
  run_until_idle();
  EXPECT_EQ(notified.beats().size(), 1u);
}

TEST_F(CqeWriterTest, ASecondArmNotifiesNoTwice) {
  host.script({{Cqn{1}, false, 0}, {Cqn{1}, false, 0}});
  produce(2, 1, 10);
  run_until_idle();
  EXPECT_EQ(notified.beats().size(), 1u);
}
TEST_F(CqeWriterTest, AnArmForAnySurvivesOneForSolicitedOnly) {
  host.script({{Cqn{1}, false, 0}, {Cqn{1}, kSolicitedOnly, 0}});
  produce(1, 1, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(12));
}
TEST_F(CqeWriterTest, AnArmForAnyWidensOneForSolicitedOnly) {
  host.script({{Cqn{1}, kSolicitedOnly, 0}, {Cqn{1}, false, 0}});
  produce(1, 1, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(12));
}
TEST_F(CqeWriterTest, AnArmBehindANotificationIsANewOne) {
  host.script({{Cqn{1}, false, 0}});
  produce(1, 1, 10);
  host.pause(window(1, 30));
  host.script({{Cqn{1}, kSolicitedOnly, 1}});  // the wish for any was granted, and is over
  sends.script({entry(1), entry(2, 1, true)}, 50);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(12, 53));
}

// An arm comes so many cycles after an entry, which the host has not seen.
enum class Kind { kPlain, kSolicited, kError };
class ArmRace : public CqeWriterTest, public testing::WithParamInterface<std::tuple<int, Kind, bool, bool>> {};
TEST_P(ArmRace, NotifiesOnceInTheCycleOfWhicheverIsLater) {
  const auto [distance, kind, solicited_only, on_send_side] = GetParam();
  constexpr Cycle kAt = 21;  // at the stage
  CqeRequest r = entry(1, 1, kind == Kind::kSolicited);
  if (kind == Kind::kError) r.cqe.status = WcStatus::kWrFlushErr;
  (on_send_side ? sends : receives).script({r}, kAt - 1);
  const Cycle armed = static_cast<Cycle>(static_cast<int>(kAt) + distance);
  host.script({{Cqn{1}, solicited_only, 0}}, armed - 1);
  run_until_idle();
  const Cycle written = distance == 0 ? kAt + 1 : kAt;  // the arm takes the cycle
  EXPECT_THAT(writes.cycles(), ElementsAre(written + 1));
  if (solicited_only && kind == Kind::kPlain) {
    EXPECT_THAT(notified.beats(), IsEmpty());
  } else {
    EXPECT_THAT(notified.cycles(), ElementsAre(std::max(written, armed) + 1));
  }
}
INSTANTIATE_TEST_SUITE_P(Cycles, ArmRace,
                         testing::Combine(testing::Range(-3, 4),
                                          testing::Values(Kind::kPlain, Kind::kSolicited, Kind::kError),
                                          testing::Bool(), testing::Bool()));

// The host has polled one entry and arms behind it, while a second one comes.
class SecondEntryRace : public CqeWriterTest, public testing::WithParamInterface<int> {};
TEST_P(SecondEntryRace, OnlyWhatTheHostHasNotSeenNotifies) {
  const auto second = static_cast<Cycle>(21 + GetParam());
  receives.script({entry(1)});
  receives.pause(window(1, second - 1));
  receives.script({entry(2)});
  host.script({{Cqn{1}, false, 1}}, 20);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(std::max<Cycle>(second + (GetParam() == 0), 21) + 1));
}
INSTANTIATE_TEST_SUITE_P(Cycles, SecondEntryRace, testing::Range(-3, 4));

// A program that sleeps until it is notified, takes what is there, arms behind it and looks once more.
class Sleeper final : public Stage {
 public:
  PopPort<CqNotify> notify{*this, "notify"};
  PushPort<CqArm> arm{*this, "arm"};
  std::function<std::uint32_t()> written;
  std::uint32_t seen = 0, arms = 0, notifications = 0;

  Sleeper(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) { wake(0); }
  Wake tick() override {
    if (notify->can_pop()) {
      notify->pop();
      ++notifications;
      seen = written();
      armed_ = false;
    }
    if (armed_ || !arm->can_push()) return Wake::on_traffic();
    arm->push({Cqn{2}, false, seen & 0x7ff});
    ++arms;
    armed_ = true;
    return Wake::on_traffic();
  }

 private:
  bool armed_ = false;
};
class SleeperTest : public StageTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(SleeperTest, SeesEveryEntryAndIsWokenOnceForEachArm) {
  clk.shuffle(GetParam());
  ContextStore contexts{clk, {4, 4, 4, 4}};
  CqeWriter dut{"dut", clk, contexts};
  Link<CqeRequest> receive{"receive", clk, {2, 1, 1}}, send{"send", clk, {2, 1, 1}};
  Link<CqArm> arm{"arm", clk, {2, 1, 1}};
  Link<DmaWriteRequest> dma{"dma", clk, {2, 1, 1}};
  Link<CqNotify> notify{"notify", clk, {2, 1 + static_cast<unsigned>(GetParam() % 5), 1}};
  Link<DmaReadRequest> read_record{"read_record", clk, {2, 1, 1}};
  Link<DmaReadDone> record_read{"record_read", clk, {2, 1, 1}};
  Link<CqOverflow> overflow{"overflow", clk, {2, 1, 1}};
  Source<CqeRequest> receives{"receives", clk}, sends{"sends", clk};
  Sink<DmaWriteRequest> writes{"writes", clk};
  HostRecords records{"records", clk};
  Sink<CqOverflow> overflows{"overflows", clk};
  Sleeper sleeper{"sleeper", clk};
  receives.out(receive), dut.receive(receive), sends.out(send), dut.send(send), sleeper.arm(arm), dut.arm(arm);
  dut.dma(dma), writes.in(dma), dut.notify(notify), sleeper.notify(notify), dut.overflow(overflow);
  dut.read_record(read_record), records.in(read_record), records.out(record_read), dut.record_read(record_read);
  overflows.in(overflow);
  contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 1});
  contexts.commit();
  records.taken = [&](std::uint64_t) { return sleeper.seen; };
  sleeper.written = [&] { return static_cast<std::uint32_t>(writes.beats().size()); };
  Prng prng(GetParam());
  receives.pause(every(static_cast<unsigned>(3 + prng.below(9)), static_cast<unsigned>(1 + prng.below(2))));
  sends.pause(every(static_cast<unsigned>(5 + prng.below(9)), static_cast<unsigned>(1 + prng.below(4))));
  for (std::uint64_t i = 0; i < 400; ++i) (prng.below(2) != 0 ? receives : sends).script({entry(i, 2)});
  run_until_idle();
  EXPECT_EQ(writes.beats().size(), 400u);
  EXPECT_EQ(sleeper.seen, 400u);
  EXPECT_EQ(sleeper.arms, sleeper.notifications + 1) << "the last arm waits";
}
INSTANTIATE_TEST_SUITE_P(Seeds, SleeperTest, testing::Range<std::uint64_t>(1, 17));

// Moderation. A cycle is 4 ns.
class ModeratedCq : public CqeWriterTest {
 protected:
  ModeratedCq() { moderate(3, 400); }
  void moderate(std::uint16_t count, std::uint32_t ns) {
    contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 1, count, ns});
    contexts.commit();
  }
  // An arm at the stage in cycle 1, entries from cycle 11 on, one a cycle.
  void arm_and_produce(unsigned entries) {
    host.script({{Cqn{2}, false, 0}});
    produce(entries, 2, 10);
  }
};
TEST_F(ModeratedCq, EnoughEntriesNotifyAtOnce) {
  arm_and_produce(5);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(14));  // with the third
}
TEST_F(ModeratedCq, FewerNotifyThePeriodAfterTheFirst) {
  arm_and_produce(2);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(11 + 100 + 1));
}
TEST_F(ModeratedCq, ThePeriodIsRoundedUpToACycle) {
  moderate(0, 401);
  arm_and_produce(1);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(11 + 101 + 1));
}
TEST_F(ModeratedCq, WithoutACountAnyNumberWaitsForThePeriod) {
  moderate(0, 400);
  arm_and_produce(50);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(11 + 100 + 1));
}
TEST_F(ModeratedCq, ACountOfOneOrNoPeriodIsNone) {
  for (const auto& [count, ns] : {std::pair<std::uint16_t, std::uint32_t>{1, 400}, {0, 0}, {1, 0}}) {
    moderate(count, ns);
    const Cycle at = clk.now() + 10;
    const auto seen = static_cast<std::uint32_t>(writes.beats().size());
    host.script({{Cqn{2}, false, seen}}, at);
    receives.script({entry(1, 2)}, at + 10);
    run_until_idle();
    EXPECT_EQ(notified.cycles().back(), at + 12);
  }
}
TEST_F(ModeratedCq, AQueueThatIsNotArmedStartsNoPeriod) {
  produce(5, 2, 10);
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
  EXPECT_LT(clk.now(), 100u);
}
TEST_F(ModeratedCq, AnArmCountsWhatTheHostHasNotSeen) {
  produce(4, 2);
  host.script({{Cqn{2}, false, 2}}, 20);  // two are owed
  receives.pause(window(4, 50));
  sends.script({entry(9, 2)}, 50);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(52));
}
TEST_F(ModeratedCq, AnArmWithEnoughUnseenNotifiesAtOnce) {
  produce(4, 2);
  host.script({{Cqn{2}, false, 1}}, 20);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(22));
}
TEST_F(ModeratedCq, AnArmThatHasSeenAllCancelsWhatWasOwed) {
  arm_and_produce(2);
  host.pause(window(1, 40));
  host.script({{Cqn{2}, false, 2}});
  sends.script({entry(9, 2)}, 200);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(201 + 100 + 1));
}
TEST_F(ModeratedCq, ASecondArmDoesNotPostponeThePeriod) {
  arm_and_produce(2);
  host.pause(window(1, 40));
  host.script({{Cqn{2}, false, 1}});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(11 + 100 + 1));
}
TEST_F(ModeratedCq, SolicitedOnlyCountsSolicitedOnes) {
  host.script({{Cqn{2}, kSolicitedOnly, 0}});
  receives.script({entry(1, 2), entry(2, 2, true), entry(3, 2), entry(4, 2), entry(5, 2, true), entry(6, 2, true)}, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(17));  // with the sixth
}
// At each cycle around the end of the period: one notification, and it takes the cycle.
class PeriodEnd : public ModeratedCq, public testing::WithParamInterface<int> {};
TEST_P(PeriodEnd, AnEntryNeverDoublesTheNotification) {
  moderate(2, 400);
  arm_and_produce(1);
  const auto second = static_cast<Cycle>(111 + GetParam());  // at the stage; the period ends in 111
  sends.script({entry(9, 2)}, second - 1);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(std::min<Cycle>(second, 111) + 1));
  EXPECT_EQ(writes.cycles().back(), second + (GetParam() == 0) + 1);
}
TEST_P(PeriodEnd, AnArmIsForThatNotificationOrTheNext) {
  arm_and_produce(1);
  const auto again = static_cast<Cycle>(111 + GetParam());
  host.pause(window(1, again - 1));
  host.script({{Cqn{2}, false, 0}});
  run_until_idle();
  if (GetParam() < 0) {
    EXPECT_THAT(notified.cycles(), ElementsAre(112));
  } else {
    EXPECT_THAT(notified.cycles(), ElementsAre(112, again + (GetParam() == 0) + 100 + 1));  // the host saw nothing
  }
}
INSTANTIATE_TEST_SUITE_P(Cycles, PeriodEnd, testing::Range(-3, 4));

TEST_F(ModeratedCq, QueuesHavePeriodsOfTheirOwn) {
  contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1, 0, 80});
  contexts.commit();
  host.script({{Cqn{1}, false, 0}, {Cqn{2}, false, 0}});
  receives.script({entry(1, 2), entry(2, 1)}, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(12 + 20 + 1, 11 + 100 + 1));
  EXPECT_EQ(notified.beats()[0].cqn, Cqn{1});
}
TEST_F(ModeratedCq, PeriodsThatEndTogetherNotifyInTurn) {
  contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1, 0, 396});
  contexts.commit();
  host.script({{Cqn{1}, false, 0}, {Cqn{2}, false, 0}});
  receives.script({entry(1, 2), entry(2, 1)}, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(112, 113));
}
TEST_F(ModeratedCq, ADestroyedOrReusedQueueIsNotNotified) {
  arm_and_produce(1);
  firmware.at(50, [this] { contexts.write(Cqn{2}, CqContext{}); });
  run_until_idle();
  contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 2, 3, 400});
  contexts.commit();
  host.script({{Cqn{2}, false, 0}}, clk.now() + 10);
  run_until_idle();
  EXPECT_THAT(notified.beats(), IsEmpty());
}

// Numbers that come from the host or belong to the past.
TEST_F(CqeWriterTest, ArmDoorbellsThatNameNoCqAreDropped) {
  host.script({{Cqn{3}, false, 0}, {Cqn{4}, false, 0}, {Cqn{0xffffff}, true, 5}});
  run_until_idle();
  EXPECT_EQ(dut.counters().stray_doorbells, 3u);
}
TEST_F(CqeWriterTest, AnEntryForADestroyedCqIsDropped) {
  receives.script({entry(1, 3), entry(2, 1)});
  run_until_idle();
  ASSERT_EQ(writes.beats().size(), 1u);
  EXPECT_EQ(cqe(0).wr_id, 2u);
}
TEST_F(CqeWriterTest, AReusedCqStartsAnew) {
  produce(6);
  host.script({{Cqn{1}, false, 6}}, 30);
  firmware.at(40, [this] { contexts.write(Cqn{1}, CqContext{true, 2, 0x4000, 2}); });
  receives.pause(window(6, 60));
  produce(1);
  run_until_idle();
  EXPECT_EQ(addresses().back(), 0x4000u);
  EXPECT_EQ(phases().back(), 1u);
  EXPECT_THAT(notified.beats(), IsEmpty());
}

// The ring's end (RFC 5040 section 8.1.1).
TEST_F(CqeWriterTest, TheConsumerIndexIsAskedForBeforeTheRingIsFull) {
  produce(3);
  host_takes(1);
  run_until_idle();
  EXPECT_THAT(writes.cycles(), ElementsAre(2, 3, 4));
  EXPECT_THAT(records.addresses(), ElementsAre(kRecord1));  // with the second of four
  EXPECT_THAT(records.cycles(), ElementsAre(3));
}
TEST_F(CqeWriterTest, AHostThatKeepsUpNeverStallsTheStage) {
  produce(3000, 2);
  run_until_idle();
  EXPECT_EQ(writes.beats().size(), 3000u);
  EXPECT_EQ(writes.cycles().back(), 3001u);
  EXPECT_LE(records.cycles().size(), 6u);
}
// Asked with the second entry, when the ring is full, and with the entry that fills it again.
TEST_F(CqeWriterTest, AnEntryWaitsUntilTheHostIsKnownToHaveTakenOne) {
  produce(5);
  records.taken = [this](std::uint64_t) { return records.cycles().size() == 1 ? 0u : 1u; };
  run_until_idle();
  EXPECT_THAT(records.cycles(), ElementsAre(3, 15, 27));
  EXPECT_THAT(writes.cycles(), ElementsAre(2, 3, 4, 5, 27));
  EXPECT_THAT(overflows.beats(), IsEmpty());
}
TEST_F(CqeWriterTest, AnEntryThatWouldOverwriteOneNotTakenIsLostAndSoAreAllBehindIt) {
  produce(6);
  host_takes(0);
  run_until_idle();
  EXPECT_EQ(writes.beats().size(), 4u);
  EXPECT_THAT(records.cycles(), ElementsAre(3, 15));
  EXPECT_THAT(overflows.cycles(), ElementsAre(27));
  EXPECT_EQ(overflows.beats()[0].cqn, Cqn{1});
  host_takes(4);
  sends.script({entry(7)}, clk.now() + 10);
  run_until_idle();
  EXPECT_EQ(writes.beats().size(), 4u);
  EXPECT_EQ(overflows.beats().size(), 1u);
}
TEST_F(CqeWriterTest, TheAnswerOfAQuestionBeforeTheRingWasFullDoesNotCondemnIt) {
  produce(5);
  records.latency = 100;
  records.taken = [this](std::uint64_t) { return records.cycles().size() == 1 ? 0u : 4u; };
  run_until_idle();
  EXPECT_EQ(writes.beats().size(), 5u);
  EXPECT_THAT(overflows.beats(), IsEmpty());
}
TEST_F(CqeWriterTest, AnArmTellsHowFarTheHostIsToo) {
  produce(5);
  host_takes(0);
  records.latency = 100;
  host.script({{Cqn{1}, false, 4}}, 20);
  run_until_idle();
  EXPECT_THAT(writes.cycles(), ElementsAre(2, 3, 4, 5, 23));
  EXPECT_THAT(overflows.beats(), IsEmpty());
}
TEST_F(CqeWriterTest, TheHostCannotHaveTakenWhatWasNotWritten) {
  produce(5);
  host_takes(5);
  host.script({{Cqn{1}, false, 5}, {Cqn{1}, false, 2047}}, 20);
  records.latency = 30;
  run_until_idle();
  EXPECT_EQ(writes.beats().size(), 4u);
  EXPECT_EQ(overflows.beats().size(), 1u);
}
TEST_F(CqeWriterTest, ARecordThatCannotBeReadTellsNothing) {
  produce(5);
  records.ok = false;
  run_until_idle();
  EXPECT_EQ(overflows.beats().size(), 1u);
}
TEST_F(CqeWriterTest, AFullRingHoldsUpNoOther) {
  host_takes(0);
  produce(6);
  for (std::uint64_t i = 0; i < 8; ++i) sends.script({entry(100 + i, 2)});
  run_until_idle();
  EXPECT_EQ(overflows.beats().size(), 1u);
  EXPECT_EQ(written_to(kRecord2), 8u);
  EXPECT_LT(writes.cycles().back(), 15u) << "none waited for the record of the full ring";
}
TEST_F(CqeWriterTest, AfterAnOverflowTheNumberServesAgain) {
  produce(5);
  host_takes(0);
  run_until_idle();
  ASSERT_EQ(overflows.beats().size(), 1u);
  contexts.write(Cqn{1}, CqContext{true, 2, 0x4000, 2});
  contexts.commit();
  produce(2, 1, clk.now() + 5);
  run_until_idle();
  EXPECT_EQ(addresses().back(), 0x4020u);
  EXPECT_EQ(phases().back(), 1u);
}
TEST_F(CqeWriterTest, AnAnswerForTheNumbersEarlierUseIsForgotten) {
  produce(5);
  host_takes(0);
  firmware.at(20, [this] { contexts.write(Cqn{1}, CqContext{true, 2, 0x4000, 2}); });
  run_until_idle();
  EXPECT_THAT(overflows.beats(), IsEmpty());
  EXPECT_EQ(addresses().back(), 0x4000u);
}

class ShuffledCqeTest : public CqeWriterTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledCqeTest, BackpressureAndTheOrderOfCallsLoseNothing) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  writes.pause(every(5, 3));
  notified.pause(every(7, 6));
  host.pause(every(6, 5));
  for (std::uint64_t i = 0; i < 10; ++i) {
    receives.script({entry(i, 2)});
    sends.script({entry(100 + i, 2)});
    host.script({{Cqn{2}, false, 0}});
  }
  run_until_idle();
  ASSERT_EQ(writes.beats().size(), 20u);
  EXPECT_EQ(addresses().back(), 0x8000 + 19 * 32u);
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
