#include "model/wire/ddp_session.h"

#include <gtest/gtest.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

SessionMessage message(SessionCode code, ByteSpan private_data = {}) {
  SessionMessage m;
  m.ddp_ssn = 0x0102;
  m.code = code;
  if (is_enhanced(code)) m.enhanced = MpaEnhanced{true, false, true, true, 16, 32};
  m.private_data = private_data;
  return m;
}

SessionError error_of(const Bytes& user_data, bool knows_enhanced = true) {
  return decode_session_message(user_data, knows_enhanced).error;
}

TEST(DdpSession, PlainMessagesBothWays) {
  const Bytes hello = hex("68656c6c6f");
  for (const SessionCode code : {SessionCode::kInitiate, SessionCode::kAccept, SessionCode::kReject}) {
    const Bytes octets = hex("0102 000" + std::to_string(static_cast<int>(code))) + hello;
    EXPECT_EQ(emitted(message(code, hello), 9), octets);
    EXPECT_TRUE(emitted(message(code, hello), 8).empty());
    const auto decode = decode_session_message(octets, false);
    ASSERT_EQ(decode.error, SessionError::kNone);
    EXPECT_EQ(decode.message.ddp_ssn, 0x0102);
    EXPECT_EQ(decode.message.code, code);
    EXPECT_FALSE(decode.message.enhanced);
    EXPECT_EQ(to_bytes(decode.message.private_data), hello);
  }
}

// RFC 6581 section 7: the word is the first four octets of the private data.
TEST(DdpSession, EnhancedMessagesBothWays) {
  const Bytes more = hex("6d6f7265");
  for (const SessionCode code :
       {SessionCode::kEnhancedInitiate, SessionCode::kEnhancedAccept, SessionCode::kEnhancedReject}) {
    const Bytes octets = hex("0102 000" + std::to_string(static_cast<int>(code)) + "8010c020") + more;
    EXPECT_EQ(emitted(message(code, more), 12), octets);
    const auto decode = decode_session_message(octets, true);
    ASSERT_EQ(decode.error, SessionError::kNone);
    ASSERT_TRUE(decode.message.enhanced);
    EXPECT_EQ(decode.message.enhanced->ird, 16);
    EXPECT_EQ(decode.message.enhanced->ord, 32);
    EXPECT_EQ(to_bytes(decode.message.private_data), more);
    EXPECT_EQ(decode.message.pd_length(), 8u);
    EXPECT_EQ(error_of(octets, false), SessionError::kBadCode);
  }
}

TEST(DdpSession, TerminateHasNoPrivateData) {
  EXPECT_EQ(emitted(message(SessionCode::kTerminate), 4), hex("0102 0004"));
  EXPECT_TRUE(emitted(message(SessionCode::kTerminate, hex("00")), 64).empty());
  EXPECT_EQ(error_of(hex("0102 0004")), SessionError::kNone);
  EXPECT_EQ(error_of(hex("0102 0004 00")), SessionError::kPdInTerminate);
  EXPECT_EQ(error_of(hex("0102 0004") + Bytes(513)), SessionError::kPdInTerminate) << "before its length is looked at";
}

TEST(DdpSession, PrivateDataOf512OctetsWithTheWord) {
  EXPECT_EQ(emitted(message(SessionCode::kInitiate, Bytes(512)), 600).size(), 516u);
  EXPECT_TRUE(emitted(message(SessionCode::kInitiate, Bytes(513)), 600).empty());
  EXPECT_EQ(emitted(message(SessionCode::kEnhancedInitiate, Bytes(508)), 600).size(), 516u);
  EXPECT_TRUE(emitted(message(SessionCode::kEnhancedInitiate, Bytes(509)), 600).empty());
  EXPECT_EQ(error_of(hex("0000 0001") + Bytes(512)), SessionError::kNone);
  EXPECT_EQ(error_of(hex("0000 0001") + Bytes(513)), SessionError::kPdTooLong);
  EXPECT_EQ(error_of(hex("0000 0007") + Bytes(513)), SessionError::kPdTooLong);
}

TEST(DdpSession, TheWordBelongsToEnhancedMessagesOnly) {
  SessionMessage m = message(SessionCode::kAccept);
  m.enhanced = MpaEnhanced{};
  EXPECT_TRUE(emitted(m, 64).empty());
  m = message(SessionCode::kEnhancedAccept);
  m.enhanced.reset();
  EXPECT_TRUE(emitted(m, 64).empty());
}

// A rejection without the word is still a rejection; its octets are the ULP's.
TEST(DdpSession, AnEnhancedRejectMayLackTheWord) {
  const Bytes octets = hex("0000 0007 616263");
  const auto decode = decode_session_message(octets, true);
  ASSERT_EQ(decode.error, SessionError::kNone);
  EXPECT_FALSE(decode.message.enhanced);
  EXPECT_EQ(to_bytes(decode.message.private_data), hex("616263"));
  EXPECT_EQ(error_of(hex("0000 0005 616263")), SessionError::kEnhancedTooShort);
  EXPECT_EQ(error_of(hex("0000 0006 616263")), SessionError::kEnhancedTooShort);
}

TEST(DdpSession, UnknownCodesAndShortMessages) {
  for (const char* code : {"0000", "0008", "ffff", "0100", "0401"}) {
    EXPECT_EQ(error_of(hex(std::string("0000") + code)), SessionError::kBadCode) << code;
  }
  const Bytes octets = hex("0000 0001");
  for (std::size_t n = 0; n < octets.size(); ++n) {
    EXPECT_EQ(decode_session_message({octets.data(), n}, true).error, SessionError::kTruncated) << n;
  }
}

// The table of published sizes: IPv4 and IPv6, without and with room for a SACK.
TEST(DdpSession, Mulpdu) {
  const struct {
    std::uint32_t mtu, v4, v4_sack, v6, v6_sack;
  } rows[] = {{576, 526, 516, 516, 516},
              {1280, 1230, 1214, 1210, 1194},
              {1500, 1450, 1434, 1430, 1414},
              {4096, 4046, 4030, 4026, 4010},
              {9000, 8950, 8934, 8930, 8914}};
  for (const auto& r : rows) {
    EXPECT_EQ(sctp_mulpdu(r.mtu, 20, 0), r.v4) << r.mtu;
    EXPECT_EQ(sctp_mulpdu(r.mtu, 20, 16), r.v4_sack) << r.mtu;
    EXPECT_EQ(sctp_mulpdu(r.mtu, 40, 0), r.v6) << r.mtu;
    EXPECT_EQ(sctp_mulpdu(r.mtu, 40, 16), r.v6_sack) << r.mtu;
  }
  EXPECT_EQ(sctp_mulpdu(0, 20, 16), kSctpMinSegment);
  EXPECT_EQ(sctp_mulpdu(567, 20, 0), 516u);
  EXPECT_EQ(sctp_mulpdu(570, 20, 0), 518u) << "chunks are padded to four octets, segments are not";
}

// 16 octets of chunk header, 2 of DDP-SSN, and the pad (RFC 5043 section 5).
TEST(DdpSession, WhatASegmentTakesOfAPacket) {
  EXPECT_EQ(sctp_segment_bytes(22), 40u);
  EXPECT_EQ(sctp_segment_bytes(15), 36u);
  EXPECT_EQ(sctp_segment_bytes(1434), 1452u);
  EXPECT_EQ(sctp_segment_bytes(sctp_mulpdu(1500, 20, 0)), 1500u - 20 - 12);
}

}  // namespace
}  // namespace rnic::wire
