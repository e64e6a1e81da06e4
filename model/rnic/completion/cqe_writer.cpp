#include "model/rnic/completion/cqe_writer.h"

#include <cstring>

#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic {

// The CQ's state, reset if the CQ number was reused.
CqeWriter::Cq& CqeWriter::cq(Cqn cqn) {
  Cq& q = cqs_[cqn.v];
  if (const std::uint32_t epoch = contexts_.cq(cqn).epoch; q.epoch != epoch) {
    deadlines_.cancel(cqn.v);
    q = Cq{};
    q.epoch = epoch;
  }
  return q;
}

void CqeWriter::write(const CqeRequest& r) {
  const CqContext& ctx = contexts_.cq(r.cqn);
  if (!ctx.valid) return;
  Cq& q = cq(r.cqn);
  if (q.overrun) {
    ++counters_.lost;
    return;
  }
  const std::uint32_t size = entries(r.cqn);
  abi::Cqe cqe = r.cqe;
  cqe.phase = (q.produced / size) % 2 == 0;
  BufferRef buf = buffers_.take(r.owner ? r.owner : r.receive);
  std::memcpy(buf->bytes(), &cqe, sizeof cqe);
  dma->push(
      {ctx.base + std::uint64_t{q.produced % size} * abi::kCqeBytes, abi::kCqeBytes, std::move(buf), 0, 0, false});
  ++q.produced;
  if (asked_ && asked_->cqn == r.cqn) asked_->decides = false;
  ++counters_.cqes;
  const bool solicited = (cqe.flags & abi::kCqeSolicited) || cqe.status != abi::WcStatus::kSuccess;
  if (solicited) q.last_solicited = q.produced;
  if (q.armed && (solicited || !q.solicited_only)) owe(r.cqn, q, 1);
  if (q.unread() >= size / 2) ask(r.cqn, false);  // early, so that a host that keeps up never stalls the stage
}

// Or the entry is not wanted. A ring that looks full is asked about first.
bool CqeWriter::has_room(const CqeRequest& r) {
  if (!contexts_.cq(r.cqn).valid) return true;
  const Cq& q = cq(r.cqn);
  if (q.overrun || q.unread() < entries(r.cqn)) return true;
  ask(r.cqn, true);
  return false;
}

// One question at a time; a ring that has to wait asks again with its next entry.
void CqeWriter::ask(Cqn cqn, bool decides) {
  if (asked_ || !read_record->can_push()) return;
  const std::uint64_t record = contexts_.cq(cqn).base + entries(cqn) * abi::kCqeBytes;
  read_record->push({record, abi::kCqRecordBytes, record_.data(), {}, 0, contexts_.completion_queue(cqn)});
  asked_ = {cqn, cq(cqn).epoch, decides};
}

// Nothing is written while a ring is full, so the answer to a question asked then is the host's latest state; unless an
// arming has reported room in between, and the entry written then has filled the ring again.
void CqeWriter::hear(bool ok) {
  const Inquiry asked = *std::exchange(asked_, std::nullopt);
  Cq& q = cq(asked.cqn);
  if (q.epoch != asked.epoch || !contexts_.cq(asked.cqn).valid) return;
  if (ok) q.take(load_le32(record_.data()) - q.taken);
  if (!asked.decides || q.unread() < entries(asked.cqn)) return;
  q.overrun = true;
  ++counters_.overruns;
  overflow->push({asked.cqn});
}

// Arming carries how far the host has polled, modulo 2048: entries after that notify at once, so none is missed.
// The number of the CQ comes from the host: an invalid one is dropped.
void CqeWriter::rearm(const CqArm& a) {
  if (!contexts_.has(a.cqn) || !contexts_.cq(a.cqn).valid) {
    ++counters_.stray_doorbells;
    return;
  }
  Cq& q = cq(a.cqn);
  q.take((a.consumer - q.taken) & kConsumerMask);
  const std::uint32_t unseen = (q.produced - a.consumer) & kConsumerMask;
  const bool any_pending = q.armed && !q.solicited_only;  // which a narrower wish leaves as it is
  q.solicited_only = a.solicited_only && !any_pending;
  const std::uint32_t seen_before = q.solicited_only ? q.produced - q.last_solicited : 0;  // entries after the newest
  q.armed = true;
  q.due = 0;
  if (unseen > seen_before) owe(a.cqn, q, q.solicited_only ? 1 : unseen);
  else deadlines_.cancel(a.cqn.v);
}

// Entries of which the armed queue is to be notified: at once, or when there are enough of them, or in time.
void CqeWriter::owe(Cqn cqn, Cq& q, std::uint32_t entries) {
  const CqContext& ctx = contexts_.cq(cqn);
  q.due += entries;
  if (ctx.moderation_ns == 0 || (ctx.moderation_count != 0 && q.due >= ctx.moderation_count)) return raise(cqn, q);
  if (deadlines_.running(cqn.v)) return;
  deadlines_.start(cqn.v, now() + clock().cycle_at_or_after(std::uint64_t{ctx.moderation_ns} * 1000));
}

void CqeWriter::raise(Cqn cqn, Cq& q) {
  deadlines_.cancel(cqn.v);
  q.armed = false;
  q.due = 0;
  ++counters_.notifications;
  notify->push({cqn});
}

// At most one per cycle.
bool CqeWriter::raise_late() {
  if (!deadlines_.due(now())) return false;
  const Cqn cqn{deadlines_.take()};
  Cq& q = cq(cqn);
  if (q.armed && contexts_.cq(cqn).valid) raise(cqn, q);  // or the deadline was of the number's earlier use
  return true;
}

void CqeWriter::reset() {
  cqs_.assign(cqs_.size(), {});
  send_turn_ = false;
  deadlines_.clear();
  asked_.reset();
}

// One entry or one arming per cycle; receive and send completions alternate, or the one that has a ring with room goes.
Wake CqeWriter::tick() {
  if (record_read->can_pop() && overflow->can_push()) hear(record_read->pop().ok);
  if (!notify->can_push()) return Wake::on_traffic();
  if (raise_late()) return Wake::next_cycle();
  if (arm->can_pop()) {
    rearm(arm->pop());
    return Wake::next_cycle();
  }
  if (!dma->can_push()) return idle();
  const bool sends = send->can_pop() && has_room(send->front());
  const bool receives = receive->can_pop() && has_room(receive->front());
  if (!sends && !receives) return idle();
  const bool take_send = sends && (send_turn_ || !receives);
  write(take_send ? send->pop() : receive->pop());
  send_turn_ = !take_send;
  return Wake::next_cycle();
}

std::string CqeWriter::waiting_for() const {
  return asked_ && asked_->decides ? "the consumer index of CQ " + std::to_string(asked_->cqn.v) : "";
}

void CqeWriter::describe(const Description& d) {
  d.counters(counters_);
  d.series("cqes", 140, counters_, &CqeWriterCounters::cqes);
}

}  // namespace rnic
