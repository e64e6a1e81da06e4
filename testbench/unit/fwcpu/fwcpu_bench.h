// The firmware's processor among scripted neighbours.
#pragma once

#include <cstring>

#include "model/rnic/fwcpu/fwcpu.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/fwcpu/timed_source.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::test {

inline FetchedCommand command(abi::CommandOp op, std::uint32_t id = 0) {
  FetchedCommand f;
  f.command.op = op;
  f.command.id = id;
  return f;
}

class FwCpuTest : public StageTest {
 protected:
  explicit FwCpuTest(const FwCpuConfig& config = {}) : dut("dut", clk, config, contexts, pool) {
    host.out(commands);
    dut.commands(commands);
    tcp.out(tcp_events);
    dut.tcp_events(tcp_events);
    qp.out(qp_events);
    dut.qp_events(qp_events);
    cqs.out(cq_overflows);
    dut.cq_overflows(cq_overflows);
    srq.out(srq_events);
    dut.srq_events(srq_events);
    dut.srq_arms(srq_arms);
    arms.in(srq_arms);
    dut.tcp_ops(tcp_ops);
    ops.in(tcp_ops);
    dut.tx_work(tx_work);
    work.in(tx_work);
    dut.events(events);
    to_host.in(events);
  }
  static FetchedCommand listen() {
    FetchedCommand f = command(abi::CommandOp::kListen);
    f.command.u.cm.local_port = 7000;
    f.command.flags = abi::kCmCrc;
    return f;
  }
  static TcpEvent tcp_event(TcpEvent::Kind kind, std::uint32_t flow) {
    TcpEvent e;
    e.kind = kind;
    e.flow = FlowId{flow};
    e.port = 7000;
    e.emss = 1460;
    return e;
  }
  TcpEvent stream_data(std::uint32_t flow, const Bytes& octets) {
    TcpEvent e = tcp_event(TcpEvent::Kind::kStreamData, flow);
    e.bytes = static_cast<std::uint32_t>(octets.size());
    e.data = pool.take();
    std::memcpy(e.data->bytes(), octets.data(), octets.size());
    return e;
  }

  BufferPool pool{1024};
  ContextStore contexts{clk, {}};
  Link<FetchedCommand> commands{"commands", clk, {8, 1}};
  Link<TcpEvent> tcp_events{"tcp_events", clk, {8, 1}};
  Link<QpEvent> qp_events{"qp_events", clk, {8, 1}};
  Link<CqOverflow> cq_overflows{"cq_overflows", clk, {8, 1}};
  Link<SrqEvent> srq_events{"srq_events", clk, {8, 1}};
  Link<SrqArm> srq_arms{"srq_arms", clk, {2, 1}};
  Link<TcpOp> tcp_ops{"tcp_ops", clk, {2, 1}};
  Link<TxInternalWork> tx_work{"tx_work", clk, {2, 1}};
  Link<HostEvent> events{"events", clk, {2, 1}};
  TimedSource<FetchedCommand> host{"host", clk};
  TimedSource<TcpEvent> tcp{"tcp", clk};
  TimedSource<QpEvent> qp{"qp", clk};
  TimedSource<CqOverflow> cqs{"cqs", clk};
  TimedSource<SrqEvent> srq{"srq", clk};
  Sink<SrqArm> arms{"arms", clk};
  Sink<TcpOp> ops{"ops", clk};
  Sink<TxInternalWork> work{"work", clk};
  Sink<HostEvent> to_host{"to_host", clk};
  FwCpu dut;
};

}  // namespace rnic::test
