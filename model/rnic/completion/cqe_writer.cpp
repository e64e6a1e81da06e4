#include "model/rnic/completion/cqe_writer.h"

#include <cstring>

namespace rnic {

// The CQ's state, started anew where the CQ number was reused.
CqeWriter::Cq& CqeWriter::cq(Cqn cqn) {
  Cq& q = cqs_[cqn.v];
  if (const std::uint32_t epoch = contexts_.cq(cqn).epoch; q.epoch != epoch) {
    q = Cq{};
    q.epoch = epoch;
  }
  return q;
}

void CqeWriter::write(const CqeRequest& r) {
  const CqContext& ctx = contexts_.cq(r.cqn);
  if (!ctx.valid) return;
  Cq& q = cq(r.cqn);
  const std::uint32_t entries = 1u << ctx.log_entries;
  abi::Cqe cqe = r.cqe;
  cqe.phase = (q.produced / entries) % 2 == 0;
  BufferRef buf = buffers_.take();
  std::memcpy(buf->bytes(), &cqe, sizeof cqe);
  dma->push(
      {ctx.base + std::uint64_t{q.produced % entries} * abi::kCqeBytes, abi::kCqeBytes, std::move(buf), 0, 0, false});
  ++q.produced;
  ++cqes_;
  const bool solicited = (cqe.flags & abi::kCqeSolicited) || cqe.status != abi::WcStatus::kSuccess;
  if (solicited) q.last_solicited = q.produced;
  if (q.armed && (solicited || !q.solicited_only)) {
    q.armed = false;
    ++notifications_;
    notify->push({r.cqn});
  }
}

// Arming carries how far the host has polled, modulo 2048: what came after that notifies at once, so none is missed.
// The number of the CQ is the host's word: one that names none is dropped.
void CqeWriter::rearm(const CqArm& a) {
  if (!contexts_.has(a.cqn) || !contexts_.cq(a.cqn).valid) {
    ++stray_doorbells_;
    return;
  }
  Cq& q = cq(a.cqn);
  const std::uint32_t unseen = (q.produced - a.consumer) & kConsumerMask;
  const std::uint32_t seen_before = a.solicited_only ? q.produced - q.last_solicited : 0;  // entries behind the newest
  q.armed = unseen <= seen_before;
  q.solicited_only = a.solicited_only;
  if (q.armed) return;
  ++notifications_;
  notify->push({a.cqn});
}

// One entry or one arming a cycle; receive and send completions in turn.
Wake CqeWriter::tick() {
  if (!notify->can_push()) return Wake::on_traffic();
  if (arm->can_pop()) {
    rearm(arm->pop());
    return Wake::next_cycle();
  }
  if (!dma->can_push()) return Wake::on_traffic();
  const bool take_send = send->can_pop() && (send_turn_ || !receive->can_pop());
  if (!take_send && !receive->can_pop()) return Wake::on_traffic();
  write(take_send ? send->pop() : receive->pop());
  send_turn_ = !take_send;
  return Wake::next_cycle();
}

void CqeWriter::register_stats(const StatsGroup& group) const {
  group.counter("cqes", cqes_, "CQEs", "completion queue entries written");
  group.counter("stray_doorbells", stray_doorbells_, "doorbells", "arm doorbells that named no CQ, dropped");
  group.counter("notifications", notifications_, "events", "armed completion queues that were notified");
}

}  // namespace rnic
