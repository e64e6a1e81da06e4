#include "model/capture/iwarp_stream.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::capture {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Phase = IwarpStream::Phase;

const Bytes kRequest = hex("4D504120494420526571204672616D65 C0 01 0005 68656C6C6F");

class IwarpStreamTest : public testing::Test {
 protected:
  // Every piece comes in a separate frame, at offsets 100, 200, …
  void push(const Bytes& octets, std::size_t piece = SIZE_MAX) {
    for (std::size_t at = 0; at < octets.size(); at += std::min(piece, octets.size() - at)) {
      stream.push(ByteSpan(octets).subspan(at, piece), {offset += 100, offset / 100});
    }
  }
  UndecodedList undecoded;
  IwarpStream stream{wire::MpaFrameKind::kRequest, "a > b", undecoded};
  std::uint64_t offset = 0;
};

TEST_F(IwarpStreamTest, WorkedStreamWithMarkersAndCrcInPiecesOfEverySize) {
  // RFC 5044 figure 5: the first FPDU of a stream, a Send of 24 zero octets, with its leading marker.
  const Bytes figure5 = hex("00000000 002A 4143 00000000 00000000 00000001 00000000") + Bytes(24, 0) + hex("52239983");
  for (std::size_t piece = 1; piece <= kRequest.size() + figure5.size(); ++piece) {
    UndecodedList complaints;
    IwarpStream one(wire::MpaFrameKind::kRequest, "", complaints);
    const Bytes all = kRequest + figure5;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      one.push(ByteSpan(all).subspan(at, piece), {at});
      if (one.phase() == Phase::kNegotiating) one.enter_rdma(true, true);
    }
    one.finish();
    EXPECT_THAT(one.counts().by_opcode, ElementsAre(Pair(3, 1))) << piece;
    EXPECT_EQ(one.counts().payload_bytes, 24u);
    EXPECT_EQ(one.counts().crc.good, 1u);
    EXPECT_TRUE(complaints.empty());
  }
}

TEST_F(IwarpStreamTest, AMarkerInTheMiddleIsTakenOutAndChecked) {
  // Fills the stream up to position 492 with one FPDU, then RFC 5044 figure 6: a marker after 20 octets.
  const Bytes filler = hex("00000000 01E0 C140 00000000 0000000000000000") + Bytes(480 - 14, 0) + hex("0000 00000000");
  ASSERT_EQ(filler.size(), 492u);
  Bytes figure6 =
      hex("002A 4143 00000000 00000000 00000002 00000000") + hex("00000014") + Bytes(24, 0) + hex("84925898");
  push(kRequest);
  stream.enter_rdma(true, true);
  push(filler);
  push(figure6);
  EXPECT_THAT(stream.counts().by_opcode, ElementsAre(Pair(0, 1), Pair(3, 1)));
  EXPECT_EQ(stream.counts().crc.good, 1u) << "the filler has none";
  EXPECT_EQ(stream.counts().payload_bytes, 480u - 14 + 24);
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].reason, "a > b: FPDU with a wrong CRC");
}

TEST_F(IwarpStreamTest, AWrongMarkerIsTold) {
  push(kRequest);
  stream.enter_rdma(true, false);
  push(hex("00000008 0004 DEADBEEF 0000 00000000"));
  ASSERT_FALSE(undecoded.empty());
  EXPECT_EQ(undecoded[0].reason, "a > b: marker with FPDUPTR 8 where 0 is right");
}

TEST_F(IwarpStreamTest, CrcOffIsNotChecked) {
  push(kRequest);
  stream.enter_rdma(false, false);
  push(hex("000E C140 00000000 0000000000000000 FFFFFFFF") +
       hex("0012 4143 00000000 00000000 00000001 00000000 00000000"));
  EXPECT_THAT(stream.counts().by_opcode, ElementsAre(Pair(0, 1), Pair(3, 1)));
  EXPECT_EQ(stream.counts().crc.absent, 2u);
  EXPECT_TRUE(undecoded.empty());
}

TEST_F(IwarpStreamTest, TheOffsetIsThatOfTheFrameInWhichTheFpduBegins) {
  push(kRequest);
  stream.enter_rdma(false, true);
  const Bytes good = hex("000E C140 00000000 0000000000000000 A30572AB");
  const Bytes bad = hex("000E C140 00000000 0000000000000000 00000000");
  push(good + Bytes(bad.begin(), bad.begin() + 3));  // 200
  push(Bytes(bad.begin() + 3, bad.begin() + 6));     // 300
  push(Bytes(bad.begin() + 6, bad.end()) + bad);     // 400
  push(bad);                                         // 500
  ASSERT_EQ(undecoded.size(), 3u);
  EXPECT_EQ(undecoded[0].at.offset, 200u);
  EXPECT_EQ(undecoded[1].at.offset, 400u);
  EXPECT_EQ(undecoded[2].at.offset, 500u);
  EXPECT_EQ(undecoded[2].at.frame, 5u);
  EXPECT_EQ(stream.counts().crc.good, 1u);
  EXPECT_EQ(stream.counts().crc.bad, 3u);
}

TEST_F(IwarpStreamTest, TerminatesAreReadInRfcLayout) {
  push(kRequest);
  stream.enter_rdma(false, false);
  push(hex("0016 4147 00000000 00000002 00000001 00000000 20020000 00000000"));
  push(hex("0012 4147 00000000 00000002 00000001 00000000 00000000"));
  EXPECT_THAT(stream.counts().terminates, ElementsAre(wire::mpa::kCrcMismatch));
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].reason, "a > b: Terminate without its control word");
}

TEST_F(IwarpStreamTest, AUlpduThatIsNoDdpSegmentIsToldAndTheNextIsRead) {
  push(kRequest);
  stream.enter_rdma(false, false);
  push(hex("0000 0000 00000000") + hex("0004 C1400000 0000 00000000") +
       hex("000E C140 00000000 0000000000000000 00000000"));
  ASSERT_EQ(undecoded.size(), 2u);
  EXPECT_EQ(undecoded[1].reason, "a > b: ULPDU of 4 octets is no DDP segment");
  EXPECT_THAT(stream.counts().by_opcode, ElementsAre(Pair(0, 1)));
}

TEST_F(IwarpStreamTest, UnusableStartupFrames) {
  push(hex("4D504120494420526571204672616D65 C0 03 FFFF"));
  EXPECT_EQ(stream.phase(), Phase::kBroken);
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].reason, "a > b: startup frame refused: bad_rev");
  push(Bytes(1000, 0));
  stream.finish();
  EXPECT_EQ(undecoded.size(), 1u);
}

TEST_F(IwarpStreamTest, TooLongPrivateDataIsRefusedBeforeItIsThere) {
  push(hex("4D504120494420526571204672616D65 C0 01 FFFF"));
  EXPECT_EQ(stream.phase(), Phase::kBroken);
}

TEST_F(IwarpStreamTest, OtherDataIsLeftAlone) {
  push(hex("4D504121") + Bytes(100, 0));
  EXPECT_EQ(stream.phase(), Phase::kStreaming);
  stream.finish();
  EXPECT_TRUE(undecoded.empty());
}

TEST_F(IwarpStreamTest, ALastPieceIsTold) {
  push(kRequest);
  stream.enter_rdma(false, false);
  push(hex("000E C140"));
  stream.finish();
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].at.offset, 200u);
  EXPECT_EQ(undecoded[0].reason, "a > b: the last 4 octets are no whole FPDU");
}

TEST_F(IwarpStreamTest, FpdusWithoutTheOtherSidesStartupAreTold) {
  push(kRequest);
  push(hex("000E C140"));
  stream.finish();
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].at.offset, 200u);
}

}  // namespace
}  // namespace rnic::capture
