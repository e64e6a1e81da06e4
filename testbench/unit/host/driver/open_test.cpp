#include "testbench/unit/host/driver/driver_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OpenTest : public StageTest {
 protected:
  FakeHost host{clk, "host"};
  Script script{host.cpu};
};

TEST_F(OpenTest, ProgramsTheRingsAndTheInterruptThenEnables) {
  host.device.status_reads_until_ready = 2;
  host.context.when_open(script.core);
  script.then([&] { return host.context.is_open(); });
  run_until_idle();
  EXPECT_TRUE(script.done());
  std::vector<std::pair<unsigned, unsigned>> log;
  for (const auto& w : host.device.writes) log.emplace_back(w.offset, w.value);
  using P = std::pair<unsigned, unsigned>;
  // 64 commands of 64 octets, their 64 slots of 512, 256 events of 64, their 256 slots of 512, from 0x100000000.
  EXPECT_THAT(log, ElementsAre(P{0x60, 0x0}, P{0x64, 1}, P{0x68, 6}, P{0x6c, 0x1000}, P{0x70, 1}, P{0x80, 0x9000},
                               P{0x84, 1}, P{0x88, 8}, P{0x8c, 0xd000}, P{0x90, 1}, P{0x1000, 0xfee00000}, P{0x1004, 0},
                               P{0x1008, 0}, P{0x100c, 0}, P{0x10, 1}));
  EXPECT_EQ(host.context.query_device().max_qp, 64u);
  EXPECT_EQ(host.context.query_device().max_mr, 255u);
  // 3 reads of STATUS, a microsecond apart (800 ns each), after the 15 writes.
  EXPECT_GE(clk.now_ps(), 2u * 1'000'000 + 4u * 800'000);
  EXPECT_LE(clk.now_ps(), 2u * 1'000'000 + 4u * 800'000 + 200'000);
}

class ResetKinds : public OpenTest, public testing::WithParamInterface<host::ResetKind> {};
// The words of configuration space that the device loses are written back, the command word last.
TEST_P(ResetKinds, ADeviceIsFoundAgainAndOpened) {
  host.device.config = {{0x00, 0x50401234}, {0x04, 0x00100006}, {0x10, 0x80000004}, {0x14, 2}, {0x80, 0x801f0011}};
  const auto before = host.device.config;
  host.context.when_open(script.core);
  script.then([&] { return host.context.is_open(); });
  script.run([&] {
    EXPECT_EQ(host.context.reset(GetParam()), 0);
    EXPECT_EQ(host.context.reset(GetParam()), EBUSY);
    EXPECT_EQ(host.context.error(), "the device is being reset");
    host.device.writes.clear();
  });
  script.then([&] { return host.context.is_open(); });
  run_until_idle();
  EXPECT_TRUE(script.done());
  EXPECT_EQ(host.device.config, before);
  EXPECT_EQ(host.device.resets, std::vector{GetParam()});
  EXPECT_THAT(host.device.config_writes, ElementsAre(0x10u, 0x14u, 0x80u, 0x04u));
  EXPECT_EQ(host.device.writes.size(), 15u) << "no register is written for the reset, and all are for the opening";
}
INSTANTIATE_TEST_SUITE_P(All, ResetKinds,
                         testing::Values(host::ResetKind::kPerst, host::ResetKind::kHot, host::ResetKind::kFlr));

// The device answers reads of configuration space with all ones for 20 us.
TEST_F(OpenTest, WaitsForADeviceWhoseLinkIsDown) {
  host.device.config_fails_us = 20;
  host.context.when_open(script.core);
  script.then([&] { return host.context.is_open(); });
  script.run([&] { EXPECT_EQ(host.context.reset(host::ResetKind::kHot), 0); });
  script.then([&] { return host.context.is_open(); });
  run_until_idle();
  EXPECT_TRUE(script.done());
  EXPECT_GT(clk.now_ps(), 20'000'000u);
}

TEST_F(OpenTest, RefusesAnotherDevice) {
  host.device.registers[0] = 0x12345678;
  host.context.when_open(script.core);
  script.then([&] { return !host.context.error().empty(); });
  run_until_idle();
  EXPECT_EQ(host.context.error(), "this is not an rnicsim device");
  EXPECT_TRUE(script.done());
  EXPECT_THAT(host.device.writes, IsEmpty());
}

TEST_F(OpenTest, RefusesAnotherMajorVersion) {
  host.device.registers[4] = 0x0207;
  run_until_idle();
  EXPECT_EQ(host.context.error(), "register interface version 2, and the driver knows 1");
}

TEST_F(OpenTest, ADeviceThatNeverGetsReadyIsWhatTheDriverWaitsFor) {
  host.device.status_reads_until_ready = 1000;
  sc_core::sc_start(100, sc_core::SC_US);
  EXPECT_FALSE(host.context.is_open());
  EXPECT_EQ(host.cpu.waiting_for(), "driver: the device to become ready");
}

TEST_F(OpenTest, AVerbOutsideAProgramIsABug) {
  run_until_idle();
  EXPECT_THROW(host.context.reg_mr({}, 0, 0, 0), InternalError);
}

}  // namespace
}  // namespace rnic::test
