#include "model/wire/fpdu.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic::wire {
namespace {

TEST(Fpdu, PadFillsLengthAndUlpduToAWord) {
  const std::size_t expected[] = {2, 1, 0, 3, 2};
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(fpdu_pad(n), expected[n]) << n;
}

TEST(Fpdu, SizeOfTheWorkedExamples) {
  EXPECT_EQ(fpdu_bytes(4), 12u);
  EXPECT_EQ(fpdu_bytes(1), 8u);
  EXPECT_EQ(fpdu_bytes(2), 8u);
  EXPECT_EQ(fpdu_bytes(3), 12u);
  EXPECT_EQ(fpdu_bytes(22), 28u);
  EXPECT_EQ(marked_fpdu_bytes(0, 4), 16u);    // leading marker
  EXPECT_EQ(marked_fpdu_bytes(504, 4), 16u);  // marker before the CRC
  EXPECT_EQ(marked_fpdu_bytes(12, 4), 12u);
  EXPECT_EQ(marked_fpdu_bytes(0, 42), 52u);    // RFC 5044 figure 5
  EXPECT_EQ(marked_fpdu_bytes(492, 42), 52u);  // figure 6
  EXPECT_EQ(marked_fpdu_bytes(0, 1218), 1236u);
}

// Walks the stream word by word, as a sender does, instead of calculating.
std::size_t walked_markers(StreamPosition position, std::size_t plain) {
  std::size_t markers = 0;
  for (; plain != 0; position += 4) {
    if (position % 512 == 0) {
      ++markers;
    } else {
      plain -= 4;
    }
  }
  return markers;
}

TEST(Fpdu, MarkerCountAgreesWithAWalkFromEveryPosition) {
  for (StreamPosition position = 0; position < 1024; position += 4) {
    for (std::size_t plain = 8; plain < 2100; plain += 4) {
      ASSERT_EQ(fpdu_markers(position, plain), walked_markers(position, plain)) << position << " " << plain;
    }
  }
}

TEST(Fpdu, MarkersSurviveTheSequenceWrap) {
  const StreamPosition before_wrap = stream_position(0xfffffffcu, 0xfffffe00u);
  EXPECT_EQ(before_wrap, 508u);
  EXPECT_EQ(octets_to_marker(before_wrap), 4u);
  EXPECT_TRUE(is_marker_position(stream_position(0, 0xfffffe00u)));
  EXPECT_EQ(fpdu_markers(0xfffffffcu, 12), 1u);
}

TEST(Fpdu, PointerCountsFromTheLengthField) {
  EXPECT_EQ(fpduptr(0, ulpdu_length_position(0)), 0u);
  EXPECT_EQ(fpduptr(512, ulpdu_length_position(0)), 508u);
  EXPECT_EQ(fpduptr(512, ulpdu_length_position(492)), 20u);
  EXPECT_EQ(fpduptr(512, ulpdu_length_position(512)), 0u);
}

TEST(Fpdu, MarkerOctetsBothWays) {
  std::uint8_t octets[4];
  store_marker(octets, 0x0014);
  EXPECT_THAT(octets, testing::ElementsAre(0, 0, 0, 0x14));
  EXPECT_EQ(load_marker(octets), 0x14u);
  octets[3] = 0x17;
  EXPECT_EQ(load_marker(octets), 0x14u) << "the two low bits are taken as 0";
}

TEST(Fpdu, MulpduTable) {
  struct Row {
    std::size_t emss, off, on;
  };
  for (const Row& row : std::vector<Row>{{0, 128, 128},
                                         {3, 128, 128},
                                         {128, 128, 128},
                                         {536, 530, 522},
                                         {1448, 1442, 1430},
                                         {1460, 1454, 1442},
                                         {1463, 1454, 1442},
                                         {8948, 8942, 8870},
                                         {8960, 8954, 8882},
                                         {65495, 64768, 64768}}) {
    EXPECT_EQ(mulpdu(row.emss, false), row.off) << row.emss;
    EXPECT_EQ(mulpdu(row.emss, true), row.on) << row.emss;
  }
}

TEST(Fpdu, AFullSizedFpduFitsItsSegmentFromEveryMarkerPhase) {
  for (std::size_t emss = 160; emss < 9100; emss += 7) {
    EXPECT_LE(fpdu_bytes(mulpdu(emss, false)), emss);
    for (StreamPosition position = 0; position < 512; position += 4) {
      ASSERT_LE(marked_fpdu_bytes(position, mulpdu(emss, true)), emss) << emss << " at " << position;
    }
  }
}

}  // namespace
}  // namespace rnic::wire
