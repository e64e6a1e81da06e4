#include "model/programs/workload/connector.h"

#include <fmt/format.h>

#include "model/programs/workload/event_text.h"

namespace rnic::workload {

using host::CmEventType;

Connector::Connector(Transfer& transfer, std::uint8_t index, ChurnSide side)
    : ChurnRole(transfer, index, std::move(side)), slots_(slots()) {}

void Connector::advance() {
  if (finished_) return;
  if (channel_ == nullptr) channel_ = std::make_unique<host::EventChannel>(core());
  take_completions([this](const host::Wc& wc) { sent(wc); });
  while (!channel_->empty()) take(channel_->get_cm_event());
  forget_destroyed();
  for (Slot& s : slots_) {
    while (transfer_.error.empty() && move(s)) {
    }
  }
  if (transfer_.completed == item_.count) finished_ = release();
}

// Forgets all of them before a new queue pair may take a slot.
void Connector::forget_destroyed() {
  for (Slot& s : slots_) {
    if (s.state != State::kDestroying || !s.qp->destroyed()) continue;
    s.qp = nullptr;
    if (s.again) {
      s.state = State::kResting;
      s.rested_ps = core().time_ps() + kRestPs;
      core().wake_at(s.rested_ps);
      continue;
    }
    transfer_.complete();
    transfer_.last_completion_ps = core().time_ps();
    s = {};
  }
}

// Steps that need no event. False when the slot has to wait.
bool Connector::move(Slot& s) {
  switch (s.state) {
    case State::kNone:
      return begin(s);
    case State::kCreating:
      if (s.qp->failed()) return fail(s.connection, "the device refused its queue pair"), false;
      if (!s.qp->ready()) return false;
      connect(s);
      s.state = State::kConnecting;
      return false;
    case State::kResting:
      if (core().time_ps() < s.rested_ps) return false;
      s.again = false;
      s.qp = create_qp();
      s.state = State::kCreating;
      return false;
    default:
      return false;
  }
}

bool Connector::begin(Slot& s) {
  if (next_ == item_.count || core().time_ps() < due_ps_) return false;
  const std::uint64_t now_ps = core().time_ps();
  if (next_ == 0) transfer_.first_post_ps = now_ps;
  if (item_.interval_ns != 0) {
    due_ps_ = (next_ == 0 ? now_ps : due_ps_) + item_.interval_ns * 1000;
    core().wake_at(due_ps_);
  }
  s.connection = next_++;
  s.qp = create_qp();
  s.state = State::kCreating;
  return false;
}

void Connector::connect(const Slot& s) {
  host::ConnParam param = side_.param;
  param.private_data = number(s.connection);
  transfer_.posted_ps[s.connection] = core().time_ps();
  const std::uint16_t port = outcome(s.connection) == Outcome::kNoListener ? side_.unused_port : side_.port;
  context_->connect(*s.qp, side_.peer_ip, port, param, *channel_);
}

void Connector::take(const host::CmEvent& event) {
  for (Slot& s : slots_) {
    if (s.qp == nullptr || s.qp != event.qp) continue;
    switch (event.type) {
      case CmEventType::kEstablished:
        return established(s, event);
      case CmEventType::kRejected:
      case CmEventType::kConnectError:
        return not_made(s, event);
      case CmEventType::kDisconnected:
        return s.state == State::kClosing ? destroy(s) : fail(s.connection, event);
      default:
        return fail(s.connection, event);
    }
  }
  transfer_.fail(event_text(event) + ", on a queue pair that does not exist");
}

void Connector::established(Slot& s, const host::CmEvent& event) {
  if (s.state != State::kConnecting || outcome(s.connection) != Outcome::kAccept) return fail(s.connection, event);
  if (event.private_data != number(s.connection))
    return fail(s.connection, "the reply has the private data of another connection");
  transfer_.latencies.completion.record(core().time_ps() - transfer_.posted_ps[s.connection]);
  const std::uint32_t size = transfer_.sizes[s.connection];
  transfer_.payload.fill(octets(index_of(s), size), s.connection);
  const host::SendWr wr = host::send_request(index_of(s), abi::WrOpcode::kSend, sge(index_of(s), size));
  core().work_on(transfer_.work);
  if (s.qp->post_send(wr) != 0) fail(s.connection, "a Send cannot be posted");
  core().work_on(0);
  s.state = State::kSending;
}

// Either the expected outcome, or this device had no room: then the connection is tried again.
void Connector::not_made(Slot& s, const host::CmEvent& event) {
  if (s.state != State::kConnecting) return fail(s.connection, event);
  const Outcome meant = outcome(s.connection);
  const bool no_room =
      event.refused == abi::CommandStatus::kNoResources || event.status == abi::ConnectStatus::kNoResources;
  const bool as_meant = event.type == CmEventType::kRejected
                            ? meant == Outcome::kReject && event.private_data == number(s.connection)
                            : event.refused == abi::CommandStatus::kOk &&
                                  ((meant == Outcome::kNoListener && event.status == abi::ConnectStatus::kRefused) ||
                                   (meant == Outcome::kTimeout && event.status == abi::ConnectStatus::kTimeout));
  if (!no_room && !as_meant) return fail(s.connection, event);
  s.again = no_room;
  transfer_.retries += no_room;
  destroy(s);
}

void Connector::sent(const host::Wc& wc) {
  Slot& s = slots_.at(wc.wr_id);
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.fail(completion_error(wc, s.connection));
  if (s.state != State::kSending) return fail(s.connection, "its Send completed twice");
  context_->disconnect(*s.qp);
  s.state = State::kClosing;
}

void Connector::destroy(Slot& s) {
  context_->destroy_qp(*s.qp);
  s.state = State::kDestroying;
}

std::string Connector::waiting_for() const {
  static constexpr const char* kFor[] = {"",
                                         "a queue pair",
                                         "the answer of the other side",
                                         "the completion of the Send",
                                         "the end of the connection",
                                         "the end of the queue pair",
                                         "room in the device"};
  if (done()) return "";
  for (const Slot& s : slots_) {
    if (s.state == State::kNone) continue;
    return fmt::format("{}: connection {}: {}", transfer_.label, s.connection, kFor[static_cast<unsigned>(s.state)]);
  }
  return transfer_.label +
         (next_ < item_.count ? ": the time of the next connection" : ": the end of its memory region");
}

}  // namespace rnic::workload
