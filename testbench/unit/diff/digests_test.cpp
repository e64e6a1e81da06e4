#include "model/diff/digests.h"

#include <gmock/gmock.h>

#include "model/diff/words.h"
#include "testbench/unit/diff/told_events.h"

namespace rnic::diff::test {
namespace {

TEST(OwnerSumsTest, KeepsEachOwnerApartWhileItGrows) {
  OwnerSums sums;
  constexpr std::uint64_t kOwners = 100'000;
  for (const unsigned round : {1u, 2u}) {
    for (std::uint64_t i = 0; i < kOwners; ++i) sums[owner_of(mix(i), i % 2 == 0)] += i * round;
  }
  EXPECT_EQ(sums.size(), kOwners);
  for (std::uint64_t i = 0; i < kOwners; ++i) {
    const std::uint64_t* const sum = sums.find(owner_of(mix(i), i % 2 == 0));
    ASSERT_NE(sum, nullptr);
    ASSERT_EQ(*sum, 3 * i);
  }
  EXPECT_EQ(sums.find(owner_of(mix(kOwners), true)), nullptr);
  std::uint64_t total = 0;
  sums.each([&total](Owner, std::uint64_t sum) { total += sum; });
  EXPECT_EQ(total, 3 * (kOwners * (kOwners - 1) / 2));
}

TEST(OwnerTest, TellsWorkRequestsAndIsNeverNone) {
  for (std::uint64_t hashed = 0; hashed < 16; ++hashed) {
    EXPECT_TRUE(is_work(owner_of(hashed, true)));
    EXPECT_FALSE(is_work(owner_of(hashed, false)));
    for (const bool work : {true, false}) {
      EXPECT_NE(owner_of(hashed, work), 0u);
      EXPECT_NE(owner_of(hashed, work), kNoOwner);
    }
  }
}

Digests of(std::vector<Line> lines) {
  Vocabulary vocabulary;
  ToldEvents events(std::move(lines), vocabulary, 0);
  const OwnerSums without;
  return digest(events, {vocabulary, without});
}

TEST(DigestsTest, AChunkOfEach1024Rows) {
  for (const auto& [rows, chunks] : {std::pair(0u, 0u), {1u, 1u}, {1023u, 1u}, {1024u, 1u}, {1025u, 2u}, {2048u, 2u}}) {
    std::vector<Line> lines(rows, {5, "0", "p", "x", 0, 0});
    lines.push_back({6, "0", "q", "x", 0, 0});
    const Digests digests = of(std::move(lines));
    EXPECT_EQ(digests.places.size(), rows == 0 ? 1u : 2u);
    EXPECT_EQ(digests.places.back().rows, 1u);
    if (rows != 0) {
      EXPECT_EQ(digests.places.front().chunks.size(), chunks) << rows;
    }
    EXPECT_EQ(digests.rows, rows + 1);
    EXPECT_EQ(digests.last_ps, 6u);
  }
}

// What an owner did is a sum over places, and no time goes into it.
TEST(DigestsTest, SumsDependOnWhatHappenedAlone) {
  const Owner owner = owner_of(hash("0"), true);
  const std::vector<Line> lines = {{1, "0", "p", "x", 0, 0}, {2, "0", "q", "x", 0, 0}};
  const std::uint64_t sum = *of(lines).owners.find(owner);
  EXPECT_EQ(sum, *of({{7, "0", "p", "x", 0, 0}, {9, "0", "q", "x", 0, 0}}).owners.find(owner));
  EXPECT_NE(sum, *of({{1, "0", "p", "x", 1, 0}, {2, "0", "q", "x", 0, 0}}).owners.find(owner));
  EXPECT_NE(sum, *of({{1, "0", "p", "x", 0, 1}, {2, "0", "q", "x", 0, 0}}).owners.find(owner));
  EXPECT_NE(sum, *of({{1, "0", "p", "x", 0, 0}}).owners.find(owner));
}

TEST(WordsTest, TheTimeOfACommandIsLeftOut) {
  EXPECT_EQ(without_time("create_qp, 105 cycles"), "create_qp");
  EXPECT_EQ(without_time("connect"), "connect");
  for (const char* text : {"", " cycles", "105 cycles", ", 105 cycles of two", "x, cycles", "x 105 cycles"}) {
    EXPECT_EQ(without_time(text), text);
  }
}

}  // namespace
}  // namespace rnic::diff::test
