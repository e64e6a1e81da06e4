// Native firmware that does what no firmware should: its handler ends, and the report names the place. Other code still
// crashes, and says so.
#include "model/rnic/fwcpu/crash/native_guard.h"

#include <cassert>
#include <csignal>
#include <cstring>

#include <unistd.h>

#include "model/rnic/fwcpu/crash/native_crash.h"
#include "model/rnic/fwcpu/crash/planted_faults.h"
#include "model/rnic/fwcpu/native_target.h"
#include "testbench/unit/rnic/fwcpu/fwcpu_bench.h"

namespace rnic::test {
namespace {

using abi::FaultCause;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr NativeGuard::Handler kHandler{"b.fwcpu", "host_command"};

// How a handler ended.
struct Ending {
  FaultCause cause = FaultCause::kNone;
  std::string text, places;
};
template <class F>
Ending ending_of(F handler) {
  const auto crash = NativeGuard::run(kHandler, handler);
  if (!crash) return {};
  Ending end;
  const FirmwareFault fault = fault_of(*crash, end.places);
  end.cause = fault.cause;
  end.text = fault.what();
  EXPECT_THAT(fault.advice, HasSubstr("--set rnic.fwcpu.target=rv32"));
  return end;
}

volatile bool always = true;
void (*volatile no_function)() = nullptr;
char* volatile no_memory = nullptr;

[[gnu::noinline]] void calls_what_is_no_code() {
  no_function();
  always = true;  // no tail call
}
[[gnu::noinline]] void copies_to_nowhere() {
  char octets[4000];
  std::memset(octets, always, sizeof octets);
  std::memcpy(no_memory, octets, sizeof octets);
  always = true;
}
[[gnu::noinline]] void throws() {
  if (always) throw 7;
}
[[gnu::noinline]] void throws_through_noexcept() noexcept { throws(); }

class NativeGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    NativeGuard::catch_crashes();
    if (!NativeGuard::catches_crashes()) GTEST_SKIP() << "a sanitizer has the signals";
  }
};

TEST_F(NativeGuardTest, NamesFunctionAndLineOfAWildPointer) {
  const Ending end = ending_of(planted::bus_fault);
  EXPECT_EQ(end.cause, FaultCause::kBusFault);
  EXPECT_THAT(end.text, ContainsRegex("^SIGSEGV at 0x0, in rnic::planted::bus_fault..[+]0x[0-9a-f]+ "
                                      "[(]model/rnic/fwcpu/crash/planted_faults.cpp:[0-9]+[)]$"));
  EXPECT_THAT(end.places,
              AllOf(HasSubstr("fault address 0x0\nat   rnic::planted::bus_fault()"), Not(HasSubstr("NativeGuard"))));
}

TEST_F(NativeGuardTest, KnowsEachKindOfCrash) {
  Ending end = ending_of(planted::illegal_instruction);
  EXPECT_EQ(end.cause, FaultCause::kIllegalInstruction);
  EXPECT_THAT(end.text, HasSubstr("(SIGILL), in rnic::planted::illegal_instruction()"));
  end = ending_of([] { abort(); });
  EXPECT_EQ(end.cause, FaultCause::kPanic);
  EXPECT_THAT(end.text, HasSubstr("(SIGABRT), in rnic::test::"));
  EXPECT_THAT(end.places, HasSubstr("at   ")) << "where abort() was called is further up";
  end = ending_of([] {
    const volatile int zero = 0;
    always = 7 / zero != 0;
  });
  EXPECT_EQ(end.cause, FaultCause::kPanic);
  EXPECT_THAT(end.text, HasSubstr("a division by zero (SIGFPE)"));
}

TEST_F(NativeGuardTest, AStackThatOverflowsIsSaid) {
  const Ending end = ending_of(planted::stack_overflow);
  EXPECT_EQ(end.cause, FaultCause::kStackOverflow);
  EXPECT_THAT(end.text, HasSubstr("its stack has overflowed (SIGSEGV), in rnic::planted::"));
}

TEST_F(NativeGuardTest, BlamesWhoCalledWhatIsNoCode) {
  const Ending end = ending_of(calls_what_is_no_code);
  EXPECT_EQ(end.cause, FaultCause::kBusFault);
  EXPECT_THAT(end.text, AllOf(HasSubstr("SIGSEGV at 0x0"), HasSubstr("calls_what_is_no_code()")));
}

TEST_F(NativeGuardTest, BlamesWhoCalledALibrary) {
  EXPECT_THAT(ending_of(copies_to_nowhere).text,
              HasSubstr("in rnic::test::(anonymous namespace)::copies_to_nowhere()"));
}

TEST_F(NativeGuardTest, AnExceptionThatHasNoWayOut) {
  const Ending end = ending_of([] { throws_through_noexcept(); });
  EXPECT_EQ(end.cause, FaultCause::kPanic);
  EXPECT_THAT(end.places, HasSubstr("throws_through_noexcept()"));
}

TEST_F(NativeGuardTest, GoesOnBehindACrashAndAnException) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ending_of(planted::bus_fault).cause, FaultCause::kBusFault);
    EXPECT_EQ(NativeGuard::running(), 0u);
    EXPECT_THROW(NativeGuard::run(kHandler, [] { throw 7; }), int);
    EXPECT_EQ(NativeGuard::running(), 0u);
  }
  bool done = false;
  EXPECT_FALSE(NativeGuard::run(kHandler, [&] { done = NativeGuard::running() != 0; }));
  EXPECT_TRUE(done);
}

using NativeGuardDeathTest = NativeGuardTest;

TEST_F(NativeGuardDeathTest, ACrashOfTheModelIsItsOwn) {
  EXPECT_EXIT(planted::bus_fault(), testing::KilledBySignal(SIGSEGV),
              "^rnicsim: SIGSEGV in no handler of firmware: a bug of rnicsim; addr2line");
  EXPECT_EXIT(abort(), testing::KilledBySignal(SIGABRT), "^rnicsim: SIGABRT in no handler of firmware");
}

TEST_F(NativeGuardDeathTest, SoIsOneBehindTheBus) {
  const auto behind = [] {
    NativeGuard::run(kHandler, [] {
      const NativeGuard::Outside model;
      planted::bus_fault();
    });
  };
  EXPECT_EXIT(
      behind(), testing::KilledBySignal(SIGSEGV),
      "^rnicsim: SIGSEGV in what the firmware of b.fwcpu asked for in its handler of host_command: a bug of rnicsim");
}

TEST_F(NativeGuardDeathTest, ASignalFromOutsideIsNobodysBug) {
  EXPECT_EXIT(NativeGuard::run(kHandler, [] { kill(getpid(), SIGSEGV); }), testing::KilledBySignal(SIGSEGV), "^$");
}

// The thread that waits for a handler that does not end.
class Impatience : public testing::Test {
 protected:
  static inline std::uint64_t waits_for = 0;
  static void look(int) {
    if (!NativeGuard::abandon(waits_for, SIGTERM)) waits_for = NativeGuard::running();
    alarm(1);
  }
  void SetUp() override {
    struct sigaction action {};
    action.sa_handler = look;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGALRM, &action, nullptr);
    alarm(1);
  }
  void TearDown() override { alarm(0); }
};

TEST_F(Impatience, EndsAHandlerThatDoesNotEnd) {
  const Ending end = ending_of(planted::endless_loop);
  EXPECT_EQ(end.cause, FaultCause::kWatchdog);
  EXPECT_THAT(end.text,
              AllOf(HasSubstr("a handler does not end, and SIGTERM has ended it, in rnic::planted::endless_loop()"),
                    HasSubstr("planted_faults.cpp:")));
}

struct SlowBus {
  template <class Op>
  void write(const Op&) {
    for (int i = 0; i < 1'000'000; ++i) always = true;
  }
};

TEST_F(Impatience, EndsOneThatIsWithTheModelMostOfTheTime) {
  SlowBus slow;
  GuardedBus<SlowBus> bus(slow);
  const auto crash = [&]() -> std::string {
    try {
      const auto left = NativeGuard::run(kHandler, [&] {
        bus.run([&] {
          for (;;) bus.write(1);
        });
      });
      return left ? "in the firmware's own code" : "";
    } catch (const FirmwareFault& fault) {
      EXPECT_EQ(fault.cause, FaultCause::kWatchdog);
      return fault.what();
    }
  }();
  EXPECT_THAT(crash, testing::AnyOf("a handler does not end, and SIGTERM has ended it", "in the firmware's own code"));
}

// The whole path, as in a chip.
class CrashingChip : public FwCpuTest {
 protected:
  CrashingChip() : FwCpuTest(config()) {}
  static FwCpuConfig config() {
    NativeGuard::catch_crashes();
    FwCpuConfig c;
    c.fault = PlantedFault::kBusFault;
    c.fault_event = 2;
    return c;
  }
};

TEST_F(CrashingChip, TellsTheHostAndLeavesADump) {
  if (!NativeGuard::catches_crashes()) GTEST_SKIP() << "a sanitizer has the signals";
  host.send(command(abi::CommandOp::kDestroyQp, 5));  // is refused
  host.send(command(abi::CommandOp::kNop));
  run_until_idle();
  ASSERT_EQ(to_host.size(), 2u);
  EXPECT_EQ(to_host[1].event.type, abi::EventType::kDeviceFatal);
  EXPECT_EQ(to_host[1].event.status, static_cast<std::uint8_t>(FaultCause::kBusFault));
  EXPECT_THAT(dut.fault()->reason,
              ContainsRegex("^SIGSEGV at 0x0, in rnic::planted::bus_fault.*planted_faults.cpp:[0-9]+., in event 2 "
                            ".host_command nop.; --set rnic.fwcpu.target=rv32 "));
  EXPECT_THAT(dut.fault()->dump,
              AllOf(HasSubstr("cause bus_fault\n"), HasSubstr("\nhandling host_command nop\nfault address 0x0\n"),
                    Not(HasSubstr("FwCpu::")), HasSubstr("command_refused: command destroy_qp refused")));
}

}  // namespace
}  // namespace rnic::test
