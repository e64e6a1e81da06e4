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
  static SctpEvent sctp_event(SctpEvent::Kind kind, std::uint32_t flow) {
    SctpEvent e;
    e.kind = kind;
    e.flow = FlowId{flow};
    e.port = 7000;
    e.mulpdu = 1434;
    return e;
  }
  // From its function code on.
  SctpEvent control_message(std::uint32_t flow, const Bytes& octets) {
    SctpEvent e = sctp_event(SctpEvent::Kind::kControl, flow);
    e.bytes = static_cast<std::uint32_t>(octets.size());
    e.data = pool.take();
    std::memcpy(e.data->bytes(), octets.data(), octets.size());
    return e;
  }
  static FetchedCommand listen_sctp() {
    FetchedCommand f = listen();
    f.command.u.cm.options = abi::kCmSctp;
    return f;
  }
  // An acceptance of the first connection, with two octets of private data.
  FetchedCommand accept_ok() {
    FetchedCommand f = command(abi::CommandOp::kAccept, 0x80000000);
    f.command.qpn = 5;
    f.command.u.cm.ird = f.command.u.cm.ord = 4;
    f.command.private_bytes = 2;
    f.private_data = pool.take();
    std::memcpy(f.private_data->bytes(), "ok", 2);
    return f;
  }
  std::vector<SctpOp::Kind> sctp_kinds() const {
    std::vector<SctpOp::Kind> kinds;
    for (const SctpOp& op : sctp_ops) kinds.push_back(op.kind);
    return kinds;
  }
  static Bytes octets_of(const SctpOp& op) { return {op.data->bytes(), op.data->bytes() + op.bytes}; }

  BufferPool pool{1024};
  ContextStore contexts{clk, {}};
  FwCpu dut;
  Source<FetchedCommand> host = drive(dut.commands);
  Source<TcpEvent> tcp = drive(dut.tcp_events);
  Source<SctpEvent> sctp = drive(dut.sctp_events);
  Source<QpEvent> qp = drive(dut.qp_events);
  Source<CqOverflow> cqs = drive(dut.cq_overflows);
  Source<SrqEvent> srq = drive(dut.srq_events);
  Sink<SrqArm> arms = collect(dut.srq_arms);
  Sink<TcpOp> ops = collect(dut.tcp_ops, {2, 1, 1});
  Sink<SctpOp> sctp_ops = collect(dut.sctp_ops);
  Sink<TxInternalWork> work = collect(dut.tx_work);
  Sink<HostEvent> to_host = collect(dut.events);
};

}  // namespace rnic::test
