#include "model/common/crc32c.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic {
namespace {

TEST(Crc32c, WorkedExamples) {
  Bytes up(32);
  for (std::size_t i = 0; i < up.size(); ++i) up[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(crc32c(Bytes(32, 0x00)), 0x8a9136aau);
  EXPECT_EQ(crc32c(Bytes(32, 0xff)), 0x62a8ab43u);
  EXPECT_EQ(crc32c(up), 0x46dd794eu);
  EXPECT_EQ(crc32c(Bytes(up.rbegin(), up.rend())), 0x113fdb5cu);
  EXPECT_EQ(crc32c(hex("313233343536373839")), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

// Short and long pieces use different algorithms.
TEST(Crc32c, EveryLengthIsAsDefined) {
  Bytes all(600);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i * i + i / 7);
  for (const std::size_t from : {0u, 1u, 3u}) {
    std::uint32_t state = kCrc32cInit;
    for (std::size_t bytes = 0; from + bytes < all.size(); ++bytes) {
      ASSERT_EQ(crc32c(ByteSpan(all).subspan(from, bytes)), crc32c_final(state)) << bytes;
      state ^= all[from + bytes];
      for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state % 2 != 0 ? 0x82f63b78u : 0);
    }
  }
}

TEST(Crc32c, PiecesGiveTheSameState) {
  const Bytes whole = hex("0016 4143 00000000 00000000 00000001 00000000 DEADBEEF");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::uint32_t state = crc32c_update(kCrc32cInit, ByteSpan(whole).subspan(0, cut));
    EXPECT_EQ(crc32c_final(crc32c_update(state, ByteSpan(whole).subspan(cut))), crc32c(whole)) << cut;
  }
}

TEST(Crc32c, LeastSignificantOctetGoesFirst) {
  Bytes field(4);
  store_crc32c(field.data(), crc32c(hex("0004 DEADBEEF 0000")));
  EXPECT_EQ(field, hex("4AD5C925"));
  EXPECT_EQ(load_crc32c(field.data()), 0x25c9d54au);
}

}  // namespace
}  // namespace rnic
