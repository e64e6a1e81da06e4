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

// Host memory as far as the stage reads it: a request seen in cycle c is answered in cycle c + latency, with the value
// that the host's program has then.
class HostRecords final : public Answerer<DmaReadRequest, DmaReadDone> {
 public:
  using Answerer::Answerer;
  std::function<std::uint32_t(std::uint64_t)> taken;  // by the address of the record
  Cycle latency = 10;
  bool ok = true;

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

constexpr Cycle kRow = TableConfig{}.read_cycles;  // of the queue
constexpr Cycle kThrough = kToEnd + kRow + kToEnd;
// An entry reaches the stage in cycle `at`, and a period of so many cycles begins with it.
constexpr Cycle late(Cycle at, Cycle period) { return at + kRow + period + kRow + kToEnd; }

// CQ 1 has 4 entries at 0x1000, CQ 2 has 1024 at 0x8000. The host takes entries as they come unless a test changes
// that.
class CqeWriterTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 4}};
  CqeWriter dut{"dut", clk, contexts};  // its buffers outlive the sinks' contents
  Source<CqeRequest> receives = drive(dut.receive);
  Source<CqeRequest> sends = drive(dut.send);
  Source<CqArm> host = drive(dut.arm, {2, 1, 1});
  Sink<DmaWriteRequest> writes = collect(dut.dma, {2, 1, 1});
  Sink<CqNotify> notified = collect(dut.notify, {2, 1, 1});
  Sink<CqOverflow> overflows = collect(dut.overflow);
  HostRecords records{dut.read_record, dut.record_read};
  At firmware{"firmware", clk};
  static constexpr std::uint64_t kRecord1 = 0x1000 + 4 * 32, kRecord2 = 0x8000 + 1024 * 32;

  CqeWriterTest() {
    records.taken = [this](std::uint64_t record) { return written_to(record); };
    contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1});
    contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 1});
    contexts.commit();
  }
  abi::Cqe cqe(unsigned i) const {
    const DmaWriteRequest& w = writes[i];
    abi::Cqe c;
    std::memcpy(&c, w.src->bytes() + w.src_offset, sizeof c);
    return c;
  }
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> a;
    for (const DmaWriteRequest& w : writes) a.push_back(w.address);
    return a;
  }
  std::vector<unsigned> phases() const {
    std::vector<unsigned> p;
    for (unsigned i = 0; i < writes.size(); ++i) p.push_back(cqe(i).phase);
    return p;
  }
  // The number of entries that the sink has for the ring before a record.
  std::uint32_t written_to(std::uint64_t record) const {
    const std::uint64_t base = record == kRecord1 ? 0x1000 : 0x8000;
    std::uint32_t n = 0;
    for (const DmaWriteRequest& w : writes) n += w.address >= base && w.address < record;
    return n;
  }
  void host_takes(std::uint32_t n) {
    records.taken = [n](std::uint64_t) { return n; };
  }
  void produce(unsigned n, std::uint32_t cqn = 1, Cycle from = 0) {
    for (unsigned i = 0; i < n; ++i) receives.send_at(from, entry(i, cqn));
  }
};

TEST_F(CqeWriterTest, AnEntryIsWrittenWhenItsRowIsThereOneACycle) {
  produce(3);
  run_until_idle();
  EXPECT_EQ(writes.cycles(), in_a_row(kThrough, 3));
  EXPECT_EQ(writes[0].bytes, 32u);
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
  receives.send(r);
  run_until_idle();
  const std::uint8_t* at = writes[0].src->bytes();
  const std::vector<std::uint8_t> expected{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xbb, 0xaa, 0,
                                           0,    0,    0,    0,    0,    4,    3,    2,    1,    5,    0,
                                           0,    0,    0,    0,    0,    0,    128,  4,    1,    1};
  EXPECT_EQ(std::vector<std::uint8_t>(at, at + 32), expected);
}

TEST_F(CqeWriterTest, SendAndReceiveCompletionsTakeTurns) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    receives.send(entry(i));
    sends.send(entry(100 + i));
  }
  run_until_idle();
  std::vector<std::uint64_t> ids;
  for (unsigned i = 0; i < 6; ++i) ids.push_back(cqe(i).wr_id);
  EXPECT_THAT(ids, ElementsAre(0, 100, 1, 101, 2, 102));
}

// Arming.
TEST_F(CqeWriterTest, AnArmedQueueIsNotifiedOnce) {
  host.send({Cqn{1}, false, 0});
  produce(2, 1, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(10 + kThrough));
  EXPECT_EQ(notified[0].cqn, Cqn{1});
}
TEST_F(CqeWriterTest, ArmingBehindAnEntryThatTheHostHasNotSeenNotifiesAtOnce) {
  produce(2);
  host.send_at(20, {Cqn{1}, false, 1});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(20 + kThrough));
}
TEST_F(CqeWriterTest, ArmingWithAllSeenWaits) {
  produce(2);
  host.send_at(20, {Cqn{1}, false, 2});
  run_until_idle();
  EXPECT_THAT(notified, IsEmpty());
}
TEST_F(CqeWriterTest, AnArmAndAnEntryOfOneCycleNotify) {
  produce(1);
  host.send({Cqn{1}, false, 0});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(kThrough + 1));
  EXPECT_THAT(writes.cycles(), ElementsAre(kThrough + 1));  // the arm goes first and takes the cycle
}
TEST_F(CqeWriterTest, SolicitedOnlyPassesOverOthers) {
  host.send({Cqn{1}, kSolicitedOnly, 0});
  receives.send_at(10, {entry(1), entry(2, 1, true)});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(11 + kThrough));
}
TEST_F(CqeWriterTest, AnErrorCountsAsSolicited) {
  host.send({Cqn{1}, kSolicitedOnly, 0});
  CqeRequest bad = entry(1);
  bad.cqe.status = abi::WcStatus::kWrFlushErr;
  sends.send_at(10, bad);
  run_until_idle();
  EXPECT_EQ(notified.size(), 1u);
}
TEST_F(CqeWriterTest, ASolicitedEntryNotSeenNotifiesAtOnceASeenOneDoesNot) {
  receives.send({entry(1), entry(2, 1, true), entry(3)});
  host.send_at(20, {Cqn{1}, kSolicitedOnly, 2});  // only the third is new
  run_until_idle();
  EXPECT_THAT(notified, IsEmpty());
  host.send_at(clk.now() + 10, {Cqn{1}, kSolicitedOnly, 1});
  run_until_idle();
  EXPECT_EQ(notified.size(), 1u);
}
TEST_F(CqeWriterTest, AFullRingUnseenNotifies) {
  produce(1024, 2);
  host.send_at(2000, {Cqn{2}, false, 0});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(2000 + kThrough));
}
TEST_F(CqeWriterTest, ASolicitedEntryLongAgoIsNotTakenForANewOne) {
  receives.send(entry(0, 2, true));
  produce(1500, 2);
  host.send_at(2000, {Cqn{2}, kSolicitedOnly, 1501});
  run_until_idle();
  EXPECT_THAT(notified, IsEmpty());
}
TEST_F(CqeWriterTest, TheConsumerIndexWraps) {
  produce(2050, 2);
  host.send_at(4000, {Cqn{2}, false, 2});
  run_until_idle();
  EXPECT_THAT(notified, IsEmpty());
  produce(1, 2, clk.now() + 1);
  run_until_idle();
  EXPECT_EQ(notified.size(), 1u);
}

TEST_F(CqeWriterTest, ASecondArmNotifiesNoTwice) {
  host.send({{Cqn{1}, false, 0}, {Cqn{1}, false, 0}});
  produce(2, 1, 10);
  run_until_idle();
  EXPECT_EQ(notified.size(), 1u);
}
TEST_F(CqeWriterTest, AnArmForAnySurvivesOneForSolicitedOnly) {
  host.send({{Cqn{1}, false, 0}, {Cqn{1}, kSolicitedOnly, 0}});
  produce(1, 1, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(10 + kThrough));
}
TEST_F(CqeWriterTest, AnArmForAnyWidensOneForSolicitedOnly) {
  host.send({{Cqn{1}, kSolicitedOnly, 0}, {Cqn{1}, false, 0}});
  produce(1, 1, 10);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(10 + kThrough));
}
TEST_F(CqeWriterTest, AnArmBehindANotificationIsANewOne) {
  host.send({Cqn{1}, false, 0});
  produce(1, 1, 10);
  host.pause(window(1, 30));
  host.send({Cqn{1}, kSolicitedOnly, 1});  // the arm for any entry is used up
  sends.send_at(50, {entry(1), entry(2, 1, true)});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(10 + kThrough, 51 + kThrough));
}

// An arm comes this number of cycles after an entry that the host has not seen.
enum class Kind { kPlain, kSolicited, kError };
class ArmRace : public CqeWriterTest, public testing::WithParamInterface<std::tuple<int, Kind, bool, bool>> {};
TEST_P(ArmRace, NotifiesOnceInTheCycleOfWhicheverIsLater) {
  const auto [distance, kind, solicited_only, on_send_side] = GetParam();
  constexpr Cycle kAt = 21;  // at the stage
  CqeRequest r = entry(1, 1, kind == Kind::kSolicited);
  if (kind == Kind::kError) r.cqe.status = WcStatus::kWrFlushErr;
  (on_send_side ? sends : receives).send_at(kAt - 1, r);
  const Cycle armed = static_cast<Cycle>(static_cast<int>(kAt) + distance);
  host.send_at(armed - 1, {Cqn{1}, solicited_only, 0});
  run_until_idle();
  const Cycle written = kAt + kRow + (distance == 0);  // the arm takes the port
  EXPECT_THAT(writes.cycles(), ElementsAre(written + 1));
  if (solicited_only && kind == Kind::kPlain) {
    EXPECT_THAT(notified, IsEmpty());
  } else {
    EXPECT_THAT(notified.cycles(), ElementsAre(std::max(written, armed + kRow) + 1));
  }
}
INSTANTIATE_TEST_SUITE_P(Cycles, ArmRace,
                         testing::Combine(testing::Range(-3, 4),
                                          testing::Values(Kind::kPlain, Kind::kSolicited, Kind::kError),
                                          testing::Bool(), testing::Bool()));

// The host has polled one entry and arms after it, while a second one comes.
class SecondEntryRace : public CqeWriterTest, public testing::WithParamInterface<int> {};
TEST_P(SecondEntryRace, OnlyWhatTheHostHasNotSeenNotifies) {
  const auto second = static_cast<Cycle>(21 + GetParam());
  receives.send(entry(1));
  receives.pause(window(1, second - 1));
  receives.send(entry(2));
  host.send_at(20, {Cqn{1}, false, 1});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(std::max<Cycle>(second + (GetParam() == 0), 21) + kRow + 1));
}
INSTANTIATE_TEST_SUITE_P(Cycles, SecondEntryRace, testing::Range(-3, 4));

// A program that sleeps until it is notified, takes the entries, arms after them and looks once more.
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
  Source<CqeRequest> receives = drive(dut.receive), sends = drive(dut.send);
  Sink<DmaWriteRequest> writes = collect(dut.dma);
  HostRecords records{dut.read_record, dut.record_read};
  const Stubs others = stub(dut.overflow);
  Sleeper sleeper{"sleeper", clk};
  Netlist net{"program", clk};
  net.connect(sleeper.arm, dut.arm, "arms");
  net.connect(dut.notify, sleeper.notify, "notifies", {2, 1 + static_cast<unsigned>(GetParam() % 5), 1});
  contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 1});
  contexts.commit();
  records.taken = [&](std::uint64_t) { return sleeper.seen; };
  sleeper.written = [&] { return static_cast<std::uint32_t>(writes.size()); };
  Prng prng(GetParam());
  receives.pause(every(static_cast<unsigned>(3 + prng.below(9)), static_cast<unsigned>(1 + prng.below(2))));
  sends.pause(every(static_cast<unsigned>(5 + prng.below(9)), static_cast<unsigned>(1 + prng.below(4))));
  for (std::uint64_t i = 0; i < 400; ++i) (prng.below(2) != 0 ? receives : sends).send(entry(i, 2));
  run_until_idle();
  EXPECT_EQ(writes.size(), 400u);
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
  // An arm reaches the stage in cycle 1, entries from cycle 11 on, one per cycle.
  void arm_and_produce(unsigned entries) {
    host.send({Cqn{2}, false, 0});
    produce(entries, 2, 10);
  }
};
TEST_F(ModeratedCq, EnoughEntriesNotifyAtOnce) {
  arm_and_produce(5);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(12 + kThrough));  // with the third entry
}
TEST_F(ModeratedCq, FewerNotifyThePeriodAfterTheFirst) {
  arm_and_produce(2);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(11, 100)));
}
TEST_F(ModeratedCq, ThePeriodIsRoundedUpToACycle) {
  moderate(0, 401);
  arm_and_produce(1);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(11, 101)));
}
TEST_F(ModeratedCq, WithoutACountAnyNumberWaitsForThePeriod) {
  moderate(0, 400);
  arm_and_produce(50);
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(11, 100)));
}
TEST_F(ModeratedCq, ACountOfOneOrNoPeriodIsNone) {
  for (const auto& [count, ns] : {std::pair<std::uint16_t, std::uint32_t>{1, 400}, {0, 0}, {1, 0}}) {
    moderate(count, ns);
    const Cycle at = clk.now() + 10;
    const auto seen = static_cast<std::uint32_t>(writes.size());
    host.send_at(at, {Cqn{2}, false, seen});
    receives.send_at(at + 10, entry(1, 2));
    run_until_idle();
    EXPECT_EQ(notified.cycles().back(), at + 10 + kThrough);
  }
}
TEST_F(ModeratedCq, AQueueThatIsNotArmedStartsNoPeriod) {
  produce(5, 2, 10);
  run_until_idle();
  EXPECT_THAT(notified, IsEmpty());
  EXPECT_LT(clk.now(), 100u);
}
TEST_F(ModeratedCq, AnArmCountsWhatTheHostHasNotSeen) {
  produce(4, 2);
  host.send_at(20, {Cqn{2}, false, 2});  // two are owed
  receives.pause(window(4, 50));
  sends.send_at(50, entry(9, 2));
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(50 + kThrough));
}
TEST_F(ModeratedCq, AnArmWithEnoughUnseenNotifiesAtOnce) {
  produce(4, 2);
  host.send_at(20, {Cqn{2}, false, 1});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(20 + kThrough));
}
TEST_F(ModeratedCq, AnArmThatHasSeenAllCancelsWhatWasOwed) {
  arm_and_produce(2);
  host.pause(window(1, 40));
  host.send({Cqn{2}, false, 2});
  sends.send_at(200, entry(9, 2));
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(201, 100)));
}
TEST_F(ModeratedCq, ASecondArmDoesNotPostponeThePeriod) {
  arm_and_produce(2);
  host.pause(window(1, 40));
  host.send({Cqn{2}, false, 1});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(11, 100)));
}
TEST_F(ModeratedCq, SolicitedOnlyCountsSolicitedOnes) {
  host.send({Cqn{2}, kSolicitedOnly, 0});
  receives.send_at(10,
                   {entry(1, 2), entry(2, 2, true), entry(3, 2), entry(4, 2), entry(5, 2, true), entry(6, 2, true)});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(15 + kThrough));  // with the sixth entry
}
// At each cycle around the end of the period: one notification.
class PeriodEnd : public ModeratedCq, public testing::WithParamInterface<int> {
 protected:
  static constexpr Cycle kEnd = 11 + kRow + 100;  // then the row is asked for
};
TEST_P(PeriodEnd, AnEntryNeverDoublesTheNotification) {
  moderate(2, 400);
  arm_and_produce(1);
  const auto second = static_cast<Cycle>(static_cast<int>(kEnd) + GetParam());  // at the stage
  sends.send_at(second - 1, entry(9, 2));
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(std::min(second, kEnd) + kRow + 1));
  EXPECT_EQ(writes.cycles().back(), second + kRow + 1);
}
TEST_P(PeriodEnd, AnArmIsForThatNotificationOrTheNext) {
  arm_and_produce(1);
  const auto again = static_cast<Cycle>(static_cast<int>(kEnd) + GetParam());
  host.pause(window(1, again - 1));
  host.send({Cqn{2}, false, 0});
  run_until_idle();
  if (GetParam() < 0) {
    EXPECT_THAT(notified.cycles(), ElementsAre(late(11, 100)));
  } else {
    EXPECT_THAT(notified.cycles(),
                ElementsAre(late(11, 100), late(again + (GetParam() == 0), 100)));  // the host saw nothing
  }
}
INSTANTIATE_TEST_SUITE_P(Cycles, PeriodEnd, testing::Range(-3, 4));

TEST_F(ModeratedCq, QueuesHavePeriodsOfTheirOwn) {
  contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1, 0, 80});
  contexts.commit();
  host.send({{Cqn{1}, false, 0}, {Cqn{2}, false, 0}});
  receives.send_at(10, {entry(1, 2), entry(2, 1)});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(12, 20), late(11, 100)));
  EXPECT_EQ(notified[0].cqn, Cqn{1});
}
TEST_F(ModeratedCq, PeriodsThatEndTogetherNotifyInTurn) {
  contexts.write(Cqn{1}, CqContext{true, 2, 0x1000, 1, 0, 396});
  contexts.commit();
  host.send({{Cqn{1}, false, 0}, {Cqn{2}, false, 0}});
  receives.send_at(10, {entry(1, 2), entry(2, 1)});
  run_until_idle();
  EXPECT_THAT(notified.cycles(), ElementsAre(late(11, 100), late(11, 100) + 1));
}
TEST_F(ModeratedCq, ADestroyedOrReusedQueueIsNotNotified) {
  arm_and_produce(1);
  firmware.at(50, [this] { contexts.write(Cqn{2}, CqContext{}); });
  run_until_idle();
  contexts.write(Cqn{2}, CqContext{true, 10, 0x8000, 2, 3, 400});
  contexts.commit();
  host.send_at(clk.now() + 10, {Cqn{2}, false, 0});
  run_until_idle();
  EXPECT_THAT(notified, IsEmpty());
}

// Numbers that come from the host or are outdated.
TEST_F(CqeWriterTest, ArmDoorbellsThatNameNoCqAreDropped) {
  host.send({{Cqn{3}, false, 0}, {Cqn{4}, false, 0}, {Cqn{0xffffff}, true, 5}});
  run_until_idle();
  EXPECT_EQ(dut.counters().stray_doorbells, 3u);
}
TEST_F(CqeWriterTest, AnEntryForADestroyedCqIsDropped) {
  receives.send({entry(1, 3), entry(2, 1)});
  run_until_idle();
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(cqe(0).wr_id, 2u);
}
TEST_F(CqeWriterTest, AReusedCqStartsAnew) {
  produce(6);
  host.send_at(30, {Cqn{1}, false, 6});
  firmware.at(40, [this] { contexts.write(Cqn{1}, CqContext{true, 2, 0x4000, 2}); });
  receives.pause(window(6, 60));
  produce(1);
  run_until_idle();
  EXPECT_EQ(addresses().back(), 0x4000u);
  EXPECT_EQ(phases().back(), 1u);
  EXPECT_THAT(notified, IsEmpty());
}

// The ring's end (RFC 5040 section 8.1.1).
TEST_F(CqeWriterTest, TheConsumerIndexIsAskedForBeforeTheRingIsFull) {
  produce(3);
  host_takes(1);
  run_until_idle();
  EXPECT_EQ(writes.cycles(), in_a_row(kThrough, 3));
  EXPECT_THAT(records.addresses(), ElementsAre(kRecord1));  // with the second of four
  EXPECT_THAT(records.cycles(), ElementsAre(kThrough + 1));
}
TEST_F(CqeWriterTest, AHostThatKeepsUpNeverStallsTheStage) {
  produce(3000, 2);
  run_until_idle();
  EXPECT_EQ(writes.size(), 3000u);
  EXPECT_LE(records.cycles().size(), 6u);
  EXPECT_EQ(writes.cycles().back(), 2999 + kThrough);
}
// The stage asks with the second entry, when the ring is full, and with the entry that fills it again.
TEST_F(CqeWriterTest, AnEntryWaitsUntilTheHostIsKnownToHaveTakenOne) {
  produce(5);
  records.taken = [this](std::uint64_t) { return records.cycles().size() == 1 ? 0u : 1u; };
  run_until_idle();
  const Cycle asked = kThrough + 1, heard = records.latency + kToEnd + kToEnd;
  EXPECT_THAT(records.cycles(), ElementsAre(asked, asked + heard, asked + 2 * heard));
  EXPECT_THAT(writes.cycles(), ElementsAre(kThrough, kThrough + 1, kThrough + 2, kThrough + 3, asked + 2 * heard));
  EXPECT_THAT(overflows, IsEmpty());
}
TEST_F(CqeWriterTest, AnEntryThatWouldOverwriteOneNotTakenIsLostAndSoAreAllBehindIt) {
  produce(6);
  host_takes(0);
  run_until_idle();
  EXPECT_EQ(writes.size(), 4u);
  const Cycle asked = kThrough + 1, heard = records.latency + kToEnd + kToEnd;
  EXPECT_THAT(records.cycles(), ElementsAre(asked, asked + heard));
  EXPECT_THAT(overflows.cycles(), ElementsAre(asked + 2 * heard));
  EXPECT_EQ(overflows[0].cqn, Cqn{1});
  host_takes(4);
  sends.send_at(clk.now() + 10, entry(7));
  run_until_idle();
  EXPECT_EQ(writes.size(), 4u);
  EXPECT_EQ(overflows.size(), 1u);
}
TEST_F(CqeWriterTest, TheAnswerOfAQuestionBeforeTheRingWasFullDoesNotCondemnIt) {
  produce(5);
  records.latency = 100;
  records.taken = [this](std::uint64_t) { return records.cycles().size() == 1 ? 0u : 4u; };
  run_until_idle();
  EXPECT_EQ(writes.size(), 5u);
  EXPECT_THAT(overflows, IsEmpty());
}
TEST_F(CqeWriterTest, AnArmTellsHowFarTheHostIsToo) {
  produce(5);
  host_takes(0);
  records.latency = 100;
  host.send_at(20, {Cqn{1}, false, 4});
  run_until_idle();
  EXPECT_THAT(writes.cycles(), ElementsAre(kThrough, kThrough + 1, kThrough + 2, kThrough + 3, 21 + kToEnd));
  EXPECT_THAT(overflows, IsEmpty());
}
// The arm makes room for the fifth entry; the answer is older.
TEST_F(CqeWriterTest, AnAnswerThatAnArmHasOvertakenCondemnsNoRing) {
  produce(5);
  host_takes(0);
  records.latency = 30;
  host.send_at(45, {Cqn{1}, false, 1});
  sends.send_at(200, entry(6));
  firmware.at(150, [this] { host_takes(4); });
  run_until_idle();
  EXPECT_EQ(writes.size(), 6u);
  EXPECT_THAT(overflows, IsEmpty());
}
TEST_F(CqeWriterTest, TheHostCannotHaveTakenWhatWasNotWritten) {
  produce(5);
  host_takes(5);
  host.send_at(20, {{Cqn{1}, false, 5}, {Cqn{1}, false, 2047}});
  records.latency = 30;
  run_until_idle();
  EXPECT_EQ(writes.size(), 4u);
  EXPECT_EQ(overflows.size(), 1u);
}
TEST_F(CqeWriterTest, ARecordThatCannotBeReadTellsNothing) {
  produce(5);
  records.ok = false;
  run_until_idle();
  EXPECT_EQ(overflows.size(), 1u);
}
TEST_F(CqeWriterTest, AFullRingHoldsUpNoOther) {
  host_takes(0);
  produce(6);
  for (std::uint64_t i = 0; i < 8; ++i) sends.send(entry(100 + i, 2));
  run_until_idle();
  EXPECT_EQ(overflows.size(), 1u);
  EXPECT_EQ(written_to(kRecord2), 8u);
  EXPECT_LE(writes.cycles().back(), 15 + kRow) << "none waited for the record of the full ring";
}
TEST_F(CqeWriterTest, AfterAnOverflowTheNumberServesAgain) {
  produce(5);
  host_takes(0);
  run_until_idle();
  ASSERT_EQ(overflows.size(), 1u);
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
  EXPECT_THAT(overflows, IsEmpty());
  EXPECT_EQ(addresses().back(), 0x4000u);
}

class ShuffledCqeTest : public CqeWriterTest, public testing::WithParamInterface<std::uint64_t> {};
TEST_P(ShuffledCqeTest, BackpressureAndTheOrderOfCallsLoseNothing) {
  if (GetParam() != 0) clk.shuffle(GetParam());
  writes.pause(every(5, 3));
  notified.pause(every(7, 6));
  host.pause(every(6, 5));
  for (std::uint64_t i = 0; i < 10; ++i) {
    receives.send(entry(i, 2));
    sends.send(entry(100 + i, 2));
    host.send({Cqn{2}, false, 0});
  }
  run_until_idle();
  ASSERT_EQ(writes.size(), 20u);
  EXPECT_EQ(addresses().back(), 0x8000 + 19 * 32u);
  EXPECT_EQ(writes.cycles().back(), 74u);
  EXPECT_EQ(notified.size(), 10u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledCqeTest, testing::Values(0, 1, 2));

TEST_F(CqeWriterTest, AnIdleStageIsNotCalled) {
  produce(1, 1, 7000);
  run_until_idle();
  EXPECT_LE(clk.activity().cycles, 6u);
}

}  // namespace
}  // namespace rnic::test
