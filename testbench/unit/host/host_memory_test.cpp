#include "model/host/host_memory.h"

#include <set>

#include <gtest/gtest.h>

#include "model/common/check.h"

namespace rnic::host {
namespace {

TEST(HostMemory, AllocatesAlignedAndZeroed) {
  HostMemory memory({0x100000000, 1});
  EXPECT_EQ(memory.alloc(10), 0x100000000u);
  EXPECT_EQ(memory.alloc(1), 0x100000040u);
  EXPECT_EQ(memory.alloc(8, 4096), 0x100001000u);
  for (const std::uint8_t octet : {memory.span(0x100001000, 8)[0], memory.span(0x100001000, 8)[7]}) EXPECT_EQ(octet, 0);
}

TEST(HostMemory, OnlyAllocatedOctetsExist) {
  HostMemory memory({0x1000, 1});
  const std::uint64_t a = memory.alloc(100);
  EXPECT_NE(memory.find(a, 100), nullptr);
  EXPECT_EQ(memory.find(a + 100, 0), memory.find(a, 100) + 100);
  EXPECT_EQ(memory.find(a, 101), nullptr);
  EXPECT_EQ(memory.find(a - 1, 1), nullptr);
  EXPECT_EQ(memory.find(a + 101, 0), nullptr);
  EXPECT_EQ(memory.find(a, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(memory.find(~std::uint64_t{0}, 2), nullptr);
  EXPECT_THROW(memory.span(a, 101), InternalError);
}

TEST(HostMemory, PointersOutliveLaterAllocations) {
  HostMemory memory({0x1000, 64});
  const std::uint64_t a = memory.alloc(4);
  std::uint8_t* first = memory.find(a, 4);
  first[3] = 0x5a;
  memory.alloc(32 << 20);
  EXPECT_EQ(memory.find(a, 4), first);
  EXPECT_EQ(memory.span(a, 4)[3], 0x5a);
}

TEST(HostMemory, WhatIsGivenBackIsHandedOutAgainZeroedAndInOnePiece) {
  HostMemory memory({0x1000, 1});
  std::uint64_t pieces[4];
  for (std::uint64_t& p : pieces) p = memory.alloc(4096, 4096);
  const std::uint64_t used = memory.used();
  memory.span(pieces[1], 4096)[7] = 0x5a;
  for (const unsigned i : {2u, 1u}) memory.free(pieces[i], 4096);
  EXPECT_EQ(memory.alloc(8192, 4096), pieces[1]);
  EXPECT_EQ(memory.span(pieces[1], 4096)[7], 0);
  memory.free(pieces[1], 8192);
  EXPECT_EQ(memory.alloc(100, 64), pieces[1]);
  EXPECT_EQ(memory.alloc(4096, 4096), pieces[2]);  // the rest of the first page is too small
  EXPECT_EQ(memory.alloc(64, 64), pieces[1] + 128);
  EXPECT_EQ(memory.used(), used);
  EXPECT_EQ(memory.alloc(4096, 4096), pieces[3] + 4096);
}

TEST(HostMemory, GivingBackTwiceIsABug) {
  HostMemory memory({0x1000, 1});
  const std::uint64_t a = memory.alloc(128);
  memory.free(a, 64);
  EXPECT_THROW(memory.free(a, 64), InternalError);
  EXPECT_THROW(memory.free(a + 32, 64), InternalError);
  EXPECT_THROW(memory.free(a + 128, 64), InternalError);
}

TEST(HostMemory, FullIsAConfigurationError) {
  HostMemory memory({0x1000, 1});
  EXPECT_NO_THROW(memory.alloc(1 << 20));
  EXPECT_THROW(memory.alloc(1), ConfigError);
}

TEST(HostMemory, ScatteredPagesAreAlignedDifferentAndNeverNeighboursInARow) {
  HostMemory memory;
  memory.alloc(100);
  const std::vector<std::uint64_t> pages = memory.alloc_pages(32, 12);
  std::set<std::uint64_t> different(pages.begin(), pages.end());
  EXPECT_EQ(different.size(), 32u);
  bool falls = false;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    EXPECT_EQ(pages[i] % 4096, 0u);
    EXPECT_TRUE(memory.contains(pages[i], 4096));
    if (i == 0) continue;
    EXPECT_NE(pages[i], pages[i - 1] + 4096);
    falls |= pages[i] < pages[i - 1];
  }
  EXPECT_TRUE(falls);
  HostMemory again;
  again.alloc(100);
  EXPECT_EQ(again.alloc_pages(32, 12), pages);
}

}  // namespace
}  // namespace rnic::host
