// How tcp_tx puts the beats of an FPDU together, without a network.
#include "model/rnic/llp/tcp/fpdu_assembly.h"

#include <gmock/gmock.h>

namespace rnic {
namespace {

class FpduAssemblyTest : public testing::Test {
 protected:
  // Beats of 8 octets, from octet `at` of a buffer on.
  FpduBeat beat(std::uint32_t at, bool first, bool last) {
    FpduBeat b;
    b.buf = buf;
    b.data = buf->bytes() + at;
    b.words = 2;
    b.first = first;
    b.last = last;
    return b;
  }

  BufferPool buffers{2048};
  Buffer* buf = buffers.take().release();
  FpduAssembly fpdu;
};

TEST_F(FpduAssemblyTest, ASegmentHasTheOctetsOfAllBeats) {
  fpdu.add(beat(kFrameHeadroom, true, false), 1);
  fpdu.add(beat(kFrameHeadroom + 8, false, false), 1);
  FpduBeat last = beat(kFrameHeadroom + 16, false, true);
  last.completes_wqe = true;
  {
    const tcp::QueuedSegment segment = fpdu.finish(last);
    EXPECT_EQ(segment.payload_at, kFrameHeadroom);
    EXPECT_EQ(segment.payload_bytes, 24u);
    EXPECT_EQ(segment.flags, wire::TcpHeader::kPsh | wire::TcpHeader::kAck);
    EXPECT_TRUE(segment.completes_wqe);
    EXPECT_EQ(buffers.in_use(), 1u);
  }
  EXPECT_EQ(buffers.in_use(), 0u);  // the segment held the only reference
}

TEST_F(FpduAssemblyTest, TheFirstBeatBeginsANewOne) {
  fpdu.add(beat(kFrameHeadroom, true, false), 1);
  const tcp::QueuedSegment segment = fpdu.finish(beat(kFrameHeadroom + 400, true, true));
  EXPECT_EQ(segment.payload_at, kFrameHeadroom + 400);
  EXPECT_EQ(segment.payload_bytes, 8u);
  EXPECT_FALSE(segment.completes_wqe);
}

}  // namespace
}  // namespace rnic
