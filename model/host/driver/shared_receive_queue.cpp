#include "model/host/driver/shared_receive_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/abi/rnic_regs.h"
#include "model/host/driver/completion_queue.h"
#include "model/host/driver/work_queue.h"

namespace rnic::host {

Srq::Srq(Core& owner, HostCpu& cpu, HostMemory& memory, Srqn number, const SrqInitAttr& attr)
    : Resource(owner),
      cpu_(cpu),
      memory_(memory),
      number_(number),
      log_(log2_ceil(attr.max_wr)),
      base_(memory.alloc(abi::kWqeBytes << log_, 4096)),
      slots_(std::size_t{1} << log_) {
  for (std::uint32_t slot = max_wr(); slot != 0; --slot) free_.push_back(slot - 1);
}

int Srq::post_recv(const RecvWr* wrs, unsigned n) {
  if (error_ || std::any_of(wrs, wrs + n, [](const RecvWr& wr) { return wr.num_sge > abi::kMaxSge; })) return EINVAL;
  if (n > free()) return ENOMEM;
  if (WorkObserver* const o = cpu_.work_observer(); o != nullptr && n != 0) {
    o->posted(Rqn(number_), posted_, n, cpu_.running().time_ps());
  }
  for (unsigned i = 0; i < n; ++i) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = {wrs[i].wr_id, true};
    abi::Wqe wqe = receive_wqe(wrs[i]);
    wqe.wr_id = posted_ << abi::kSharedSlotBits | slot;
    const std::uint64_t at = base_ + (posted_++ & (max_wr() - 1)) * abi::kWqeBytes;
    std::memcpy(memory_.span(at, abi::kWqeBytes).data(), &wqe, abi::kWqeBytes);
    cpu_.running().spend_ns(cpu_.config().post_ns);
  }
  const auto producer = static_cast<std::uint32_t>(posted_ & 0xfff);
  if (n != 0) cpu_.mmio_write(regs::SrqDoorbell::kOffset, regs::SrqDoorbell{number_.v, producer}.pack());
  return 0;
}

std::uint64_t Srq::release(std::uint64_t wr_id, abi::WcStatus status) {
  const std::uint64_t slot = wr_id & ((1u << abi::kSharedSlotBits) - 1);
  const bool outstanding = slot < slots_.size() && slots_[slot].used;
  if (!outstanding && status != abi::WcStatus::kSuccess) return wr_id;
  RNIC_CHECK_MSG(outstanding, "completion of slot " + std::to_string(slot) + " of SRQ " + std::to_string(number_.v) +
                                  ", which is not outstanding");
  slots_[slot].used = false;
  free_.push_back(static_cast<std::uint32_t>(slot));
  return slots_[slot].wr_id;
}

bool Srq::join(Cq& cq) {
  const auto at = std::find_if(cqs_.begin(), cqs_.end(), [&](const auto& c) { return c.first == &cq; });
  if (at != cqs_.end()) return ++at->second, true;
  if (!cq.reserve(max_wr())) return false;
  cqs_.emplace_back(&cq, 1);
  return true;
}

void Srq::leave(Cq& cq) {
  const auto at = std::find_if(cqs_.begin(), cqs_.end(), [&](const auto& c) { return c.first == &cq; });
  RNIC_CHECK(at != cqs_.end());
  if (--at->second != 0) return;
  cq.unreserve(max_wr());
  cqs_.erase(at);
}

void Srq::limit_reached() {
  limit_event_ = true;
  owner().wake();
}

void Srq::fail() {
  error_ = true;
  owner().wake();
}

void Srq::command_done(abi::CommandOp op, abi::CommandStatus status) {
  using abi::CommandOp;
  if (op == CommandOp::kCreateSrq || op == CommandOp::kDestroySrq) return Resource::command_done(op, status);
  answer_ = status;
  --outstanding_;
  owner().wake();
}

}  // namespace rnic::host
