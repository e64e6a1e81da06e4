#include "model/programs/workload/endpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/programs/workload/event_text.h"

namespace rnic::workload {

using host::CmEventType;

Endpoint::Endpoint(Barrier& barrier, host::Context& context, Settings settings, std::size_t phases)
    : barrier_(barrier),
      context_(context),
      settings_(std::move(settings)),
      core_(context.cpu().add(*this)),
      channel_(core_),
      roles_(phases) {
  context_.when_open(core_);
}

void Endpoint::begin(unsigned stage, std::uint64_t at_ps) {
  stage_ = stage;
  begin_ps_ = at_ps;
  waiting_ = started_ = false;
  core_.wake_at(at_ps);
}

void Endpoint::fail(const std::string& reason) {
  if (!failed_) barrier_.aborted(settings_.name + ": " + reason);
  failed_ = true;
}

// The connection has ended. Where it may, the event that says why is yet to come.
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
  if (!context_.error().empty()) fail(context_.error());
  if (failed_ || left_) return;
  host::CmEvent event;
  if (ending_ || (waiting_ && settings_.may_end)) return void(take_event(event));
  if (waiting_ || core_.time_ps() < begin_ps_) return;
  try {
    if (!work() || failed_ || ending_) return;
  } catch (const ConfigError& error) {  // memory or STags ran out
    return fail(error.what());
  }
  waiting_ = true;
  barrier_.arrived(*this, core_.time_ps());
}

bool Endpoint::work() {
  if (stage_ == 0) return create();
  if (stage_ == 1) return connect();
  if (stage_ == last_stage()) return disconnect();
  return stage_ % 2 == 0 ? prepare() : run();
}

bool Endpoint::create() {
  if (!context_.is_open()) return false;
  if (!started_) {
    RingNeeds most{1, 1};
    for (const auto& phase : roles_) {
      RingNeeds sum;
      for (const auto& role : phase) sum.sends += role->needs().sends, sum.receives += role->needs().receives;
      most = {std::max(most.sends, sum.sends), std::max(most.receives, sum.receives)};
    }
    pd_ = context_.alloc_pd();
    send_cq_ = context_.create_cq(most.sends, settings_.mode);
    recv_cq_ = context_.create_cq(most.receives, settings_.mode);
    if (send_cq_ != nullptr && recv_cq_ != nullptr) {
      qp_ = context_.create_qp({pd_, send_cq_, recv_cq_, most.sends, most.receives});
    }
    if (qp_ == nullptr) {
      fail(fmt::format("the device has no queues for {} send and {} receive work requests", most.sends, most.receives));
      return false;
    }
    if (!settings_.active) listener_ = &context_.listen(settings_.port, settings_.param.flags, channel_);
    started_ = true;
  }
  if (send_cq_->failed() || recv_cq_->failed() || qp_->failed()) fail("the device refused to create its queues");
  if (listener_ != nullptr && listener_->failed()) {
    fail(fmt::format("cannot listen on port {}: {}", settings_.port, host::command_status_str(listener_->status())));
  }
  const bool has_memory = greeting_.prepare(context_, pd_, kGreetingBytes, abi::kLocalWrite);
  return has_memory && qp_->ready() && (listener_ == nullptr || listener_->ready());
}

// Events that nobody expects end the connection, and the run unless it may.
bool Endpoint::take_event(host::CmEvent& event) {
  if (channel_.empty()) return false;
  event = channel_.get_cm_event();
  const bool of_nobody = event.type == CmEventType::kConnectError && event.qp == nullptr;
  if (of_nobody && !settings_.may_end) return true;  // its initiator may try again
  const bool expected = stage_ == last_stage() && event.type == CmEventType::kDisconnected;
  if (expected || event.type == CmEventType::kConnectRequest || event.type == CmEventType::kEstablished) return true;
  end(event);
  return false;
}

// The side that listens may not send before it has heard from the other (RFC 5044 section 7.1.2), so the one that
// connects begins with a Send, whatever the work is.
bool Endpoint::connect() {
  if (settings_.active && !started_) {
    context_.connect(*qp_, settings_.peer_ip, settings_.port, settings_.param, channel_);
    started_ = true;
  }
  host::CmEvent event;
  while (take_event(event)) {
    if (event.type == CmEventType::kConnectRequest) {
      host::RecvWr greeting;
      greeting.num_sge = 1;
      greeting.sg_list[0] = greeting_.sge(0, kGreetingBytes);
      if (qp_->post_recv(greeting) != 0) fail("a receive cannot be posted");
      if (settings_.mode == host::CqMode::kNotified) recv_cq_->req_notify_cq();
      context_.accept(event.connection, *qp_, settings_.param, channel_);
    } else if (event.type == CmEventType::kEstablished) {
      connected_ = true;
      if (!settings_.active) continue;
      host::SendWr greeting;
      greeting.send_flags = abi::kWqeSignaled;
      greeting.num_sge = 1;
      greeting.sg_list[0] = greeting_.sge(0, kGreetingBytes);
      if (settings_.mode == host::CqMode::kNotified) send_cq_->req_notify_cq();
      if (qp_->post_send(greeting) != 0) fail("a Send cannot be posted");
    }
  }
  return connected_ && greet();
}

bool Endpoint::greet() {
  host::Wc wc;
  host::Cq& cq = settings_.active ? *send_cq_ : *recv_cq_;
  if (!greeted_ && cq.poll_cq(&wc, 1) == 1) {
    greeted_ = true;
    if (wc.status != abi::WcStatus::kSuccess) end("the first Send: " + completion_error(wc, 0));
  }
  return greeted_;
}

bool Endpoint::prepare() {
  bool ready = true;
  for (const auto& role : current()) ready = role->prepare(context_, *qp_, pd_) && ready;
  if (!ready) return false;
  if (settings_.mode == host::CqMode::kNotified) {
    send_cq_->req_notify_cq();
    recv_cq_->req_notify_cq();
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

// One turn of the loop, or after a notification: everything there is, with the queue armed before the last look.
void Endpoint::take_completions() {
  for (host::Cq* cq : {recv_cq_, send_cq_}) {
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
    context_.disconnect(*qp_);
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
  if (stage_ == 0) return who + (qp_ == nullptr ? "the device to open" : "the device to make its queues");
  if (stage_ == 1)
    return who + (settings_.active ? "the connection, or the end of its first Send"
                                   : "a connection request, or the first Send");
  if (stage_ == last_stage()) return who + "the connection to be closed";
  std::string text;
  for (const auto& role : roles_[(stage_ - 2) / 2]) {
    const std::string one = stage_ % 2 == 0 ? "" : role->waiting_for();
    if (!one.empty()) text += (text.empty() ? "" : ", ") + one;
  }
  return who + (text.empty() ? "its memory regions" : text);
}

}  // namespace rnic::workload
