// Set-up of a DDP stream session (RFC 6581 section 7), negotiated by two session state machines over the numbers of a
// stream. A reply that is given is put before the initiator's instead.
#include "model/conformance/enhanced_word.h"
#include "model/conformance/json_fields.h"
#include "model/conformance/rtr_letters.h"
#include "model/conformance/vector_kinds.h"
#include "model/ends/session_end.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using Action = fw::SessionAction::Kind;

constexpr std::uint16_t kStream = 0;

fw::RtrKinds rtr_kinds(const std::string& letters) {
  fw::RtrKinds kinds;
  for (const char letter : letters) {
    const abi::RtrKind kind = rtr_kind(letter);
    kinds.send |= kind == abi::RtrKind::kSend;
    kinds.write |= kind == abi::RtrKind::kWrite;
    kinds.read |= kind == abi::RtrKind::kRead;
  }
  return kinds;
}

fw::SessionPolicy common_policy(const json& end) {
  fw::SessionPolicy policy;
  policy.enhanced = flag(end, "enhanced");
  policy.ird = field<std::uint16_t>(end, "ird");
  policy.ord = field<std::uint16_t>(end, "ord");
  policy.max_ird = field<std::uint16_t>(end, "max_ird");
  policy.rtr = rtr_kinds(end.at("rtr"));
  return policy;
}

fw::SessionPolicy initiator_policy(const json& initiator) {
  fw::SessionPolicy policy = common_policy(initiator);
  policy.peer_to_peer = flag(initiator, "p2p");
  policy.negotiate_ird = flag(initiator, "auto_ird");
  policy.negotiate_ord = flag(initiator, "auto_ord");
  policy.rtr_order = rtr_order(initiator.at("rtr_pref"));
  return policy;
}

fw::SessionPolicy responder_policy(const json& responder) {
  fw::SessionPolicy policy = common_policy(responder);
  if (flag(responder, "reject_small_ird")) policy.need_ord = field<std::uint16_t>(responder, "need_ord");
  policy.reject_without_rtr = flag(responder, "reject_no_rtr");
  return policy;
}

// What came of it.

json message_fields(ByteSpan user_data) {
  const auto decode = wire::decode_session_message(user_data, true);
  if (decode.error != wire::SessionError::kNone) return {{"error", to_string(decode.error)}};
  const auto& word = decode.message.enhanced;
  return {{"code", static_cast<std::uint16_t>(decode.message.code)}, {"enhanced", word ? word_fields(*word) : json()}};
}

json triple(fw::SetupError error) {
  if (error == fw::SetupError::kNone) return {};
  const wire::TerminateCause cause = fw::cause_of(error);
  return {static_cast<int>(cause.layer), cause.etype, cause.code};
}

json letters(const wire::MpaEnhanced& word) {
  std::string kinds;
  if (word.rtr_send) kinds += 'B';
  if (word.rtr_write) kinds += 'C';
  if (word.rtr_read) kinds += 'D';
  return kinds.empty() || !word.peer_to_peer ? json() : json(kinds);
}

json letter(fw::Rtr rtr) {
  if (rtr == fw::Rtr::kNone) return {};
  return rtr == fw::Rtr::kSend ? "B" : rtr == fw::Rtr::kWrite ? "C" : "D";
}

const char* outcome_of(Action kind) {
  switch (kind) {
    case Action::kEstablished:
      return "established";
    case Action::kRejected:
      return "rejected";
    case Action::kSetupFailed:
      return "terminate";
    case Action::kRefused:
      return "terminated_by_peer";
    case Action::kBadReply:
      return "bad_reply";
    default:
      return "nothing";
  }
}

json result_of(SessionEnd& initiator, const fw::SessionPolicy& policy, bool fallback) {
  if (initiator.told.size() != 1) return {{"outcome", "nothing"}};
  const SessionEnd::Told& told = initiator.told[0];
  const bool up = told.kind == Action::kEstablished, refused = told.kind == Action::kRefused;
  json sends = json::array();
  for (const auto& message : initiator.take_sent()) {
    sends.push_back({{"ppid", message.ppid}, {"user_hex", to_hex(message.user_data)}});
  }
  const auto kind = refused ? fw::SessionResult::Kind::kRefused : fw::SessionResult::Kind::kRejected;
  return {{"outcome", outcome_of(told.kind)},
          {"ird", up ? json(told.ird) : json()},
          {"ord", up ? json(told.ord) : json()},
          {"rtr", up ? letter(told.rtr) : json()},
          {"peer_ird", told.word ? json(told.word->ird) : json()},
          {"peer_ord", told.word ? json(told.word->ord) : json()},
          {"peer_rtr", told.word ? letters(*told.word) : json()},
          {"error", triple(told.error)},
          {"may_retry_unenhanced", int{fw::may_retry_plain(policy, kind, fallback)}},
          {"sends", sends}};
}

json final_of(const SessionEnd& responder, const json& reply) {
  if (reply.at("code") == static_cast<int>(wire::SessionCode::kTerminate)) return {};
  json final = {{"ird", responder.listener.ird}, {"ord", responder.listener.ord}, {"error", nullptr}};
  for (const SessionEnd::Told& told : responder.told) {
    if (told.kind == Action::kEstablished) final.update({{"ird", told.ird}, {"ord", told.ord}});
    if (told.kind == Action::kSetupFailed) final["error"] = triple(told.error);
  }
  return final;
}

SessionEnd::Message only_message(SessionEnd& end) {
  auto sent = end.take_sent();
  if (sent.size() != 1) throw std::runtime_error("sends " + std::to_string(sent.size()) + " messages instead of one");
  return sent[0];
}

SessionEnd::Message answer(SessionEnd& responder, const SessionEnd::Message& request, const json& policy) {
  responder.room = !flag(policy, "pending_full");
  responder.receive(request);
  const std::string& word = policy.at("ulp").get_ref<const std::string&>();
  if (word == "accept") responder.accept(kStream);
  else if (word == "reject") responder.reject(kStream);
  else throw std::invalid_argument("no such word of a ULP: " + word);
  return only_message(responder);
}

}  // namespace

Outcome check_sctp_nego(const json& vector) {
  const json &policy = vector.at("initiator"), &other = vector.at("responder");
  const bool forced = flag(vector, "reply_forced");
  SessionEnd initiator, responder(responder_policy(other));
  const fw::SessionPolicy local = initiator_policy(policy);
  initiator.connect(kStream, local);
  const SessionEnd::Message request = only_message(initiator);
  initiator.acknowledge_all();
  const SessionEnd::Message reply =
      forced ? SessionEnd::Message{kStream, wire::kPpidDdpSession, hex_field(vector, "reply_hex")}
             : answer(responder, request, other);
  initiator.receive(reply);

  Outcome outcome;
  outcome.compare("request", vector.at("request"), message_fields(request.user_data));
  outcome.compare("request_hex", vector.at("request_hex"), to_hex(request.user_data));
  outcome.compare("reply", vector.at("reply"), message_fields(reply.user_data));
  outcome.compare("reply_hex", vector.at("reply_hex"), to_hex(reply.user_data));
  outcome.compare("result", vector.at("result"), result_of(initiator, local, flag(policy, "fallback")));
  if (forced) return outcome;
  outcome.compare("responder_final", vector.at("responder_final"), final_of(responder, vector.at("reply")));
  // A responder cannot know that its Accept ends in a Terminate.
  const bool accepts = vector.at("reply").at("code") == static_cast<int>(wire::SessionCode::kAccept) ||
                       vector.at("reply").at("code") == static_cast<int>(wire::SessionCode::kEnhancedAccept);
  outcome.compare("responder established", accepts, responder.was_told(Action::kEstablished));
  return outcome;
}

}  // namespace rnic::conformance
