#include "firmware/conn/session_negotiation.h"

namespace rnic::fw {
namespace {

using wire::SessionCode;
using wire::SessionMessage;

SessionMessage message(SessionCode code) {
  SessionMessage m;
  m.code = code;
  return m;
}

}  // namespace

SessionMessage make_initiate(const SessionPolicy& local) {
  if (!local.enhanced) return message(SessionCode::kInitiate);
  SessionMessage initiate = message(SessionCode::kEnhancedInitiate);
  initiate.enhanced = request_word(local);
  return initiate;
}

InitiateDecision examine_initiate(const SessionMessage& initiate, const SessionPolicy& local, bool room) {
  using Kind = InitiateDecision::Kind;
  if (!room) return {Kind::kRefuse, {}, SetupError::kNone};
  if (!initiate.enhanced) return {};
  if (!local.enhanced) return {Kind::kRefuse, {}, SetupError::kNone};
  if (!local.reject_without_rtr || !lacks_rtr(*initiate.enhanced, local)) return {};
  // The host's requirements are not known yet, so the word is the same as in an Accept.
  SessionPolicy provider = local;
  provider.need_ord = 0;
  return {Kind::kReject, reject_initiate(initiate, provider), SetupError::kNoMatchingRtr};
}

SessionAnswer accept_initiate(const SessionMessage& initiate, const SessionPolicy& local) {
  SessionAnswer answer{message(SessionCode::kAccept), local.ird, local.ord, SetupError::kNone};
  if (!initiate.enhanced) return answer;
  answer.message.code = SessionCode::kEnhancedAccept;
  answer.message.enhanced = answer_word(*initiate.enhanced, local, answer);
  return answer;
}

SessionMessage reject_initiate(const SessionMessage& initiate, const SessionPolicy& local) {
  if (!initiate.enhanced) return message(SessionCode::kReject);
  SessionMessage reject = accept_initiate(initiate, local).message;
  reject.code = SessionCode::kEnhancedReject;
  name_needed_ord(*reject.enhanced, local);
  return reject;
}

SessionResult conclude_session(const SessionMessage& initiate, const SessionMessage& reply,
                               const SessionPolicy& local) {
  using Kind = SessionResult::Kind;
  const bool asked_enhanced = initiate.enhanced.has_value();
  SessionResult result{Kind::kBadReply, SetupError::kNone, local.ird, local.ord, Rtr::kNone};
  switch (reply.code) {
    case SessionCode::kTerminate:
      result.kind = Kind::kRefused;
      break;
    case SessionCode::kReject:  // also from an end without RFC 6581: the setup is over either way
      result.kind = Kind::kRejected;
      break;
    case SessionCode::kEnhancedReject:
      if (asked_enhanced) result.kind = Kind::kRejected;
      break;
    case SessionCode::kAccept:
      if (!asked_enhanced) result.kind = Kind::kEstablished;
      break;
    case SessionCode::kEnhancedAccept: {
      if (!asked_enhanced) break;
      const WordResult word = conclude_word(*initiate.enhanced, *reply.enhanced, local);
      const Kind kind = word.error == SetupError::kNone ? Kind::kEstablished : Kind::kTerminate;
      result = {kind, word.error, word.ird, word.ord, word.rtr};
      break;
    }
    case SessionCode::kInitiate:
    case SessionCode::kEnhancedInitiate:
      break;
  }
  return result;
}

}  // namespace rnic::fw
