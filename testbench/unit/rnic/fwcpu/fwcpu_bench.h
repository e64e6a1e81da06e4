// The firmware's processor among scripted neighbours.
#pragma once

#include <cstring>

#include "model/rnic/fwcpu/fwcpu.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stag_work_beside.h"
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
  explicit FwCpuTest(const FwCpuConfig& config = {}, const ContextStore::Sizes& sizes = {})
      : contexts(clk, sizes), dut("dut", clk, config, contexts, pool) {}
  static FetchedCommand listen() {
    FetchedCommand f = command(abi::CommandOp::kListen);
    f.command.u.cm.local_port = 7000;
    f.command.flags = abi::kCmCrc;
    return f;
  }
  // With a scripted neighbour's port and segment limit.
  template <class Event>
  static Event on_flow(std::uint32_t flow) {
    Event e;
    e.flow = FlowId{flow};
    return e;
  }
  static fw::TcpAccepted tcp_accepted(std::uint32_t flow) { return {FlowId{flow}, 0, 0, 7000, 1460}; }
  static fw::TcpConnected tcp_connected(std::uint32_t flow) { return {FlowId{flow}, 0, 7000, 1460}; }
  LlpEvent stream_data(std::uint32_t flow, const Bytes& octets) {
    return LlpEvent(fw::TcpStreamData{FlowId{flow}, static_cast<std::uint32_t>(octets.size())}, 0, buffer_of(octets));
  }
  // `octets` begin with the function code.
  LlpEvent control_message(std::uint32_t flow, const Bytes& octets) {
    return LlpEvent(fw::SctpControl{FlowId{flow}, 0, 0, 7000, 1434, static_cast<std::uint16_t>(octets.size())}, 0,
                    buffer_of(octets));
  }
  BufferRef buffer_of(const Bytes& octets) {
    BufferRef buffer = pool.take();
    std::memcpy(buffer->bytes(), octets.data(), octets.size());
    return buffer;
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
  // The operations' names; for those on a stream, the action.
  static std::vector<std::string> names(const Sink<LlpOp>& ops) {
    std::vector<std::string> names;
    for (const LlpOp& op : ops) {
      const auto* const stream = op.get<fw::SctpStream>();
      names.push_back(stream == nullptr ? op.name()
                                        : value_words(stream->action)[static_cast<std::size_t>(stream->action)]);
    }
    return names;
  }
  static Bytes octets_of(const LlpOp& op) { return {op.data->bytes(), op.data->bytes() + op.bytes()}; }

  BufferPool pool{1024};
  ContextStore contexts;
  WrittenFlows flows{contexts};
  FwCpu dut;
  Source<FetchedCommand> host = drive(dut.commands);
  Source<LlpEvent> tcp = drive(dut.llp_events[LlpId::kMpaTcp]);
  Source<LlpEvent> sctp = drive(dut.llp_events[LlpId::kSctp]);
  Source<QpEvent> qp = drive(dut.qp_events);
  Source<CqOverflow> cqs = drive(dut.cq_overflows);
  Source<SrqEvent> srq = drive(dut.srq_events);
  Source<HomeEvent> home = drive(dut.home_events);
  Sink<HomeOp> home_ops = collect(dut.home_ops, FwCpu::kHomeOps);
  StagWorkBeside stag_work{contexts, dut.stag_writes, dut.stag_written};
  Sink<SrqArm> arms = collect(dut.srq_arms);
  Sink<LlpOp> ops = collect(dut.llp_ops[LlpId::kMpaTcp], {2, 1, 1});
  Sink<LlpOp> sctp_ops = collect(dut.llp_ops[LlpId::kSctp]);
  Sink<TxInternalWork> work = collect(dut.tx_work);
  Sink<HostEvent> to_host = collect(dut.events);
};

}  // namespace rnic::test
