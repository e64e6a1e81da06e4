#include "model/programs/workload/acceptor.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/programs/workload/event_text.h"

namespace rnic::workload {

using host::CmEventType;

Acceptor::Acceptor(Transfer& transfer, std::uint8_t index, ChurnSide side)
    : ChurnRole(transfer, index, std::move(side)), slots_(slots()), seen_(item_.count) {
  for (std::uint32_t c = 0; c < item_.count; ++c) {
    to_create_ += outcome(c) == Outcome::kAccept;
    to_end_ += outcome(c) != Outcome::kNoListener;
  }
}

// The first queue pairs are ready before the first request.
bool Acceptor::prepare(host::Context& context, host::Qp&, host::Pd pd) {
  if (!make(context, pd)) return false;
  if (channel_ == nullptr) channel_ = std::make_unique<host::EventChannel>(core());
  bool ready = true;
  for (Slot& s : slots_) {
    while (transfer_.error.empty() && move(s)) {
    }
    ready = ready && s.state != State::kCreating;
  }
  return ready;
}

void Acceptor::requested(const host::CmEvent& event) {
  const std::uint32_t c =
      event.private_data.size() == kNumberBytes ? load_le32(event.private_data.data()) : item_.count;
  if (c >= item_.count || seen_[c]) return transfer_.fail("a request whose private data was not sent, or twice");
  seen_[c] = true;
  requests_.push_back({event.connection, c});
}

void Acceptor::advance() {
  if (finished_) return;
  take_completions([this](const host::Wc& wc) { received(wc); });
  while (!channel_->empty()) take(channel_->get_cm_event());
  forget_destroyed();
  for (Slot& s : slots_) {
    while (transfer_.error.empty() && move(s)) {
    }
  }
  answer_requests();
  if (to_end_ == 0) finished_ = release();
}

void Acceptor::answer_requests() {
  for (; !requests_.empty(); requests_.pop_front()) {
    const Request& r = requests_.front();
    switch (outcome(r.connection)) {
      case Outcome::kAccept:
        if (!accept(r)) return;
        break;
      case Outcome::kReject:
        context_->reject(r.id, number(r.connection));
        --to_end_;
        break;
      case Outcome::kTimeout:  // no answer at all
        --to_end_;
        break;
      case Outcome::kNoListener:
        return fail(r.connection, "a request at a port without a listener");
    }
  }
}

// Accepts with a ready queue pair; false if there is none.
bool Acceptor::accept(const Request& request) {
  const auto s = std::find_if(slots_.begin(), slots_.end(), [](const Slot& x) { return x.state == State::kReady; });
  if (s == slots_.end()) return false;
  s->state = State::kServing;
  s->connection = request.connection;
  host::ConnParam param = side_.param;
  param.private_data = number(request.connection);
  context_->accept(request.id, *s->qp, param, *channel_);
  return true;
}

// Forgets all of them before a new queue pair may take a slot.
void Acceptor::forget_destroyed() {
  for (Slot& s : slots_) {
    if (s.state != State::kDestroying || !s.qp->destroyed()) continue;
    s = {};
    --to_end_;
  }
}

// Steps that need neither an event nor a completion. False when the slot has to wait.
bool Acceptor::move(Slot& s) {
  switch (s.state) {
    case State::kNone:
      if (to_create_ == 0) return false;
      --to_create_;
      s.qp = create_qp();
      s.state = State::kCreating;
      return false;
    case State::kCreating: {
      if (s.qp->failed()) return transfer_.fail("the device refused a queue pair"), false;
      if (!s.qp->ready()) return false;
      const host::RecvWr wr = host::receive_request(index_of(s), sge(index_of(s), stride()));
      core().work_on(transfer_.work);
      if (s.qp->post_recv(wr) != 0) return transfer_.fail("a receive cannot be posted"), false;
      core().work_on(0);
      s.state = State::kReady;
      return false;
    }
    case State::kServing:
      if (!s.established || !s.received || !s.closed) return false;
      context_->destroy_qp(*s.qp);
      s.state = State::kDestroying;
      return false;
    default:
      return false;
  }
}

void Acceptor::take(const host::CmEvent& event) {
  for (Slot& s : slots_) {
    if (s.qp == nullptr || s.qp != event.qp) continue;
    const bool established = event.type == CmEventType::kEstablished && !s.established;
    const bool closed = event.type == CmEventType::kDisconnected && s.established && !s.closed;
    if (s.state != State::kServing || (!established && !closed)) return fail(s.connection, event);
    s.established = true;
    s.closed = closed;
    return;
  }
  transfer_.fail(event_text(event) + ", on a queue pair that does not exist");
}

void Acceptor::received(const host::Wc& wc) {
  Slot& s = slots_.at(wc.wr_id);
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.fail(completion_error(wc, s.connection));
  if (s.state != State::kServing || s.received) return fail(s.connection, "its Send was received twice");
  const std::uint32_t size = transfer_.sizes[s.connection];
  if (wc.byte_len != size) {
    return fail(s.connection, fmt::format("its Send has {} octets instead of {}", wc.byte_len, size));
  }
  transfer_.check(octets(index_of(s), size), s.connection, transfer_.payload);
  s.received = true;
}

std::string Acceptor::waiting_for() const {
  if (done()) return "";
  for (const Slot& s : slots_) {
    if (s.state != State::kServing) continue;
    return fmt::format("{}: connection {}: {}", transfer_.label, s.connection,
                       !s.established ? "to be established"
                       : !s.received  ? "the other side's Send"
                                      : "its end");
  }
  return fmt::format("{}: {} more connections", transfer_.label, to_end_);
}

}  // namespace rnic::workload
