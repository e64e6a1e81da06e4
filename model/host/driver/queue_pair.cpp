#include "model/host/driver/queue_pair.h"

#include <algorithm>
#include <cerrno>

#include "model/abi/rnic_regs.h"

namespace rnic::host {
namespace {

std::uint32_t total_bytes(const SendWr& wr) {
  std::uint32_t bytes = 0;
  for (unsigned i = 0; i < wr.num_sge; ++i) bytes += wr.sg_list[i].length;
  return bytes;
}

abi::AtomicOperands operands_of(const SendWr& wr) {
  const AtomicWr& a = wr.atomic;
  if (wr.opcode == WrOpcode::kFetchAdd) return {a.compare_add, a.field_tops, 0, 0};
  return {a.swap, a.swap_mask, a.compare_add, a.compare_mask};
}

// A Write's Immediate Data takes over the Write's completion.
bool has_immediate(const SendWr& wr) { return wr.opcode == WrOpcode::kRdmaWrite && wr.imm_data.has_value(); }

}  // namespace

Qp::Qp(Core& owner, HostCpu& cpu, HostMemory& memory, Qpn number, const QpInitAttr& attr)
    : Resource(owner),
      cpu_(cpu),
      memory_(memory),
      number_(number),
      attr_(attr),
      sq_(memory, log2_ceil(attr.max_send_wr)),
      rq_(memory, attr.srq != nullptr ? 0 : log2_ceil(attr.max_recv_wr)) {}

int Qp::check(const SendWr& wr) const {
  if (wr.num_sge > abi::kMaxSge) return EINVAL;
  const bool atomic = abi::is_atomic(wr.opcode);
  if (atomic && (wr.num_sge != 1 || wr.sg_list[0].length != abi::kAtomicBytes)) return EINVAL;
  if (wr.imm_data && wr.opcode != WrOpcode::kRdmaWrite && wr.opcode != WrOpcode::kImmediate) return EINVAL;
  if (wr.opcode == WrOpcode::kRdmaReadWithInv && wr.num_sge != 1) return EINVAL;
  if ((wr.send_flags & abi::kWqeInline) == 0) return 0;
  return abi::is_read(wr.opcode) || atomic || total_bytes(wr) > kMaxInlineBytes ? EINVAL : 0;
}

abi::Wqe Qp::wqe_of(const SendWr& wr) const {
  abi::Wqe wqe;
  wqe.opcode = wr.opcode;
  wqe.flags = wr.send_flags;
  wqe.invalidate_stag = wr.invalidate_rkey;
  wqe.wr_id = wr.wr_id;
  wqe.remote_address = wr.opcode == WrOpcode::kImmediate ? wr.imm_data.value_or(0) : wr.remote_addr;
  wqe.rkey = wr.rkey;
  if (wr.opcode == WrOpcode::kRegMr || wr.opcode == WrOpcode::kBindMw) {
    wr.registration.put(wqe);
    return wqe;
  }
  if ((wr.send_flags & abi::kWqeInline) == 0) {
    wqe.num_sge = wr.num_sge;
    std::copy_n(wr.sg_list.begin(), wr.num_sge, wqe.sge);
    if (abi::is_atomic(wr.opcode)) operands_of(wr).put(wqe);
    return wqe;
  }
  auto* to = reinterpret_cast<std::uint8_t*>(wqe.sge);
  for (unsigned i = 0; i < wr.num_sge; ++i) {
    const Sge& sge = wr.sg_list[i];
    std::copy_n(memory_.span(sge.address, sge.length).data(), sge.length, to + wqe.inline_bytes);
    wqe.inline_bytes += sge.length;
  }
  return wqe;
}

void Qp::push(const SendWr& wr) {
  abi::Wqe wqe = wqe_of(wr);
  if (!has_immediate(wr)) return sq_.push(wqe);
  wqe.flags &= static_cast<std::uint8_t>(~(abi::kWqeSignaled | abi::kWqeSolicited));
  sq_.push(wqe, WorkQueue::Part::kFirst);
  abi::Wqe immediate;
  immediate.opcode = WrOpcode::kImmediate;
  immediate.flags = wr.send_flags & (abi::kWqeSignaled | abi::kWqeSolicited);
  immediate.wr_id = wr.wr_id;
  immediate.remote_address = *wr.imm_data;
  sq_.push(immediate, WorkQueue::Part::kSecond);
}

int Qp::post_send(const SendWr* wrs, unsigned n) {
  if (state_ != QpState::kRts) return EINVAL;
  unsigned entries = n;
  for (unsigned i = 0; i < n; ++i) {
    if (const int error = check(wrs[i])) return error;
    entries += has_immediate(wrs[i]);
  }
  if (entries > sq_.free()) return ENOMEM;
  if (WorkObserver* const o = cpu_.work_observer(); o != nullptr && n != 0) {
    o->posted(number_, sq_.posted(), entries, cpu_.running().time_ps());
  }
  for (unsigned i = 0; i < n; ++i) {
    push(wrs[i]);
    cpu_.running().spend_ns(cpu_.config().post_ns);
  }
  const auto producer = static_cast<std::uint32_t>(sq_.posted() & 0xfff);
  if (n == 0) return 0;
  cpu_.mmio_write(regs::SqDoorbell::kOffset, regs::SqDoorbell{number_.v, producer}.pack());
  if (WorkObserver* const o = cpu_.work_observer()) o->rang(number_, producer, cpu_.running().time_ps());
  return 0;
}

int Qp::post_recv(const RecvWr* wrs, unsigned n) {
  if (state_ == QpState::kError || attr_.srq != nullptr) return EINVAL;
  if (std::any_of(wrs, wrs + n, [](const RecvWr& wr) { return wr.num_sge > abi::kMaxSge; })) return EINVAL;
  if (n > rq_.free()) return ENOMEM;
  if (WorkObserver* const o = cpu_.work_observer(); o != nullptr && n != 0) {
    o->posted(Rqn(number_), rq_.posted(), n, cpu_.running().time_ps());
  }
  for (unsigned i = 0; i < n; ++i) {
    rq_.push(receive_wqe(wrs[i]));
    cpu_.running().spend_ns(cpu_.config().post_ns);
  }
  const auto producer = static_cast<std::uint32_t>(rq_.posted() & 0xfff);
  if (n != 0) cpu_.mmio_write(regs::RqDoorbell::kOffset, regs::RqDoorbell{number_.v, producer}.pack());
  return 0;
}

void Qp::modified(abi::CommandOp op, abi::CommandStatus status) {
  answer_ = status;
  --outstanding_;
  if (status == abi::CommandStatus::kOk) {
    if (op == abi::CommandOp::kQueryQp) queried_ = reply_;
    else if (reply_.state == abi::QpState::kError) state_ = QpState::kError;
  }
  owner().wake();
}

void Qp::command_done(abi::CommandOp op, abi::CommandStatus status) {
  using abi::CommandOp;
  if (op == CommandOp::kCreateQp || op == CommandOp::kDestroyQp) return Resource::command_done(op, status);
  if (op == CommandOp::kModifyQp || op == CommandOp::kQueryQp) return modified(op, status);
  const bool again = op == CommandOp::kConnect && std::exchange(asks_again_, false);
  // A disconnect that comes too late finds the connection already gone, as its own event reports.
  if (status == abi::CommandStatus::kOk || op == CommandOp::kDisconnect) return;
  has_connection_ = rejected_ = again;  // a stream that was open for another request still is
  if (channel_ == nullptr) return;
  if (status == abi::CommandStatus::kDeviceFatal && state_ == QpState::kError) return;  // as its own event reported
  CmEvent event;
  event.type = CmEventType::kConnectError;
  event.refused = status;
  event.qp = this;
  channel_->push(std::move(event));
}

}  // namespace rnic::host
