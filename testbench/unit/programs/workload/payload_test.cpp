#include "model/programs/workload/payload.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace rnic::workload {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Payload, ComparesEqualToWhatItFilledForEverySize) {
  for (const Pattern pattern : {Pattern::kRandom, Pattern::kCounting}) {
    const PayloadGenerator generator(pattern, 7);
    for (std::size_t size = 0; size < 40; ++size) {
      std::vector<std::uint8_t> bytes(size);
      generator.fill(bytes, 3);
      EXPECT_FALSE(generator.compare(bytes, 3));
    }
  }
}

TEST(Payload, FindsAFlippedBitAtEachOctet) {
  const PayloadGenerator generator(Pattern::kRandom, 7);
  for (std::size_t i = 0; i < 29; ++i) {
    std::vector<std::uint8_t> bytes(29);
    generator.fill(bytes, 5);
    bytes[i] ^= 0x10;
    const auto d = generator.compare(bytes, 5);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->offset, i);
    EXPECT_EQ(d->found, bytes[i]);
    EXPECT_EQ(d->expected, bytes[i] ^ 0x10);
  }
}

TEST(Payload, AnotherMessageOrSeedIsAnotherContent) {
  std::vector<std::uint8_t> bytes(64);
  PayloadGenerator(Pattern::kRandom, 7).fill(bytes, 5);
  EXPECT_TRUE(PayloadGenerator(Pattern::kRandom, 7).compare(bytes, 6));
  EXPECT_TRUE(PayloadGenerator(Pattern::kRandom, 8).compare(bytes, 5));
}

TEST(Payload, CountingBeginsWithTheMessageNumber) {
  std::vector<std::uint8_t> bytes(10);
  PayloadGenerator(Pattern::kCounting, 7).fill(bytes, 0xfe);
  EXPECT_THAT(bytes, ElementsAre(0xfe, 0xff, 0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Sizes, LawsKeepTheirBounds) {
  EXPECT_THAT(message_sizes({SizeLaw::kFixed, 100, 100}, 3, 1), ElementsAre(100, 100, 100));
  EXPECT_THAT(message_sizes({SizeLaw::kPowersOfTwo, 1, 8}, 6, 1), ElementsAre(1, 2, 4, 8, 1, 2));
  EXPECT_THAT(message_sizes({SizeLaw::kPowersOfTwo, 3, 20}, 4, 1), ElementsAre(4, 8, 16, 4));
  EXPECT_THAT(message_sizes({SizeLaw::kUniform, 10, 12}, 100, 1),
              Each(testing::AllOf(testing::Ge(10), testing::Le(12))));
}

TEST(Sizes, LogUniformReachesEveryOctaveAndBothEnds) {
  const auto sizes = message_sizes({SizeLaw::kLogUniform, 1, 65536}, 4000, 1);
  EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 1u);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 65536u);
  for (unsigned octave = 0; octave < 16; ++octave) {
    const auto n = std::count_if(sizes.begin(), sizes.end(), [=](std::uint32_t s) { return s >> octave == 1; });
    EXPECT_GT(n, 4000 / 17 / 2) << octave;
  }
  EXPECT_EQ(sizes, message_sizes({SizeLaw::kLogUniform, 1, 65536}, 4000, 1));
  EXPECT_NE(sizes, message_sizes({SizeLaw::kLogUniform, 1, 65536}, 4000, 2));
}

}  // namespace
}  // namespace rnic::workload
