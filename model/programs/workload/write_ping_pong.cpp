#include "model/programs/workload/write_ping_pong.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::workload {
namespace {

std::uint8_t contrary(std::uint8_t octet) { return static_cast<std::uint8_t>(~octet); }

}  // namespace

bool WritePingPong::prepare(host::Context& context, host::Qp& qp, host::Pd pd) {
  context_ = &context;
  qp_ = &qp;
  stride_ = (transfer_.max_size + 63) & ~63u;
  if (!memory_.prepare(context, pd, std::uint64_t{1 + kSources} * stride_, abi::kLocalWrite | abi::kRemoteWrite)) {
    return false;
  }
  if (written_ == nullptr) written_ = &context.watch(memory_.address(), stride_);
  (requester_ ? transfer_.credit : transfer_.region) = memory_.address();
  (requester_ ? transfer_.credit_rkey : transfer_.region_rkey) = memory_.key();
  expect_next();
  return true;
}

void WritePingPong::expect_next() {
  if (received_ == item_.count) return;
  awaited_.resize(transfer_.sizes[received_]);
  incoming().fill({awaited_.data(), awaited_.size()}, received_);
  std::transform(awaited_.begin(), awaited_.end(), span(sink(awaited_.size()), awaited_.size()).data(), contrary);
  written_->poll_behind(stride_ - 1);
}

// If the last octet has arrived and others have not, the program polls all octets.
bool WritePingPong::arrived() {
  if (received_ == item_.count || span(sink(1), 1).data()[0] == contrary(awaited_.back())) return false;
  if (written_->fresh()) core().wake_poller();
  else if (is_whole()) return true;
  written_->poll_behind(0);
  return false;
}

// Also true if an octet is wrong.
bool WritePingPong::is_whole() const {
  const std::uint8_t* const found = context_->memory().span(sink(awaited_.size()), awaited_.size()).data();
  bool whole = true;
  for (std::size_t i = 0; i < awaited_.size(); ++i) {
    const bool missing = found[i] == contrary(awaited_[i]);
    if (found[i] != awaited_[i] && !missing) return true;
    whole = whole && !missing;
  }
  return whole;
}

void WritePingPong::advance() {
  if (arrived()) receive();
  const bool turn = requester_ ? received_ == sent_ : received_ == sent_ + 1;
  if (turn && sent_ < item_.count && sent_ - completed_ < kSources) send();
}

void WritePingPong::receive() {
  const std::uint32_t message = received_++, size = transfer_.sizes[message];
  const std::uint64_t now_ps = core().time_ps();
  check(span(sink(size), size), requester_ ? transfer_.answered_by : transfer_.sent_by, message, incoming());
  if (requester_) {
    transfer_.latencies.completion.record((now_ps - transfer_.posted_ps[message]) / 2);
    seen(requester_ ? transfer_.answered_by : transfer_.sent_by, message, now_ps);
    transfer_.last_completion_ps = now_ps;
    transfer_.complete();
  } else {
    transfer_.latencies.one_way.record(now_ps - transfer_.posted_ps[message]);
    seen(requester_ ? transfer_.answered_by : transfer_.sent_by, message, now_ps);
  }
  expect_next();
}

void WritePingPong::send() {
  const std::uint32_t size = transfer_.sizes[sent_];
  const std::uint64_t source = std::uint64_t{1 + sent_ % kSources} * stride_;
  (requester_ ? transfer_.payload : transfer_.reply).fill(span(memory_.address() + source, size), sent_);
  host::SendWr wr;
  wr.opcode = host::WrOpcode::kRdmaWrite;
  wr.wr_id = wr_id(Kind::kMessage, sent_);
  wr.send_flags = abi::kWqeSignaled;
  wr.num_sge = 1;
  wr.sg_list[0] = memory_.sge(source, size);
  wr.remote_addr = (requester_ ? transfer_.region : transfer_.credit) + stride_ - size;
  wr.rkey = requester_ ? transfer_.region_rkey : transfer_.credit_rkey;
  if (requester_) {
    transfer_.posted_ps[sent_] = core().time_ps();
    if (sent_ == 0) transfer_.first_post_ps = transfer_.posted_ps[0];
  }
  sends(requester_ ? transfer_.sent_by : transfer_.answered_by, sent_);
  ++sent_;
  post(&wr, 1);
}

void WritePingPong::completed(const host::Wc& wc, WrId id, std::uint64_t) {
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.cut(completion_error(wc, id.message));
  ++completed_;
}

std::string WritePingPong::waiting_for() const {
  if (done()) return "";
  if (sent_ - completed_ == kSources || received_ == item_.count) {
    return fmt::format("{}: completion of Write {}", transfer_.label, completed_);
  }
  return fmt::format("{}: arrival of {} {}", transfer_.label, requester_ ? "answer" : "message", received_);
}

}  // namespace rnic::workload
