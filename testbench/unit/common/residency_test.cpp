#include "model/common/residency.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbench/support/cache_reference.h"

namespace rnic::test {
namespace {

CacheConfig config_of(unsigned entries, unsigned ways, CachePolicy policy) { return {entries, ways, policy, 4, 1}; }

// As a table uses it. Whether it hits.
bool access(Residency& cache, std::uint32_t index) {
  std::uint32_t place = cache.find(index);
  const bool hit = place != Residency::kNone;
  std::uint32_t leaving = 0;
  if (!hit) place = cache.place(index, leaving);
  cache.use(place);
  return hit;
}

// Uniform, skewed and cyclic accesses in turn.
template <class Reference>
void agrees(CachePolicy policy, unsigned entries, unsigned ways) {
  Residency cache(config_of(entries, ways, policy));
  Reference reference(entries / ways, ways);
  Prng random(entries + ways);
  std::uint64_t hits = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    const std::uint64_t wide = random.below(2 * entries), narrow = random.below(1 + wide);
    const auto index = static_cast<std::uint32_t>(n % 3 == 0 ? wide : n % 3 == 1 ? narrow : n % (entries + ways));
    const bool hit = access(cache, index);
    ASSERT_EQ(hit, reference.access(index)) << "access " << n << " of row " << index;
    hits += hit;
  }
  EXPECT_GT(hits, 2000u);
  EXPECT_LT(hits, 19000u);
}

TEST(Residency, LruIsExactly) {
  for (const unsigned ways : {1u, 2u, 3u, 8u, 24u}) agrees<LruReference>(CachePolicy::kLru, 24, ways);
  agrees<LruReference>(CachePolicy::kLru, 64, 64);
}

TEST(Residency, PlruFollowsItsTree) {
  for (const unsigned ways : {1u, 2u, 4u, 16u}) agrees<PlruReference>(CachePolicy::kPlru, 32, ways);
  agrees<PlruReference>(CachePolicy::kPlru, 64, 64);
}

TEST(Residency, AnyRowMakesRoomAtRandomAndTheSameAfterAReset) {
  Residency cache(config_of(8, 8, CachePolicy::kRandom));
  const auto victims = [&cache] {
    std::vector<std::uint32_t> places;
    for (std::uint32_t index = 0; index < 408; ++index) {
      std::uint32_t leaving = 0;
      const std::uint32_t place = cache.place(index, leaving);
      EXPECT_EQ(leaving != Residency::kNone, index >= 8);
      if (index >= 8) places.push_back(place);
    }
    return places;
  };
  const std::vector<std::uint32_t> first = victims();
  EXPECT_EQ(std::set<std::uint32_t>(first.begin(), first.end()).size(), 8u);
  cache.reset();
  EXPECT_EQ(victims(), first);
}

TEST(Residency, APinnedRowStaysWithEachPolicy) {
  for (const CachePolicy policy : {CachePolicy::kLru, CachePolicy::kPlru, CachePolicy::kRandom}) {
    Residency cache(config_of(8, 4, policy));
    for (std::uint32_t index = 0; index < 8; ++index) access(cache, index);
    for (const std::uint32_t index : {0u, 2u, 6u}) cache.pin(cache.find(index));
    for (std::uint32_t index = 8; index < 40; index += 2) {
      access(cache, index);
      for (const std::uint32_t pinned : {0u, 2u, 6u}) ASSERT_NE(cache.find(pinned), Residency::kNone);
    }
    cache.pin(cache.find(38));
    std::uint32_t leaving = 0;
    EXPECT_EQ(cache.place(40, leaving), Residency::kNone) << "all are pinned";
    const std::uint32_t place = cache.find(2);
    cache.unpin(place);
    EXPECT_EQ(cache.place(40, leaving), place);
    EXPECT_EQ(leaving, 2u);
    EXPECT_EQ(cache.find(2), Residency::kNone);
  }
}

TEST(Residency, ADroppedRowIsAFreePlace) {
  Residency cache(config_of(4, 4, CachePolicy::kLru));
  for (std::uint32_t index = 0; index < 4; ++index) access(cache, index);
  const std::uint32_t place = cache.find(2);
  cache.drop(place);
  EXPECT_EQ(cache.find(2), Residency::kNone);
  std::uint32_t leaving = 0;
  EXPECT_EQ(cache.place(9, leaving), place);
  EXPECT_EQ(leaving, Residency::kNone);
}

TEST(Residency, WaysThatDoNotFitAreNamed) {
  EXPECT_EQ(fault_of(config_of(12, 4, CachePolicy::kPlru)), "");
  EXPECT_EQ(fault_of(config_of(12, 3, CachePolicy::kRandom)), "");
  EXPECT_EQ(fault_of(config_of(10, 4, CachePolicy::kLru)), "ways: 4 do not divide 10 entries");
  EXPECT_EQ(fault_of(config_of(2, 4, CachePolicy::kLru)), "ways: 4 do not divide 2 entries");
  EXPECT_EQ(fault_of(config_of(12, 3, CachePolicy::kPlru)), "ways: plru needs a power of two, not 3");
}

}  // namespace
}  // namespace rnic::test
