// The firmware's processor, cycle by cycle, with scripted neighbours.
#include <nlohmann/json.hpp>

#include "model/common/description.h"
#include "model/stats/report.h"
#include "testbench/support/contexts.h"
#include "testbench/unit/rnic/fwcpu/fwcpu_bench.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Reads a context in chosen cycles.
class ContextProbe final : public Stage {
 public:
  ContextProbe(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk), contexts_(contexts) {}
  Wake tick() override {
    cq_valid[now()] = contexts_.cq_table.peek(2)->cq.valid;
    return Wake::on_traffic();
  }
  std::map<Cycle, bool> cq_valid;

 private:
  const ContextStore& contexts_;
};

// 1 cycle to the processor, 40 to dispatch, then 4 for each word of an operation, and 1 to the neighbour.
TEST_F(FwCpuTest, AnOperationTakesEffectWhenItsLastWordIsWritten) {
  host.send(listen());
  run_until_idle();
  EXPECT_THAT(ops.cycles(), ElementsAre(1 + 40 + 4 + 1));
  EXPECT_STREQ(ops[0].name(), "tcp_listen");
  EXPECT_EQ(ops[0].port(), 7000);
  EXPECT_THAT(to_host.cycles(), ElementsAre(1 + 40 + 4 + 8 * 4 + 1));
}

TEST_F(FwCpuTest, ContextIsVisibleInTheCycleAfter) {
  ContextProbe probe("probe", clk, contexts);
  const Cycle written = 1 + 40 + 6 * 4;
  for (Cycle c = written - 1; c <= written + 2; ++c) probe.wake(c);
  host.send(command(abi::CommandOp::kCreateCq, 2));
  run_until_idle();
  EXPECT_THAT(probe.cq_valid, ElementsAre(std::pair(written - 1, false), std::pair(written, false),
                                          std::pair(written + 1, true), std::pair(written + 2, true)));
}

// Its queues' home is DRAM on the board, which takes the context late.
class FwCpuWithAHome : public FwCpuTest {
 protected:
  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s;
    s.cq_cache = s.srq_cache = {2, 2, CachePolicy::kLru, 2, 1};
    s.home_in_host = false;
    return s;
  }
  FwCpuWithAHome() : FwCpuTest({}, sizes()) {}
};
TEST_F(FwCpuWithAHome, TheHostHearsOfAQueueWhenItsHomeHasTheContext) {
  home_ops.pause(window(0, 500));
  host.send(command(abi::CommandOp::kCreateCq, 2));
  run_until_idle();
  EXPECT_THAT(home_ops.cycles(), ElementsAre(500));
  EXPECT_EQ(home_ops[0].kind, HomeOp::Kind::kWriteCq);
  EXPECT_EQ(home_ops[0].index, 2u);
  EXPECT_THAT(to_host.cycles(), ElementsAre(500 + 1 + 1));
}

TEST_F(FwCpuWithAHome, AllThatTheFirmwareSaysOfASharedQueueGoesThere) {
  FetchedCommand create = command(abi::CommandOp::kCreateSrq, 3);
  create.command.u.srq.base = 0x7000;
  create.command.u.srq.log_entries = 4;
  create.command.u.srq.pd = 5;
  host.send(create);
  host.send(command(abi::CommandOp::kDestroySrq, 3));
  run_until_idle();
  ASSERT_EQ(home_ops.size(), 2u);
  for (const HomeOp& op : home_ops) {
    EXPECT_EQ(op.kind, HomeOp::Kind::kWriteSrq);
    EXPECT_EQ(op.index, 3u);
    EXPECT_EQ(op.srq.epoch, 1u);
  }
  EXPECT_TRUE(home_ops[0].srq.valid);
  EXPECT_EQ(home_ops[0].srq.base, 0x7000u);
  EXPECT_EQ(home_ops[0].srq.log_entries, 4u);
  EXPECT_EQ(home_ops[0].srq.pd, Pdn{5});
  EXPECT_FALSE(home_ops[1].srq.valid);
}

TEST_F(FwCpuTest, EventsWaitForTheHandlerBeforeThem) {
  for (std::uint32_t id = 1; id <= 3; ++id) host.send(command(abi::CommandOp::kNop, id));
  run_until_idle();
  EXPECT_THAT(to_host.cycles(), ElementsAre(74, 74 + 72, 74 + 144));
  EXPECT_EQ(to_host[2].event.id, 3u);
}

TEST_F(FwCpuTest, QueuePairEventsBeforeTcpBeforeCommands) {
  host.send(command(abi::CommandOp::kNop));
  tcp.send(tcp_connected(4));                        // unknown: aborted
  qp.send({QpEvent::Kind::kFirstFpdu, Qpn{3}, {}});  // unknown: a log line of 4 cycles
  run_until_idle();
  EXPECT_THAT(ops.cycles(), ElementsAre(1 + 44 + 44 + 1));
  EXPECT_THAT(to_host.cycles(), ElementsAre(1 + 44 + 44 + 72 + 1));
}

// The host hears first that its queue overran. The QP without a connection is in error, flushed.
TEST_F(FwCpuTest, AnOverflowOfACompletionQueueIsReportedAndItsQueuePairsAreFlushed) {
  host.send(command(abi::CommandOp::kCreateCq, 2));
  FetchedCommand create = command(abi::CommandOp::kCreateQp, 3);
  create.command.u.qp = {0x10000, 0x20000, 4, 4, 1, 2, 2, 0, {}};
  host.send(create);
  const Cycle from = 1000;
  cqs.send_at(from, {Cqn{2}});
  run_until_idle();
  ASSERT_EQ(to_host.size(), 3u);
  EXPECT_EQ(to_host[2].event.type, abi::EventType::kCqError);
  EXPECT_EQ(to_host[2].event.id, 2u);
  EXPECT_EQ(to_host.cycles()[2], from + 1 + 40 + 8 * 4 + 1);
  EXPECT_EQ(contexts.state_of(Qpn{3}), QpState::kError);
  EXPECT_THAT(work.cycles(), ElementsAre(from + 1 + 40 + 8 * 4 + 13 * 4 + 2 * 4 + 1));
  EXPECT_EQ(work[0].kind, TxInternalWork::Kind::kFlush);
}

TEST_F(FwCpuTest, AnArmedLimitGoesToTheReceiveSideAndItsEventToTheHost) {
  FetchedCommand create = command(abi::CommandOp::kCreateSrq, 2), arm = command(abi::CommandOp::kModifySrq, 2);
  create.command.u.srq = {0x1000, 4, 1, 0};
  arm.command.u.srq.limit = 5;
  host.send(create);
  host.send_at(1, arm);
  srq.send_at(300, {SrqEvent::Kind::kLimit, Srqn{2}, 1});
  run_until_idle();
  // 1 to the processor; the first command takes 40 + 5 x 4 + 8 x 4; then 40 + 2 x 4, and 1 to the neighbour.
  EXPECT_THAT(arms.cycles(), ElementsAre(1 + 92 + 48 + 1));
  EXPECT_EQ(arms[0].srqn, Srqn{2});
  EXPECT_EQ(arms[0].limit, 5u);
  EXPECT_THAT(to_host.cycles(), ElementsAre(94, 94 + 80, 301 + 72 + 1));
  EXPECT_EQ(to_host[2].event.type, abi::EventType::kSrqLimit);
  EXPECT_EQ(to_host[2].event.id, 2u);
}

// A waiting register write delays everything after it by the same time.
TEST_F(FwCpuTest, AFullLinkHoldsTheProcessor) {
  ops.pause(window(0, 1000));
  FetchedCommand second = listen(), third = listen();
  second.command.u.cm.local_port = 7001;
  third.command.u.cm.local_port = 7002;
  for (const FetchedCommand& c : {listen(), second, third, command(abi::CommandOp::kNop)}) host.send(c);
  run_until_idle();
  // Two operations fit the link; the third leaves in the cycle after the first is taken.
  EXPECT_THAT(ops.cycles(), ElementsAre(1000, 1001, 1002));
  EXPECT_THAT(to_host.cycles(), ElementsAre(78, 78 + 76, 1001 + 32 + 1, 1001 + 32 + 72 + 1));
}

// RFC 5040 section 8.1.1: the host hears of an STag's end when no write that it allowed is in flight any more.
TEST_F(FwCpuTest, TheEndOfAnStagWaitsForTheWritesUnderWay) {
  constexpr std::uint32_t kStag = 3 << 8 | 0x5a;
  FetchedCommand registration = command(abi::CommandOp::kRegisterMr, kStag);
  registration.command.u.mr = {0x1000, 0x100, 1};
  host.send(registration);
  host.send(command(abi::CommandOp::kDeregisterMr, kStag));
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.commit();
  At placement("placement", clk);
  bool valid = true;
  const Cycle written = StagWorkBeside::answered(contexts, false), ends = StagWorkBeside::executed(contexts);
  const Cycle registered = 1 + 40 + 12 * 4 + written + 8 * 4, ended = registered + 40 + 12 * 4 + ends;
  placement.at(ended, [&] { EXPECT_TRUE(contexts.stag(Stag{kStag})->valid); });
  placement.at(ended + 1, [&] { valid = contexts.stag(Stag{kStag})->valid; });
  placement.at(1000, [&] { contexts.in_flight.end(StagWrites::kPlacement); });
  run_until_idle();
  EXPECT_FALSE(valid);  // at once
  EXPECT_THAT(to_host.cycles(), ElementsAre(registered + 1, 1001 + kToEnd + 8 * 4 + 1));
  EXPECT_LT(clk.activity().ticks, 100u);  // it is woken, and does not poll before
}

// Somebody else has invalidated it, perhaps just now.
TEST_F(FwCpuTest, SoDoesTheEndOfAnEntryThatIsInvalidAlready) {
  constexpr std::uint32_t kStag = 3 << 8 | 0x5a;
  FetchedCommand window = command(abi::CommandOp::kAllocMw, kStag);
  window.command.flags = 1;
  host.send(window);
  host.send(command(abi::CommandOp::kDeregisterMr, kStag));
  contexts.in_flight.begin(StagWrites::kPlacement);
  contexts.in_flight.commit();
  At placement("placement", clk);
  placement.at(1000, [&] { contexts.in_flight.end(StagWrites::kPlacement); });
  run_until_idle();
  ASSERT_EQ(to_host.size(), 2u);
  EXPECT_LT(to_host.cycles()[0], 1000u) << "a new entry waits for nothing";
  EXPECT_EQ(to_host.cycles()[1], 1001 + kToEnd + 8 * 4 + 1);
}

class HalfClock : public FwCpuTest {
 protected:
  static FwCpuConfig config() {
    FwCpuConfig c;
    c.clock_divider = 2;
    c.reply_timeout_us = 3;
    return c;
  }
  HalfClock() : FwCpuTest(config()) {}
};

TEST_F(HalfClock, EverythingTakesTwiceAsLong) {
  host.send(listen());
  run_until_idle();
  EXPECT_THAT(ops.cycles(), ElementsAre(1 + 2 * 44 + 1));
  EXPECT_THAT(to_host.cycles(), ElementsAre(1 + 2 * 76 + 1));
}

class ShortTimeouts : public FwCpuTest {
 protected:
  static FwCpuConfig config() {
    FwCpuConfig c;
    c.request_timeout_us = 2;
    return c;
  }
  ShortTimeouts() : FwCpuTest(config()) {}
};

TEST_F(ShortTimeouts, TimerRunsFromItsRegisterWrite) {
  host.send(listen());
  tcp.send_at(200, tcp_accepted(3));
  run_until_idle();
  // The timer is set at 201 + 40 + 8, the read issued 12 later. 2 us are 500 cycles of 4 ns.
  const Cycle expires = 249 + 500;
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_STREQ(ops[1].name(), "tcp_stream_read");
  EXPECT_EQ(ops.cycles()[1], 249u + 12 + 1);
  EXPECT_STREQ(ops[2].name(), "tcp_abort");
  EXPECT_EQ(ops.cycles()[2], expires + 40 + 4 + 1);
  EXPECT_EQ(to_host.back().event.type, abi::EventType::kConnectError);
}

TEST_F(FwCpuTest, ACancelledTimerDoesNothing) {
  host.send(listen());
  tcp.send_at(200, tcp_accepted(3));
  tcp.send_at(400, on_flow<fw::TcpReset>(3));
  run_until_idle();
  EXPECT_LT(clk.now(), 1000u) << "the request timeout would be 2.5e9 cycles";
  EXPECT_EQ(to_host.back().event.status, static_cast<std::uint8_t>(abi::ConnectStatus::kReset));
}

TEST_F(FwCpuTest, IdleCostsNothing) {
  host.send(command(abi::CommandOp::kNop));
  run_until_idle();
  const auto before = clk.activity().ticks;
  host.send_at(1'000'000, command(abi::CommandOp::kNop));
  run_until_idle();
  EXPECT_EQ(to_host.cycles()[1], 1'000'000u + 74);
  // Source, dispatch, the event's cycle and the sink; the links' credits wake no stage.
  EXPECT_LE(clk.activity().ticks - before, 8u);
}

TEST_F(FwCpuTest, StartupFramesPassThroughSram) {
  FetchedCommand cq = command(abi::CommandOp::kCreateCq, 0), qpc = command(abi::CommandOp::kCreateQp, 5);
  FetchedCommand accept = command(abi::CommandOp::kAccept, 0x80000000);
  accept.command.qpn = 5;
  accept.command.u.cm.ird = accept.command.u.cm.ord = 4;
  accept.command.private_bytes = 2;
  accept.private_data = pool.take();
  std::memcpy(accept.private_data->bytes(), "ok", 2);
  for (const FetchedCommand& c : {listen(), cq, qpc}) host.send(c);
  tcp.send_at(1000, tcp_accepted(3));
  tcp.send_at(2000, stream_data(3, hex("4D504120494420526571204672616D65 40 01 0003")));
  tcp.send_at(3000, stream_data(3, hex("616263")));
  host.send_at(4000, accept);
  run_until_idle();
  ASSERT_EQ(ops.size(), 6u);
  EXPECT_EQ(ops[1].bytes(), 20u);
  EXPECT_EQ(ops[2].bytes(), 3u);
  const HostEvent& request = to_host[3];
  ASSERT_EQ(request.event.type, abi::EventType::kConnectRequest);
  EXPECT_EQ(request.event.private_bytes, 3);
  EXPECT_EQ(std::memcmp(request.private_data->bytes(), "abc", 3), 0);
  const LlpOp& reply = ops[4];
  EXPECT_STREQ(reply.name(), "tcp_stream_send");
  EXPECT_EQ(Bytes(reply.data->bytes(), reply.data->bytes() + reply.bytes()),
            hex("4D504120494420526570204672616D65 40 01 0002 6F6B"));
  EXPECT_STREQ(ops[5].name(), "tcp_enter_rdma");
  EXPECT_TRUE(contexts.tx_table.peek(5)->qp.responder);
  EXPECT_EQ(contexts.tx_table.peek(5)->qp.mulpdu, 1454);
  EXPECT_TRUE(flows[FlowId{3}].rdma);
}

TEST(FwCpuLimits, AChipLargerThanTheFirmwareIsAConfigurationError) {
  ClockDomain clk("clk", {});
  BufferPool pool(1024);
  ContextStore many(clk, {2048, 256, 256, 1024}), too_many(clk, {65537, 256, 256, 1024});
  EXPECT_NO_THROW(FwCpu("native", clk, {}, many, pool));
  EXPECT_THROW(FwCpu("full", clk, {}, too_many, pool), ConfigError);
  FwCpuConfig rv32;
  rv32.target = FirmwareTargetKind::kRv32;
  EXPECT_THROW(FwCpu("rv32", clk, rv32, many, pool), ConfigError);
}

// Control messages pass through SRAM too.
TEST_F(FwCpuTest, ASessionOverSctp) {
  StatsRegistry registry;
  dut.describe(Description(StatsGroup(registry)));
  for (const FetchedCommand& c :
       {listen_sctp(), command(abi::CommandOp::kCreateCq, 0), command(abi::CommandOp::kCreateQp, 5)}) {
    host.send(c);
  }
  const Cycle start = 1000;
  sctp.send_at(start, control_message(3, hex("0001 616263")));
  host.send_at(2 * start, accept_ok());
  sctp.send_at(3 * start, on_flow<fw::SctpAcked>(3));
  sctp.send_at(4 * start, fw::SctpMulpduChanged{FlowId{3}, 1434});
  sctp.send_at(5 * start, on_flow<fw::SctpStray>(4));
  sctp.send_at(6 * start, on_flow<fw::SctpAcked>(4));
  sctp.send_at(7 * start, on_flow<fw::SctpLost>(3));
  run_until_idle();
  EXPECT_THAT(names(sctp_ops), ElementsAre("sctp_listen", "sctp_send", "open", "end_run", "sctp_send", "restart"));
  EXPECT_EQ(sctp_ops[0].port(), 7000);
  EXPECT_EQ(octets_of(sctp_ops[1]), hex("0002 6F6B"));
  EXPECT_EQ(sctp_ops[3].flow(), FlowId{4});
  EXPECT_EQ(octets_of(sctp_ops[4]), hex("0004"));
  EXPECT_THAT(ops, testing::SizeIs(0));

  const HostEvent& request = to_host[3];
  ASSERT_EQ(request.event.type, abi::EventType::kConnectRequest);
  EXPECT_EQ(Bytes(request.private_data->bytes(), request.private_data->bytes() + request.event.private_bytes),
            hex("616263"));
  EXPECT_EQ(to_host.cycles()[3], start + 1 + 40 + 2 + 8 * 4 + 1) << "two words of SRAM, and the event";
  EXPECT_EQ(flows[FlowId{3}].llp, LlpId::kSctp);
  EXPECT_EQ(contexts.tx_table.peek(5)->qp.mulpdu, 1434);
  EXPECT_EQ(to_host.back().event.type, abi::EventType::kDisconnected);
  const auto setup = to_json(registry)["setup"];
  EXPECT_EQ(setup["responder"]["total"]["count"], 1) << "the stray is none";
  EXPECT_EQ(setup["initiator"]["total"]["count"], 0);
}

// Operations for an SCTP stream come after those for its queue pair and TCP, and before those for the host.
TEST_F(FwCpuTest, SctpBeforeCommands) {
  host.send(command(abi::CommandOp::kNop));
  sctp.send(fw::SctpConnected{FlowId{4}, 0, 7000, 1434});  // no one's: given back
  tcp.send(tcp_connected(4));
  run_until_idle();
  EXPECT_THAT(ops.cycles(), ElementsAre(1 + 44 + 1));
  EXPECT_THAT(sctp_ops.cycles(), ElementsAre(1 + 44 + 44 + 1));
  EXPECT_THAT(to_host.cycles(), ElementsAre(1 + 44 + 44 + 72 + 1));
}

TEST_F(FwCpuTest, AControlMessageOverSctpIsWithinItsLimit) {
  const Bytes longest = hex("0001" + std::string(2 * 512, 'a'));
  host.send(listen_sctp());
  sctp.send_at(1000, control_message(3, longest));
  run_until_idle();
  EXPECT_EQ(to_host.back().event.private_bytes, 512);
}

}  // namespace
}  // namespace rnic::test
