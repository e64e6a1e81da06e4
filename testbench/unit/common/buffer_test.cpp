#include "model/common/buffer.h"

#include <gmock/gmock.h>

namespace rnic {
namespace {

TEST(BufferTest, ABlockGoesBackWhenItsLastReferenceDies) {
  BufferPool pool(128);
  BufferRef a = pool.take();
  EXPECT_EQ(a->capacity(), 128u);
  BufferRef b = a;
  EXPECT_TRUE(a.shared());
  a = {};
  EXPECT_EQ(pool.in_use(), 1u);
  EXPECT_FALSE(b.shared());
  b = {};
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(BufferTest, TheReferenceOfAPacketTravelsWithItsBeats) {
  BufferPool pool(128);
  Buffer* travelling = pool.take().release();
  EXPECT_EQ(pool.in_use(), 1u);
  { const BufferRef consumer = BufferRef::adopt(travelling); }
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(BufferTest, ReferencesOutliveTheirPool) {
  BufferRef kept;
  {
    BufferPool pool(64);
    kept = pool.take();
    pool.take().release();  // a beat that nothing took
    kept->bytes()[63] = 7;
  }
  const BufferRef other = kept;
  kept = {};
  EXPECT_EQ(other->bytes()[63], 7);
}

TEST(BufferTest, BlocksOfOneSlabAndTheNextDoNotOverlap) {
  BufferPool pool(64);
  std::vector<BufferRef> refs;
  for (int i = 0; i < 100; ++i) {
    refs.push_back(pool.take());
    std::fill_n(refs.back()->bytes(), 64, static_cast<std::uint8_t>(i));
  }
  for (int i = 0; i < 100; ++i) {
    const std::uint8_t* p = refs[static_cast<std::size_t>(i)]->bytes();
    EXPECT_THAT(std::vector<int>(p, p + 64), testing::Each(i));
  }
  EXPECT_EQ(pool.in_use(), 100u);
}

}  // namespace
}  // namespace rnic
