#include "model/wire/mpa_frame.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

const char* const kReq = "4D504120494420526571204672616D65";
const char* const kRep = "4D504120494420526570204672616D65";

MpaFrameError error_of(const Bytes& bytes, MpaFrameKind kind = MpaFrameKind::kRequest,
                       std::uint8_t max_rev = kMpaRev2) {
  return decode_mpa_frame(bytes, kind, max_rev).error;
}

TEST(MpaFrame, Rev1RequestWithPrivateDataBothWays) {
  const Bytes wire = hex(kReq) + hex("C0 01 0005 68656C6C6F");
  const auto [error, frame] = decode_mpa_frame(wire, MpaFrameKind::kRequest, kMpaRev2);
  ASSERT_EQ(error, MpaFrameError::kNone);
  EXPECT_TRUE(frame.markers);
  EXPECT_TRUE(frame.crc);
  EXPECT_FALSE(frame.rejected);
  EXPECT_FALSE(frame.s);
  EXPECT_EQ(frame.rev, 1);
  EXPECT_FALSE(frame.enhanced);
  EXPECT_EQ(to_bytes(frame.private_data), hex("68656C6C6F"));
  EXPECT_EQ(emitted(frame, wire.size()), wire);
}

TEST(MpaFrame, Rev2EnhancedRequestBothWays) {
  const Bytes wire = hex(kReq) + hex("50 02 0009 8010 C020 68656C6C6F");
  const auto [error, frame] = decode_mpa_frame(wire, MpaFrameKind::kRequest, kMpaRev2);
  ASSERT_EQ(error, MpaFrameError::kNone);
  ASSERT_TRUE(frame.enhanced);
  EXPECT_TRUE(frame.enhanced->peer_to_peer);
  EXPECT_FALSE(frame.enhanced->rtr_send);
  EXPECT_TRUE(frame.enhanced->rtr_write);
  EXPECT_TRUE(frame.enhanced->rtr_read);
  EXPECT_EQ(frame.enhanced->ird, 16);
  EXPECT_EQ(frame.enhanced->ord, 32);
  EXPECT_EQ(frame.pd_length(), 9u);
  EXPECT_EQ(to_bytes(frame.private_data), hex("68656C6C6F"));
  EXPECT_EQ(emitted(frame, wire.size()), wire);
}

TEST(MpaFrame, RejectReplyBothWays) {
  const Bytes wire = hex(kRep) + hex("60 01 0004 62757379");
  const auto [error, frame] = decode_mpa_frame(wire, MpaFrameKind::kReply, kMpaRev2);
  ASSERT_EQ(error, MpaFrameError::kNone);
  EXPECT_TRUE(frame.rejected);
  EXPECT_EQ(emitted(frame, wire.size()), wire);
}

TEST(MpaFrame, NothingNegotiatedIs3FFFInBothHalves) {
  MpaFrame frame;
  frame.crc = true;
  frame.rev = kMpaRev2;
  frame.enhanced.emplace();
  EXPECT_EQ(emitted(frame, 64), hex(kReq) + hex("50 02 0004 3FFF 3FFF"));
}

TEST(MpaFrame, EveryTruncationIsTruncatedAndNeverBadKey) {
  const Bytes wire = hex(kReq) + hex("50 02 0009 8010 C020 68656C6C6F");
  for (std::size_t n = 0; n < wire.size(); ++n) {
    EXPECT_EQ(error_of(Bytes(wire.begin(), wire.begin() + static_cast<long>(n))), MpaFrameError::kTruncated) << n;
  }
}

TEST(MpaFrame, ChecksRunInOrder) {
  EXPECT_EQ(error_of(hex(kRep) + hex("00 03 0201")), MpaFrameError::kBadKey);
  EXPECT_EQ(error_of(hex(kReq) + hex("00 03 0201")), MpaFrameError::kBadRev);
  EXPECT_EQ(error_of(hex(kReq) + hex("00 02 0201")), MpaFrameError::kPdTooLong);
  EXPECT_EQ(error_of(hex(kReq) + hex("10 02 0002 00")), MpaFrameError::kTruncated);
  EXPECT_EQ(error_of(hex(kReq) + hex("10 02 0002 000000")), MpaFrameError::kExtraOctets);
  EXPECT_EQ(error_of(hex(kReq) + hex("10 02 0002 0000")), MpaFrameError::kEnhancedTooShort);
  EXPECT_EQ(error_of(hex(kReq) + hex("10 02 0002 0000"), MpaFrameKind::kRequest, kMpaRev1), MpaFrameError::kBadRev);
}

TEST(MpaFrame, ReservedBitsAreIgnoredAndSIsReservedBeforeRev2) {
  const auto [error, frame] = decode_mpa_frame(hex(kReq) + hex("5F 01 0000"), MpaFrameKind::kRequest, kMpaRev2);
  ASSERT_EQ(error, MpaFrameError::kNone);
  EXPECT_TRUE(frame.crc);
  EXPECT_FALSE(frame.markers);
  EXPECT_FALSE(frame.enhanced);
  EXPECT_EQ(emitted(frame, 20), hex(kReq) + hex("40 01 0000"));
}

TEST(MpaFrame, ReservedBitsOfRevision2AreIgnored) {
  const auto [error, frame] =
      decode_mpa_frame(hex(kReq) + hex("5F 02 0004 0010 0020"), MpaFrameKind::kRequest, kMpaRev2);
  ASSERT_EQ(error, MpaFrameError::kNone);
  ASSERT_TRUE(frame.enhanced);
  EXPECT_EQ(emitted(frame, 64), hex(kReq) + hex("50 02 0004 0010 0020"));
}

TEST(MpaFrame, DepthsHave14Bits) {
  for (const std::uint16_t depth : {0, 1, 0x2000, 0x3ffe}) {
    MpaEnhanced word;
    word.ird = depth;
    word.ord = static_cast<std::uint16_t>(0x3ffe - depth);
    const Bytes octets = emitted(word, 4);
    ASSERT_EQ(octets.size(), 4u);
    EXPECT_EQ(load_be32(octets.data()), std::uint32_t{depth} << 16 | (0x3ffeu - depth));
    EXPECT_EQ(MpaEnhanced::parse(octets)->ird, depth);
    EXPECT_EQ(MpaEnhanced::parse(octets)->ord, 0x3ffe - depth);
  }
}

TEST(MpaFrame, PrivateDataLimitCountsTheEnhancedWord) {
  const Bytes pd(512, 0x5a);
  MpaFrame frame;
  frame.private_data = pd;
  const Bytes wire = emitted(frame, 532);
  ASSERT_EQ(wire.size(), 532u);
  EXPECT_EQ(error_of(wire), MpaFrameError::kNone);
  EXPECT_TRUE(emitted(frame, 531).empty()) << "no room";
  frame.enhanced.emplace();
  EXPECT_TRUE(emitted(frame, 1000).empty()) << "516 octets of PD";
}

TEST(MpaFrame, SizeIsKnownOnceTheHeaderIsThere) {
  const Bytes wire = hex(kReq) + hex("40 01 0005");
  EXPECT_EQ(mpa_frame_bytes(wire), 25u);
  EXPECT_EQ(mpa_frame_bytes(ByteSpan(wire).subspan(0, 19)), std::nullopt);
}

TEST(MpaFrame, AKeyIsToldFromOtherDataAtTheFirstDifference) {
  EXPECT_TRUE(starts_like_mpa_key(hex("4D5041"), MpaFrameKind::kReply));
  EXPECT_FALSE(starts_like_mpa_key(hex("4D5042"), MpaFrameKind::kReply));
  EXPECT_FALSE(starts_like_mpa_key(hex(kReq), MpaFrameKind::kReply));
}

}  // namespace
}  // namespace rnic::wire
