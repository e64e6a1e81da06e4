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

// A stream of which a capture kept the first octets of each segment only.
class CutStreamTest : public testing::Test {
 protected:
  void start(bool markers) {
    stream.push(kRequest, {});
    stream.enter_rdma(markers, true);
  }
  // A segment in a frame of its own.
  void segment(const Bytes& octets, std::size_t kept) {
    const ByteSpan there = ByteSpan(octets).subspan(0, kept);
    stream.push(there, {0, ++frame});
    if (there.size() < octets.size()) stream.skip(octets.size() - there.size());
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> list;
    for (const SeenFpdu& f : seen) {
      constexpr const char* kCrc[] = {"right", "wrong", "off", "missing"};
      list.push_back(std::to_string(f.first.frame) + "-" + std::to_string(f.last.frame) + " " +
                     (f.header ? wire::to_string(f.header->opcode) : "?") + " " + std::to_string(f.payload_bytes) +
                     " " + kCrc[static_cast<int>(f.crc)]);
    }
    return list;
  }
  UndecodedList undecoded;
  std::vector<SeenFpdu> seen;
  IwarpStream stream{wire::MpaFrameKind::kRequest, "a > b", undecoded,
                     [this](const SeenFpdu& f) { seen.push_back(f); }};
  std::uint64_t frame = 0;

  // RFC 5044 figure 5, and the same FPDU without markers.
  const Bytes figure5 = hex("00000000 002A 4143 00000000 00000000 00000001 00000000") + Bytes(24, 0) + hex("52239983");
  const Bytes write = hex("000E C140 00000000 0000000000000000 A30572AB");
};

TEST_F(CutStreamTest, TheLengthIsEnoughToFindTheNextFpdu) {
  const Bytes plain = hex("002A 4143 00000000 00000000 00000001 00000000") + Bytes(24, 0) + hex("00000000");
  for (std::size_t kept = 2; kept < plain.size(); ++kept) {
    seen.clear();
    UndecodedList none;
    IwarpStream one(wire::MpaFrameKind::kRequest, "", none, [this](const SeenFpdu& f) { seen.push_back(f); });
    one.push(kRequest, {});
    one.enter_rdma(false, true);
    one.push(ByteSpan(plain).subspan(0, kept), {0, 1});
    one.skip(plain.size() - kept);
    one.push(write, {0, 2});
    one.finish();
    const char* const expected = kept < 2 + 18 ? "1-1 ? 42 missing" : "1-1 Send 24 missing";
    EXPECT_THAT(texts(), ElementsAre(expected, "2-2 RDMA Write 0 right")) << kept;
    EXPECT_TRUE(none.empty()) << kept;
    EXPECT_EQ(one.counts().cut, 1u);
    EXPECT_EQ(one.counts().payload_bytes, kept < 2 + 18 ? 0u : 24u);
  }
}

TEST_F(CutStreamTest, MarkersAreCountedAndCheckedWhereTheyAre) {
  start(true);
  segment(figure5, 24);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].markers, 1u);
  EXPECT_EQ(seen[0].header->msn, 1u);
  EXPECT_TRUE(undecoded.empty());
}

TEST_F(CutStreamTest, AnFpduInSeveralSegments) {
  start(false);
  const Bytes fpdu = hex("012A C140 00000000 0000000000000000") + Bytes(0x12a - 14, 0) + hex("00000000");
  const auto part = [&](std::size_t from, std::size_t to) { return Bytes(fpdu.begin() + from, fpdu.begin() + to); };
  segment(part(0, 100), 30);
  EXPECT_TRUE(seen.empty());
  segment(part(100, 200), 0);
  segment(part(200, fpdu.size()) + write, SIZE_MAX);
  EXPECT_THAT(texts(), ElementsAre("1-3 RDMA Write 284 missing", "3-3 RDMA Write 0 right"));
}

TEST_F(CutStreamTest, BehindAMissingHeaderTheNextSegmentThatBeginsWithOneCounts) {
  start(false);
  segment(write + write, write.size() + 1);
  segment(Bytes(64, 0x55), SIZE_MAX);
  segment(hex("0012 4143 00000000 00000007 00000001 00000000 00000000"), SIZE_MAX);  // a Send to queue 7
  segment(write, 16);
  stream.finish();
  EXPECT_THAT(texts(), ElementsAre("1-1 RDMA Write 0 right", "4-4 RDMA Write 0 missing"));
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].at.frame, 1u);
  EXPECT_EQ(undecoded[0].reason, "a > b: from here on FPDUs are left out whose header the capture did not keep");
}

TEST_F(CutStreamTest, ASegmentWithAWrongMarkerBeginsNoFpdu) {
  start(true);
  segment(figure5 + Bytes(512 - figure5.size(), 0), 3);  // up to a marker
  segment(hex("00000008") + write, SIZE_MAX);
  EXPECT_TRUE(seen.empty());
}

TEST_F(CutStreamTest, ASegmentWithARightMarkerBeginsOne) {
  start(true);
  segment(figure5 + Bytes(512 - figure5.size(), 0), 3);
  segment(hex("00000000") + write, 22);
  EXPECT_THAT(texts(), ElementsAre("2-2 RDMA Write 0 missing"));
}

TEST_F(CutStreamTest, PrivateDataMayBeMissingButNotTheDepths) {
  segment(kRequest, 24);
  EXPECT_EQ(stream.phase(), Phase::kNegotiating);
  EXPECT_EQ(stream.startup()->pd_length(), 5u);
  IwarpStream other(wire::MpaFrameKind::kRequest, "a > b", undecoded);
  other.push(ByteSpan(kRequest).subspan(0, 23), {});
  other.skip(2);
  EXPECT_EQ(other.phase(), Phase::kBroken);
  ASSERT_EQ(undecoded.size(), 1u);
  EXPECT_EQ(undecoded[0].reason, "a > b: the capture did not keep the startup frame");
}

}  // namespace
}  // namespace rnic::capture
