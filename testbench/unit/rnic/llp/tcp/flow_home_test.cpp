// TCP flows in their home: every field of both rows is there, and nothing else.
#include "model/rnic/llp/tcp/flow_home.h"

#include <gmock/gmock.h>

#include "model/common/prng.h"

namespace rnic::tcp {
namespace {

using testing::ElementsAreArray;

// What a part has after any octets were unpacked is packed to the same octets.
template <class Part, std::size_t Bytes>
void check_fields(std::uint64_t seed) {
  using Image = HomeImage<Part, Bytes>;
  constexpr std::uint64_t kAt = 4096;
  Prng random(seed);
  std::array<std::uint8_t, Bytes> any{};
  for (unsigned bit = 0; bit < bits_of<Part>(); ++bit) {
    any[bit / 8] |= static_cast<std::uint8_t>((random.next() & 1) << bit % 8);
  }
  Part part;
  UnpackFields fields(any.data());
  visit_fields(fields, part);
  std::array<std::uint8_t, Bytes> packed;
  Image::pack(part, kAt, packed.data());
  std::copy_n(packed.begin() + Image::kFields, 4, any.begin() + Image::kFields);
  EXPECT_THAT(packed, ElementsAreArray(any)) << "seed " << seed;
  Part again;
  ASSERT_TRUE(Image::unpack(packed.data(), kAt, again));
  EXPECT_EQ(describe(again), describe(part));
  EXPECT_FALSE(Image::unpack(packed.data(), kAt + 512, again)) << "the octets of another flow";
}

TEST(FlowHome, HasEveryFieldOfARow) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    check_fields<FlowTx, FlowTxHome::kStateBytes>(seed);
    check_fields<FlowRx, FlowRxHome::kStateBytes>(seed);
    check_fields<QpUse, FlowTxHome::kContextBytes>(seed);
    check_fields<FlowFacts, FlowRxHome::kContextBytes>(seed);
  }
}

TEST(FlowHome, OctetsThatWereNeverWrittenAreAFlowAsInTheBeginning) {
  constexpr std::array<std::uint8_t, FlowTxHome::kStateBytes> kNothing{};
  FlowTx flow;
  flow.open = true;
  ASSERT_TRUE((HomeImage<FlowTx, FlowTxHome::kStateBytes>::unpack(kNothing.data(), 0, flow)));
  EXPECT_EQ(describe(flow), describe(FlowTx{}));
}

}  // namespace
}  // namespace rnic::tcp
