#include "model/capture/tcp_reassembly.h"

#include <string>

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::capture {
namespace {

class TcpReassemblyTest : public testing::Test {
 protected:
  void give(std::uint32_t seq, const std::string& octets, std::uint64_t offset = 0, std::size_t missing = 0) {
    const ByteSpan span{reinterpret_cast<const std::uint8_t*>(octets.data()), octets.size()};
    tcp.segment(seq, {span, missing, {offset}}, [this](const StreamPart& got) {
      stream.append(got.octets.begin(), got.octets.end());
      stream.append(got.missing, '.');
      offsets.push_back(got.at.offset);
    });
  }
  TcpReassembly tcp;
  std::string stream;
  std::vector<std::uint64_t> offsets;
};

TEST_F(TcpReassemblyTest, NothingBeforeTheSyn) {
  give(1, "abc");
  EXPECT_EQ(stream, "");
  EXPECT_FALSE(tcp.hole());
}

TEST_F(TcpReassemblyTest, ReorderedSegmentsAndTheirOffsets) {
  tcp.start(100);
  give(103, "def", 1);
  give(106, "ghi", 2);
  EXPECT_EQ(stream, "");
  give(100, "abc", 3);
  EXPECT_EQ(stream, "abcdefghi");
  EXPECT_THAT(offsets, testing::ElementsAre(3, 1, 2));
  EXPECT_FALSE(tcp.hole());
}

TEST_F(TcpReassemblyTest, DuplicatesAndOverlapsAreCutOff) {
  tcp.start(100);
  give(100, "abcd");
  give(100, "abcd");
  give(102, "CDef");
  give(99, "?ABCDEFg");
  give(101, "");
  EXPECT_EQ(stream, "abcdefg");
}

TEST_F(TcpReassemblyTest, OverlapsAmongWaitingSegments) {
  tcp.start(0);
  give(2, "cd");
  give(3, "defgh");
  give(4, "e");
  give(6, "gh");
  give(0, "abc");
  EXPECT_EQ(stream, "abcdefgh");
  EXPECT_FALSE(tcp.hole());
}

TEST_F(TcpReassemblyTest, SequenceNumbersWrap) {
  tcp.start(0xfffffffeu);
  give(2, "ef");
  give(0, "cd");
  give(0xfffffffeu, "ab");
  EXPECT_EQ(stream, "abcdef");
}

TEST_F(TcpReassemblyTest, AStreamLongerThanTheSequenceSpaceKeepsItsPlace) {
  tcp.start(7);
  const Bytes chunk(1u << 20);
  std::uint64_t octets = 0;
  std::uint32_t seq = 7;
  for (unsigned i = 0; i < 4100; ++i, seq += 1u << 20) {
    tcp.segment(seq, {chunk, 0, {}}, [&](const StreamPart& got) { octets += got.size(); });
  }
  EXPECT_EQ(octets, std::uint64_t{4100} << 20);
  give(seq + 1, "b");
  give(seq, "a");
  EXPECT_EQ(stream, "ab");
}

TEST_F(TcpReassemblyTest, AHoleIsTold) {
  tcp.start(100);
  give(100, "ab", 1);
  give(110, "k", 2);
  give(105, "f", 3);
  ASSERT_TRUE(tcp.hole());
  EXPECT_EQ(tcp.hole()->at.offset, 3u);
  EXPECT_EQ(tcp.hole()->octets, 3u);
}

TEST_F(TcpReassemblyTest, OctetsThatTheCaptureDidNotKeepHaveTheirPlaces) {
  tcp.start(0);
  give(6, "gh", 3, 2);
  give(0, "ab", 1, 3);
  give(3, "DEF", 2);  // D and E count as missing: the first segment came before
  EXPECT_EQ(stream, "ab...Fgh..");
  give(7, "hijkl", 4);
  EXPECT_EQ(stream, "ab...Fgh..kl");
  give(8, "ij", 5, 6);
  EXPECT_EQ(stream, "ab...Fgh..kl....");
}

TEST_F(TcpReassemblyTest, KeepAliveBeforeTheFirstOctet) {
  tcp.start(100);
  give(99, "?");
  give(100, "a");
  EXPECT_EQ(stream, "a");
}

// Octet by octet from the end: quadratic work would run into the time limit.
TEST_F(TcpReassemblyTest, ReversedOctetsAreNotQuadratic) {
  tcp.start(0);
  for (std::uint32_t seq = 300000; seq-- > 0;) give(seq, "x");
  EXPECT_EQ(stream.size(), 300000u);
}

}  // namespace
}  // namespace rnic::capture
