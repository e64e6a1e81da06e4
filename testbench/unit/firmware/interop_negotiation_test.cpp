// Personalities in the pure functions: figures 2, 3 and 4 of draft-carrier-rddp-rnic-interop-00, cell by cell.
#include <gmock/gmock.h>

#include "firmware/conn/mpa_negotiation.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::fw {
namespace {

using abi::Personality;
using testing::Combine;
using testing::Values;
using Kind = SetupResult::Kind;

MpaPolicy policy(Personality p, bool markers, bool crc = false) {
  MpaPolicy policy;
  policy.personality = p;
  policy.markers = markers;
  policy.crc = crc;
  policy.ird = policy.ord = policy.max_ird = 16;
  return policy;
}

struct Row {
  Personality initiator;
  bool initiator_m;
  Personality responder;
  bool responder_m;
  // The outcome; version -1: the two sides close.
  int version;
  bool toward_initiator, toward_responder;
};
constexpr Personality kRdmac = Personality::kRdmac, kIetf = Personality::kIetf, kPerm = Personality::kPermissive;
const Row kFigures[] = {
    // Figure 2
    {kRdmac, true, kRdmac, true, 0, true, true},
    {kRdmac, true, kIetf, false, -1, false, false},
    {kRdmac, true, kIetf, true, -1, false, false},
    {kIetf, false, kRdmac, true, -1, false, false},
    {kIetf, false, kIetf, false, 1, false, false},
    {kIetf, false, kIetf, true, 1, false, true},
    {kIetf, true, kRdmac, true, -1, false, false},
    {kIetf, true, kIetf, false, 1, true, false},
    {kIetf, true, kIetf, true, 1, true, true},
    // Figure 3; a permissive responder's preference does not count with an RDMAC initiator
    {kRdmac, true, kPerm, false, 0, true, true},
    {kRdmac, true, kPerm, true, 0, true, true},
    {kPerm, false, kRdmac, true, 0, true, true},
    {kPerm, false, kPerm, false, 1, false, false},
    {kPerm, false, kPerm, true, 1, false, true},
    {kPerm, true, kRdmac, true, 0, true, true},
    {kPerm, true, kPerm, false, 1, true, false},
    {kPerm, true, kPerm, true, 1, true, true},
    // Figure 4, except the cells in figures 2 and 3
    {kIetf, false, kPerm, false, 1, false, false},
    {kIetf, false, kPerm, true, 1, false, true},
    {kIetf, true, kPerm, false, 1, true, false},
    {kIetf, true, kPerm, true, 1, true, true},
    {kPerm, false, kIetf, false, 1, false, false},
    {kPerm, false, kIetf, true, 1, false, true},
    {kPerm, true, kIetf, false, 1, true, false},
    {kPerm, true, kIetf, true, 1, true, true},
};

class Figures : public testing::TestWithParam<std::tuple<Row, bool, bool>> {};

TEST_P(Figures, BothSidesComeToTheSame) {
  const auto& [row, initiator_crc, responder_crc] = GetParam();
  const MpaPolicy initiator = policy(row.initiator, row.initiator_m, initiator_crc);
  const MpaPolicy responder = policy(row.responder, row.responder_m, responder_crc);
  const wire::MpaFrame request = make_request(initiator, {});
  const auto at_responder = version_for_request(row.responder, request.rev);
  const wire::MpaFrame reply =
      at_responder ? negotiate_reply(request, responder).frame : make_revision_refusal(request, responder);
  const SetupResult result = accept_reply(request, reply, initiator);

  EXPECT_EQ(request.rev, row.initiator == kRdmac ? 0 : 1);
  EXPECT_EQ(request.markers, row.initiator == kRdmac || row.initiator_m);
  if (row.version < 0) {
    EXPECT_EQ(result.kind, Kind::kBadReply);
    EXPECT_EQ(at_responder.has_value(), row.responder == kRdmac) << "an RDMAC responder hears of it by the close";
    EXPECT_EQ(reply.rev, row.responder == kRdmac ? 0 : 1);
    EXPECT_FALSE(reply.rejected);
    return;
  }
  ASSERT_EQ(result.kind, Kind::kEstablished);
  ASSERT_TRUE(at_responder.has_value());
  EXPECT_EQ(*at_responder, row.version);
  EXPECT_EQ(result.version, row.version);
  EXPECT_EQ(reply.rev, row.version);
  const StreamOptions there = stream_options(request, reply, result.version);
  const StreamOptions here = stream_options(reply, request, *at_responder);
  EXPECT_EQ(there.rx_markers, row.toward_initiator);
  EXPECT_EQ(here.tx_markers, row.toward_initiator);
  EXPECT_EQ(there.tx_markers, row.toward_responder);
  EXPECT_EQ(here.rx_markers, row.toward_responder);
  EXPECT_EQ(there.crc, row.version == 0 || initiator_crc || responder_crc);
  EXPECT_EQ(here.crc, there.crc);
}

INSTANTIATE_TEST_SUITE_P(AllCells, Figures,
                         Combine(testing::ValuesIn(kFigures), Values(false, true), Values(false, true)));

TEST(Personalities, RevisionsThatAreRead) {
  MpaPolicy enhanced = policy(kPerm, false);
  enhanced.enhanced = true;
  EXPECT_EQ(max_revision(enhanced), 2);
  enhanced.personality = kRdmac;
  EXPECT_EQ(max_revision(enhanced), 1) << "who speaks for an RDMAC RNIC knows no enhanced frames";
  EXPECT_EQ(max_revision(policy(kIetf, false)), 1);
  EXPECT_EQ(version_for_request(kRdmac, 2), std::nullopt);
  EXPECT_EQ(version_for_request(kPerm, 2), 1);
}

TEST(Personalities, AnRdmacReplyToAnEnhancedRequestIsBad) {
  MpaPolicy local = policy(kPerm, false);
  local.enhanced = true;
  wire::MpaFrame reply;
  reply.kind = wire::MpaFrameKind::kReply;
  reply.rev = 0;
  reply.markers = reply.crc = true;
  EXPECT_EQ(accept_reply(make_request(local, {}), reply, local).kind, Kind::kBadReply);
}

TEST(Personalities, RejectionOfAnRdmacInitiator) {
  const wire::MpaFrame request = make_request(policy(kRdmac, false), {});
  const wire::MpaFrame reply = make_rejection(request, policy(kPerm, false));
  EXPECT_TRUE(reply.rejected);
  EXPECT_EQ(reply.rev, 0);
  EXPECT_TRUE(reply.markers && reply.crc);
  EXPECT_EQ(accept_reply(request, reply, policy(kRdmac, false)).kind, Kind::kRejected);
}

}  // namespace
}  // namespace rnic::fw
