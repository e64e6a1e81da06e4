#include "model/common/siphash.h"

#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace rnic {
namespace {

// The paper's worked example (appendix A), and the first of the reference implementation's vectors.
TEST(SipHash, HasTheValuesOfItsPaper) {
  std::vector<std::uint8_t> octets(16);
  std::iota(octets.begin(), octets.end(), std::uint8_t{0});
  const SipKey key{load_le64(octets.data()), load_le64(octets.data() + 8)};
  EXPECT_EQ(siphash(key, {octets.data(), 15}), 0xa129ca6149be45e5u);
  EXPECT_EQ(siphash(key, {octets.data(), 0}), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(siphash(key, {octets.data(), 1}), 0x74f839c593dc67fdu);
  EXPECT_EQ(siphash(key, {octets.data(), 8}), 0x93f5f5799a932462u);
}

TEST(SipHash, AStreamIsItsKeys) {
  SipStream a(SipKey::of_seed(1)), again(SipKey::of_seed(1)), other(SipKey::of_seed(2));
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t n = a.next();
    EXPECT_EQ(again.next(), n);
    drawn.insert(n);
    drawn.insert(other.next());
  }
  EXPECT_EQ(drawn.size(), 2000u);
}

}  // namespace
}  // namespace rnic
