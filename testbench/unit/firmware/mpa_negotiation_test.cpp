#include "firmware/conn/mpa_negotiation.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::fw {
namespace {

using Kind = SetupResult::Kind;

RtrKinds kinds(const std::string& letters) {
  const auto has = [&](char c) { return letters.find(c) != std::string::npos; };
  return {has('B'), has('C'), has('D')};
}

// Computed by an independent reference; the enhanced words are as on the wire: A B IRD, C D ORD.
struct Exchange {
  const char* name;
  struct {
    bool p2p;
    std::uint16_t ird, ord, max_ird;
    bool negotiate_ird, negotiate_ord;
    const char* rtr;
  } initiator;
  struct {
    std::uint16_t ird, ord, max_ird, need_ord;
    const char* rtr;
  } responder;
  std::uint32_t request, reply;
  bool reply_forced;  // not from this responder
  struct {
    std::uint16_t ird, ord;
    bool rejects;
  } responder_final;
  SetupResult result;  // IRD and ORD count if established
};

const Exchange kExchanges[] = {
    // Zero is a limit like any other.
    {"responder_without_ird",
     {true, 16, 2, 32, true, true, "CD"},
     {0, 8, 0, 0, "CD"},
     0x8010c002,
     0x80008008,
     false,
     {0, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 0, Rtr::kWrite}},
    {"responder_without_ird_for_a_read_rtr",
     {true, 16, 2, 32, true, true, "D"},
     {0, 8, 0, 0, "D"},
     0x80104002,
     0x80000008,
     false,
     {0, 8, false},
     {Kind::kTerminate, SetupError::kNoMatchingRtr, 0, 0, Rtr::kNone}},
    {"initiator_without_ird",
     {true, 0, 16, 0, true, true, "CD"},
     {8, 8, 32, 0, "CD"},
     0x8000c010,
     0x8010c000,
     false,
     {16, 0, false},
     {Kind::kEstablished, SetupError::kNone, 0, 16, Rtr::kWrite}},
    {"initiator_without_ird_is_asked_for_one",
     {true, 0, 16, 0, true, true, "CD"},
     {8, 8, 32, 0, "CD"},
     0x8000c010,
     0x8010c001,
     true,
     {16, 0, false},
     {Kind::kTerminate, SetupError::kInsufficientIrd, 0, 0, Rtr::kNone}},
    {"ord_not_told_and_a_read_rtr_gets_ird1",
     {true, 16, 16, 32, true, false, "D"},
     {0, 8, 32, 0, "D"},
     0x80107fff,
     0xbfff4008,
     false,
     {1, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 16, Rtr::kRead}},
    {"ord_not_told_and_no_ird_for_a_read_rtr",
     {true, 16, 16, 32, true, false, "D"},
     {0, 8, 0, 0, "D"},
     0x80107fff,
     0xbfff0008,
     false,
     {0, 8, false},
     {Kind::kTerminate, SetupError::kNoMatchingRtr, 0, 0, Rtr::kNone}},
    {"p2p_all_common",
     {true, 16, 16, 32, true, true, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xc010c010,
     0x8010c008,
     false,
     {16, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 16, Rtr::kWrite}},
    {"client_server",
     {false, 16, 16, 32, true, true, "BCD"},
     {8, 8, 32, 0, "CD"},
     0x00100010,
     0x00100008,
     false,
     {16, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 16, Rtr::kNone}},
    {"responder_raises_ird",
     {true, 16, 20, 32, true, true, "BCD"},
     {4, 8, 32, 0, "CD"},
     0xc010c014,
     0x8014c008,
     false,
     {20, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 20, Rtr::kWrite}},
    {"responder_cannot_reach_ord",
     {true, 16, 64, 32, true, true, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xc010c040,
     0x8020c008,
     false,
     {32, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 32, Rtr::kWrite}},
    {"responder_ord_limited_by_ird",
     {true, 2, 16, 32, true, true, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xc002c010,
     0x8010c002,
     false,
     {16, 2, false},
     {Kind::kEstablished, SetupError::kNone, 2, 16, Rtr::kWrite}},
    {"responder_needs_more_rejects",
     {true, 2, 16, 32, true, true, "BCD"},
     {8, 8, 32, 8, "CD"},
     0xc002c010,
     0x8010c008,
     false,
     {8, 8, true},
     {Kind::kRejected, SetupError::kNone, 0, 0, Rtr::kNone}},
    {"ord0_read_rtr_gets_ird1",
     {true, 16, 0, 32, true, true, "D"},
     {0, 8, 32, 0, "D"},
     0x80104000,
     0x80014008,
     false,
     {1, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 1, Rtr::kRead}},
    {"ord_not_negotiated",
     {true, 16, 16, 32, true, false, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xc010ffff,
     0xbfffc008,
     false,
     {8, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 16, Rtr::kWrite}},
    {"ird_not_negotiated",
     {true, 16, 16, 32, false, true, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xffffc010,
     0x8010ffff,
     false,
     {16, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 16, Rtr::kWrite}},
    {"both_not_negotiated",
     {true, 16, 16, 32, false, false, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xffffffff,
     0xbfffffff,
     false,
     {8, 8, false},
     {Kind::kEstablished, SetupError::kNone, 16, 16, Rtr::kWrite}},
    {"no_common_rtr",
     {true, 16, 16, 32, true, true, "B"},
     {8, 8, 32, 0, "CD"},
     0xc0100010,
     0x8010c008,
     false,
     {16, 8, false},
     {Kind::kTerminate, SetupError::kNoMatchingRtr, 0, 0, Rtr::kNone}},
    {"initiator_raises_ird",
     {true, 2, 16, 32, true, true, "CD"},
     {8, 8, 32, 0, "CD"},
     0x8002c010,
     0x8010c008,
     true,
     {},
     {Kind::kEstablished, SetupError::kNone, 8, 16, Rtr::kWrite}},
    {"peer_wants_more_ird_than_exists",
     {true, 4, 16, 8, true, true, "BCD"},
     {8, 8, 32, 0, "CD"},
     0xc004c010,
     0x8008800c,
     true,
     {},
     {Kind::kTerminate, SetupError::kInsufficientIrd, 0, 0, Rtr::kNone}},
};

std::uint32_t word_of(const wire::MpaFrame& frame) {
  std::uint8_t bytes[4];
  frame.enhanced->emit(bytes);
  return load_be32(bytes);
}

class Negotiation : public testing::TestWithParam<Exchange> {
 protected:
  static MpaPolicy initiator() {
    const auto& p = GetParam().initiator;
    MpaPolicy policy;
    policy.enhanced = true;
    policy.peer_to_peer = p.p2p;
    policy.rtr = kinds(p.rtr);
    policy.ird = p.ird;
    policy.ord = p.ord;
    policy.max_ird = p.max_ird;
    policy.negotiate_ird = p.negotiate_ird;
    policy.negotiate_ord = p.negotiate_ord;
    return policy;
  }
  static MpaPolicy responder() {
    const auto& p = GetParam().responder;
    MpaPolicy policy;
    policy.enhanced = true;
    policy.rtr = kinds(p.rtr);
    policy.ird = p.ird;
    policy.ord = p.ord;
    policy.max_ird = p.max_ird;
    policy.need_ord = p.need_ord;
    return policy;
  }
};

TEST_P(Negotiation, RequestSaysWhatTheInitiatorWants) {
  const wire::MpaFrame request = make_request(initiator(), {});
  EXPECT_EQ(request.rev, 2);
  EXPECT_EQ(word_of(request), GetParam().request);
}

TEST_P(Negotiation, ReplyAndTheRespondersValues) {
  const ReplyDecision decision = negotiate_reply(make_request(initiator(), {}), responder());
  if (GetParam().reply_forced) {
    EXPECT_NE(word_of(decision.frame), GetParam().reply);
    return;
  }
  EXPECT_EQ(decision.frame.rev, 2);
  EXPECT_EQ(word_of(decision.frame), GetParam().reply);
  EXPECT_EQ(decision.frame.rejected, GetParam().responder_final.rejects);
  EXPECT_EQ(decision.error, decision.frame.rejected ? SetupError::kInsufficientIrd : SetupError::kNone);
  EXPECT_EQ(decision.ird, GetParam().responder_final.ird);
  EXPECT_EQ(decision.ord, GetParam().responder_final.ord);
}

TEST_P(Negotiation, TheInitiatorsConclusion) {
  std::uint8_t bytes[4];
  store_be32(bytes, GetParam().reply);
  wire::MpaFrame reply;
  reply.kind = wire::MpaFrameKind::kReply;
  reply.rev = 2;
  reply.rejected = GetParam().responder_final.rejects;
  reply.enhanced = wire::MpaEnhanced::parse(bytes);
  const SetupResult result = accept_reply(make_request(initiator(), {}), reply, initiator());
  const SetupResult& expected = GetParam().result;
  EXPECT_EQ(result.kind, expected.kind);
  EXPECT_EQ(result.error, expected.error);
  EXPECT_EQ(result.rtr, expected.rtr);
  if (expected.kind != Kind::kEstablished) return;
  EXPECT_EQ(result.ird, expected.ird);
  EXPECT_EQ(result.ord, expected.ord);
}

INSTANTIATE_TEST_SUITE_P(Enhanced, Negotiation, testing::ValuesIn(kExchanges),
                         [](const auto& row) { return std::string(row.param.name); });

// Revision 1 and mixtures.

MpaPolicy revision(int rev) {
  MpaPolicy policy;
  policy.enhanced = rev == 2;
  policy.rtr = kinds("CD");
  policy.ird = 16;
  policy.ord = 16;
  policy.max_ird = 32;
  return policy;
}

TEST(MpaRevision1, UnenhancedInitiatorKeepsItsValues) {
  const wire::MpaFrame request = make_request(revision(1), {});
  EXPECT_EQ(request.rev, 1);
  EXPECT_FALSE(request.enhanced);
  const ReplyDecision decision = negotiate_reply(request, revision(2));
  EXPECT_EQ(decision.frame.rev, 1);
  EXPECT_FALSE(decision.frame.enhanced);
  EXPECT_FALSE(decision.frame.rejected);
  const SetupResult result = accept_reply(request, decision.frame, revision(1));
  EXPECT_EQ(result.kind, Kind::kEstablished);
  EXPECT_EQ(result.ird, 16);
  EXPECT_EQ(result.ord, 16);
  EXPECT_EQ(result.rtr, Rtr::kNone);
}

TEST(MpaRevision1, UnenhancedReplyToAnEnhancedRequestIsBad) {
  wire::MpaFrame reply;
  reply.kind = wire::MpaFrameKind::kReply;
  reply.rev = 1;
  const SetupResult result = accept_reply(make_request(revision(2), {}), reply, revision(2));
  EXPECT_EQ(result.kind, Kind::kBadReply);
  EXPECT_EQ(result.error, SetupError::kBadFrame);
}

TEST(MpaRevision1, RejectionCountsWhateverItsRevision) {
  wire::MpaFrame reply;
  reply.kind = wire::MpaFrameKind::kReply;
  reply.rev = 1;
  reply.rejected = true;
  EXPECT_EQ(accept_reply(make_request(revision(2), {}), reply, revision(2)).kind, Kind::kRejected);
}

TEST(MpaRtr, ReadNeedsAPlaceAtTheResponder) {
  MpaPolicy policy = revision(2);
  policy.peer_to_peer = true;
  policy.rtr = kinds("BD");
  wire::MpaFrame reply;
  reply.kind = wire::MpaFrameKind::kReply;
  reply.rev = 2;
  reply.enhanced = wire::MpaEnhanced{true, true, true, true, 0, 8};
  EXPECT_EQ(accept_reply(make_request(policy, {}), reply, policy).rtr, Rtr::kSend);
  policy.rtr = kinds("D");
  EXPECT_EQ(accept_reply(make_request(policy, {}), reply, policy).error, SetupError::kNoMatchingRtr);
}

TEST(MpaRtr, FlagsWithoutPeerToPeerAreIgnored) {
  wire::MpaFrame request = make_request(revision(2), {});
  request.enhanced->rtr_send = request.enhanced->rtr_write = request.enhanced->rtr_read = true;
  const ReplyDecision decision = negotiate_reply(request, revision(2));
  EXPECT_EQ(word_of(decision.frame), 0x00100010u);
  MpaPolicy no_reads = revision(2);
  no_reads.ird = 0;
  request.enhanced->ord = 0;
  EXPECT_EQ(word_of(negotiate_reply(request, no_reads).frame), 0x00000010u) << "no Read Request will come";
}

// RFC 5044 section 7.1.1: markers toward the side that asked, CRC if either asked.
TEST(MpaStreamOptions, AllCombinations) {
  for (int bits = 0; bits < 16; ++bits) {
    wire::MpaFrame local, peer;
    local.markers = bits & 1;
    local.crc = bits & 2;
    peer.markers = bits & 4;
    peer.crc = bits & 8;
    const StreamOptions options = stream_options(local, peer, 1);
    EXPECT_EQ(options.tx_markers, (bits & 4) != 0) << bits;
    EXPECT_EQ(options.rx_markers, (bits & 1) != 0) << bits;
    EXPECT_EQ(options.crc, (bits & 10) != 0) << bits;
  }
}

TEST(MpaFrameInPieces, HeaderTellsHowMuchIsMissing) {
  const auto header = hex("4D504120494420526571204672616D65 40 01 0005");
  const FrameProgress first = examine_frame(header, wire::MpaFrameKind::kRequest, 1);
  EXPECT_EQ(first.error, wire::MpaFrameError::kNone);
  EXPECT_EQ(first.missing, 5u);
  const FrameProgress whole = examine_frame(header + hex("68656C6C6F"), wire::MpaFrameKind::kRequest, 1);
  EXPECT_EQ(whole.missing, 0u);
  EXPECT_EQ(whole.frame.private_data.size(), 5u);
}

TEST(MpaFrameInPieces, TooLongPrivateDataIsRefusedAtTheHeader) {
  const FrameProgress p =
      examine_frame(hex("4D504120494420526571204672616D65 40 01 0201"), wire::MpaFrameKind::kRequest, 1);
  EXPECT_EQ(p.error, wire::MpaFrameError::kPdTooLong);
  EXPECT_EQ(p.missing, 0u);
}

// An RDMAC peer's frame is valid; the personality decides what follows.
TEST(MpaFrameInPieces, Revision0) {
  const FrameProgress p =
      examine_frame(hex("4D504120494420526571204672616D65 C0 00 0000"), wire::MpaFrameKind::kRequest, 2);
  EXPECT_EQ(p.error, wire::MpaFrameError::kNone);
  EXPECT_EQ(p.missing, 0u);
  EXPECT_EQ(p.frame.rev, 0);
}

}  // namespace
}  // namespace rnic::fw
