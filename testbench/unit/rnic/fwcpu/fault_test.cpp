// A firmware that cannot go on: its earlier actions take effect, the host hears of the fault, and nothing else happens.
#include <stdexcept>

#include "model/common/check.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/rnic/fwcpu/native_target.h"
#include "model/rnic/fwcpu/rv32/elf_image.h"
#include "model/rnic/fwcpu/rv32/iss.h"
#include "testbench/unit/rnic/fwcpu/fwcpu_bench.h"

namespace rnic::test {
namespace {

using abi::FaultCause;
using testing::ElementsAre;
using testing::HasSubstr;

FwCpuConfig failing(PlantedFault fault, std::uint32_t event) {
  FwCpuConfig c;
  c.fault = fault;
  c.fault_event = event;
  return c;
}

class NativeFault : public FwCpuTest {
 protected:
  explicit NativeFault(const FwCpuConfig& config = failing(PlantedFault::kPanic, 2)) : FwCpuTest(config) {}
};

// 74: the first command's answer. The second command is taken then and fails after dispatch.
TEST_F(NativeFault, TheHostHearsOfItAndNothingElseHappens) {
  for (std::uint32_t id = 1; id <= 3; ++id) host.send(command(abi::CommandOp::kNop, id));
  tcp.send_at(500, tcp_connected(4));
  run_until_idle();
  EXPECT_THAT(to_host.cycles(), ElementsAre(74, 73 + 40 + 1));
  const abi::Event& event = to_host[1].event;
  EXPECT_EQ(event.type, abi::EventType::kDeviceFatal);
  EXPECT_EQ(event.status, static_cast<std::uint8_t>(FaultCause::kPanic));
  EXPECT_THAT(ops, testing::IsEmpty());
  EXPECT_THAT(dut.waiting_for(), HasSubstr("stopped"));
  ASSERT_TRUE(dut.fault());
  EXPECT_THAT(dut.fault()->dump, HasSubstr("The firmware of dut stopped: "));
  EXPECT_THAT(dut.fault()->dump, HasSubstr("\ncause panic\ncycle 113, in event 2\nhandling host_command nop\n"));
}

class NativeTimers : public NativeFault {
 protected:
  NativeTimers() : NativeFault(config()) {}
  static FwCpuConfig config() {
    FwCpuConfig c = failing(PlantedFault::kPanic, 3);
    c.request_timeout_us = 100;
    return c;
  }
};

TEST_F(NativeTimers, StopWithIt) {
  FetchedCommand listen = command(abi::CommandOp::kListen);
  listen.command.u.cm.local_port = 7000;
  host.send(listen);
  tcp.send_at(200, tcp_accepted(3));
  tcp.send_at(400, tcp_connected(9));
  run_until_idle();
  EXPECT_LT(clk.now(), 1000u) << "the request timeout would be 25000 cycles";
  EXPECT_EQ(to_host.back().event.type, abi::EventType::kDeviceFatal);
}

class NativeWatchdog : public NativeFault {
 protected:
  NativeWatchdog() : NativeFault(config()) {}
  static FwCpuConfig config() {
    FwCpuConfig c;
    c.watchdog_cycles = 100;
    return c;
  }
};

// kNop takes 72 cycles, kCreateCq 40 + 24 + 32 = 96, kCreateQp 40 + 13 x 4 + 32 = 124.
TEST_F(NativeWatchdog, AHandlerThatTakesTooLong) {
  FetchedCommand create = command(abi::CommandOp::kCreateQp, 3);
  create.command.u.qp = {0x10000, 0x20000, 4, 4, 1, 2, 2, 0, {}};
  for (const FetchedCommand& c : {command(abi::CommandOp::kCreateCq, 2), create}) host.send(c);
  run_until_idle();
  ASSERT_EQ(to_host.size(), 3u);
  EXPECT_EQ(to_host[1].event.type, abi::EventType::kCommandDone);
  EXPECT_EQ(to_host[2].event.type, abi::EventType::kDeviceFatal);
  EXPECT_EQ(to_host[2].event.status, static_cast<std::uint8_t>(FaultCause::kWatchdog));
  EXPECT_TRUE(contexts.life(Qpn{3}).valid) << "what it did takes effect";
}

class NativeLog : public NativeFault {
 protected:
  NativeLog() : NativeFault(failing(PlantedFault::kPanic, 21)) {}
};

TEST_F(NativeLog, TheDumpHasTheLastSixteenEntries) {
  for (std::uint32_t n = 0; n < 20; ++n) qp.send_at(100 * n, {QpEvent::Kind::kFirstFpdu, Qpn{n}, {}});  // unknown
  host.send_at(5000, command(abi::CommandOp::kNop));
  run_until_idle();
  const std::string& dump = dut.fault()->dump;
  std::size_t entries = 0;
  for (std::size_t at = dump.find("unexpected_event"); at != std::string::npos;
       at = dump.find("unexpected_event", at + 1))
    ++entries;
  EXPECT_EQ(entries, 16u);
  EXPECT_THAT(dump, HasSubstr("cycle 1945  unexpected_event"));
  EXPECT_THAT(dump, testing::Not(HasSubstr("cycle 345  ")));
}

class NativeDebugLog : public NativeFault {
 protected:
  NativeDebugLog() : NativeFault(config()) {}
  static FwCpuConfig config() {
    FwCpuConfig c = failing(PlantedFault::kPanic, 2);
    c.log_level = 0;
    return c;
  }
};

// 40 + 32: an entry that no one wants costs nothing.
TEST_F(NativeDebugLog, TheDumpHasEntriesOfEveryLevel) {
  host.send(command(abi::CommandOp::kDestroyQp, 5));  // there is none
  host.send(command(abi::CommandOp::kNop));
  run_until_idle();
  EXPECT_THAT(to_host.cycles(), ElementsAre(74, 73 + 40 + 1));
  EXPECT_THAT(dut.fault()->dump,
              HasSubstr("last log entries, of all levels:\n  cycle 41  command_refused: command destroy_qp refused"));
}

// Firmware that fails in ways that the code of `firmware/` should not.
template <class Handler>
std::string fault_of(ChipBus& chip, Handler handler) {
  GuardedBus<ChipBus> bus(chip);
  try {
    bus.run([&] { handler(bus); });
  } catch (const FirmwareFault& fault) {
    EXPECT_EQ(fault.cause, FaultCause::kPanic);
    return fault.what();
  }
  return "";
}

class MistakenFirmware : public StageTest {
 protected:
  BufferPool pool{1024};
  ContextStore contexts{clk, {4, 4, 4, 4}};
  ChipBus chip{{}, pool, contexts, 1, 8};
};

TEST_F(MistakenFirmware, AnExceptionThatLeavesTheHandlerIsItsEnd) {
  const auto fault = [this](auto throws) {
    return fault_of(chip, [&](auto& bus) {
      bus.write(fw::TcpUnlisten{7000});
      throws();
    });
  };
  EXPECT_THAT(fault([] { RNIC_CHECK(1 == 2); }), HasSubstr("an exception left its handler: internal error: 1 == 2"));
  EXPECT_THAT(fault([] { throw std::out_of_range("entry 9"); }), HasSubstr("handler: entry 9"));
  EXPECT_EQ(fault([] { throw 7; }), "an exception left its handler");
  EXPECT_EQ(chip.operations().size(), 3u) << "what it did until then takes effect";
}

TEST_F(MistakenFirmware, ANumberThatTheChipDoesNotHaveIsItsEnd) {
  const auto fault = [this](const auto& op) { return fault_of(chip, [&](auto& bus) { bus.write(op); }); };
  EXPECT_EQ(fault(fw::WriteQp{Qpn{4}, {}}), "a request for QP 4, which does not exist");
  EXPECT_EQ(fault(fw::WriteFlow{FlowId{4}, {}}), "a request for flow 4, which does not exist");
  FlowContext of_qp_4;
  of_qp_4.qpn = Qpn{4};
  EXPECT_EQ(fault(fw::WriteFlow{FlowId{3}, of_qp_4}), "a request for QP 4, which does not exist");
  EXPECT_EQ(fault(fw::WriteCq{Cqn{4}, {}}), "a request for CQ 4, which does not exist");
  EXPECT_THAT(fault(fw::WriteSrq{Srqn{1u << 20}, {}}), HasSubstr("SRQ"));
  EXPECT_THAT(fault(fw::WritePage{1u << 31, 0}), HasSubstr("page"));
  EXPECT_EQ(fault(fw::WriteStag{Stag{4 << 8}, {}}), "a request for STag index 4, which does not exist");
  EXPECT_THAT(fault(fw::PostWork{{Qpn{4}}}), HasSubstr("QP 4"));
  EXPECT_THAT(fault(fw::TcpAbort{FlowId{4}}), HasSubstr("flow 4"));
  EXPECT_EQ(fault(fw::SetTimer{8, 1}), "a request for timer 8, which does not exist");
  EXPECT_THAT(fault(fw::CancelTimer{8}), HasSubstr("timer 8"));
  EXPECT_THAT(fault(fw::Log{static_cast<fw::LogCode>(255)}), HasSubstr("log code 255"));
  EXPECT_TRUE(chip.operations().empty());
  EXPECT_EQ(fault(fw::WriteStag{Stag{3 << 8 | 0xff}, {}}), "");
  EXPECT_EQ(fault(fw::SetTimer{7, 1}), "");
}

TEST_F(MistakenFirmware, CannotHideAFault) {
  EXPECT_THAT(fault_of(chip,
                       [](auto& bus) {
                         try {
                           bus.write(fw::WriteQp{Qpn{4}, {}});
                         } catch (...) {
                         }
                       }),
              HasSubstr("QP 4"));
}

TEST_F(MistakenFirmware, DoesNotGoOnForEverWithTheBus) {
  GuardedBus<ChipBus> bus(chip);
  chip.start(1000);
  try {
    bus.run([&] {
      for (;;) bus.sram({0, 4});
    });
    ADD_FAILURE() << "it ends";
  } catch (const FirmwareFault& fault) {
    EXPECT_EQ(fault.cause, FaultCause::kWatchdog);
  }
  EXPECT_EQ(chip.end(), 1000 + FwCpuConfig().watchdog_cycles + 1);
}

// A bus that has a bug.
struct BrokenBus {
  template <class Op>
  void write(const Op&) {
    throw std::out_of_range("a table of the model");
  }
  MutableByteSpan sram(fw::SramRange) { throw InternalError("a check of the model"); }
};

TEST(NativeFirmware, IsNotBlamedForTheModel) {
  BrokenBus broken;
  GuardedBus<BrokenBus> bus(broken);
  EXPECT_THROW(bus.run([&] { bus.write(1); }), std::out_of_range);
  EXPECT_THROW(bus.run([&] { bus.sram({}); }), InternalError);
  const auto swallows = [&] {
    try {
      bus.write(1);
    } catch (...) {
    }
  };
  EXPECT_THROW(bus.run(swallows), std::out_of_range);
  EXPECT_NO_THROW(bus.run([] {}));
}

// Faults of the image.
class Rv32Fault : public FwCpuTest {
 protected:
  explicit Rv32Fault(PlantedFault fault) : FwCpuTest(config(fault)) {}
  void SetUp() override {
    if (built_rv32_image().empty()) GTEST_SKIP() << "no RV32 image was built: riscv64-unknown-elf-g++ is missing";
  }
  static FwCpuConfig config(PlantedFault fault) {
    FwCpuConfig c = failing(fault, 2);
    if (!built_rv32_image().empty()) c.target = FirmwareTargetKind::kRv32;
    c.watchdog_cycles = 20'000;
    return c;
  }
  // The dump of a fault at the second of two commands.
  std::string dump() {
    host.send(command(abi::CommandOp::kNop));
    host.send(command(abi::CommandOp::kNop));
    run_until_idle();
    EXPECT_EQ(to_host.size(), 2u);
    EXPECT_EQ(to_host.back().event.type, abi::EventType::kDeviceFatal);
    status = to_host.back().event.status;
    return dut.fault() ? dut.fault()->dump : "";
  }
  std::uint8_t status = 0;
};
template <PlantedFault kFault>
class Rv32FaultOf : public Rv32Fault {
 protected:
  Rv32FaultOf() : Rv32Fault(kFault) {}
};
using Rv32Panic = Rv32FaultOf<PlantedFault::kPanic>;
using Rv32Watchdog = Rv32FaultOf<PlantedFault::kWatchdog>;
using Rv32Illegal = Rv32FaultOf<PlantedFault::kIllegalInstruction>;
using Rv32Bus = Rv32FaultOf<PlantedFault::kBusFault>;
using Rv32Stack = Rv32FaultOf<PlantedFault::kStackOverflow>;

TEST_F(Rv32Panic, IsInTheInterruptHandler) {
  EXPECT_THAT(dump(), HasSubstr("an event that it does not know"));
  EXPECT_THAT(dut.fault()->dump,
              testing::ContainsRegex(
                  "\npc   8[0-9a-f]+  rnic_interrupt.0x[0-9a-f]+  firmware/targets/rv32/[a-z]+[.][a-z]+:[0-9]+\n"));
  EXPECT_EQ(status, static_cast<std::uint8_t>(FaultCause::kPanic));
}

TEST_F(Rv32Watchdog, BitesWhenItsTimeIsOver) {
  EXPECT_THAT(dump(), HasSubstr("cause watchdog"));
  EXPECT_EQ(status, static_cast<std::uint8_t>(FaultCause::kWatchdog));
  EXPECT_GT(to_host.cycles()[1], 20'000u);
  EXPECT_LT(to_host.cycles()[1], 25'000u);
}

TEST_F(Rv32Illegal, HasItsPc) {
  EXPECT_THAT(dump(), HasSubstr("pc   8000fffc"));
  EXPECT_EQ(status, static_cast<std::uint8_t>(FaultCause::kIllegalInstruction));
}

TEST_F(Rv32Bus, HasItsPc) {
  EXPECT_THAT(dump(), HasSubstr("pc   00000000"));
  EXPECT_EQ(status, static_cast<std::uint8_t>(FaultCause::kBusFault));
}

// Puts a wild pointer into the first argument of a firmware function.
class Misleader final : public DebugObserver {
 public:
  explicit Misleader(std::uint32_t function) : function_(function) {}
  void before_instruction(DebugTarget& target, std::uint32_t pc) override {
    if (pc == function_) target.set(kArgument, kNowhere);
  }
  void faulted(DebugTarget&, abi::FaultCause) override {}
  static constexpr unsigned kArgument = 10;  // a0
  static constexpr std::uint32_t kNowhere = 0x10000000;

 private:
  const std::uint32_t function_;
};

class Rv32Wild : public Rv32FaultOf<PlantedFault::kNone> {};

TEST_F(Rv32Wild, ADumpHasAddressFileLineCallersAndLog) {
  const std::string name = "create_qp(rnic::abi::Command const&)";
  std::uint32_t address = 0;
  for (const ElfImage::Function& f : ElfImage(built_rv32_image()).functions()) {
    if (f.name.find(name) != std::string::npos) address = f.address;
  }
  ASSERT_NE(address, 0u);
  Misleader misleader(address);
  dut.processor()->observe(misleader);
  host.send(command(abi::CommandOp::kDestroyQp, 5));  // is refused, which is logged for debugging
  host.send(command(abi::CommandOp::kCreateQp, 3));
  run_until_idle();
  ASSERT_TRUE(dut.fault());
  const std::string& dump = dut.fault()->dump;
  EXPECT_THAT(dump, HasSubstr("cause bus_fault\n"));
  EXPECT_THAT(dump, HasSubstr("in event 2\nhandling host_command create_qp\n"));
  constexpr const char* kLine = "[^\n]+  firmware/[a-z0-9_/]+[.][a-z]+:[0-9]+\n";
  EXPECT_THAT(dump, testing::ContainsRegex("\nfault address 100[0-9a-f]+\n"));
  EXPECT_THAT(dump, testing::ContainsRegex(std::string("\npc   8[^\n]+create_qp") + kLine));
  EXPECT_THAT(dump, testing::ContainsRegex(std::string("\ncalled from\n  8[^\n]+fw::Firmware<") + kLine));
  EXPECT_THAT(dump, testing::ContainsRegex(std::string("\n  8[0-9a-f]+  rnic_interrupt") + kLine));
  EXPECT_THAT(dump, HasSubstr("command_refused: command destroy_qp refused"));
}

TEST_F(Rv32Stack, OverflowsIntoNoMemory) {
  EXPECT_THAT(dump(), HasSubstr("its stack of 65536 octets has overflowed, at 0x8016fffc"));
  EXPECT_EQ(status, static_cast<std::uint8_t>(FaultCause::kStackOverflow));
}

}  // namespace
}  // namespace rnic::test
