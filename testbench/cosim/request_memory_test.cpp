#include "rtl-stubs/verilated/request_memory.h"

#include <algorithm>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "model/common/prng.h"

namespace rnic::rtl {
namespace {

// Queues of some QPs fill up and run empty, and each restarts at any position.
TEST(RequestMemoryTest, HoldsWhatWaitsWhereverItsPositionsBegin) {
  constexpr std::uint32_t kQps = 5, kDepth = 32;
  struct Queue {
    std::uint32_t head = 0;
    std::deque<std::uint64_t> waiting;
  };
  RequestMemory<std::uint64_t> memory(kQps, kDepth);
  std::vector<Queue> queues(kQps);
  Prng rng(1);
  std::size_t most = 0;
  for (unsigned step = 0; step < 20'000; ++step) {
    const auto n = static_cast<std::uint32_t>(rng.below(kQps));
    Queue& q = queues[n];
    const auto index = [&](std::size_t i) { return n * kDepth + (q.head + static_cast<std::uint32_t>(i)) % kDepth; };
    if (rng.below(500) == 0) q = {static_cast<std::uint32_t>(rng.below(kDepth)), {}};
    const bool fills = step / 1000 % 2 == 0;
    if (q.waiting.size() < kDepth && rng.below(8) < (fills ? 5 : 3)) {
      q.waiting.push_back(rng.next());
      const auto count = static_cast<std::uint32_t>(q.waiting.size());
      memory.write(index(count - 1), count, q.waiting.back());
    } else if (!q.waiting.empty()) {
      q.waiting.pop_front();
      ++q.head;
    }
    most = std::max(most, q.waiting.size());
    for (std::size_t i = 0; i < q.waiting.size(); ++i) ASSERT_EQ(memory[index(i)], q.waiting[i]) << "step " << step;
  }
  EXPECT_EQ(most, kDepth);
}

TEST(RequestMemoryTest, RefusesNoneAndMoreRequestsThanPositions) {
  RequestMemory<int> memory(2, 4);
  memory.write(4 + 3, 4, 1);
  EXPECT_THROW(memory.write(4 + 3, 0, 2), InternalError);
  EXPECT_THROW(memory.write(4 + 0, 5, 2), InternalError);
}

}  // namespace
}  // namespace rnic::rtl
