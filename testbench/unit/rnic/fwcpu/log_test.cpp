// The firmware's log: entries in words, and the ring behind its registers.
#include "model/abi/firmware_log.h"
#include "model/rnic/fwcpu/log_ring.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using fw::LogCode;

TEST(LogText, EveryCodeHasItsWordsAndArguments) {
  EXPECT_EQ(log_text({0, 0, LogCode::kUnexpectedEvent, 9, 7}),
            "unexpected_event: send_drained is invalid in state draining");
  EXPECT_EQ(log_text({0, 0, LogCode::kUnexpectedEvent, 9, 0xffffffff}),
            "unexpected_event: send_drained is invalid in state none");
  EXPECT_EQ(log_text({0, 0, LogCode::kUnexpectedEvent, 14, 10}),
            "unexpected_event: connect is invalid in state rejected");
  EXPECT_EQ(log_text({0, 0, LogCode::kUnexpectedEvent, 15, 14}),
            "unexpected_event: session is invalid in state lingering");
  EXPECT_EQ(log_text({0, 0, LogCode::kUnexpectedEvent, 16, 15}), "unexpected_event: 0x10 is invalid in state 0xf");
  EXPECT_EQ(log_text({0, 0, LogCode::kNoListener, 41000, 0x0a000002}),
            "no_listener: port 41000, to which 10.0.0.2 connected, has no listener any more");
  EXPECT_EQ(log_text({0, 0, LogCode::kNoResources, 41000, 0x0a000002}),
            "no_resources: no resources for a connection to port 41000 from 10.0.0.2");
  EXPECT_EQ(log_text({0, 0, LogCode::kBadFrame, 0x80000001, 2}),
            "bad_frame: connection 0x80000001: start-up frame refused: bad_key");
  EXPECT_EQ(log_text({0, 0, LogCode::kCommandRefused, 9, 5}), "command_refused: command connect refused: no resources");
  EXPECT_EQ(log_text({0, 0, LogCode::kConnectionState, 0x80000000, 2 << 8 | 6}),
            "connection_state: connection 0x80000000: wait_reply -> rts");
  EXPECT_EQ(log_text({0, 0, LogCode::kConnectionState, 0x80000000, 10 << 8 | 9}),
            "connection_state: connection 0x80000000: rejected -> closing");
  EXPECT_EQ(log_text({0, 0, LogCode::kMulpdu, 0x80000000, 954}), "mulpdu: connection 0x80000000: MULPDU is 954 now");
  EXPECT_EQ(log_text({0, 0, LogCode::kSessionViolation, 258}),
            "session_violation: flow 258: what came fits no DDP stream session");
  EXPECT_EQ(log_text({0, 0, LogCode{200}, 1, 2}), "code 200: 0x1 0x2");
  EXPECT_EQ(log_line({7, 1234, LogCode::kNoListener, 1, 0}).substr(0, 26), "     7         1234 ns  no");
}

class LogRingTest : public StageTest {
 protected:
  std::uint32_t read(std::uint32_t offset) { return bank.read(offset, 4).value; }
  void select(std::uint32_t n) {
    bank.write(regs::LogSelect::kOffset, 4, n);
    bank.commit();
  }
  regs::RegBank bank{clk};
  LogRing ring{clk, bank, fw::LogLevel::kWarning};
};

TEST_F(LogRingTest, TheLevelIsARegister) {
  EXPECT_EQ(ring.level(), fw::LogLevel::kWarning);
  bank.write(regs::LogLevel::kOffset, 4, 4);
  bank.commit();
  EXPECT_EQ(ring.level(), fw::LogLevel::kDebug);
}

TEST_F(LogRingTest, WhatIsWrittenInACycleIsSeenFromTheNextOneOn) {
  ring.write(LogCode::kBadFrame, 5, 6);
  EXPECT_EQ(read(regs::LogNext::kOffset), 0u);
  select(0);
  EXPECT_EQ(read(regs::LogCode::kOffset), 0u) << "not valid yet";
  EXPECT_EQ(ring.entries().size(), 1u) << "the model sees it";
}

TEST_F(LogRingTest, TheOldestGivesWayAndIsCountedUnlessItWasTaken) {
  struct Writer final : Stage {
    Writer(ClockDomain& c, LogRing& r) : Stage("writer", c), ring(r) { wake(1); }
    Wake tick() override {
      ring.write(LogCode::kNoListener, n, 0);
      return ++n == LogRing::kEntries + 10 ? Wake::on_traffic() : Wake::next_cycle();
    }
    LogRing& ring;
    std::uint32_t n = 0;
  } writer(clk, ring);
  struct Reader final : Stage {
    Reader(ClockDomain& c, std::function<void()> f) : Stage("reader", c), look(std::move(f)) { wake(1000); }
    Wake tick() override { return look(), Wake::on_traffic(); }
    std::function<void()> look;
  } reader(clk, [this] {
    EXPECT_EQ(read(regs::LogNext::kOffset), LogRing::kEntries + 10);
    EXPECT_EQ(read(regs::LogLost::kOffset), 10u);
    EXPECT_EQ(read(regs::LogEntries::kOffset), LogRing::kEntries);
    select(9);
    EXPECT_FALSE(regs::LogCode::unpack(read(regs::LogCode::kOffset)).valid);
    select(10);
    EXPECT_TRUE(regs::LogCode::unpack(read(regs::LogCode::kOffset)).valid);
    EXPECT_EQ(regs::LogCode::unpack(read(regs::LogCode::kOffset)).code, static_cast<unsigned>(LogCode::kNoListener));
    EXPECT_EQ(read(regs::LogA::kOffset), 10u);
    EXPECT_EQ(read(regs::LogTimeLo::kOffset), 11 * clk.period_ps() / 1000);
    select(LogRing::kEntries + 10);
    EXPECT_FALSE(regs::LogCode::unpack(read(regs::LogCode::kOffset)).valid);
  });
  sc_core::sc_start(10, sc_core::SC_US);
  ASSERT_EQ(ring.entries().size(), LogRing::kEntries);
  EXPECT_EQ(ring.entries().front().sequence, 10u);
}

}  // namespace
}  // namespace rnic::test
