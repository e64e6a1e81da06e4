// What a connection keeps out of order, within which limits, and what SACK may report of it, without a network.
#include "model/rnic/llp/tcp/reassembly_queue.h"

#include <map>
#include <utility>

#include <gmock/gmock.h>

#include "model/common/prng.h"

namespace rnic::tcp {
namespace {

using testing::Pair;

class ReassemblyQueueTest : public testing::Test {
 protected:
  ~ReassemblyQueueTest() override { queue.clear(memory); }

  // Octets of a segment: each is the low octet of its sequence number.
  ReassemblyQueue::Kept keep(std::uint32_t seq, std::uint32_t bytes, bool fin = false) {
    BufferRef buf = buffers.take();
    for (std::uint32_t i = 0; i < bytes; ++i) buf->bytes()[i] = static_cast<std::uint8_t>(seq + i);
    return queue.keep(memory, buf, seq, {buf->bytes(), bytes}, fin);
  }
  std::pair<std::uint32_t, std::uint32_t> run_of(const ReassemblyQueue::Kept& kept) {
    return {kept.run.left, kept.run.right};
  }
  // Takes octets from `rcv_nxt` on. Returns the end of the octets in order.
  std::uint32_t drain(std::uint32_t rcv_nxt) {
    while (queue.octets_at(memory, rcv_nxt)) {
      const llp::ReceivedOctets octets = queue.take_front(memory);
      EXPECT_EQ(octets.seq, rcv_nxt);
      for (std::uint32_t i = 0; i < octets.bytes && octets.header_bytes == 0; ++i) {
        EXPECT_EQ(octets.data[i], static_cast<std::uint8_t>(rcv_nxt + i));
      }
      rcv_nxt = octets.end();
    }
    return rcv_nxt;
  }
  bool replace(std::uint32_t seq, std::uint32_t bytes) {
    return queue.replace(memory, seq, bytes, buffers.take(), kHeader);
  }

  static constexpr std::uint32_t kHeader = 16;
  BufferPool buffers{2048};
  ReassemblyMemory memory{1000, 8};
  ReassemblyQueue queue;
};

TEST_F(ReassemblyQueueTest, KeepsOctetsUntilTheGapIsFilled) {
  EXPECT_TRUE(queue.empty());
  keep(200, 50);
  keep(300, 50);
  EXPECT_EQ(queue.first(memory), 200u);
  EXPECT_EQ(memory.bytes, 100u);
  EXPECT_FALSE(queue.octets_at(memory, 100));
  EXPECT_EQ(drain(200), 250u);
  EXPECT_EQ(drain(300), 350u);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(memory.bytes, 0u);
  EXPECT_EQ(buffers.in_use(), 0u);
}

TEST_F(ReassemblyQueueTest, OrdersWhatComesInAnyOrder) {
  keep(300, 50);
  keep(200, 50);
  keep(250, 50);
  EXPECT_EQ(drain(200), 350u);
}

TEST_F(ReassemblyQueueTest, KeepsNoOctetTwice) {
  keep(200, 50);
  keep(300, 50);
  EXPECT_FALSE(keep(180, 200).whole);  // before, between and after both
  EXPECT_EQ(memory.bytes, 200u);
  EXPECT_EQ(queue.pieces(), 5u);
  EXPECT_FALSE(keep(190, 100).dropped);  // nothing new
  EXPECT_EQ(queue.pieces(), 5u);
  EXPECT_EQ(drain(180), 380u);
}

TEST_F(ReassemblyQueueTest, SaysWhichSegmentsAreNewAsAWhole) {
  EXPECT_TRUE(keep(200, 50).whole);
  EXPECT_TRUE(keep(250, 50).whole);
  EXPECT_FALSE(keep(280, 40).whole);  // its end is new
  EXPECT_FALSE(keep(180, 40).whole);  // its start is new
  EXPECT_FALSE(keep(200, 50).whole);
}

TEST_F(ReassemblyQueueTest, ReportsTheRunThatASegmentBecamePartOf) {
  EXPECT_THAT(run_of(keep(200, 50)), Pair(200u, 250u));
  EXPECT_THAT(run_of(keep(300, 50)), Pair(300u, 350u));
  EXPECT_THAT(run_of(keep(350, 10)), Pair(300u, 360u));
  EXPECT_THAT(run_of(keep(210, 10)), Pair(200u, 250u));  // a duplicate
  EXPECT_THAT(run_of(keep(250, 50)), Pair(200u, 360u));
  EXPECT_THAT(run_of(keep(400, 10)), Pair(400u, 410u));
  EXPECT_THAT(run_of(keep(390, 10)), Pair(390u, 410u));
  EXPECT_THAT(run_of(keep(410, 10)), Pair(390u, 420u));
}

TEST_F(ReassemblyQueueTest, DropsWhatExceedsTheMemoryOfAllFlows) {
  ReassemblyQueue other;
  const BufferRef buf = buffers.take();
  other.keep(memory, buf, 0, {buf->bytes(), 900}, false);
  const ReassemblyQueue::Kept kept = keep(200, 101);
  EXPECT_TRUE(kept.dropped);
  EXPECT_EQ(kept.run.left, kept.run.right);
  EXPECT_FALSE(keep(200, 100).dropped);
  EXPECT_EQ(memory.bytes_peak, 1000u);
  other.clear(memory);
  EXPECT_EQ(memory.bytes, 100u);
  EXPECT_FALSE(keep(400, 900).dropped);
}

TEST_F(ReassemblyQueueTest, DropsWhatExceedsTheSegmentsOfItsFlow) {
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_FALSE(keep(200 + 10 * i, 1).dropped);
  EXPECT_TRUE(keep(300, 1).dropped);
  EXPECT_EQ(memory.segments_peak, 8u);
  EXPECT_FALSE(keep(270, 1).dropped);  // known octet
  drain(200);
  EXPECT_FALSE(keep(300, 1).dropped);
}

// The part before the octets that do not fit is kept, and SACK reports it.
TEST_F(ReassemblyQueueTest, KeepsTheFirstPartOfWhatDoesNotFit) {
  keep(300, 10);
  keep(1000, 900);
  const ReassemblyQueue::Kept kept = keep(250, 200, true);
  EXPECT_TRUE(kept.dropped);
  EXPECT_FALSE(kept.whole);
  EXPECT_THAT(run_of(kept), Pair(250u, 310u));
  EXPECT_FALSE(queue.fin_at(450));  // octets before it are missing
}

TEST_F(ReassemblyQueueTest, KeepsAFinAtItsPlace) {
  keep(200, 50, true);
  EXPECT_FALSE(queue.fin_at(200));
  EXPECT_TRUE(queue.fin_at(250));
  EXPECT_EQ(drain(200), 250u);
  EXPECT_FALSE(queue.empty());
  queue.clear(memory);
  EXPECT_TRUE(queue.empty());
  keep(300, 0, true);  // without octets
  EXPECT_FALSE(queue.has_octets());
  EXPECT_TRUE(queue.fin_at(300));
}

TEST_F(ReassemblyQueueTest, SequenceNumbersWrap) {
  EXPECT_THAT(run_of(keep(0xfffffff0, 32)), Pair(0xfffffff0u, 0x10u));
  EXPECT_THAT(run_of(keep(0xffffffe0, 16)), Pair(0xffffffe0u, 0x10u));
  EXPECT_THAT(run_of(keep(0x20, 16)), Pair(0x20u, 0x30u));
  EXPECT_EQ(drain(0xffffffe0), 0x10u);
}

// ---- Octets that are in host memory

TEST_F(ReassemblyQueueTest, ReplacesPlacedOctetsByTheirHeader) {
  keep(200, 100);
  EXPECT_TRUE(replace(200, 100));
  EXPECT_EQ(memory.bytes, kHeader);
  EXPECT_EQ(buffers.in_use(), 1u);
  const llp::ReceivedOctets octets = queue.take_front(memory);
  EXPECT_EQ(octets.bytes, 100u);
  EXPECT_EQ(octets.header_bytes, kHeader);
  EXPECT_EQ(memory.bytes, 0u);
}

TEST_F(ReassemblyQueueTest, CutsPlacedOctetsOutOfTheirSegment) {
  keep(200, 100);
  EXPECT_TRUE(replace(230, 40));
  EXPECT_EQ(queue.pieces(), 3u);
  EXPECT_EQ(memory.bytes, 60u + kHeader);
  EXPECT_THAT(run_of(keep(300, 1)), Pair(200u, 301u));
  EXPECT_EQ(drain(200), 301u);
}

TEST_F(ReassemblyQueueTest, CutsOnlyWhileHalfOfTheListIsLeft) {
  keep(200, 100);
  keep(300, 100);
  keep(400, 100);
  EXPECT_FALSE(replace(230, 40));  // five pieces of eight
  EXPECT_TRUE(replace(200, 40));   // four
  EXPECT_TRUE(replace(300, 100));  // no cut
  EXPECT_FALSE(replace(400, 40));
  EXPECT_EQ(queue.pieces(), 4u);
}

TEST_F(ReassemblyQueueTest, ReplacesOnlyWhatItHas) {
  keep(200, 50);
  keep(250, 50);
  EXPECT_FALSE(replace(220, 60));  // two pieces
  EXPECT_FALSE(replace(190, 20));
  EXPECT_FALSE(replace(280, 40));
  EXPECT_FALSE(replace(300, 10));
  drain(200);
  EXPECT_FALSE(replace(200, 50));
}

// ---- Against a model with a map of octets

TEST_F(ReassemblyQueueTest, AgreesWithAModelUnderRandomUse) {
  memory.max_bytes = 1 << 20;
  memory.max_segments = 1000;
  Prng prng(7);
  for (unsigned round = 0; round < 50; ++round) {
    const std::uint32_t base = 0xffffff00;  // wraps
    std::map<std::uint32_t, bool> known;    // by distance
    for (unsigned step = 0; step < 40; ++step) {
      const auto at = static_cast<std::uint32_t>(1 + prng.below(500));
      const auto bytes = static_cast<std::uint32_t>(1 + prng.below(60));
      const ReassemblyQueue::Kept kept = keep(base + at, bytes);
      for (std::uint32_t i = 0; i < bytes; ++i) known[at + i] = true;
      std::uint32_t left = at, right = at;
      while (known.count(left - 1)) --left;
      while (known.count(right)) ++right;
      ASSERT_THAT(run_of(kept), Pair(base + left, base + right));
      ASSERT_EQ(memory.bytes, known.size());
    }
    while (!known.empty()) {
      std::uint32_t end = known.begin()->first;
      const std::uint32_t start = end;
      for (; known.count(end); ++end) known.erase(end);
      ASSERT_EQ(drain(base + start), base + end);
    }
    ASSERT_EQ(memory.bytes, 0u);
  }
}

}  // namespace
}  // namespace rnic::tcp
