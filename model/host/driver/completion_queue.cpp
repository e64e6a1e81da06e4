#include "model/host/driver/completion_queue.h"

#include "model/abi/rnic_regs.h"
#include "model/common/bytes.h"
#include "model/host/driver/queue_pair.h"

namespace rnic::host {

unsigned Cq::poll_cq(Wc* wc, unsigned max) {
  unsigned n = 0;
  abi::Cqe cqe;
  seen_.clear();
  while (n < max && ring_.peek(cqe)) {
    ring_.take();
    if (cpu_.work_observer() != nullptr) seen_.push_back(cqe);
    RNIC_CHECK_MSG(cqe.qpn < qps_.size() && qps_[cqe.qpn] != nullptr, "completion of a QP that does not exist");
    Qp& qp = *qps_[cqe.qpn];
    Srq* const srq = abi::is_receive(cqe.opcode) ? qp.srq() : nullptr;
    WorkQueue& queue = abi::is_receive(cqe.opcode) ? qp.rq() : qp.sq();
    const std::uint64_t entry = queue.named(cqe.wr_id, cqe.status);
    const bool news = srq != nullptr || queue.tells(entry);
    const std::uint64_t wr_id = srq != nullptr ? srq->release(cqe.wr_id, cqe.status) : queue.release(entry);
    if (!news) continue;
    wc[n++] = {wr_id,
               cqe.status,
               cqe.opcode,
               cqe.vendor_error,
               cqe.byte_len,
               cqe.qpn,
               (cqe.flags & abi::kCqeSolicited) != 0,
               cqe.immediate};
  }
  tell_device();
  cpu_.running().spend_ns(cpu_.config().poll_ns + n * cpu_.config().completion_ns);
  for (const abi::Cqe& c : seen_) {
    cpu_.work_observer()->polled(Qpn{c.qpn}, abi::is_receive(c.opcode), c.wr_id, cpu_.running().time_ps());
  }
  return n;
}

void Cq::req_notify_cq(bool solicited_only) {
  cpu_.mmio_write(regs::CqArm::kOffset, regs::CqArm{number_.v, solicited_only, ring_.taken() & 0x7ff}.pack());
}

bool Cq::reserve(std::uint32_t entries) {
  if (overrun_ == CqOverrun::kPrevented && entries > ring_.entries() - reserved_) return false;
  reserved_ += entries;
  return true;
}

void Cq::notify() {
  notified_ = true;
  owner().wake();
}

void Cq::fail() {
  in_error_ = true;
  owner().wake();
}

// A store to memory: the device reads it when it needs to know.
void Cq::tell_device() { memory_.store_later(cpu_.clock(), ring_.base() + ring_.bytes(), ring_.taken()); }

void Cq::written(std::uint64_t address, std::uint32_t) {
  ring_.written(address);
  if (mode_ == CqMode::kPolled) owner().wake_poller();
}

}  // namespace rnic::host
