// The worked FPDUs of RFC 5044 figures 5 and 6: a Send of 24 octets at the start of a stream and before a marker.
#include "model/wire/fpdu_view.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

using testing::ElementsAre;
using testing::Pair;

const Bytes kUlpdu = hex("4143 00000000 00000000 00000001 00000000") + Bytes(24, 0);
const Bytes kFigure5 = hex("00000000 002A") + kUlpdu + hex("52239983");
const Bytes kFigure6 = hex("002A 4143 00000000 00000000 00000002 00000000 00000014") + Bytes(24, 0) + hex("84925898");

Bytes ulpdu_of(const FpduView& fpdu) {
  Bytes ulpdu(fpdu.ulpdu_bytes());
  fpdu.copy_ulpdu(ulpdu);
  return ulpdu;
}
std::vector<std::pair<unsigned, unsigned>> markers_of(const FpduView& fpdu) {
  std::vector<std::pair<unsigned, unsigned>> markers;
  fpdu.for_each_marker([&](unsigned found, unsigned expected) { markers.emplace_back(found, expected); });
  return markers;
}

TEST(FpduViewTest, AMarkerInFront) {
  const Bytes stream = kFigure5 + hex("FFFF");
  const auto fpdu = FpduView::parse(stream, 0, true);
  ASSERT_TRUE(fpdu);
  EXPECT_EQ(to_bytes(fpdu->octets()), kFigure5);
  EXPECT_EQ(ulpdu_of(*fpdu), kUlpdu);
  EXPECT_EQ(fpdu->ulpdu_octet(1), 0x43);
  EXPECT_EQ(fpdu->place(0), 4u);
  EXPECT_EQ(fpdu->crc_at(), 48u);
  EXPECT_EQ(fpdu->covered().size(), 48u);
  EXPECT_THAT(markers_of(*fpdu), ElementsAre(Pair(0, 0)));
}

TEST(FpduViewTest, AMarkerInTheMiddle) {
  const auto fpdu = FpduView::parse(kFigure6, 492, true);
  ASSERT_TRUE(fpdu);
  Bytes ulpdu = kUlpdu;
  ulpdu[13] = 2;
  EXPECT_EQ(ulpdu_of(*fpdu), ulpdu);
  EXPECT_EQ(fpdu->place(19), 19u);
  EXPECT_EQ(fpdu->place(20), 24u);
  EXPECT_EQ(fpdu->crc_at(), 48u);
  EXPECT_THAT(markers_of(*fpdu), ElementsAre(Pair(20, 20)));
  Bytes wrong = kFigure6;
  wrong[23] = 0x18;
  EXPECT_THAT(markers_of(*FpduView::parse(wrong, 492, true)), ElementsAre(Pair(24, 20)));
}

TEST(FpduViewTest, WithoutMarkersTheSamePositionHasNone) {
  const Bytes plain = hex("0003 AABBCC 000000 12345678");
  const auto fpdu = FpduView::parse(plain, 512, false);
  ASSERT_TRUE(fpdu);
  EXPECT_EQ(ulpdu_of(*fpdu), hex("AABBCC"));
  EXPECT_EQ(fpdu->crc_at(), 8u);
  EXPECT_TRUE(markers_of(*fpdu).empty());
}

TEST(FpduViewTest, SeveralMarkersAndAnEmptyUlpdu) {
  Bytes stream;
  for (std::size_t plain = 0; stream.size() < marked_fpdu_bytes(0, 1100);) {
    if (stream.size() % kMarkerInterval == 0) {
      stream = stream + Bytes(4, 0xee);
    } else {
      stream.push_back(plain == 0 ? 1100 >> 8 : plain == 1 ? 1100 & 0xff : static_cast<std::uint8_t>(plain));
      ++plain;
    }
  }
  const auto fpdu = FpduView::parse(stream, 0, true);
  ASSERT_TRUE(fpdu);
  const Bytes ulpdu = ulpdu_of(*fpdu);
  for (std::size_t i = 0; i < ulpdu.size(); ++i) ASSERT_EQ(ulpdu[i], static_cast<std::uint8_t>(i + 2)) << i;
  EXPECT_EQ(markers_of(*fpdu).size(), 3u);

  const Bytes nothing = hex("0000 0000 11223344");
  const auto empty = FpduView::parse(nothing, 4, true);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(ulpdu_of(*empty).empty());
}

TEST(FpduViewTest, WhatIsNotWholeIsNone) {
  for (std::size_t n = 0; n < kFigure5.size(); ++n) {
    EXPECT_FALSE(FpduView::parse(ByteSpan(kFigure5).subspan(0, n), 0, true)) << n;
  }
}

TEST(FpduViewTest, OfOneThatIsBegunThereIsTheBeginning) {
  for (const bool markers : {true, false}) {
    const Bytes whole = markers ? kFigure6 : hex("002A") + kUlpdu + hex("52239983");
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const auto fpdu = FpduView::parse_begun(ByteSpan(whole).subspan(0, n), 492, markers);
      ASSERT_EQ(fpdu.has_value(), n >= 2) << n;
      if (!fpdu) continue;
      EXPECT_EQ(fpdu->octets().size(), n);
      EXPECT_EQ(fpdu->bytes(), whole.size());
      EXPECT_EQ(fpdu->ulpdu_bytes(), 42u);
      EXPECT_EQ(fpdu->markers(), markers ? 1u : 0u);
      EXPECT_EQ(markers_of(*fpdu).size(), markers && n >= 24 ? 1u : 0u) << n;
      Bytes ulpdu(42);
      const std::size_t marker = markers && n > 20 ? std::min<std::size_t>(n, 24) - 20 : 0;
      EXPECT_EQ(fpdu->copy_ulpdu(ulpdu), std::min<std::size_t>(n - 2 - marker, 42)) << n;
    }
  }
}

}  // namespace
}  // namespace rnic::wire
