#include "firmware/conn/stream_session.h"

namespace rnic::fw {
namespace {

using wire::SessionCode;
using wire::SessionDecode;
using wire::SessionError;
using wire::SessionMessage;
using State = SessionState;

SessionMessage terminate_message() {
  SessionMessage m;
  m.code = SessionCode::kTerminate;
  return m;
}

bool is_initiate(SessionCode code) { return code == SessionCode::kInitiate || code == SessionCode::kEnhancedInitiate; }
bool is_reject(SessionCode code) { return code == SessionCode::kReject || code == SessionCode::kEnhancedReject; }

bool is_terminate(const SessionDecode& decode) {
  return decode.error == SessionError::kNone && decode.message.code == SessionCode::kTerminate;
}

}  // namespace

const char* to_string(SessionState state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kInitSent:
      return "init_sent";
    case State::kPending:
      return "pending";
    case State::kOpen:
      return "open";
    case State::kTermSent:
      return "term_sent";
    case State::kClosing:
      return "closing";
  }
  return "unknown";
}

// Sending.

void StreamSession::send(SessionActions& out, const SessionMessage& message) {
  SessionAction action;
  action.kind = Kind::kSend;
  action.message = message;
  out.add(action);
  ++unacknowledged_;
}

void StreamSession::send_last(SessionActions& out, const SessionMessage& message) {
  own_last_ = true;
  terminate_due_ = false;
  send(out, message);
}

// A control message must not overtake the one before it, which must be acknowledged or answered first.
void StreamSession::terminate(SessionActions& out) {
  if (own_last_) return;
  if (unacknowledged_ != 0 && !answered_) terminate_due_ = true;
  else send_last(out, terminate_message());
}

// The end.

void StreamSession::settle(SessionActions& out) {
  if (state_ != State::kClosing || !own_last_ || !peer_last_ || unacknowledged_ != 0) return;
  const std::uint32_t strays = strays_;
  *this = {};
  strays_ = strays;
  out.add(Kind::kRestart);
}

void StreamSession::close_with(SessionActions& out, Kind event, SetupError error) {
  state_ = State::kClosing;
  SessionAction action;
  action.kind = event;
  action.error = error;
  out.add(action);
}

void StreamSession::end_by_violation(SessionActions& out, Kind event) {
  ++strays_;
  out.add(Kind::kDiscard);
  terminate(out);
  close_with(out, event);
  settle(out);
}

void StreamSession::refuse_stray(SessionActions& out, bool is_a_terminate) {
  ++strays_;
  if (is_a_terminate) return;
  out.add(Kind::kEndRun);
  peer_last_ = true;
  state_ = State::kClosing;
  send_last(out, terminate_message());
}

// The host.

SessionActions StreamSession::connect(const SessionPolicy& local) {
  SessionActions out;
  if (state_ != State::kIdle) return out;
  policy_ = local;
  initiate_ = make_initiate(local);
  state_ = State::kInitSent;
  out.add(Kind::kBegin);
  send(out, initiate_);
  return out;
}

SessionActions StreamSession::accept(const SessionPolicy& local) {
  SessionActions out;
  if (state_ != State::kPending) return out;
  const SessionAnswer answer = accept_initiate(initiate_, local);
  if (answer.error != SetupError::kNone) {
    out.add(Kind::kEndRun);  // before the peer can begin again
    send_last(out, answer.message);
    peer_last_ = true;
    close_with(out, Kind::kSetupFailed, answer.error);
    return out;
  }
  send(out, answer.message);
  out.add(Kind::kOpen);
  state_ = State::kOpen;
  opened_ = true;
  SessionAction event;
  event.kind = Kind::kEstablished;
  event.ird = answer.ird;
  event.ord = answer.ord;
  const auto &asked = initiate_.enhanced, &word = answer.message.enhanced;
  event.absorbs_rtr_send = asked && asked->peer_to_peer && asked->rtr_send && word->rtr_send;
  out.add(event);
  return out;
}

SessionActions StreamSession::reject(const SessionPolicy& local) {
  SessionActions out;
  if (state_ != State::kPending) return out;
  out.add(Kind::kEndRun);
  send_last(out, reject_initiate(initiate_, local));
  peer_last_ = true;
  state_ = State::kClosing;
  return out;
}

SessionActions StreamSession::close(bool in_order) {
  SessionActions out;
  if (state_ != State::kOpen && state_ != State::kInitSent) return out;
  if (!in_order || state_ == State::kInitSent) out.add(Kind::kDiscard);
  state_ = State::kTermSent;
  terminate(out);
  return out;
}

// The peer.

SessionActions StreamSession::control(const SessionDecode& decode, const SessionPolicy& local, bool room) {
  SessionActions out;
  const bool good = decode.error == SessionError::kNone;
  const bool last = is_terminate(decode);
  switch (state_) {
    case State::kIdle:
      if (good && is_initiate(decode.message.code)) initiated(out, decode.message, local, room);
      else refuse_stray(out, last || decode.error == SessionError::kPdInTerminate);
      break;
    case State::kInitSent:
      replied(out, decode);
      break;
    case State::kPending:
      // The peer gets no Accept, and sends nothing more.
      peer_last_ = true;
      if (last) {
        close_with(out, Kind::kWithdrawn);
      } else {
        ++strays_;
        close_with(out, Kind::kBroken);
      }
      out.add(Kind::kEndRun);
      terminate(out);
      break;
    case State::kOpen:
      if (!last) {
        end_by_violation(out, Kind::kBroken);
        break;
      }
      peer_last_ = true;
      close_with(out, Kind::kClosed);
      terminate(out);
      break;
    case State::kTermSent:
      if (last) {
        peer_last_ = true;
        // A refusal: nothing is sent after it.
        if (!opened_ && terminate_due_) terminate_due_ = false, own_last_ = true;
        close_with(out, Kind::kClosed);
        settle(out);
      } else if (opened_) {
        end_by_violation(out, Kind::kBroken);
      } else {
        answered_after_cancel(out, decode);
      }
      break;
    case State::kClosing:
      if (last && !peer_last_) {
        peer_last_ = true;
        settle(out);
      } else {
        ++strays_;
      }
      break;
  }
  return out;
}

void StreamSession::initiated(SessionActions& out, const SessionMessage& initiate, const SessionPolicy& local,
                              bool room) {
  const InitiateDecision decision = examine_initiate(initiate, local, room);
  if (decision.kind == InitiateDecision::Kind::kAsk) {
    initiate_ = initiate;
    initiate_.private_data = {};
    state_ = State::kPending;
    SessionAction event;
    event.kind = Kind::kRequest;
    event.message = initiate;
    out.add(event);
    return;
  }
  out.add(Kind::kEndRun);
  peer_last_ = true;
  state_ = State::kClosing;
  const bool rejects = decision.kind == InitiateDecision::Kind::kReject;
  send_last(out, rejects ? decision.message : terminate_message());
  if (rejects) close_with(out, Kind::kSetupFailed, decision.error);
}

void StreamSession::replied(SessionActions& out, const SessionDecode& decode) {
  if (decode.error != SessionError::kNone) return end_by_violation(out, Kind::kBadReply);
  const SessionMessage& reply = decode.message;
  answered_ = !is_initiate(reply.code);
  const SessionResult result = conclude_session(initiate_, reply, policy_);
  SessionAction event;
  event.message = reply;
  event.error = result.error;
  event.ird = result.ird;
  event.ord = result.ord;
  event.rtr = result.rtr;
  switch (result.kind) {
    case SessionResult::Kind::kEstablished:
      out.add(Kind::kOpen);
      event.kind = Kind::kEstablished;
      out.add(event);
      state_ = State::kOpen;
      opened_ = true;
      return;
    case SessionResult::Kind::kRejected:
    case SessionResult::Kind::kRefused:
      event.kind = result.kind == SessionResult::Kind::kRejected ? Kind::kRejected : Kind::kRefused;
      out.add(event);
      own_last_ = peer_last_ = true;  // the Initiate was our last chunk
      state_ = State::kClosing;
      return settle(out);
    case SessionResult::Kind::kTerminate:
      out.add(Kind::kDiscard);
      event.kind = Kind::kSendRdmap;
      out.add(event);
      terminate(out);
      event.kind = Kind::kSetupFailed;
      out.add(event);
      state_ = State::kClosing;
      return;
    case SessionResult::Kind::kBadReply:
      peer_last_ = is_reject(reply.code);  // of the wrong family, but still the end
      ++strays_;
      out.add(Kind::kDiscard);
      terminate(out);
      event.kind = Kind::kBadReply;
      out.add(event);
      state_ = State::kClosing;
      return;
  }
}

// Our Terminate and the answer to the Initiate cross.
void StreamSession::answered_after_cancel(SessionActions& out, const SessionDecode& decode) {
  const bool good = decode.error == SessionError::kNone;
  if (!good || is_initiate(decode.message.code)) return end_by_violation(out, Kind::kClosed);
  answered_ = true;
  if (is_reject(decode.message.code)) {
    peer_last_ = true;
    if (terminate_due_) terminate_due_ = false, own_last_ = true;  // nothing is sent after a rejection
    close_with(out, Kind::kClosed);
    return settle(out);
  }
  opened_ = true;  // by the peer, which will answer the Terminate
  if (terminate_due_) send_last(out, terminate_message());
}

SessionActions StreamSession::violation(bool is_a_terminate) {
  SessionActions out;
  switch (state_) {
    case State::kIdle:
      refuse_stray(out, is_a_terminate);
      break;
    case State::kPending:
      ++strays_;
      peer_last_ = true;  // it gets a Terminate as an answer, and sends nothing more
      close_with(out, Kind::kBroken);
      out.add(Kind::kEndRun);
      terminate(out);
      break;
    case State::kInitSent:
      end_by_violation(out, Kind::kBadReply);
      break;
    case State::kOpen:
    case State::kTermSent:
      end_by_violation(out, Kind::kBroken);
      break;
    case State::kClosing:
      ++strays_;
      break;
  }
  return out;
}

SessionActions StreamSession::stray(bool terminate) {
  SessionActions out;
  if (state_ == State::kIdle) refuse_stray(out, terminate);
  else ++strays_;
  return out;
}

SessionActions StreamSession::acknowledged() {
  SessionActions out;
  if (unacknowledged_ != 0) --unacknowledged_;
  if (unacknowledged_ == 0 && terminate_due_) send_last(out, terminate_message());
  else settle(out);
  return out;
}

SessionActions StreamSession::association_lost() {
  SessionActions out;
  if (state_ == State::kIdle) return out;
  const bool over = state_ == State::kClosing;  // the host knows already
  const std::uint32_t strays = strays_;
  *this = {};
  strays_ = strays;
  if (!over) out.add(Kind::kLost);
  return out;
}

}  // namespace rnic::fw
