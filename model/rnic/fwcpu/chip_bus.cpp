#include "model/rnic/fwcpu/chip_bus.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "model/rnic/fwcpu/firmware_fault.h"

namespace rnic {
namespace {

constexpr std::size_t kLastEntries = 16;

}  // namespace

ChipBus::ChipBus(const FwCpuConfig& config, BufferPool& pool, const ContextStore& contexts, std::uint32_t setups,
                 std::uint32_t timers)
    : config_(config),
      pool_(pool),
      contexts_(contexts),
      timers_(timers),
      memory_(fw::sram_bytes(setups)),
      read_into_(contexts.flows()) {
  RNIC_CHECK(pool.block_bytes() >= fw::kFrameBytes);
}

void ChipBus::reset() {
  std::memset(memory_.data(), 0, memory_.size());
  read_into_.assign(read_into_.size(), {});
  operations_.clear();
  begin_ = time_ = 0;
  deadline_ = kNever;
  last_entries_.clear();
}

void ChipBus::start(Cycle at) {
  RNIC_CHECK(operations_.empty());
  time_ = at;
  deadline_ = at + config_.watchdog_cycles * config_.clock_divider;
  spend(config_.target == FirmwareTargetKind::kRv32 ? config_.rv32.trap_cycles : config_.dispatch_cycles);
  begin_ = time_;
}

void ChipBus::fail_late() const { throw FirmwareFault(abi::FaultCause::kWatchdog, "a handler takes too long"); }

MutableByteSpan ChipBus::sram(fw::SramRange range) {
  check_time();
  check_window(range);
  spend(std::uint64_t{(range.bytes + 3) / 4} * config_.sram_word_cycles);
  return {memory_.data() + range.offset, range.bytes};
}

void ChipBus::check_window(fw::SramRange range) const {
  if (std::uint64_t{range.offset} + range.bytes <= memory_.size() && range.bytes <= pool_.block_bytes()) return;
  throw FirmwareFault(abi::FaultCause::kPanic, "a window of " + std::to_string(range.bytes) + " octets at " +
                                                   std::to_string(range.offset) + " of the SRAM, which does not exist");
}

BufferRef ChipBus::copy_out(fw::SramRange range) {
  check_window(range);
  BufferRef buffer = pool_.take();
  std::memcpy(buffer->bytes(), memory_.data() + range.offset, range.bytes);
  return buffer;
}

void ChipBus::put_private_data(const FetchedCommand& command) {
  if (!command.private_data) return;
  const std::size_t bytes = std::min<std::size_t>(command.command.private_bytes, fw::kCommandWindow.bytes);
  std::memcpy(memory_.data() + fw::kCommandWindow.offset, command.private_data->bytes(), bytes);
}

void ChipBus::put_octets(const LlpEvent& event) {
  if (event.bytes() == 0) return;
  fw::SramRange into;
  if (event.get<fw::TcpStreamData>() != nullptr) {
    into = read_into_.at(event.flow().v);
    if (into.bytes == 0) return;  // they came too late: the place may belong to another connection by now
  } else if (event.get<fw::SctpControl>() != nullptr) {
    // The window starts with the place of the DDP-SSN.
    into = {fw::kSessionWindow.offset + wire::kDdpSsnBytes, fw::kSessionWindow.bytes - wire::kDdpSsnBytes};
  }
  RNIC_CHECK_MSG(event.bytes() <= into.bytes, "an event with more octets than were asked for");
  std::memcpy(memory_.data() + into.offset, event.data->bytes(), event.bytes());
}

std::uint8_t ChipBus::put_terminate(const QpEvent& event) {
  const MutableByteSpan window(memory_.data() + fw::kTerminateWindow.offset, fw::kTerminateWindow.bytes);
  return static_cast<std::uint8_t>(event.failed.header(event.cause).emit(window));
}

void ChipBus::need(const char* what, std::size_t number, std::size_t entries) {
  if (number < entries) return;
  throw FirmwareFault(abi::FaultCause::kPanic,
                      std::string("a request for ") + what + ' ' + std::to_string(number) + ", which does not exist");
}

void ChipBus::apply(const fw::TcpStreamSend& op) {
  need_flow(op.flow);
  post(LlpOp(op, copy_out(op.octets)));
}

void ChipBus::apply(const fw::SctpSend& op) {
  need_flow(op.flow);
  post(LlpOp(op, copy_out(op.octets)));
}

void ChipBus::apply(const fw::TcpStreamRead& op) {
  need_flow(op.flow);
  check_window(op.into);
  read_into_[op.flow.v] = op.into;
  post(LlpOp(op));
}

// Into the table, or into its home.
void ChipBus::apply(const fw::WritePage& op) {
  need("page", op.index, contexts_.pages());
  if (!contexts_.page_table.cached()) return post(op);
  post(HomeOp{HomeOp::Kind::kWritePage, op.index, op.bus_address});
}
void ChipBus::apply(const fw::WriteCq& op) {
  need("CQ", op.cqn.v, contexts_.cqs());
  if (!contexts_.cq_table.cached()) return post(op);
  post(HomeOp{HomeOp::Kind::kWriteCq, op.cqn.v, 0, op.context});
}
void ChipBus::apply(const fw::WriteSrq& op) {
  need("SRQ", op.srqn.v, contexts_.srqs());
  if (!contexts_.srq_table.cached()) return post(op);
  HomeOp home{HomeOp::Kind::kWriteSrq, op.srqn.v};
  home.srq = op.context;
  post(home);
}
void ChipBus::apply(const fw::WriteFlow& op) {
  need_flow(op.flow);
  need("QP", op.context.qpn.v, contexts_.qps());
  if (!contexts_.is_homed(op.flow)) return post(op);
  HomeOp home{HomeOp::Kind::kWriteFlow, op.flow.v};
  home.flow = op.context;
  post(home);
}
void ChipBus::apply(const fw::WriteQp& op) {
  need("QP", op.qpn.v, contexts_.qps());
  if (!contexts_.tx_table.cached()) return post(op);
  post(HomeOp{HomeOp::Kind::kWriteQp, op.qpn.v, 0, {}, op.context});
}

void ChipBus::apply(const fw::WriteHomePage& op) {
  need("page of the home, ", op.index, contexts_.home_pages());
  post(HomeOp{HomeOp::Kind::kHomePage, op.index, op.bus_address});
}

// After these no octets of the flow are wanted.
void ChipBus::apply(const fw::TcpClose& op) {
  need_flow(op.flow);
  read_into_[op.flow.v] = {};
  post(LlpOp(op));
}

void ChipBus::apply(const fw::TcpAbort& op) {
  need_flow(op.flow);
  read_into_[op.flow.v] = {};
  post(LlpOp(op));
}

void ChipBus::apply(const fw::SctpStream& op) {
  need_flow(op.flow);
  need("an action on a stream, ", static_cast<std::size_t>(op.action), fw::kSctpStreamActions);
  post(LlpOp(op));
}

void ChipBus::apply(const fw::Log& op) {
  need("log code", static_cast<std::size_t>(op.code), logs_.size());
  ++logs_[static_cast<std::size_t>(op.code)];
  if (last_entries_.size() == kLastEntries) last_entries_.pop_front();
  last_entries_.push_back({time_, op});
  if (is_wanted(op)) post(op);
}

void ChipBus::apply(const fw::Panic& op) {
  throw FirmwareFault(abi::FaultCause::kPanic, op.code == fw::PanicCode::kFreedTwice ? "something is freed twice"
                                               : op.code == fw::PanicCode::kUnknownEvent
                                                   ? "an event that it does not know"
                                                   : "panic " + std::to_string(static_cast<unsigned>(op.code)));
}

void ChipBus::raise(const abi::Event& event) {
  HostEvent out;
  out.event = event;
  post(std::move(out));
}

void ChipBus::apply(const fw::PostEvent& op) {
  HostEvent out;
  out.event = op.event;
  if (op.event.private_bytes != 0) out.private_data = copy_out({op.private_offset, op.event.private_bytes});
  post(std::move(out));
}

}  // namespace rnic
