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

// RFC 5040 figure 9, RFC 5041 section 7.2, RFC 5044 section 8: first octet and code.
TEST(Terminate, CodesAreThoseOfTheRfcs) {
  const auto word = [](const TerminateCause& cause) {
    return load_be16(emitted(TerminateHeader{cause, {}, {}, {}}, 4).data());
  };
  EXPECT_EQ(word(rdma::kStagNotAssociated), 0x0103);
  EXPECT_EQ(word(rdma::kToWrap), 0x0104);
  EXPECT_EQ(word(rdma::kForeignStagCannotBeInvalidated), 0x0109);
  EXPECT_EQ(word(rdma::kInvalidVersion), 0x0205);
  EXPECT_EQ(word(rdma::kUnexpectedOpcode), 0x0206);
  EXPECT_EQ(word(rdma::kCatastrophicStream), 0x0207);
  EXPECT_EQ(word(rdma::kOperationUnspecified), 0x02ff);
  EXPECT_EQ(word(ddp::kTaggedInvalidVersion), 0x1104);
  EXPECT_EQ(word(ddp::kInvalidQn), 0x1201);
  EXPECT_EQ(word(ddp::kInvalidMsnNoBuffer), 0x1202);
  EXPECT_EQ(word(ddp::kInvalidMsnRange), 0x1203);
  EXPECT_EQ(word(ddp::kInvalidMo), 0x1204);
  EXPECT_EQ(word(ddp::kUntaggedInvalidVersion), 0x1206);
  EXPECT_EQ(word(mpa::kConnectionLost), 0x2001);
  EXPECT_EQ(word(mpa::kNoMatchingRtr), 0x2007);
}

TEST(Terminate, EveryCodeHasAText) {
  EXPECT_STREQ(to_string(rdma::kInvalidStag), "remote protection: invalid STag");
  EXPECT_STREQ(to_string(ddp::kInvalidStag), "tagged buffer: invalid STag");
  EXPECT_STREQ(to_string(ddp::kMessageTooLong), "untagged buffer: message too long for the buffer");
  EXPECT_STREQ(to_string(mpa::kCrcMismatch), "MPA: CRC mismatch");
  EXPECT_STREQ(to_string({Layer::kRdma, 0, 0xff}), "RDMAP: local catastrophic error");  // any code (wire-facts 8.15)
  EXPECT_STREQ(to_string({Layer::kDdp, 0, 0}), "DDP: local catastrophic error");
  EXPECT_STREQ(to_string({Layer::kDdp, 3, 0}), "unknown");
  EXPECT_STREQ(to_string({Layer::kLlp, 0, 8}), "unknown");
}

TEST(Terminate, CauseOfItsFirstWord) {
  EXPECT_EQ(terminate_cause(0x1205c000), ddp::kMessageTooLong);
  EXPECT_EQ(terminate_cause(terminate_word(mpa::kNoMatchingRtr)), mpa::kNoMatchingRtr);
}

}  // namespace
}  // namespace rnic::wire
