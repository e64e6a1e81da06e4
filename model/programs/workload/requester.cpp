#include "model/programs/workload/requester.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/programs/workload/request_fault.h"

namespace rnic::workload {

bool Requester::prepare(host::Context& context, host::Qp& qp, host::Pd pd) {
  context_ = &context;
  qp_ = &qp;
  core_ = &core();
  slots_ = std::min(item_.depth, item_.count);
  stride_ = (longest_request(transfer_) + 63) & ~63u;
  const std::uint8_t access = item_.op == Op::kRead ? abi::kLocalWrite | abi::kRemoteWrite : 0;
  bool ready = buffers_.prepare(context, pd, std::uint64_t{slots_} * stride_, access);
  if (uses_receives(item_.op) && item_.count > receives_of(item_)) {
    ready = credit_.prepare(context, pd, 8 * credits_.size(), abi::kLocalWrite | abi::kRemoteWrite) && ready;
    for (std::size_t i = 0; credits_.back() == nullptr; ++i) credits_[i] = &context.watch(credit_.address() + 8 * i);
    transfer_.credit = credit_.address();
    transfer_.credit_rkey = credit_.key();
  }
  return ready;
}

bool Requester::may_post() const {
  if (next_ == item_.count || next_ - transfer_.completed == item_.depth) return false;
  if (window_ != nullptr && !is_admitted()) return false;
  return !with_credits() || next_ < allowed_;
}

// A core runs ahead of the clock: what another one admits may begin later than its own time.
bool Requester::is_admitted() const { return next_ < admitted_ps_.size() && admitted_ps_[next_] <= core_->time_ps(); }

void Requester::admit(std::uint64_t at_ps) {
  admitted_ps_.insert(std::upper_bound(admitted_ps_.begin() + next_, admitted_ps_.end(), at_ps), at_ps);
  if (core_ != &core()) core_->wake();
}

void Requester::take_credits() {
  allowed_ = std::max<std::uint64_t>(allowed_, transfer_.receives);
  if (!with_credits()) return;
  for (std::uint64_t count; (count = credits_[credits_taken_ % credits_.size()]->value()) > allowed_;) {
    allowed_ = count;
    ++credits_taken_;
  }
}

host::SendWr Requester::request(std::uint32_t message) {
  const std::uint32_t size = transfer_.sizes[message];
  host::SendWr wr;
  wr.wr_id = wr_id(Kind::kMessage, message);
  wr.num_sge = 1;
  wr.sg_list[0] = buffers_.sge(slot(message), size);
  if ((message + 1) % item_.signal_every == 0 || message + 1 == item_.count) wr.send_flags = abi::kWqeSignaled;
  if (is_fenced(item_, message)) wr.send_flags |= abi::kWqeFence;
  if (item_.op != Op::kSend) {
    wr.opcode = item_.op == Op::kRead ? abi::WrOpcode::kRdmaRead : abi::WrOpcode::kRdmaWrite;
    wr.remote_addr = transfer_.region + transfer_.offsets[message];
    wr.rkey = transfer_.region_rkey;
  }
  if (item_.op == Op::kWriteImm) wr.imm_data = message;
  if (item_.op != Op::kRead) transfer_.payload.fill(span(buffers_.address() + slot(message), size), message);
  return wr;
}

void Requester::advance() {
  if (window_ != nullptr) window_->begin(core().time_ps());
  take_credits();
  while (may_post()) {
    host::SendWr batch[kBatch];
    unsigned n = 0;
    const std::uint64_t at_ps = core().time_ps();
    if (next_ == 0) transfer_.first_post_ps = at_ps;
    for (; n < kBatch && may_post(); ++n, ++next_) {
      batch[n] = request(next_);
      const unsigned ahead = item_.op == Op::kWriteImm ? 2 * n : n;  // the immediate data is a request of its own
      spoils(false, ahead, spoil(transfer_, next_, batch[n]));
      sends(transfer_.sent_by, next_, ahead);
      transfer_.posted_ps[next_] = at_ps;
    }
    post(batch, n);
    if (!transfer_.error.empty()) return;
  }
  if (item_.op == Op::kWrite && next_ == item_.count && !end_posted_) post_end();
}

void Requester::post_end() {
  host::SendWr wr;
  wr.wr_id = wr_id(Kind::kEnd, 0);
  wr.send_flags = abi::kWqeSignaled;
  post(&wr, 1);
  end_posted_ = true;
}

// A completion also covers the unsignaled requests before it.
void Requester::completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) {
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.cut(completion_error(wc, id.message));
  if (id.kind == Kind::kEnd) {
    ended_ = true;
    return;
  }
  if (id.message < transfer_.completed || id.message >= next_) {
    return transfer_.fail(fmt::format("completion of message {} out of order", id.message));
  }
  for (; transfer_.completed <= id.message; transfer_.complete()) {
    const std::uint32_t m = transfer_.completed;
    transfer_.latencies.completion.record(at_ps - transfer_.posted_ps[m]);
    if (window_ != nullptr) window_->completed(at_ps);
    if (item_.op != Op::kRead) continue;
    check(span(buffers_.address() + slot(m), transfer_.sizes[m]), transfer_.sent_by, transfer_.read_from(m),
          transfer_.payload);
  }
  transfer_.last_completion_ps = at_ps;
}

std::string Requester::waiting_for() const {
  if (done()) return "";
  if (transfer_.completed < next_) {
    return fmt::format("{}: completion of message {} ({} outstanding)", transfer_.label, transfer_.completed,
                       next_ - transfer_.completed);
  }
  if (next_ == item_.count) return transfer_.label + ": completion of the final Send";
  const bool by_others = window_ != nullptr && !is_admitted();
  return transfer_.label + (by_others ? ": other queue pairs of its window" : ": credits of the responder");
}

}  // namespace rnic::workload
