// The firmware's processor as an RV32 core: on a program of a few instructions, cycle by cycle, and on the firmware's
// image, whose operations equal those of the native firmware.
#include "firmware/targets/rv32/platform.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "testbench/unit/rnic/fwcpu/fwcpu_bench.h"
#include "testbench/unit/rnic/fwcpu/rv32/elf_builder.h"

namespace rnic::test {
namespace {

using namespace fw::rv32;
using testing::ElementsAre;
using testing::HasSubstr;

// Answers every event with an operation that is all zeros in the mailbox, except for a halfword 7 at its beginning.
ElfBuilder answering(std::uint32_t operation) {
  const std::uint32_t to = offsetof(Mailbox, operation);
  Bytes code =
      hex("97020000 93820202"           // auipc t0,0; addi t0,t0,0x20
          "73905230 73600430"           // csrrw zero,mtvec,t0; csrrsi zero,mstatus,8
          "73005010 6ff0dfff"           // 1: wfi; jal zero,1b
          "00000000 00000000"           //
          "37060040 b7160040"           // lui a2,0x40000; lui a3,0x40001
          "13057000 00000000"           // addi a0,zero,7; sh a0,to(a2)
          "93050000 23a0b600 73002030"  // addi a1,zero,operation; sw a1,0(a3); mret
      );
  store_le32(&code[0x2c], (to >> 5) << 25 | 10 << 20 | 12 << 15 | 1 << 12 | (to & 31) << 7 | 0x23);
  store_le32(&code[0x30], operation << 20 | 11 << 7 | 0x13);
  const Layout layout = Layout::mine();
  const auto* octets = reinterpret_cast<const std::uint8_t*>(&layout);
  ElfBuilder elf;
  elf.segments = {{kText.base, code, static_cast<std::uint32_t>(code.size())},
                  {kText.base + 0x1000, {octets, octets + sizeof layout}, sizeof layout}};
  elf.symbols = {{"rnic_layout", kText.base + 0x1000, sizeof layout}};
  return elf;
}
FwCpuConfig running(const std::string& image) {
  FwCpuConfig c;
  c.target = FirmwareTargetKind::kRv32;
  c.image = image;
  return c;
}

struct ListenerImage {
  const TemporaryFile image{answering(fw::Operations::number_of<fw::TcpListen>()).build()};
};

class Rv32Listener : private ListenerImage, public FwCpuTest {
 protected:
  explicit Rv32Listener(unsigned divider = 1) : FwCpuTest(config(image.path, divider)) {}
  static FwCpuConfig config(const std::string& file, unsigned divider) {
    FwCpuConfig c = running(file);
    c.clock_divider = divider;
    return c;
  }
};

// 1 cycle to the processor, 4 to trap, 5 + 2 x 1 + 3 of the handler's instructions, 4 for the register, 1 to the
// neighbour. Then a jump and WFI end the handler, and the next one begins.
TEST_F(Rv32Listener, AnOperationTakesEffectWhenItsRegisterIsWritten) {
  host.send(command(abi::CommandOp::kNop));
  host.send(command(abi::CommandOp::kNop));
  run_until_idle();
  const Cycle first = 1 + 4 + 9 + 4 + 1, handler = 4 + 9 + 4 + 2 + 3;
  EXPECT_THAT(ops.cycles(), ElementsAre(first, first + handler));
  EXPECT_STREQ(ops[0].name(), "tcp_listen");
  EXPECT_EQ(ops[0].port(), 7);
}

class Rv32HalfClock : public Rv32Listener {
 protected:
  Rv32HalfClock() : Rv32Listener(2) {}
};

TEST_F(Rv32HalfClock, EverythingTakesTwiceAsLong) {
  host.send(command(abi::CommandOp::kNop));
  run_until_idle();
  EXPECT_THAT(ops.cycles(), ElementsAre(1 + 2 * (4 + 9 + 4) + 1));
}

class Rv32Images : public testing::Test {
 protected:
  std::string refusal(const ElfBuilder& program) {
    const TemporaryFile file(program.build());
    try {
      FwCpu dut("dut", clk, running(file.path), contexts, pool);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "taken";
  }
  ClockDomain clk{"clk", {}};
  BufferPool pool{1024};
  ContextStore contexts{clk, {}};
  WrittenFlows flows{contexts};
};

TEST_F(Rv32Images, ForAnotherChip) {
  ElfBuilder program = answering(0);
  program.segments[1].contents[0] ^= 4;
  EXPECT_THAT(refusal(program), HasSubstr(".elf: was built for another version of the chip"));
  program = answering(0);
  program.symbols[0].bytes -= 4;
  EXPECT_THAT(refusal(program), HasSubstr("was built for another version of the chip"));
  program.symbols[0].name = "rnic_layou";
  EXPECT_THAT(refusal(program), HasSubstr("was built for another version of the chip"));
}

TEST_F(Rv32Images, ThatDoesNotStart) {
  ElfBuilder program = answering(0);
  program.entry = kText.base + 0x18;  // zeros
  EXPECT_THAT(refusal(program), HasSubstr(".elf: does not start: illegal instruction, pc 0x80000018"));
}

// The image of this build.
class Rv32Firmware : public FwCpuTest {
 protected:
  explicit Rv32Firmware(std::uint32_t request_timeout_us = 10'000'000) : FwCpuTest(config(request_timeout_us)) {}
  static FwCpuConfig config(std::uint32_t request_timeout_us) {
    FwCpuConfig c = built_rv32_image().empty() ? FwCpuConfig{} : running("");
    c.request_timeout_us = request_timeout_us;
    return c;
  }
  void SetUp() override {
    if (built_rv32_image().empty()) GTEST_SKIP() << "no RV32 image was built: riscv64-unknown-elf-g++ is missing";
  }
};

TEST_F(Rv32Firmware, AResponderNegotiates) {
  FetchedCommand listen = command(abi::CommandOp::kListen), qpc = command(abi::CommandOp::kCreateQp, 5);
  FetchedCommand accept = command(abi::CommandOp::kAccept, 0x80000000);
  listen.command.u.cm.local_port = 7000;
  listen.command.flags = abi::kCmCrc;
  accept.command.qpn = 5;
  accept.command.u.cm.ird = accept.command.u.cm.ord = 4;
  accept.command.private_bytes = 2;
  accept.private_data = pool.take();
  std::memcpy(accept.private_data->bytes(), "ok", 2);
  const Cycle start = 100'000;
  for (const FetchedCommand& c : {listen, command(abi::CommandOp::kCreateCq, 0), qpc}) host.send(c);
  tcp.send_at(start, tcp_accepted(3));
  tcp.send_at(2 * start, stream_data(3, hex("4D504120494420526571204672616D65 40 01 0003")));
  tcp.send_at(3 * start, stream_data(3, hex("616263")));
  host.send_at(4 * start, accept);
  run_until_idle();
  EXPECT_THAT(names(ops), ElementsAre("tcp_listen", "tcp_stream_read", "tcp_stream_read", "tcp_stream_read",
                                      "tcp_stream_send", "tcp_enter_rdma"));
  const HostEvent& request = to_host[3];
  ASSERT_EQ(request.event.type, abi::EventType::kConnectRequest);
  EXPECT_EQ(Bytes(request.private_data->bytes(), request.private_data->bytes() + request.event.private_bytes),
            hex("616263"));
  const LlpOp& reply = ops[4];
  EXPECT_EQ(Bytes(reply.data->bytes(), reply.data->bytes() + reply.bytes()),
            hex("4D504120494420526570204672616D65 40 01 0002 6F6B"));
  EXPECT_TRUE(contexts.tx_table.peek(5)->qp.responder);
  EXPECT_EQ(contexts.tx_table.peek(5)->qp.mulpdu, 1454);
  EXPECT_TRUE(flows[FlowId{3}].rdma);
  // Each answer comes soon after its event, but not at once.
  for (unsigned i = 1; i <= 4; ++i) {
    EXPECT_GT(ops.cycles()[i], i * start + 100);
    EXPECT_LT(ops.cycles()[i], i * start + 10'000);
  }
}

// The same over SCTP, with a session that the peer ends.
TEST_F(Rv32Firmware, AResponderTakesASession) {
  const Cycle start = 100'000;
  for (const FetchedCommand& c :
       {listen_sctp(), command(abi::CommandOp::kCreateCq, 0), command(abi::CommandOp::kCreateQp, 5)}) {
    host.send(c);
  }
  sctp.send_at(start, control_message(3, hex("0001 616263")));
  host.send_at(2 * start, accept_ok());
  sctp.send_at(3 * start, on_flow<fw::SctpAcked>(3));
  sctp.send_at(4 * start, on_flow<fw::SctpViolation>(3));
  qp.send_at(5 * start, {QpEvent::Kind::kSendDrained, Qpn{5}, {}});
  sctp.send_at(6 * start, on_flow<fw::SctpAcked>(3));
  sctp.send_at(7 * start, on_flow<fw::SctpPeerClosed>(3));
  run_until_idle();
  EXPECT_THAT(names(sctp_ops), ElementsAre("sctp_listen", "sctp_send", "open", "discard", "sctp_send", "restart"));
  const HostEvent& request = to_host[3];
  ASSERT_EQ(request.event.type, abi::EventType::kConnectRequest);
  EXPECT_EQ(Bytes(request.private_data->bytes(), request.private_data->bytes() + request.event.private_bytes),
            hex("616263"));
  EXPECT_EQ(octets_of(sctp_ops[1]), hex("0002 6F6B"));
  EXPECT_EQ(octets_of(sctp_ops[4]), hex("0004"));
  EXPECT_EQ(contexts.state_of(Qpn{5}), QpState::kError);
  EXPECT_EQ(to_host.back().event.type, abi::EventType::kDisconnected);
  EXPECT_EQ(pool.in_use(), 3u) << "those that this test holds";
}

TEST_F(Rv32Firmware, AnInitiatorAsksForASession) {
  FetchedCommand connect = command(abi::CommandOp::kConnect);
  connect.command.qpn = 5;
  connect.command.flags = abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrRead;
  connect.command.u.cm = {0x0a000001, 7000, 0, 4, 8, {}, abi::kCmSctp, 0, 0, 0, 0, {}};
  const Cycle start = 100'000;
  for (const FetchedCommand& c :
       {command(abi::CommandOp::kCreateCq, 0), command(abi::CommandOp::kCreateQp, 5), connect})
    host.send(c);
  sctp.send_at(start, fw::SctpConnected{FlowId{3}, 0x80000000, 7000, 1434});
  sctp.send_at(2 * start, control_message(3, hex("0006 80084004")));
  run_until_idle();
  EXPECT_THAT(names(sctp_ops), ElementsAre("sctp_connect", "begin", "sctp_send", "open"));
  EXPECT_EQ(sctp_ops[0].peer_ip(), 0x0a000001u);
  EXPECT_EQ(sctp_ops[0].peer_port(), 7000);
  EXPECT_EQ(octets_of(sctp_ops[2]), hex("0005 80044008"));
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].kind, TxInternalWork::Kind::kRtrRead);
  EXPECT_EQ(contexts.rx_table.peek(5)->qp.ird, 4);
  EXPECT_EQ(contexts.tx_table.peek(5)->qp.ord, 8);
  EXPECT_EQ(flows[FlowId{3}].llp, LlpId::kSctp);
  EXPECT_EQ(to_host.back().event.type, abi::EventType::kEstablished);
}

class Rv32Timeout : public Rv32Firmware {
 protected:
  Rv32Timeout() : Rv32Firmware(100) {}
};

// 100 us are 25000 cycles, counted from the register write; then the timer interrupt's handler ends the connection.
TEST_F(Rv32Timeout, ATimerIsAnInterruptOfItsOwn) {
  FetchedCommand listen = command(abi::CommandOp::kListen);
  listen.command.u.cm.local_port = 7000;
  host.send(listen);
  const Cycle accepted = 10'000;
  tcp.send_at(accepted, tcp_accepted(3));
  run_until_idle();
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_STREQ(ops[1].name(), "tcp_stream_read");
  EXPECT_STREQ(ops[2].name(), "tcp_abort");
  EXPECT_GT(ops.cycles()[2], accepted + 25'000);
  EXPECT_LT(ops.cycles()[2], accepted + 25'000 + 5'000);
  EXPECT_EQ(to_host.back().event.type, abi::EventType::kConnectError);
}

}  // namespace
}  // namespace rnic::test
