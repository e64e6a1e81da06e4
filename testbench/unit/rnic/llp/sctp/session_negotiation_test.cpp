// Each row of the table "RFC 6581 over SCTP", and the order in which a responder looks at an Initiate.
#include "firmware/conn/session_negotiation.h"

#include <gmock/gmock.h>

namespace rnic::fw {
namespace {

using wire::SessionCode;
using wire::SessionMessage;

SessionPolicy initiator() {
  SessionPolicy policy;
  policy.enhanced = policy.peer_to_peer = true;
  policy.rtr = {true, true, true};
  policy.ird = policy.ord = 16;
  policy.max_ird = 32;
  return policy;
}
SessionPolicy responder() {
  SessionPolicy policy;
  policy.enhanced = true;
  policy.rtr = {false, true, true};
  policy.ird = policy.ord = 8;
  policy.max_ird = 32;
  return policy;
}
SessionPolicy plain() {
  SessionPolicy policy = initiator();
  policy.enhanced = false;
  return policy;
}
SessionPolicy only_send() {
  SessionPolicy policy = initiator();
  policy.rtr = {true, false, false};
  return policy;
}

using Seen = InitiateDecision::Kind;
using End = SessionResult::Kind;

TEST(SessionNegotiation, EnhancedIsSaidByTheFunctionCode) {
  EXPECT_EQ(make_initiate(initiator()).code, SessionCode::kEnhancedInitiate);
  EXPECT_EQ(make_initiate(plain()).code, SessionCode::kInitiate);
  EXPECT_FALSE(make_initiate(plain()).enhanced);
}

TEST(SessionNegotiation, ResponderThatCannotDoEnhancedRefuses) {
  EXPECT_EQ(examine_initiate(make_initiate(initiator()), plain(), true).kind, Seen::kRefuse);
  EXPECT_EQ(examine_initiate(make_initiate(plain()), plain(), true).kind, Seen::kAsk);
}

TEST(SessionNegotiation, ResponderOverItsLimitRefusesBothKinds) {
  EXPECT_EQ(examine_initiate(make_initiate(initiator()), responder(), false).kind, Seen::kRefuse);
  EXPECT_EQ(examine_initiate(make_initiate(plain()), responder(), false).kind, Seen::kRefuse);
}

TEST(SessionNegotiation, TooLittleIrdIsRejectedWithTheOrdThatIsNeeded) {
  SessionPolicy local = responder();
  local.need_ord = 64;
  const SessionAnswer answer = accept_initiate(make_initiate(initiator()), local);
  EXPECT_EQ(answer.error, SetupError::kInsufficientIrd);
  EXPECT_EQ(answer.message.code, SessionCode::kEnhancedReject);
  EXPECT_EQ(answer.message.enhanced->ord, 64);
}

TEST(SessionNegotiation, WithoutACommonRtrTheHostIsAskedUnlessTheProviderIsSetToReject) {
  SessionPolicy local = responder();
  EXPECT_EQ(examine_initiate(make_initiate(only_send()), local, true).kind, Seen::kAsk);
  EXPECT_EQ(accept_initiate(make_initiate(only_send()), local).message.code, SessionCode::kEnhancedAccept);
  local.reject_without_rtr = true;
  const InitiateDecision decision = examine_initiate(make_initiate(only_send()), local, true);
  EXPECT_EQ(decision.kind, Seen::kReject);
  EXPECT_EQ(decision.error, SetupError::kNoMatchingRtr);
  EXPECT_EQ(decision.message.code, SessionCode::kEnhancedReject);
  EXPECT_TRUE(decision.message.enhanced->rtr_write && decision.message.enhanced->rtr_read);
}

TEST(SessionNegotiation, RtrIsLookedAtBeforeIrd) {
  SessionPolicy local = responder();
  local.reject_without_rtr = true;
  local.need_ord = 64;
  const InitiateDecision decision = examine_initiate(make_initiate(only_send()), local, true);
  EXPECT_EQ(decision.error, SetupError::kNoMatchingRtr);
  EXPECT_EQ(decision.message.enhanced->ord, 8);  // not the required ORD: the host has not been asked for it
}

TEST(SessionNegotiation, ReadIsNoCommonKindWithoutIrd) {
  SessionPolicy local = responder(), peer = initiator();
  local.reject_without_rtr = true;
  local.ird = local.max_ird = 0;
  peer.rtr = {false, false, true};
  EXPECT_EQ(examine_initiate(make_initiate(peer), local, true).kind, Seen::kReject);
}

TEST(SessionNegotiation, ClientServerNeedsNoRtr) {
  SessionPolicy local = responder(), peer = only_send();
  local.reject_without_rtr = true;
  peer.peer_to_peer = false;
  EXPECT_EQ(examine_initiate(make_initiate(peer), local, true).kind, Seen::kAsk);
}

TEST(SessionNegotiation, HostSaysNo) {
  SessionPolicy local = responder();
  local.need_ord = 20;
  const SessionMessage reject = reject_initiate(make_initiate(initiator()), local);
  EXPECT_EQ(reject.code, SessionCode::kEnhancedReject);
  EXPECT_EQ(reject.enhanced->ord, 20);
  EXPECT_EQ(reject_initiate(make_initiate(plain()), local).code, SessionCode::kReject);
  EXPECT_FALSE(reject_initiate(make_initiate(plain()), local).enhanced);
}

// The initiator's reaction to each code.

SessionMessage reply(SessionCode code) {
  SessionMessage m;
  m.code = code;
  if (wire::is_enhanced(code)) m.enhanced = wire::MpaEnhanced{true, false, true, false, 16, 8};
  return m;
}

struct Row {
  SessionCode code;
  End to_enhanced, to_plain;
};
class Replies : public testing::TestWithParam<Row> {};

TEST_P(Replies, Conclusion) {
  const SessionMessage m = reply(GetParam().code);
  EXPECT_EQ(conclude_session(make_initiate(initiator()), m, initiator()).kind, GetParam().to_enhanced);
  EXPECT_EQ(conclude_session(make_initiate(plain()), m, plain()).kind, GetParam().to_plain);
}

INSTANTIATE_TEST_SUITE_P(OfEachCode, Replies,
                         testing::Values(Row{SessionCode::kInitiate, End::kBadReply, End::kBadReply},
                                         Row{SessionCode::kAccept, End::kBadReply, End::kEstablished},
                                         Row{SessionCode::kReject, End::kRejected, End::kRejected},
                                         Row{SessionCode::kTerminate, End::kRefused, End::kRefused},
                                         Row{SessionCode::kEnhancedInitiate, End::kBadReply, End::kBadReply},
                                         Row{SessionCode::kEnhancedAccept, End::kEstablished, End::kBadReply},
                                         Row{SessionCode::kEnhancedReject, End::kRejected, End::kBadReply}),
                         [](const auto& row) { return std::string(to_string(row.param.code)); });

TEST(SessionNegotiation, EnhancedRejectWithoutWordIsARejection) {
  SessionMessage m = reply(SessionCode::kEnhancedReject);
  m.enhanced.reset();
  EXPECT_EQ(conclude_session(make_initiate(initiator()), m, initiator()).kind, End::kRejected);
}

TEST(SessionNegotiation, IrdIsLookedAtBeforeRtrByTheInitiator) {
  SessionMessage m = reply(SessionCode::kEnhancedAccept);
  m.enhanced->ord = 64;
  m.enhanced->rtr_write = false;
  const SessionResult result = conclude_session(make_initiate(initiator()), m, initiator());
  EXPECT_EQ(result.kind, End::kTerminate);
  EXPECT_EQ(result.error, SetupError::kInsufficientIrd);
  m.enhanced->ord = 8;
  EXPECT_EQ(conclude_session(make_initiate(initiator()), m, initiator()).error, SetupError::kNoMatchingRtr);
}

TEST(SessionNegotiation, PlainIsTriedAfterARefusalOnlyAndOnlyIfTheHostWants) {
  EXPECT_TRUE(may_retry_plain(initiator(), End::kRefused, true));
  EXPECT_FALSE(may_retry_plain(initiator(), End::kRefused, false));
  EXPECT_FALSE(may_retry_plain(initiator(), End::kRejected, true));
  EXPECT_FALSE(may_retry_plain(plain(), End::kRefused, true));
}

}  // namespace
}  // namespace rnic::fw
