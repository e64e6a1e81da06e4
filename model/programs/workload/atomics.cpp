#include "model/programs/workload/atomics.h"

#include <fmt/format.h>

namespace rnic::workload {

bool AtomicRequester::prepare(host::Context& context, host::Qp& qp, host::Pd pd) {
  context_ = &context;
  qp_ = &qp;
  return originals_.prepare(context, pd, std::uint64_t{8} * item_.depth, abi::kLocalWrite);
}

host::SendWr AtomicRequester::request(std::uint32_t message, unsigned ahead) const {
  host::SendWr wr;
  wr.wr_id = wr_id(Kind::kMessage, message);
  wr.num_sge = 1;
  wr.sg_list[0] = originals_.sge(slot(message), 8);
  wr.remote_addr = transfer_.region + transfer_.words->offset(message);
  wr.rkey = transfer_.region_rkey;
  if ((message + 1) % item_.signal_every == 0 || message + 1 == item_.count) wr.send_flags = abi::kWqeSignaled;
  if (is_fenced(item_, message)) wr.send_flags |= abi::kWqeFence;
  if (item_.op == Op::kFetchAdd) {
    wr.opcode = abi::WrOpcode::kFetchAdd;
    wr.atomic.compare_add = 1;
  } else {
    wr.opcode = abi::WrOpcode::kCmpSwap;
    wr.atomic.compare_add = turn(message);
    wr.atomic.swap = turn(message) + 1;
  }
  spoils(false, ahead, spoil(transfer_, message, wr));
  return wr;
}

void AtomicRequester::advance() {
  const std::uint32_t end = std::min(item_.count, transfer_.completed + item_.depth);
  while (next_ < end) {
    host::SendWr batch[kBatch];
    unsigned n = 0;
    const std::uint64_t at_ps = core().time_ps();
    if (next_ == 0) transfer_.first_post_ps = at_ps;
    for (; n < kBatch && next_ < end; ++n, ++next_) {
      batch[n] = request(next_, n);
      transfer_.posted_ps[next_] = at_ps;
    }
    post(batch, n);
    if (!transfer_.error.empty()) return;
  }
}

// A completion also covers the unsignaled requests before it.
void AtomicRequester::completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) {
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.cut(completion_error(wc, id.message));
  if (id.message < transfer_.completed || id.message >= next_) {
    return transfer_.fail(fmt::format("completion of message {} out of order", id.message));
  }
  for (; transfer_.completed <= id.message; transfer_.complete()) {
    transfer_.latencies.completion.record(at_ps - transfer_.posted_ps[transfer_.completed]);
    check(transfer_.completed);
  }
  transfer_.last_completion_ps = at_ps;
}

void AtomicRequester::check(std::uint32_t message) {
  const std::uint64_t original = load_le64(context_->memory().span(originals_.address() + slot(message), 8).data());
  if (item_.op == Op::kCmpSwap && original != turn(message)) {
    return transfer_.fail(fmt::format("message {} has found {} instead of {}", message, original, turn(message)));
  }
  const std::string wrong = transfer_.words->returned(message, original);
  if (!wrong.empty()) transfer_.fail(fmt::format("message {}: {}", message, wrong));
}

std::string AtomicRequester::waiting_for() const {
  if (done()) return "";
  return fmt::format("{}: completion of message {} ({} outstanding)", transfer_.label, transfer_.completed,
                     next_ - transfer_.completed);
}

bool AtomicResponder::prepare(host::Context& context, host::Qp& qp, host::Pd pd) {
  context_ = &context;
  qp_ = &qp;
  looks_ |= transfer_.words->place(context);
  const bool ready = words_.prepare(context, pd, transfer_.words->address(), transfer_.words->bytes(),
                                    abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic);
  transfer_.region = words_.address();
  transfer_.region_rkey = words_.key();
  const std::uint64_t bytes = transfer_.words->bytes();
  return other_regions_.prepare(context, transfer_, pd, transfer_.words->address(), bytes) && ready;
}

bool AtomicResponder::settle() { return !looks_ || transfer_.words->settle(core()); }

std::string AtomicResponder::unsettled() const {
  const std::string what = looks_ ? transfer_.words->unsettled() : "";
  return what.empty() ? "" : transfer_.label + ": " + what;
}

}  // namespace rnic::workload
