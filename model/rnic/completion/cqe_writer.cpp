#include "model/rnic/completion/cqe_writer.h"

#include <cstring>

#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic {

CqeWriter::CqeWriter(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts)
    : Stage(nm, clk),
      contexts_(contexts),
      told_(contexts.cqs()),
      armed_({"armed", contexts.cqs(), "completion queues"}, index_bits(contexts.cqs())),
      deadlines_(contexts.cqs()) {
  contexts.cq_table.bind(errands_);
  contexts.cq_table.bind(receives_.rows);
  contexts.cq_table.bind(sends_.rows);
  contexts.cq_table.owned_by(*this);
}

// The queue's state, to be changed. It starts again if the number was reused.
CqState& CqeWriter::state(Cqn cqn, const CqContext& cq) {
  CqState& s = contexts_.cq_table.own(cqn.v, &CqRow::state);
  if (s.epoch != cq.epoch) {
    deadlines_.cancel(cqn.v);
    s = CqState{cq.epoch};
  }
  told_[cqn.v].tell(s);
  told_[cqn.v].told();
  return s;
}

// ---- Rows

// The number of the CQ comes from the host.
bool CqeWriter::take_arm() {
  if (!arm->can_pop()) return false;
  const CqArm a = arm->pop();
  if (!contexts_.has(a.cqn) || !contexts_.exists(a.cqn)) {
    ++counters_.stray_doorbells;
    return true;
  }
  if (told_[a.cqn.v].arm(contexts_.epoch(a.cqn), {a.consumer, a.solicited_only})) armed_.push(a.cqn);
  return true;
}

bool CqeWriter::take_record() {
  if (!record_read->can_pop()) return false;
  const bool ok = record_read->pop().ok && asked_->epoch == contexts_.epoch(asked_->cqn);
  if (ok) told_[asked_->cqn.v].record(asked_->epoch, load_le32(record_.data()));
  asked_->answered = true;
  if (!asked_->decides) asked_.reset();
  return true;
}

// One row for each side and one for an errand a cycle.
bool CqeWriter::ask_rows() {
  const bool sends = ask(sends_), receives = ask(receives_), errand = ask_errand();
  return sends || receives || errand;
}

bool CqeWriter::ask(Entries& side) {
  if (!side.in->can_pop() || !side.rows.can_ask()) return false;
  if (side.free.empty()) {
    side.free.push_back(static_cast<std::uint32_t>(side.asked.size()));
    side.asked.emplace_back();
  }
  const std::uint32_t tag = side.free.back();
  side.free.pop_back();
  side.rows.ask(side.in->front().cqn.v, tag);
  side.asked[tag] = side.in->pop();
  return true;
}

bool CqeWriter::ask_errand() {
  const bool late = deadlines_.due(now());
  if ((!late && armed_.empty()) || !errands_.can_ask()) return false;
  const Cqn cqn = late ? Cqn{deadlines_.take()} : armed_.pop();
  errands_.ask(cqn.v, static_cast<std::uint32_t>(late ? Errand::kDeadline : Errand::kArm));
  return true;
}

// One row is used in a cycle: an errand goes first.
bool CqeWriter::use_row() { return notify->can_push() && (run_errand() || write_entry()); }

bool CqeWriter::run_errand() {
  if (!errands_.can_use()) return false;
  const Cqn cqn{errands_.front().index};
  switch (static_cast<Errand>(errands_.front().tag)) {
    case Errand::kDeadline:
      raise_late(cqn);
      break;
    case Errand::kArm:
      rearm(cqn);
      break;
  }
  errands_.drop();
  return true;
}

// Receive and send completions alternate, or the one that has a ring with room goes.
bool CqeWriter::write_entry() {
  if (!dma->can_push()) return false;
  const bool sends = sends_.rows.can_use() && is_decided(sends_);
  const bool receives = receives_.rows.can_use() && is_decided(receives_);
  if (!sends && !receives) return false;
  const bool take_send = sends && (send_turn_ || !receives);
  write(take_send ? sends_ : receives_);
  send_turn_ = !take_send;
  return true;
}

// ---- Entries

// If the row is lost the entry is, and as with an overrun the firmware ends the queue.
void CqeWriter::write(Entries& side) {
  const CqeRequest& r = side.front();
  forget_inquiry(r.cqn);
  if (!side.rows.ok()) lose(r.cqn);
  else if (side.rows.row().cq.valid) write(r, side.rows.row());
  side.free.push_back(side.rows.front().tag);
  side.rows.drop();
}

void CqeWriter::lose(Cqn cqn) {
  if (!contexts_.exists(cqn)) return;
  ++counters_.lost;
  overflow->push({cqn});
}

void CqeWriter::write(const CqeRequest& r, const CqRow& row) {
  CqState& s = state(r.cqn, row.cq);
  const std::uint32_t size = row.entries();
  if (!s.overrun && s.unread() >= size) overrun(r.cqn, s);
  if (s.overrun) {
    ++counters_.lost;
    return;
  }
  abi::Cqe cqe = r.cqe;
  cqe.phase = (s.produced / size) % 2 == 0;
  BufferRef buf = buffers_.take(r.owner ? r.owner : r.receive);
  std::memcpy(buf->bytes(), &cqe, sizeof cqe);
  dma->push(
      {row.cq.base + std::uint64_t{s.produced % size} * abi::kCqeBytes, abi::kCqeBytes, std::move(buf), 0, 0, false});
  ++s.produced;
  ++counters_.cqes;
  const bool solicited = (cqe.flags & abi::kCqeSolicited) || cqe.status != abi::WcStatus::kSuccess;
  if (solicited) s.last_solicited = s.produced;
  if (s.armed && (solicited || !s.solicited_only)) owe(r.cqn, row.cq, s, 1, s.due != 0);
  if (s.unread() >= size / 2) inquire(r.cqn, row, false);  // early: a host that keeps up never stalls the stage
}

// Whether the ring has room, or the entry is lost or not wanted. A ring that looks full is asked about first. Nothing
// is written while it is full, so the answer to a question asked then is the host's latest state.
bool CqeWriter::is_decided(Entries& side) {
  if (!side.rows.ok()) return overflow->can_push();
  const CqRow& row = side.rows.row();
  if (!row.cq.valid) return true;
  const Cqn cqn = side.front().cqn;
  CqState s = row.current();
  told_[cqn.v].tell(s);
  if (s.overrun || s.unread() < row.entries()) return true;
  if (asked_ && asked_->cqn == cqn && asked_->answered) return overflow->can_push();
  inquire(cqn, row, true);
  return false;
}

// An arm may have reported room before the answer, and an entry filled the ring again: the answer decides nothing then.
void CqeWriter::forget_inquiry(Cqn cqn) {
  if (!asked_ || asked_->cqn != cqn) return;
  asked_->decides = false;
  if (asked_->answered) asked_.reset();
}

void CqeWriter::overrun(Cqn cqn, CqState& s) {
  s.overrun = true;
  ++counters_.overruns;
  overflow->push({cqn});
}

// One question at a time; a ring that has to wait asks again with its next entry.
void CqeWriter::inquire(Cqn cqn, const CqRow& row, bool decides) {
  if (asked_ || !read_record->can_push()) return;
  const std::uint64_t record = row.cq.base + row.entries() * abi::kCqeBytes;
  read_record->push({record, abi::kCqRecordBytes, record_.data(), {}, 0, contexts_.completion_queue(cqn)});
  asked_ = {cqn, row.cq.epoch, decides};
}

// ---- Notifications

// Arming carries how far the host has polled, modulo 2048: entries after that notify at once, so none is missed.
void CqeWriter::rearm(Cqn cqn) {
  const auto a = told_[cqn.v].take_arm(contexts_.epoch(cqn));
  if (!a || !errands_.ok() || !errands_.row().cq.valid) return;  // destroyed meanwhile, or lost
  const CqContext& cq = errands_.row().cq;
  CqState& s = state(cqn, cq);
  s.take((a->consumer - s.taken) & CqTold::kIndexMask);
  const std::uint32_t unseen = (s.produced - a->consumer) & CqTold::kIndexMask;
  const bool any_pending = s.armed && !s.solicited_only;  // which a narrower wish leaves as it is
  s.solicited_only = a->solicited_only && !any_pending;
  const std::uint32_t seen_before = s.solicited_only ? s.produced - s.last_solicited : 0;  // entries after the newest
  s.armed = true;
  const bool in_period = std::exchange(s.due, 0u) != 0;
  if (unseen > seen_before) owe(cqn, cq, s, s.solicited_only ? 1 : unseen, in_period);
  else deadlines_.cancel(cqn.v);
}

// Entries of which the armed queue is to be notified: at once, or when there are enough of them, or in time.
void CqeWriter::owe(Cqn cqn, const CqContext& cq, CqState& s, std::uint32_t entries, bool in_period) {
  s.owe(entries);
  if (cq.moderation_ns == 0 || (cq.moderation_count != 0 && s.due >= cq.moderation_count)) return raise(cqn, s);
  if (in_period) return;
  deadlines_.start(cqn.v, now() + clock().cycle_at_or_after(std::uint64_t{cq.moderation_ns} * 1000));
}

void CqeWriter::raise(Cqn cqn, CqState& s) {
  deadlines_.cancel(cqn.v);
  s.armed = false;
  s.due = 0;
  ++counters_.notifications;
  notify->push({cqn});
}

// Unless the deadline was of the number's earlier use, or the notification has left while the row was being read, and
// even another one is due, which has a period of its own.
void CqeWriter::raise_late(Cqn cqn) {
  if (!errands_.ok() || !errands_.row().cq.valid) return;
  const CqContext& cq = errands_.row().cq;
  CqState& s = state(cqn, cq);
  if (s.due != 0 && !deadlines_.running(cqn.v)) raise(cqn, s);
}

// ---- The stage

void CqeWriter::reset() {
  for (Entries* side : {&receives_, &sends_}) side->asked.clear(), side->free.clear();
  send_turn_ = false;
  told_.assign(told_.size(), {});
  armed_.reset();
  deadlines_.clear();
  asked_.reset();
}

// What is here already; what comes calls the stage.
bool CqeWriter::has_more() {
  const auto waits = [](const Entries& side) { return side.in->can_pop() || side.rows.can_use(); };
  return waits(receives_) || waits(sends_) || errands_.can_use() || arm->can_pop() || !armed_.empty() ||
         deadlines_.due(now());
}

Wake CqeWriter::tick() {
  bool busy = take_arm();
  busy |= take_record();
  busy |= use_row();
  busy |= ask_rows();
  if (busy && has_more()) return Wake::next_cycle();
  return deadlines_.due(now()) ? Wake::on_traffic() : Wake::at_cycle(deadlines_.next());
}

std::string CqeWriter::waiting_for() const {
  return asked_ && asked_->decides ? "the consumer index of CQ " + std::to_string(asked_->cqn.v) : "";
}

void CqeWriter::describe(const Description& d) {
  d.counters(counters_);
  d.series("cqes", 140, counters_, &CqeWriterCounters::cqes);
  armed_.describe(d);
}

}  // namespace rnic
