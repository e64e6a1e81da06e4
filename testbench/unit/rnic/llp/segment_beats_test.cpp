// A segment's beats.
#include "model/rnic/llp/segment_beats.h"

#include <vector>

#include "model/rnic/messages/early_placed.h"
#include "testbench/support/stage_test.h"

namespace rnic {
namespace {

using testing::ElementsAre;

constexpr FlowFacts kFacts{Qpn{70'000}, 9, true, false};

class SegmentBeatsTest : public test::StageTest {
 protected:
  llp::ReceivedOctets octets(std::uint32_t bytes) {
    BufferRef buf = buffers.take();
    const std::uint8_t* const data = buf->bytes();
    return llp::received_octets(std::move(buf), {data, bytes}, 0);
  }
  StreamBeat take() {
    beats.push(link, 32, free_from, kNever - 1);
    const StreamBeat beat = link.front();
    link.drop_at(link.front_at());
    return beat;
  }
  BufferPool buffers{256};
  llp::SegmentBeats beats;
  Link<StreamBeat> link{"link", clk, LinkConfig::pipeline(8)};
  Cycle free_from = 0;
};

TEST_F(SegmentBeatsTest, CutsASegmentIntoBeats) {
  EXPECT_TRUE(beats.done());
  beats.start(FlowId{3}, kFacts, octets(100), 5000);
  std::vector<unsigned> bytes;
  std::vector<std::uint64_t> offsets;
  std::vector<bool> first, last;
  Buffer* buf = nullptr;
  do {
    const StreamBeat beat = take();
    bytes.push_back(beat.bytes);
    offsets.push_back(beat.offset);
    first.push_back(beat.first);
    last.push_back(beat.last);
    buf = beat.buf;
    EXPECT_EQ(beat.data, buf->bytes() + (beat.offset - 5000));
    EXPECT_EQ(beat.flow, FlowId{3});
    EXPECT_EQ(beat.qpn, kFacts.qpn);
    EXPECT_EQ(beat.life, kFacts.life);
    EXPECT_TRUE(beat.markers && !beat.crc);
    EXPECT_FALSE(beat.placed || beat.ends);
  } while (!link.empty());
  EXPECT_THAT(bytes, ElementsAre(32u, 32u, 32u, 4u));
  EXPECT_THAT(offsets, ElementsAre(5000u, 5032u, 5064u, 5096u));
  EXPECT_THAT(first, ElementsAre(true, false, false, false));
  EXPECT_THAT(last, ElementsAre(false, false, false, true));
  EXPECT_EQ(buffers.in_use(), 1u);  // its reference travels with the last beat
  BufferRef::adopt(buf);
  EXPECT_EQ(buffers.in_use(), 0u);
}

TEST_F(SegmentBeatsTest, OfPlacedOctetsTheHeaderLeaves) {
  llp::ReceivedOctets placed = octets(200);
  placed.header_bytes = kPlacedHeaderBytes;
  beats.start(FlowId{3}, kFacts, std::move(placed), 0);
  StreamBeat beat = take();
  EXPECT_EQ(beat.bytes, kPlacedHeaderBytes);
  EXPECT_TRUE(beat.placed && beat.first && beat.last);
  beat.abandon();
}

TEST_F(SegmentBeatsTest, AWordStandsForTheFin) {
  beats.start_end(FlowId{3}, kFacts, buffers.take(), StreamEnd::kInOrder, 700);
  StreamBeat beat = take();
  EXPECT_EQ(beat.bytes, kEndBytes);
  EXPECT_EQ(beat.offset, 700u);
  EXPECT_TRUE(beat.ends && beat.first && beat.last);
  EXPECT_FALSE(beat.placed);
  EXPECT_EQ(load_be32(beat.data), 0u);
  beat.abandon();
  beats.start_end(FlowId{3}, kFacts, buffers.take(), StreamEnd::kReset, 700);
  beat = take();
  EXPECT_TRUE(beat.ends);
  EXPECT_EQ(load_be16(beat.data), static_cast<std::uint16_t>(StreamEnd::kReset));
  beat.abandon();
  beats.start(FlowId{3}, kFacts, octets(10), 700);  // the next one does not
  beat = take();
  EXPECT_FALSE(beat.ends);
  beat.abandon();
}

}  // namespace
}  // namespace rnic
