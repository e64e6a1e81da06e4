// The firmware's processor among scripted neighbours.
#pragma once

#include <cstring>

#include "model/rnic/fwcpu/fwcpu.h"
#include "testbench/support/stage_test.h"
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
  explicit FwCpuTest(const FwCpuConfig& config = {}) : dut("dut", clk, config, contexts, pool) {}
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
  FwCpu dut;
  Source<FetchedCommand> host = drive(dut.commands);
  Source<TcpEvent> tcp = drive(dut.tcp_events);
  Source<QpEvent> qp = drive(dut.qp_events);
  Source<CqOverflow> cqs = drive(dut.cq_overflows);
  Source<SrqEvent> srq = drive(dut.srq_events);
  Sink<SrqArm> arms = collect(dut.srq_arms);
  Sink<TcpOp> ops = collect(dut.tcp_ops, {2, 1, 1});
  Sink<TxInternalWork> work = collect(dut.tx_work);
  Sink<HostEvent> to_host = collect(dut.events);
};

}  // namespace rnic::test
