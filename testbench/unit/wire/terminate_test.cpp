#include "model/wire/terminate.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

const Bytes kTagged = hex("C140 00000099 0000000000000010");
const Bytes kUntagged = hex("4141 00000000 00000001 00000005 00000000");
const Bytes kReadRequest = hex("00000100 0000000000002000 00001000 00000300 0000000000004000");

TEST(Terminate, BareControlWordBothWays) {
  const TerminateHeader header{mpa::kCrcMismatch, {}, {}, {}};
  EXPECT_EQ(emitted(header, 52), hex("20020000"));
  EXPECT_TRUE(emitted(header, 3).empty());
  const auto parsed = TerminateHeader::parse(hex("20020000"));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->cause, mpa::kCrcMismatch);
  EXPECT_FALSE(parsed->segment_length);
  EXPECT_TRUE(parsed->ddp_header.empty());
}

TEST(Terminate, TaggedHeaderBothWays) {
  const Bytes wire = hex("1100C000 0012") + kTagged;
  const auto parsed = TerminateHeader::parse(wire);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->cause, ddp::kInvalidStag);
  EXPECT_EQ(parsed->segment_length, 18);
  EXPECT_EQ(to_bytes(parsed->ddp_header), kTagged);
  EXPECT_TRUE(parsed->read_request.empty());
  EXPECT_EQ(emitted(*parsed, wire.size()), wire);
}

TEST(Terminate, ReadRequestHeaderBothWays) {
  const Bytes wire = hex("0101E000 002E") + kUntagged + kReadRequest;
  ASSERT_EQ(wire.size(), TerminateHeader::kMaxBytes);
  const auto parsed = TerminateHeader::parse(wire);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->cause, rdma::kBaseOrBounds);
  EXPECT_EQ(parsed->segment_length, 46);
  EXPECT_EQ(to_bytes(parsed->ddp_header), kUntagged);
  EXPECT_EQ(to_bytes(parsed->read_request), kReadRequest);
  EXPECT_EQ(emitted(*parsed, wire.size()), wire);
  EXPECT_TRUE(emitted(*parsed, wire.size() - 1).empty());
}

TEST(Terminate, APeerThatSetsBitsWithoutHeadersIsSurvived) {
  const Bytes wire = hex("0101E000 002E") + kUntagged + kReadRequest;
  for (std::size_t n = 0; n < wire.size(); ++n) {
    const auto parsed = TerminateHeader::parse(ByteSpan(wire).subspan(0, n));
    ASSERT_EQ(parsed.has_value(), n >= 4) << n;
    if (!parsed) continue;
    EXPECT_EQ(parsed->cause, rdma::kBaseOrBounds);
    EXPECT_EQ(parsed->segment_length.has_value(), n >= 6) << n;
    EXPECT_EQ(parsed->ddp_header.size(), n >= 24 ? 18u : 0u) << n;
    EXPECT_TRUE(parsed->read_request.empty()) << n;
  }
}

TEST(Terminate, ZeroFilledFieldsWithoutTheirBitsAreIgnored) {
  const auto parsed = TerminateHeader::parse(hex("1205 0000") + Bytes(48, 0));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->cause, ddp::kMessageTooLong);
  EXPECT_FALSE(parsed->segment_length);
  EXPECT_TRUE(parsed->ddp_header.empty());
  EXPECT_TRUE(parsed->read_request.empty());
}

TEST(Terminate, ReservedBitsAreIgnored) {
  const Bytes wire = hex("1100 DFFF 0012") + kTagged;
  const auto parsed = TerminateHeader::parse(wire);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(to_bytes(parsed->ddp_header), kTagged);
}

// RFC 5040 figure 9, RFC 5041 section 7.2, RFC 5044 section 8, RFC 6581 section 8: layer and type, code, and their
// meaning.
TEST(Terminate, CodesAreThoseOfTheRfcs) {
  struct Row {
    TerminateCause cause;
    std::uint16_t word;
    const char* text;
  };
  const Row rows[] = {
      {rdma::kLocalCatastrophic, 0x0000, "RDMAP: local catastrophic error"},
      {rdma::kInvalidStag, 0x0100, "remote protection: invalid STag"},
      {rdma::kBaseOrBounds, 0x0101, "remote protection: base or bounds violation"},
      {rdma::kAccessRights, 0x0102, "remote protection: access rights violation"},
      {rdma::kStagNotAssociated, 0x0103, "remote protection: STag not associated with the stream"},
      {rdma::kToWrap, 0x0104, "remote protection: TO wrap"},
      {rdma::kForeignStagCannotBeInvalidated, 0x0109, "remote protection: STag cannot be invalidated"},
      {rdma::kProtectionUnspecified, 0x01ff, "remote protection: unspecified"},
      {rdma::kInvalidVersion, 0x0205, "remote operation: invalid RDMAP version"},
      {rdma::kUnexpectedOpcode, 0x0206, "remote operation: unexpected opcode"},
      {rdma::kCatastrophicStream, 0x0207, "remote operation: catastrophic error of the stream"},
      {rdma::kCatastrophicGlobal, 0x0208, "remote operation: catastrophic error, global"},
      {rdma::kUnknownStagCannotBeInvalidated, 0x0209, "remote operation: STag cannot be invalidated"},
      {rdma::kOperationUnspecified, 0x02ff, "remote operation: unspecified"},
      {ddp::kLocalCatastrophic, 0x1000, "DDP: local catastrophic error"},
      {ddp::kInvalidStag, 0x1100, "tagged buffer: invalid STag"},
      {ddp::kBaseOrBounds, 0x1101, "tagged buffer: base or bounds violation"},
      {ddp::kStagNotAssociated, 0x1102, "tagged buffer: STag not associated with the stream"},
      {ddp::kToWrap, 0x1103, "tagged buffer: TO wrap"},
      {ddp::kTaggedInvalidVersion, 0x1104, "tagged buffer: invalid DDP version"},
      {ddp::kInvalidQn, 0x1201, "untagged buffer: invalid QN"},
      {ddp::kInvalidMsnNoBuffer, 0x1202, "untagged buffer: invalid MSN, no buffer"},
      {ddp::kInvalidMsnRange, 0x1203, "untagged buffer: invalid MSN, out of range"},
      {ddp::kInvalidMo, 0x1204, "untagged buffer: invalid MO"},
      {ddp::kMessageTooLong, 0x1205, "untagged buffer: message too long for the buffer"},
      {ddp::kUntaggedInvalidVersion, 0x1206, "untagged buffer: invalid DDP version"},
      {mpa::kConnectionLost, 0x2001, "MPA: TCP connection closed, terminated or lost"},
      {mpa::kCrcMismatch, 0x2002, "MPA: CRC mismatch"},
      {mpa::kMarkerMismatch, 0x2003, "MPA: marker and ULPDU length disagree"},
      {mpa::kInvalidStartupFrame, 0x2004, "MPA: invalid request or reply frame"},
      {mpa::kLocalCatastrophic, 0x2005, "MPA: local catastrophic error"},
      {mpa::kInsufficientIrd, 0x2006, "MPA: insufficient IRD resources"},
      {mpa::kNoMatchingRtr, 0x2007, "MPA: no matching RTR option"},
  };
  for (const Row& row : rows) {
    Bytes wire(4, 0);
    store_be16(wire.data(), row.word);
    EXPECT_EQ(emitted(TerminateHeader{row.cause, {}, {}, {}}, 4), wire) << row.text;
    EXPECT_EQ(TerminateHeader::parse(wire)->cause, row.cause) << row.text;
    EXPECT_STREQ(to_string(row.cause), row.text);
  }
}

TEST(Terminate, OtherCodesAreToldApart) {
  EXPECT_STREQ(to_string({Layer::kRdma, 0, 0xff}), "RDMAP: local catastrophic error");  // any code (choices.md 8)
  EXPECT_STREQ(to_string({Layer::kDdp, 3, 0}), "unknown");
  EXPECT_STREQ(to_string({Layer::kLlp, 0, 8}), "unknown");
}

TEST(Terminate, CauseOfItsFirstWord) {
  EXPECT_EQ(terminate_cause(0x1205c000), ddp::kMessageTooLong);
  EXPECT_EQ(terminate_cause(terminate_word(mpa::kNoMatchingRtr)), mpa::kNoMatchingRtr);
}

}  // namespace
}  // namespace rnic::wire
