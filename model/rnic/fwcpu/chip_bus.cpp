#include "model/rnic/fwcpu/chip_bus.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "model/rnic/fwcpu/firmware_fault.h"

namespace rnic {
namespace {

constexpr std::size_t kLastEntries = 16;

SctpOp::Kind kind_of(fw::SctpStreamAction action) {
  switch (action) {
    case fw::SctpStreamAction::kBegin:
      return SctpOp::Kind::kBegin;
    case fw::SctpStreamAction::kOpen:
      return SctpOp::Kind::kOpen;
    case fw::SctpStreamAction::kDiscard:
      return SctpOp::Kind::kDiscard;
    case fw::SctpStreamAction::kEndRun:
      return SctpOp::Kind::kEndRun;
    case fw::SctpStreamAction::kRestart:
      return SctpOp::Kind::kRestart;
    case fw::SctpStreamAction::kGiveBack:
      return SctpOp::Kind::kGiveBack;
    case fw::SctpStreamAction::kAbandon:
      return SctpOp::Kind::kAbandon;
  }
  throw FirmwareFault(abi::FaultCause::kPanic,
                      "an action on a stream that does not exist: " + std::to_string(static_cast<unsigned>(action)));
}

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

void ChipBus::put_stream_octets(const TcpEvent& event) {
  if (event.bytes == 0) return;
  const fw::SramRange into = read_into_.at(event.flow.v);
  if (into.bytes == 0) return;  // they came too late: the place may belong to another connection by now
  RNIC_CHECK(event.bytes <= into.bytes);
  std::memcpy(memory_.data() + into.offset, event.data->bytes(), event.bytes);
}

// The window starts with the place of the DDP-SSN.
void ChipBus::put_control_message(const SctpEvent& event) {
  if (event.kind != SctpEvent::Kind::kControl) return;
  RNIC_CHECK_MSG(event.bytes + wire::kDdpSsnBytes <= fw::kSessionWindow.bytes, "a control message beyond its limit");
  if (event.bytes == 0) return;
  std::memcpy(memory_.data() + fw::kSessionWindow.offset + wire::kDdpSsnBytes, event.data->bytes(), event.bytes);
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

void ChipBus::apply(const fw::TcpListen& op) {
  TcpOp out;
  out.kind = TcpOp::Kind::kListen;
  out.port = op.port;
  post(std::move(out));
}

void ChipBus::apply(const fw::TcpUnlisten& op) {
  TcpOp out;
  out.kind = TcpOp::Kind::kUnlisten;
  out.port = op.port;
  post(std::move(out));
}

void ChipBus::apply(const fw::TcpOpen& op) {
  TcpOp out;
  out.kind = TcpOp::Kind::kOpen;
  out.peer_ip = op.peer_ip;
  out.peer_port = op.peer_port;
  out.port = op.port;
  out.cookie = op.cookie;
  post(std::move(out));
}

void ChipBus::apply(const fw::TcpStreamSend& op) {
  TcpOp out = of_flow<TcpOp>(TcpOp::Kind::kStreamSend, op);
  out.bytes = op.octets.bytes;
  out.data = copy_out(op.octets);
  post(std::move(out));
}

void ChipBus::apply(const fw::TcpStreamRead& op) {
  TcpOp out = of_flow<TcpOp>(TcpOp::Kind::kStreamRead, op);
  out.bytes = op.into.bytes;
  check_window(op.into);
  read_into_[op.flow.v] = op.into;
  post(std::move(out));
}

void ChipBus::apply(const fw::TcpSetLimits& op) {
  TcpOp out = of_flow<TcpOp>(TcpOp::Kind::kSetLimits, op);
  out.limits = op.limits;
  post(std::move(out));
}

// After these no octets of the flow are wanted.
void ChipBus::apply(const fw::TcpClose& op) {
  post(of_flow<TcpOp>(TcpOp::Kind::kClose, op));
  read_into_[op.flow.v] = {};
}

void ChipBus::apply(const fw::TcpAbort& op) {
  post(of_flow<TcpOp>(TcpOp::Kind::kAbort, op));
  read_into_[op.flow.v] = {};
}

void ChipBus::apply(const fw::SctpListen& op) {
  SctpOp out;
  out.kind = SctpOp::Kind::kListen;
  out.port = op.port;
  post(std::move(out));
}

void ChipBus::apply(const fw::SctpUnlisten& op) {
  SctpOp out;
  out.kind = SctpOp::Kind::kUnlisten;
  out.port = op.port;
  post(std::move(out));
}

void ChipBus::apply(const fw::SctpConnect& op) {
  SctpOp out;
  out.kind = SctpOp::Kind::kConnect;
  out.peer_ip = op.peer_ip;
  out.peer_port = op.peer_port;
  out.port = op.port;
  out.cookie = op.cookie;
  post(std::move(out));
}

void ChipBus::apply(const fw::SctpSend& op) {
  SctpOp out = of_flow<SctpOp>(SctpOp::Kind::kSend, op);
  out.bytes = op.octets.bytes;
  out.data = copy_out(op.octets);
  post(std::move(out));
}

void ChipBus::apply(const fw::SctpStream& op) { post(of_flow<SctpOp>(kind_of(op.action), op)); }

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
