#include "model/programs/workload/endpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/bytes.h"
#include "model/programs/workload/event_text.h"

namespace rnic::workload {

using host::CmEventType;

Endpoint::Endpoint(Barrier& barrier, host::Context& context, Settings settings, std::size_t phases)
    : barrier_(barrier),
      settings_(std::move(settings)),
      core_(context.cpu().add(*this)),
      session_(context, core_),
      roles_(phases) {}

void Endpoint::begin(unsigned stage, std::uint64_t at_ps) {
  stage_ = stage;
  begin_ps_ = at_ps;
  waiting_ = started_ = false;
  ready_ps_ = 0;
  fence_ = nullptr;
  core_.wake_at(at_ps);
}

void Endpoint::admit(std::uint64_t at_ps) {
  admitted_ps_ = at_ps;
  core_.wake_at(at_ps);
}

void Endpoint::fail(const std::string& reason) {
  if (!failed_) barrier_.aborted(settings_.name + ": " + reason);
  failed_ = true;
}

// The connection has ended. If that is allowed, the event with the reason is still to come.
void Endpoint::end(const std::string& reason) {
  if (!settings_.may_end) return fail(reason);
  if (!ending_) ending_ = Ending{reason};
}

void Endpoint::end(const host::CmEvent& event) {
  end(event_text(event));
  if (!ending_) return;
  ending_->text = event_text(event);
  const bool tells = event.type == CmEventType::kQpError || event.terminate.cause != wire::TerminateCause{};
  if (tells) ending_->terminate = event.terminate;
  left_ = true;
  barrier_.left(*this, core_.time_ps());
}

void Endpoint::step() {
  if (const std::string& why = session_.context().error(); !why.empty()) fail(why);
  if (failed_ || left_) return;
  host::CmEvent event;
  if (ending_ || waiting_) return void(take_event(event));
  if (core_.time_ps() < begin_ps_) return;
  try {
    if (!work() || failed_ || ending_) return;
  } catch (const ConfigError& error) {  // memory or STags ran out
    return fail(error.what());
  }
  waiting_ = true;
  barrier_.arrived(*this, ready_ps_ != 0 ? ready_ps_ : core_.time_ps(), core_.time_ps());
}

bool Endpoint::work() {
  if (stage_ == 0) return create();
  if (stage_ == 1) return connect();
  if (!is_phase(stage_) && !settle()) return false;
  if (stage_ == last_stage()) return disconnect();
  return stage_ % 2 == 0 ? prepare() : run();
}

bool Endpoint::create() {
  if (!session_.context().is_open()) return false;
  if (!started_) {
    RingNeeds most{1, 1};
    for (const auto& phase : roles_) {
      RingNeeds sum;
      for (const auto& role : phase) sum.sends += role->needs().sends, sum.receives += role->needs().receives;
      most = {std::max(most.sends, sum.sends), std::max(most.receives, sum.receives)};
    }
    session_.make_cqs(most.sends, most.receives, settings_.mode);
    session_.make_qp(most.sends, most.receives);
    if (!settings_.active && settings_.listens)
      session_.listen(settings_.port, settings_.param.flags, settings_.param.transport);
    greeting_ = &session_.memory(kGreetingBytes, abi::kLocalWrite);
    started_ = true;
  }
  return session_.ready();
}

// Unexpected events end the connection, and also the run unless the connection may end.
bool Endpoint::take_event(host::CmEvent& event) {
  if (!session_.next(event)) return false;
  const bool of_nobody = event.type == CmEventType::kConnectError && event.qp == nullptr;
  if (of_nobody && !settings_.may_end) return true;  // its initiator may try again
  const bool expected = stage_ == last_stage() && event.type == CmEventType::kDisconnected;
  if (expected || event.type == CmEventType::kConnectRequest || event.type == CmEventType::kEstablished) return true;
  end(event);
  return false;
}

// The listening side may not send before it has received an FPDU (RFC 5044 section 7.1.2), so the connecting side
// always begins with a Send, whatever the work.
bool Endpoint::connect() {
  if (settings_.active && !started_) {
    if (core_.time_ps() < admitted_ps_) return false;
    session_.connect(settings_.peer_ip, settings_.port, settings_.param);
    started_ = true;
  }
  host::CmEvent event;
  while (take_event(event)) {
    if (event.type == CmEventType::kConnectRequest) {
      if (hand_on(event)) continue;
      const host::RecvWr greeting = host::receive_request(0, host::part_of(*greeting_, 0, kGreetingBytes));
      if (session_.qp().post_recv(greeting) != 0) fail("a receive cannot be posted");
      if (settings_.mode == host::CqMode::kNotified) session_.recv_cq().req_notify_cq();
      session_.accept(event.connection, settings_.param);
    } else if (event.type == CmEventType::kEstablished) {
      connected_ = true;
      if (!settings_.active) continue;
      const host::Sge octets = host::part_of(*greeting_, 0, kGreetingBytes);
      if (settings_.mode == host::CqMode::kNotified) session_.send_cq().req_notify_cq();
      if (session_.qp().post_send(host::send_request(0, abi::WrOpcode::kSend, octets)) != 0)
        fail("a Send cannot be posted");
    }
  }
  return connected_ && greet() && (at_port_.empty() || handed_on_ + 1 == at_port_.size());
}

std::vector<std::uint8_t> Endpoint::numbered(std::uint16_t number, const std::vector<std::uint8_t>& private_data) {
  std::vector<std::uint8_t> octets(kRequestNumberBytes + private_data.size());
  store_be16(octets.data(), number);
  std::copy(private_data.begin(), private_data.end(), octets.begin() + kRequestNumberBytes);
  return octets;
}

// False if the request is for this endpoint.
bool Endpoint::hand_on(host::CmEvent& request) {
  if (at_port_.empty()) return false;
  const std::vector<std::uint8_t>& octets = request.private_data;
  const std::size_t number = octets.size() < kRequestNumberBytes ? at_port_.size() : load_be16(octets.data());
  if (number >= at_port_.size()) return fail("a request without the number of its queue pair"), true;
  if (at_port_[number] == this) return false;
  ++handed_on_;
  at_port_[number]->session_.give(std::move(request));
  return true;
}

bool Endpoint::greet() {
  host::Wc wc;
  host::Cq& cq = settings_.active ? session_.send_cq() : session_.recv_cq();
  if (!greeted_ && cq.poll_cq(&wc, 1) == 1) {
    greeted_ = true;
    if (wc.status != abi::WcStatus::kSuccess) end("the first Send: " + completion_error(wc, 0));
  }
  return greeted_;
}

// Waits until the previous phase's data is in memory.
bool Endpoint::settle() {
  if (stage_ == 2) return true;
  bool settled = true;
  for (const auto& role : before()) settled = role->settle() && settled;
  return settled;
}

// A peer may use receives as soon as the phase begins, so the device has to know them by then.
bool Endpoint::prepare() {
  if (fence_ == nullptr) {
    if (!make_ready()) return false;
    const auto receives = [](const auto& role) { return role->needs().receives != 0; };
    if (std::none_of(current().begin(), current().end(), receives)) return true;
    ready_ps_ = core_.time_ps();
    fence_ = &session_.context().fence();
  }
  return fence_->passed();
}

bool Endpoint::make_ready() {
  bool ready = true;
  for (const auto& role : current())
    ready = role->prepare(session_.context(), session_.qp(), session_.domain()) && ready;
  if (!ready) return false;
  if (settings_.mode == host::CqMode::kNotified) {
    session_.send_cq().req_notify_cq();
    session_.recv_cq().req_notify_cq();
  }
  return true;
}

unsigned Endpoint::poll(host::Cq& cq) {
  host::Wc wc[16];
  const unsigned n = cq.poll_cq(wc, 16);
  const std::uint64_t at_ps = core_.time_ps();
  for (unsigned i = 0; i < n; ++i) {
    const Role::WrId id = Role::WrId::unpack(wc[i].wr_id);
    RNIC_CHECK(id.role < current().size());
    current()[id.role]->completed(wc[i], id, at_ps);
  }
  return n;
}

// One turn of the loop, or after a notification: takes all completions. The queue is armed before the last poll.
void Endpoint::take_completions() {
  for (host::Cq* cq : {&session_.recv_cq(), &session_.send_cq()}) {
    if (settings_.mode == host::CqMode::kNotified) {
      if (!cq->get_cq_event()) continue;
      cq->req_notify_cq();
    }
    while (poll(*cq) == 16) {
    }
  }
}

bool Endpoint::run() {
  take_completions();
  host::CmEvent event;
  while (take_event(event)) {
    if (event.type != CmEventType::kConnectRequest) continue;
    for (const auto& role : current()) role->requested(event);
  }
  bool done = true;
  for (const auto& role : current()) {
    if (role->transfer().error.empty()) role->advance();
    const Transfer& t = role->transfer();
    if (!t.error.empty()) t.cut_off ? end(t.error) : fail(t.error);
    done = role->done() && done;
  }
  return done;
}

bool Endpoint::disconnect() {
  if (settings_.active && !started_) {
    session_.disconnect();
    started_ = true;
  }
  host::CmEvent event;
  while (take_event(event)) {
    if (event.type == CmEventType::kDisconnected) connected_ = false;
  }
  return !connected_;
}

std::string Endpoint::waiting_for() const {
  if (waiting_ || failed_ || left_) return "";
  const std::string who = settings_.name + ": ";
  if (ending_) return who + "the event that says why its connection has ended";
  if (stage_ == 0) return who + (!started_ ? "the device to open" : "the device to make its queues");
  if (stage_ == 1 && settings_.active && !started_) return who + "others to be set up before it";
  if (stage_ == 1)
    return who + (settings_.active ? "the connection, or the end of its first Send"
                                   : "a connection request, or the first Send");
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() || one.empty() ? "" : ", ") + one; };
  if (is_phase(stage_)) {
    for (const auto& role : current()) add(role->waiting_for());
  } else if (stage_ > 2) {
    for (const auto& role : before()) add(role->unsettled());
  }
  if (!text.empty()) return who + text;
  if (stage_ == last_stage()) return who + "the connection to be closed";
  return who + (fence_ != nullptr ? "the device to know of its receives" : "its memory regions");
}

}  // namespace rnic::workload
