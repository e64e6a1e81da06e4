#include "model/programs/workload/ping_pong.h"

#include <fmt/format.h>

namespace rnic::workload {

bool PingPong::prepare(host::Context& context, host::Qp& qp, host::Pd pd) {
  context_ = &context;
  qp_ = &qp;
  stride_ = (transfer_.max_size + 63) & ~63u;
  if (!memory_.prepare(context, pd, std::uint64_t{1 + kReceives} * stride_, abi::kLocalWrite)) return false;
  while (posted_ < kReceives && posted_ < item_.count) post_receive();
  return true;
}

void PingPong::post_receive() {
  const host::Sge sge = memory_.sge(std::uint64_t{1 + posted_ % kReceives} * stride_, stride_);
  post(host::receive_request(wr_id(Kind::kMessage, posted_), sge));
  ++posted_;
}

// One Send at a time: the requester's next after the answer has arrived, the responder's after a message.
void PingPong::advance() {
  const bool turn = requester_ ? received_ == sent_ : received_ == sent_ + 1;
  if (turn && sent_ < item_.count && send_completed_ == sent_) send();
}

void PingPong::send() {
  const std::uint32_t size = transfer_.sizes[sent_];
  (requester_ ? transfer_.payload : transfer_.reply).fill(span(memory_.address(), size), sent_);
  const host::SendWr wr = host::send_request(wr_id(Kind::kEnd, sent_), abi::WrOpcode::kSend, memory_.sge(0, size));
  if (requester_) {
    transfer_.posted_ps[sent_] = core().time_ps();
    if (sent_ == 0) transfer_.first_post_ps = transfer_.posted_ps[0];
  }
  sends(requester_ ? transfer_.sent_by : transfer_.answered_by, sent_);
  ++sent_;
  post(&wr, 1);
}

void PingPong::completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) {
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.cut(completion_error(wc, id.message));
  if (id.kind == Kind::kMessage) return received(wc, id.message, at_ps);
  ++send_completed_;
}

void PingPong::received(const host::Wc& wc, std::uint32_t message, std::uint64_t at_ps) {
  if (message != received_++) return transfer_.fail(fmt::format("message {} received out of order", message));
  const std::uint32_t size = transfer_.sizes[message];
  if (wc.byte_len != size) {
    return transfer_.fail(fmt::format("message {} has {} octets instead of {}", message, wc.byte_len, size));
  }
  const std::uint64_t buffer = memory_.address() + std::uint64_t{1 + message % kReceives} * stride_;
  check(span(buffer, size), requester_ ? transfer_.answered_by : transfer_.sent_by, message,
        requester_ ? transfer_.reply : transfer_.payload);
  if (posted_ < item_.count) post_receive();
  if (requester_) {
    transfer_.latencies.completion.record((at_ps - transfer_.posted_ps[message]) / 2);
    seen(requester_ ? transfer_.answered_by : transfer_.sent_by, message, at_ps);
    transfer_.last_completion_ps = at_ps;
    transfer_.complete();
  } else {
    transfer_.latencies.one_way.record(at_ps - transfer_.posted_ps[message]);
    seen(requester_ ? transfer_.answered_by : transfer_.sent_by, message, at_ps);
  }
}

std::string PingPong::waiting_for() const {
  if (done()) return "";
  if (send_completed_ < sent_) return fmt::format("{}: completion of Send {}", transfer_.label, send_completed_);
  return fmt::format("{}: arrival of {} {}", transfer_.label, requester_ ? "answer" : "message", received_);
}

}  // namespace rnic::workload
