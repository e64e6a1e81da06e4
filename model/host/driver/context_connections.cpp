// Context: connection management.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/host/driver/context.h"
#include "model/host/driver/device_objects.h"

namespace rnic::host {
namespace {

void set_depths(abi::Command& c, const ConnParam& param) {
  c.u.cm.ird = param.responder_resources;
  c.u.cm.ord = param.initiator_depth;
  c.u.cm.max_ird = param.max_ird.value_or(0);
  if (param.max_ird) c.u.cm.options |= abi::kCmMaxIrd;
  c.u.cm.tcp = param.tcp;
}

Terminate decoded_terminate(const abi::Event& event, ByteSpan header) {
  Terminate t;
  t.origin = event.terminate_origin;
  t.cause = wire::terminate_cause(event.terminate);
  if (const auto returned = wire::TerminateHeader::parse(header)) {
    t.segment_length = returned->segment_length.value_or(0);
    t.ddp_header.assign(returned->ddp_header.begin(), returned->ddp_header.end());
    t.read_request.assign(returned->read_request.begin(), returned->read_request.end());
  }
  return t;
}

CmEventType type_of(abi::EventType type) {
  switch (type) {
    case abi::EventType::kConnectRequest:
      return CmEventType::kConnectRequest;
    case abi::EventType::kEstablished:
      return CmEventType::kEstablished;
    case abi::EventType::kRejected:
      return CmEventType::kRejected;
    case abi::EventType::kDisconnected:
      return CmEventType::kDisconnected;
    case abi::EventType::kQpError:
      return CmEventType::kQpError;
    default:
      return CmEventType::kConnectError;
  }
}

CmEvent cm_event(const abi::Event& event, ByteSpan private_data) {
  CmEvent cm;
  cm.type = type_of(event.type);
  cm.status = static_cast<abi::ConnectStatus>(event.status);
  cm.connection = event.id;
  cm.peer_ip = event.peer_ip;
  cm.peer_port = event.peer_port;
  cm.local_port = event.local_port;
  cm.ird = event.ird;
  cm.ord = event.ord;
  cm.peer_ird = event.peer_ird;
  cm.peer_ord = event.peer_ord;
  cm.mpa_revision = event.mpa_revision;
  cm.mpa_flags = event.mpa_flags;
  cm.ddp_version = event.ddp_version;
  const bool failed_setup = event.type == abi::EventType::kConnectError && event.terminate != 0;
  if (event.type == abi::EventType::kQpError || failed_setup) cm.terminate = decoded_terminate(event, private_data);
  if (event.type != abi::EventType::kQpError) cm.private_data.assign(private_data.begin(), private_data.end());
  return cm;
}

// The queue pair's state after an event.
void apply(const abi::Event& event, Qp& qp) {
  switch (event.type) {
    case abi::EventType::kEstablished:
      return qp.set_state(QpState::kRts);
    case abi::EventType::kRejected:
    case abi::EventType::kConnectError:
      qp.set_state(event.qp_state == abi::QpState::kIdle ? QpState::kIdle : QpState::kError);
      qp.set_rejected(event.type == abi::EventType::kRejected && qp.stays() && qp.state() == QpState::kIdle);
      return qp.set_connection(event.qp_state == abi::QpState::kTerminate || qp.rejected());
    case abi::EventType::kDisconnected:
      qp.set_connection(false);
      break;
    default:
      break;
  }
  qp.set_state(QpState::kError);
}

}  // namespace

Listener& Context::listen(std::uint16_t port, std::uint8_t cm_flags, EventChannel& channel,
                          abi::Personality personality, std::uint16_t backlog, Transport transport) {
  const std::size_t number = free_number(listeners_, first_listener_, listeners_.max_size(), cpu_.running());
  std::unique_ptr<Listener>& listener = listeners_[number];
  if (listener != nullptr) at_port_.erase({listener->port(), number});
  listener = std::make_unique<Listener>(cpu_.running(), port, channel, transport);
  at_port_.insert({port, number});
  abi::Command c = command_of(abi::CommandOp::kListen, 0, cm_flags);
  c.u.cm.local_port = port;
  c.u.cm.personality = personality;
  c.u.cm.backlog = backlog;
  c.u.cm.options = transport_option(transport);
  commands_.submit(c, {}, *listener);
  return *listener;
}

void Context::unlisten(Listener& listener) {
  number_ends(listener, 0, first_listener_);
  abi::Command c = command_of(abi::CommandOp::kUnlisten, 0);
  c.u.cm.local_port = listener.port();
  c.u.cm.options = transport_option(listener.transport());
  commands_.submit(c, {}, listener);
}

int Context::connect(Qp& qp, std::uint32_t peer_ip, std::uint16_t port, const ConnParam& param, EventChannel& channel) {
  if (param.private_data.size() > private_data_limit(param.flags) || qp.state() == QpState::kError) return EINVAL;
  if (qp.has_connection() || qp.doomed()) return EISCONN;
  qp.set_channel(channel);
  const Qp::Attempt attempt{peer_ip, port, param};
  start(qp, attempt);
  if (param.fall_back) qp.attempt() = attempt;
  return 0;
}

int Context::connect_again(Qp& qp, const ConnParam& param) {
  if (!qp.rejected() || qp.doomed()) return ENOTCONN;
  if (param.private_data.size() > private_data_limit(param.flags)) return EINVAL;
  qp.ask_again();
  start(qp, {0, 0, param});
  return 0;
}

void Context::start(Qp& qp, const Qp::Attempt& attempt) {
  const ConnParam& param = attempt.param;
  abi::Command c = command_of(abi::CommandOp::kConnect, qp.number().v, param.flags);
  c.qpn = qp.number().v;
  c.u.cm.peer_ip = attempt.peer_ip;
  c.u.cm.peer_port = attempt.port;
  c.u.cm.options = static_cast<std::uint8_t>(param.options | transport_option(param.transport));
  c.u.cm.rtr_order = param.rtr_order;
  set_depths(c, param);
  qp.set_connection(true);
  qp.set_stays((param.options & abi::kCmStay) != 0);
  commands_.submit(c, param.private_data, qp);
}

// The peer closed TCP on an enhanced request: a second connection, of revision 1, if the program allows it (RFC 6581
// section 10).
bool Context::fall_back(Qp& qp, const abi::Event& event) {
  std::optional<Qp::Attempt> attempt = std::exchange(qp.attempt(), std::nullopt);
  if (!attempt || !may_fall_back(attempt->param.flags, attempt->param.fall_back, event) || qp.doomed()) return false;
  attempt->param.flags &= static_cast<std::uint8_t>(~kCmEnhancements);
  attempt->param.options = 0;
  start(qp, *attempt);
  return true;
}

// A request that may be answered, with that many octets; none if it was withdrawn.
Context::Request* Context::request_of(std::uint32_t connection, std::size_t private_bytes) {
  const auto r = std::find_if(requests_.begin(), requests_.end(),
                              [=](const Request& x) { return x.connection == connection && !x.answered; });
  return r == requests_.end() || private_bytes > private_data_limit(r->mpa_flags) ? nullptr : &*r;
}

int Context::accept(std::uint32_t connection, Qp& qp, const ConnParam& param, EventChannel& channel) {
  Request* const request = request_of(connection, param.private_data.size());
  if (request == nullptr || qp.state() == QpState::kError) return EINVAL;
  if (qp.has_connection() || qp.doomed()) return EISCONN;
  request->answered = true;
  qp.set_channel(channel);
  qp.set_connection(true);
  abi::Command c = command_of(abi::CommandOp::kAccept, connection);
  c.qpn = qp.number().v;
  c.u.cm.need_ord = param.need_ord;
  c.u.cm.options = static_cast<std::uint8_t>(param.options & abi::kCmStay);
  set_depths(c, param);
  commands_.submit(c, param.private_data, qp);
  return 0;
}

int Context::reject(std::uint32_t connection, ByteSpan private_data, std::uint16_t need_ord, bool stays) {
  Request* const request = request_of(connection, private_data.size());
  if (request == nullptr) return EINVAL;
  request->answered = true;
  abi::Command c = command_of(abi::CommandOp::kReject, connection);
  c.u.cm.need_ord = need_ord;
  if (stays) c.u.cm.options = abi::kCmStay;
  commands_.submit(c, private_data, ignored_);
  return 0;
}

int Context::disconnect(Qp& qp) {
  if (!qp.has_connection()) return ENOTCONN;
  qp.attempt().reset();
  commands_.submit(command_of(abi::CommandOp::kDisconnect, qp.number().v), {}, qp);
  return 0;
}

void Context::destroy_qp(Qp& qp) {
  if (qp.doomed()) return;
  if (!qp.has_connection()) return release(qp);
  disconnect(qp);
  qp.doom();
  doomed_.push_back(&qp);
}

void Context::release(Qp& qp) {
  number_ends(qp, qp.number().v, first_qp_);
  qp.send_cq().unreserve(qp.sq().entries());
  qp.srq() != nullptr ? qp.srq()->leave(qp.recv_cq()) : qp.recv_cq().unreserve(qp.rq().entries());
  commands_.submit(command_of(abi::CommandOp::kDestroyQp, qp.number().v), {}, qp);
}

void Context::release_doomed() {
  const auto free = [](const Qp* qp) { return !qp->has_connection(); };
  const auto last = std::stable_partition(doomed_.begin(), doomed_.end(), [&](const Qp* qp) { return !free(qp); });
  std::for_each(last, doomed_.end(), [this](Qp* qp) { release(*qp); });
  doomed_.erase(last, doomed_.end());
}

Listener* Context::listener_on(std::uint16_t port) const {
  for (auto i = at_port_.lower_bound({port, 0}); i != at_port_.end() && i->first == port; ++i) {
    if (Listener* listener = listeners_[i->second].get(); listener->ready()) return listener;
  }
  return nullptr;
}

void Context::connection_event(const abi::Event& event, ByteSpan private_data) {
  CmEvent cm = cm_event(event, private_data);
  if (event.type == abi::EventType::kConnectRequest) {
    requests_.push_back({event.id, event.mpa_flags});
    Listener* listener = listener_on(event.local_port);
    if (listener != nullptr) return listener->channel().push(std::move(cm));
    reject(event.id, {});  // the listener is gone
    return;
  }
  // A connection that ended before it got a queue pair: the listener gets the reason. If an answer crosses this, the
  // program takes the connection for answered: if it has accepted it, the refusal of the command shows the end.
  if (event.id >= qps_.size()) {
    const auto request =
        std::find_if(requests_.begin(), requests_.end(), [&](const Request& r) { return r.connection == event.id; });
    if (request != requests_.end()) {
      if (request->answered) return;
      requests_.erase(request);
    }
    if (Listener* listener = listener_on(event.local_port)) listener->channel().push(std::move(cm));
    return;
  }
  if (qps_[event.id] == nullptr) return;
  Qp& qp = *qps_[event.id];
  apply(event, qp);
  if (fall_back(qp, event)) return;
  if (qp.channel() == nullptr) return;
  cm.qp = &qp;
  qp.channel()->push(std::move(cm));
}

}  // namespace rnic::host
