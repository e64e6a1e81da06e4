#include "model/rnic/regs/reg_bank.h"

#include "testbench/support/stage_test.h"

namespace rnic::regs {
namespace {

// Runs one step per cycle, as a stage that owns the accesses would.
class Script final : public Stage {
 public:
  Script(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  void then(std::function<void()> step) {
    steps_.push_back(std::move(step));
    wake(0);
  }
  Wake tick() override {
    steps_[next_++]();
    return next_ < steps_.size() ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  std::vector<std::function<void()>> steps_;
  std::size_t next_ = 0;
};

class RegBankTest : public test::StageTest {
 protected:
  RegBank bank{clk};
  Script script{"script", clk};
  void expect_read(std::uint32_t offset, std::uint32_t value) {
    const auto result = bank.read(offset, 4);
    EXPECT_EQ(result.status, RegStatus::kOk);
    EXPECT_EQ(result.value, value) << std::hex << offset;
  }
};

TEST_F(RegBankTest, AWriteIsVisibleInTheNextCycle) {
  script.then([this] {
    EXPECT_EQ(bank.write(Scratch::kOffset, 4, 0x12345678), RegStatus::kOk);
    expect_read(Scratch::kOffset, 0);
  });
  script.then([this] { expect_read(Scratch::kOffset, 0x12345678); });
  run_until_idle();
}

TEST_F(RegBankTest, BitsOutsideFieldsReadZero) {
  script.then([this] { bank.write(CmdqLogSize::kOffset, 4, 0xfffffff6); });
  script.then([this] { expect_read(CmdqLogSize::kOffset, 6); });
  run_until_idle();
}

TEST_F(RegBankTest, RefusalsChangeNothingAndAreCounted) {
  script.then([this] {
    EXPECT_EQ(bank.write(Id::kOffset, 4, 0), RegStatus::kReadOnly);
    EXPECT_EQ(bank.write(ReadOnlyWrites::kOffset, 4, 0), RegStatus::kReadOnly);
    EXPECT_EQ(bank.write(Scratch::kOffset, 8, 1), RegStatus::kBadSize);
    EXPECT_EQ(bank.write(Scratch::kOffset + 1, 4, 1), RegStatus::kBadSize);
    EXPECT_EQ(bank.write(kBarBytes, 4, 1), RegStatus::kUnsupported);
    EXPECT_EQ(bank.read(0x0ffc, 4).status, RegStatus::kUnsupported);
    EXPECT_EQ(bank.read(SqDoorbell::kOffset, 4).status, RegStatus::kUnsupported);
  });
  script.then([this] {
    expect_read(Scratch::kOffset, 0);
    expect_read(Id::kOffset, 0x50574952);
    expect_read(ReadOnlyWrites::kOffset, 2);
    expect_read(BadSizeAccesses::kOffset, 2);
    expect_read(UnsupportedRequests::kOffset, 3);
  });
  script.then([this] { expect_read(UnsupportedRequests::kOffset, 0); });
  run_until_idle();
}

// The order of the calls in a cycle must not matter: the count survives the read that clears it, in either order.
TEST_F(RegBankTest, NoEventIsLostBetweenReadingAndCounting) {
  script.then([this] { bank.count<UnsupportedRequests>(); });
  script.then([this] {
    expect_read(UnsupportedRequests::kOffset, 1);
    bank.count<UnsupportedRequests>();
  });
  script.then([this] {
    bank.count<UnsupportedRequests>();
    expect_read(UnsupportedRequests::kOffset, 1);
  });
  script.then([this] { expect_read(UnsupportedRequests::kOffset, 1); });
  run_until_idle();
}

TEST_F(RegBankTest, CountersStopAtTheirLargestValue) {
  script.then([this] { bank.set(BadSizeAccesses{0xfffffffe}); });
  for (int i = 0; i < 3; ++i) script.then([this] { bank.count<BadSizeAccesses>(); });
  script.then([this] { expect_read(BadSizeAccesses::kOffset, 0xffffffff); });
  run_until_idle();
}

TEST_F(RegBankTest, WritingOneClearsAndAnEventInTheSameCycleStays) {
  script.then([this] { bank.raise(FatalError{true, true, false}); });
  script.then([this] {
    bank.raise(FatalError{true, false, false});
    bank.write(FatalError::kOffset, 4, 3);
  });
  script.then([this] { expect_read(FatalError::kOffset, 1); });
  run_until_idle();
}

TEST_F(RegBankTest, OwnersHearOfWritesAndSupplyReads) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> heard;
  bank.on_write<SqDoorbell>([&](SqDoorbell d) { heard.push_back({d.qpn, d.pi}); });
  bank.on_write<MsixData>([&](MsixData d, std::uint32_t i) { heard.push_back({i, d.value}); });
  bank.on_read<MaxFlows>([] { return MaxFlows{99}; });
  script.then([this] {
    bank.write(SqDoorbell::kOffset, 4, 0xabc00012);
    bank.write(MsixData::offset(31), 4, 5);
    expect_read(MaxFlows::kOffset, 99);
  });
  script.then([this] { EXPECT_EQ(bank.get<MsixData>(31).value, 5u); });
  run_until_idle();
  EXPECT_THAT(heard, testing::ElementsAre(std::pair{0x12u, 0xabcu}, std::pair{31u, 5u}));
}

TEST_F(RegBankTest, ResetRestoresWhatTheChipWasBuiltWith) {
  bank.strap(MaxQps{256});
  script.then([this] {
    bank.write(Scratch::kOffset, 4, 1);
    bank.write(MsixControl::offset(2), 4, 0);
  });
  script.then([this] { bank.write(Control::kOffset, 4, Control{true, true}.pack()); });
  script.then([this] {
    expect_read(Scratch::kOffset, 0);
    expect_read(Control::kOffset, 0);
    expect_read(MsixControl::offset(2), 1);
    expect_read(MaxQps::kOffset, 256);
  });
  run_until_idle();
}

// The chip hears of it in that cycle, when the registers already have their values.
TEST_F(RegBankTest, ResetEmptiesTheChipInItsCycle) {
  std::vector<Cycle> resets;
  bank.on_reset([&] {
    resets.push_back(clk.now());
    EXPECT_EQ(bank.get<Scratch>().value, 0u);
  });
  Cycle written = 0;
  script.then([&] { bank.write(Scratch::kOffset, 4, 1); });
  script.then([&] {
    bank.write(Control::kOffset, 4, Control{true, true}.pack());
    written = clk.now();
    EXPECT_TRUE(resets.empty());
  });
  script.then([&] { bank.write(Control::kOffset, 4, Control{true, false}.pack()); });
  run_until_idle();
  EXPECT_THAT(resets, testing::ElementsAre(written));
}

TEST(Registers, FieldsPackAndUnpackBothWays) {
  EXPECT_EQ((CqArm{0xfffff, false, 0}.pack()), 0x000fffffu);
  EXPECT_EQ((CqArm{0, true, 0}.pack()), 0x00100000u);
  EXPECT_EQ((CqArm{0, false, 2047}.pack()), 0xffe00000u);
  EXPECT_EQ((SqDoorbell{1, 4096 + 2}.pack()), 0x00200001u);
  const CqArm arm = CqArm::unpack(0x80300007);
  EXPECT_EQ(arm.cqn, 7u);
  EXPECT_TRUE(arm.solicited);
  EXPECT_EQ(arm.ci, 0x401u);
}

}  // namespace
}  // namespace rnic::regs
