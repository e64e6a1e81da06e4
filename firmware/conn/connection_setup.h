// ConnectionManager: the startup frames of both roles, and the step into RDMA mode (RFC 5044 section 7.1.2).
#pragma once

#include <utility>

#include "firmware/conn/connection_manager.h"

namespace rnic::fw {

constexpr InternalWork work_of(Rtr rtr) {
  return rtr == Rtr::kSend    ? InternalWork::kRtrSend
         : rtr == Rtr::kWrite ? InternalWork::kRtrWrite
                              : InternalWork::kRtrRead;
}

// Startup frames, piece by piece.

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::read_frame(Connection& c, std::uint32_t bytes) {
  c.asked = bytes;
  bus_.write(TcpStreamRead{c.flow, frame_range(c.slot, c.frame_bytes, bytes), life_of(c)});
}

// Returns the state of the frame with the octets that just arrived, and requests the rest of it.
template <class Bus, class Capacity>
FrameProgress ConnectionManager<Bus, Capacity>::take_octets(Connection& c, std::uint32_t bytes,
                                                            wire::MpaFrameKind expected) {
  c.frame_bytes += bytes;
  if (bytes < c.asked) return {wire::MpaFrameError::kTruncated, 0, {}};
  const FrameProgress progress = examine_frame(frame_octets(c), expected, max_revision(c.policy));
  if (progress.missing != 0) read_frame(c, progress.missing);
  return progress;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::write_frame(Connection& c, const wire::MpaFrame& frame) {
  c.frame_bytes = static_cast<std::uint32_t>(frame.emit(bus_.sram(frame_range(c.slot, 0, frame.bytes()))));
}

// Closes at once (RFC 5044 section 8, error 4). A peer that left silently did not send a bad frame.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::bad_frame(Connection& c, wire::MpaFrameError error) {
  const bool nothing_came = error == wire::MpaFrameError::kTruncated && c.frame_bytes == 0;
  log(bus_, LogCode::kBadFrame, id_of(c), static_cast<std::uint32_t>(error));
  report_setup_failure(c, nothing_came ? abi::ConnectStatus::kReset : status_of(error));
  return close_stream(c, true);
}

// Nothing may arrive before our own frame is sent. To detect it anyway, one octet is requested until send_frame().
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::guard(Connection& c) {
  bus_.write(TcpStreamRead{c.flow, guard_octet(c.slot), life_of(c)});
}

// Sends our frame; the peer's next one reuses its slot.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::exchange_frames(Connection& c) {
  send_frame(c);
  c.frame_bytes = 0;
  read_frame(c, wire::kMpaHeaderBytes);
}

// The initiator.

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::send_request(Connection& c, const ConnInput& in) {
  attach_flow(c, in.flow, in.segment_limit);
  if (in.port != 0) c.local_port = in.port;  // the actual ephemeral port
  exchange_frames(c);
  return State::kWaitReply;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::open_failed(Connection& c, const ConnInput& in) {
  report_setup_failure(c, status_of(in.failure));
  return State::kFree;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::reply_octets(Connection& c, const ConnInput& in) {
  const FrameProgress progress = take_octets(c, in.bytes, wire::MpaFrameKind::kReply);
  if (progress.error != wire::MpaFrameError::kNone) return bad_frame(c, progress.error);
  return progress.missing != 0 ? c.state : conclude(c, progress.frame);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::enter_rdma(Connection& c) {
  if (c.limits.asked()) bus_.write(TcpSetLimits{c.flow, c.limits, life_of(c)});
  bus_.write(TcpEnterRdma{c.flow, life_of(c)});
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::conclude(Connection& c, const wire::MpaFrame& reply) {
  const wire::MpaFrame request = make_request(c.policy, {});
  SetupResult result = accept_reply(request, reply, c.policy);
  if (c.local_failure && result.kind == SetupResult::Kind::kEstablished) {
    result.kind = SetupResult::Kind::kTerminate;
    result.error = SetupError::kLocalFailure;
  }
  c.mpa_revision = reply.rev;
  c.version = result.version;
  remember_depths(c, reply.enhanced);
  if (result.kind == SetupResult::Kind::kBadReply) return bad_frame(c, wire::MpaFrameError::kBadRev);
  if (result.kind == SetupResult::Kind::kRejected) {
    report_peer_frame(c, abi::EventType::kRejected, abi::ConnectStatus::kRefused, reply);
    if (c.stays && !c.local_failure) {
      guard(c);
      return State::kRejected;
    }
    c.setup_reported = true;
    if (c.local_failure) put_in_error(c.qpn);
    detach_qp(c);
    return close_stream(c, true);
  }

  const bool terminate = result.kind == SetupResult::Kind::kTerminate;
  write_contexts(c, terminate ? QpState::kTerminate : QpState::kRts, stream_options(request, reply, c.version),
                 result.ird, result.ord);
  enter_rdma(c);
  if (terminate) {
    bus_.write(PostWork{{c.qpn, InternalWork::kTerminate, cause_of(result.error)}});
    bus_.write(PostWork{{c.qpn, InternalWork::kDrain}});
    report_peer_frame(c, abi::EventType::kConnectError, status_of(result.error), reply);
    c.setup_reported = true;
    return State::kTerminating;
  }
  // Nothing is sent before the RTR message: the host posts only once it knows that the connection is established.
  if (result.rtr != Rtr::kNone) bus_.write(PostWork{{c.qpn, work_of(result.rtr)}});
  c.mpa_flags = cm_flags_of(reply);
  const std::size_t offset = c.frame_bytes - reply.private_data.size();
  report_established(c, static_cast<std::uint32_t>(reply.private_data.size()), frame_range(c.slot, offset, 0).offset);
  return State::kRts;
}

// RFC 5044 section 7.1.2 rule 3: a rejection leaves TCP open, and the consumer may try other private data.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::ask_again(Connection& c, const ConnInput& in) {
  prepare(c, *in.command);
  exchange_frames(c);
  return State::kWaitReply;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::leave(Connection& c, const ConnInput&) {
  report_setup_failure(c, abi::ConnectStatus::kCancelled);
  return close_stream(c, true);
}

// The responder.

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::request_octets(Connection& c, const ConnInput& in) {
  const FrameProgress progress = take_octets(c, in.bytes, wire::MpaFrameKind::kRequest);
  if (progress.error != wire::MpaFrameError::kNone) return bad_frame(c, progress.error);
  if (progress.missing != 0) return c.state;
  c.mpa_revision = progress.frame.rev;
  c.mpa_flags = cm_flags_of(progress.frame);
  const std::optional<std::uint8_t> version = version_for_request(c.policy.personality, c.mpa_revision);
  if (!version) return refuse_revision(c, progress.frame);
  c.version = *version;
  c.peer_to_peer = progress.frame.enhanced && progress.frame.enhanced->peer_to_peer;
  remember_depths(c, progress.frame.enhanced);
  guard(c);  // an initiator must wait for the reply
  report_peer_frame(c, abi::EventType::kConnectRequest, abi::ConnectStatus::kOk, progress.frame);
  return State::kWaitHost;
}

// An RDMAC initiator learns from the reply that the two ends cannot interoperate (draft, section 5.2.1).
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::refuse_revision(Connection& c, const wire::MpaFrame& request) {
  write_frame(c, make_revision_refusal(request, c.policy));
  send_frame(c);
  return bad_frame(c, wire::MpaFrameError::kBadRev);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::octet_after_request(Connection& c, const ConnInput& in) {
  return in.bytes == 0 ? c.state : bad_frame(c, wire::MpaFrameError::kExtraOctets);
}

// Such an octet, found while our reply was on its way. The stream continues after the octet, without it.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::octet_before_reply(Connection& c, const ConnInput& in) {
  ConnInput error = in;
  error.cause = wire::mpa::kInvalidStartupFrame;
  return stream_error(c, error);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::accept(Connection& c, const ConnInput& in) {
  const abi::Command& command = *in.command;
  const wire::MpaFrame request = examine_frame(frame_octets(c), wire::MpaFrameKind::kRequest, c.mpa_revision).frame;
  MpaPolicy policy = c.policy;  // the listener's policy stays unchanged, for another request
  apply(resources_.qp(Qpn{command.qpn})->stream, policy);
  c.version = *version_for_request(policy.personality, request.rev);
  set_depths(policy, command, settings_);
  ReplyDecision decision = negotiate_reply(request, policy);
  if (decision.error != SetupError::kNone) return refuse(c, decision, command);
  decision.frame.private_data = bus_.sram({kCommandWindow.offset, command.private_bytes});
  const StreamOptions options = stream_options(decision.frame, request, c.version);
  c.mpa_flags = cm_flags_of(decision.frame);
  write_frame(c, decision.frame);

  attach_qp(c, Qpn{command.qpn});
  QpContext& qp = resources_.qp(c.qpn)->context;
  qp.responder = true;
  qp.absorbs_rtr_send = c.peer_to_peer && decision.frame.enhanced->rtr_send && request.enhanced->rtr_send;
  write_contexts(c, QpState::kRts, options, decision.ird, decision.ord);
  send_frame(c);
  c.limits = command.u.cm.tcp;
  enter_rdma(c);
  if (!c.peer_to_peer) report_established(c, 0, 0);  // otherwise the RTR message comes first
  return State::kWaitFirstFpdu;
}

// The host accepts on conditions that the initiator does not meet. The private data is not sent. No Terminate can
// report the error, as a rejection leaves MPA (choices.md 16).
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::refuse(Connection& c, const ReplyDecision& decision,
                                                   const abi::Command& accept) {
  write_frame(c, decision.frame);
  const bool stays = send_rejection(c, accept);
  attach_qp(c, Qpn{accept.qpn});
  report_setup_failure(c, status_of(decision.error));
  if (!stays) return close_stream(c, true);
  c.setup_reported = false;  // another request, another setup
  return State::kWaitRequest;
}

// A rejection leaves MPA (rule 2). True if TCP stays open, because the host wants another request on it.
template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::send_rejection(Connection& c, const abi::Command& answer) {
  const bool stays = (answer.u.cm.options & abi::kCmStay) != 0;
  stays ? exchange_frames(c) : send_frame(c);
  return stays;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::reject(Connection& c, const ConnInput& in) {
  const wire::MpaFrame request = examine_frame(frame_octets(c), wire::MpaFrameKind::kRequest, c.mpa_revision).frame;
  set_depths(c.policy, *in.command, settings_);
  wire::MpaFrame frame = make_rejection(request, c.policy);
  frame.private_data = bus_.sram({kCommandWindow.offset, in.command->private_bytes});
  write_frame(c, frame);
  if (send_rejection(c, *in.command)) return State::kWaitRequest;
  c.setup_reported = true;  // the host itself rejected
  return close_stream(c, true);
}

// Both roles.

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::peer_left_setup(Connection& c, const ConnInput&) {
  report_setup_failure(c, abi::ConnectStatus::kReset);
  return close_stream(c, true);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::setup_reset(Connection& c, const ConnInput&) {
  report_setup_failure(c, abi::ConnectStatus::kReset);
  return State::kFree;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::setup_timeout(Connection& c, const ConnInput&) {
  const State next = drop_stream(c);
  report_setup_failure(c, abi::ConnectStatus::kTimeout);
  return next;
}

// A failure on this side. The peer of an enhanced setup learns of it from a Terminate, which must wait for the reply
// (RFC 6581 section 9.3). A transport handshake in progress is ended when its result is reported.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::setup_failed(Connection& c, const ConnInput&) {
  c.local_failure = true;
  const bool asked = c.state == State::kWaitReply || c.state == State::kInitSent;
  if (asked && c.policy.enhanced) return c.state;
  const State next = drop_stream(c);
  report_setup_failure(c, abi::ConnectStatus::kLocalFailure);
  return next;
}

// The host has cancelled the setup. The result of a handshake in progress will find no connection.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::cancel(Connection& c, const ConnInput&) {
  const State next = drop_stream(c);
  report_setup_failure(c, abi::ConnectStatus::kCancelled);
  return next;
}

// Both contexts are written before the first octet of RDMA mode.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::write_contexts(Connection& c, QpState state, StreamOptions options,
                                                      std::uint16_t ird, std::uint16_t ord) {
  resources_.qp(c.qpn)->settle(options.rx_markers, options.tx_markers);
  FlowContext& flow = c.flow_context;
  flow.rdma = true;
  flow.tx_markers = options.tx_markers;
  flow.rx_markers = options.rx_markers;
  flow.crc = options.crc;
  QpContext& qp = resources_.qp(c.qpn)->context;
  flow.qpn = c.qpn;
  flow.qp_epoch = qp.epoch;
  qp.state = state;
  qp.version = c.version;
  qp.mulpdu = mulpdu_of(c);
  qp.ird = ird;
  qp.ord = ord;
  qp.flow = c.flow;
  qp.llp = flow.llp;
  qp.markers = flow.tx_markers;
  qp.crc = flow.crc;
  resources_.publish(c.qpn);
  bus_.write(WriteFlow{c.flow, c.flow_context});
}

// Reports.

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::remember_depths(Connection& c, const std::optional<wire::MpaEnhanced>& word) {
  if (!word) return;
  c.peer_ird = word->ird;
  c.peer_ord = word->ord;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::report_peer_frame(const Connection& c, abi::EventType type,
                                                         abi::ConnectStatus status, const wire::MpaFrame& frame) {
  const auto bytes = static_cast<std::uint32_t>(frame.private_data.size());
  report_peer(c, type, status, cm_flags_of(frame), frame_range(c.slot, c.frame_bytes - bytes, bytes));
}

// Reports the peer's flags and private data.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::report_peer(const Connection& c, abi::EventType type, abi::ConnectStatus status,
                                                   std::uint8_t flags, SramRange private_data) {
  abi::Event event = connection_event(type, status, c, c.has_qp ? c.qpn.v : id_of(c));
  event.terminate = setup_error_word(status, c.flow_context.llp);
  event.qp_state = type == abi::EventType::kConnectError ? abi::QpState::kTerminate
                   : c.local_failure                     ? abi::QpState::kError
                                                         : abi::QpState::kIdle;
  event.mpa_flags = flags;
  event.private_bytes = static_cast<std::uint16_t>(private_data.bytes);
  bus_.write(PostEvent{event, private_data.offset});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::report_established(Connection& c, std::uint32_t private_bytes,
                                                          std::uint32_t private_offset) {
  abi::Event event = connection_event(abi::EventType::kEstablished, abi::ConnectStatus::kOk, c, c.qpn.v);
  event.ird = resources_.qp(c.qpn)->context.ird;
  event.ord = resources_.qp(c.qpn)->context.ord;
  event.mpa_flags = agreed_flags(c.mpa_flags, c.flow_context);
  event.private_bytes = static_cast<std::uint16_t>(private_bytes);
  bus_.write(PostEvent{event, private_offset});
  c.setup_reported = true;
}

// The QP stays as it was, for another attempt, unless the failure was local.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::report_setup_failure(Connection& c, abi::ConnectStatus status) {
  const std::uint32_t id = c.has_qp ? c.qpn.v : id_of(c);
  if (c.local_failure) {
    status = abi::ConnectStatus::kLocalFailure;
    put_in_error(c.qpn);
  }
  detach_qp(c);
  abi::Event event = connection_event(abi::EventType::kConnectError, status, c, id);
  event.terminate = setup_error_word(status, c.flow_context.llp);
  event.qp_state = c.local_failure ? abi::QpState::kError : abi::QpState::kIdle;
  bus_.write(PostEvent{event});
  c.setup_reported = true;
}

}  // namespace rnic::fw
