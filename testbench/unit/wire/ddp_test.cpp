#include "model/wire/ddp.h"

#include <gmock/gmock.h>

#include "model/wire/rdmap.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

TEST(Ddp, TaggedBothWays) {
  const Bytes wire = hex("C140 12345678 0000000000001000 DEADBEEF");
  const auto view = DdpTaggedView::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->header.last());
  EXPECT_EQ(view->header.version(), kDdpVersion);
  EXPECT_EQ(RdmapControl::opcode(view->header.rdmap), Opcode::kWrite);
  EXPECT_EQ(RdmapControl::version(view->header.rdmap), kRdmapVersion);
  EXPECT_EQ(view->header.stag, 0x12345678u);
  EXPECT_EQ(view->header.to, 0x1000u);
  EXPECT_EQ(to_bytes(view->payload), hex("DEADBEEF"));

  DdpTaggedHeader header;
  header.rdmap = RdmapControl::pack(Opcode::kWrite);
  header.stag = 0x12345678;
  header.to = 0x1000;
  EXPECT_EQ(emitted(header, 14) + hex("DEADBEEF"), wire);
  EXPECT_TRUE(emitted(header, 13).empty());
}

// T 0x80, L 0x40, DV 0x03, and four bits without a meaning.
TEST(Ddp, EveryControlOctet) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const bool tagged = octet & 0x80, last = octet & 0x40;
    const auto version = static_cast<std::uint8_t>(octet & 3);
    EXPECT_EQ(DdpControl::tagged(static_cast<std::uint8_t>(octet)), tagged) << octet;
    EXPECT_EQ(DdpControl::pack(tagged, last, version), octet & 0xc3) << octet;
    Bytes wire = hex("0040 12345678 0000000000001000 0000 0000");
    wire[0] = static_cast<std::uint8_t>(octet);
    const auto as_tagged = DdpTaggedView::parse(wire);
    const auto as_untagged = DdpUntaggedView::parse(wire);
    ASSERT_EQ(as_tagged.has_value(), tagged) << octet;
    ASSERT_EQ(as_untagged.has_value(), !tagged) << octet;
    EXPECT_EQ(tagged ? as_tagged->header.last() : as_untagged->header.last(), last) << octet;
    EXPECT_EQ(tagged ? as_tagged->header.version() : as_untagged->header.version(), version) << octet;
  }
}

TEST(Ddp, UntaggedBothWays) {
  const Bytes wire = hex("0144 CAFE0001 00000003 00000009 00000004 FF");
  const auto view = DdpUntaggedView::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->header.last());
  EXPECT_EQ(view->header.invalidate_stag, 0xcafe0001u);
  EXPECT_EQ(view->header.qn, 3u);
  EXPECT_EQ(view->header.msn, 9u);
  EXPECT_EQ(view->header.mo, 4u);
  EXPECT_EQ(to_bytes(view->payload), hex("FF"));
  EXPECT_EQ(emitted(view->header, 18) + hex("FF"), wire);
  EXPECT_TRUE(emitted(view->header, 17).empty());
}

TEST(Ddp, EveryTruncationAndTheOtherKindAreRefused) {
  const Bytes tagged(DdpTaggedHeader::kBytes, 0xc1), untagged(DdpUntaggedHeader::kBytes, 0x41);
  for (std::size_t n = 0; n < tagged.size(); ++n) EXPECT_FALSE(DdpTaggedView::parse({tagged.data(), n}));
  for (std::size_t n = 0; n < untagged.size(); ++n) EXPECT_FALSE(DdpUntaggedView::parse({untagged.data(), n}));
  EXPECT_TRUE(DdpTaggedView::parse(tagged));
  EXPECT_TRUE(DdpUntaggedView::parse(untagged));
  EXPECT_FALSE(DdpTaggedView::parse(untagged));
  EXPECT_FALSE(DdpUntaggedView::parse({tagged.data(), 14}));
}

TEST(Ddp, ReservedBitsAreIgnoredAndSentAsZero) {
  const Bytes wire = hex("FD70 00000001 0000000000000002");
  const auto view = DdpTaggedView::parse(wire);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->header.last());
  EXPECT_EQ(view->header.version(), 1);
  EXPECT_EQ(RdmapControl::opcode(view->header.rdmap), Opcode::kWrite);
  EXPECT_EQ(RdmapControl::version(view->header.rdmap), 1);
  EXPECT_EQ(DdpControl::pack(true, false, 1), 0x81);
  EXPECT_EQ(DdpControl::pack(false, false, 0), 0x00);
  EXPECT_EQ(RdmapControl::pack(Opcode::kAtomicResponse), 0x4b);
  EXPECT_EQ(RdmapControl::pack(Opcode::kSend, kRdmapVersionRdmac), 0x03);
}

}  // namespace
}  // namespace rnic::wire
