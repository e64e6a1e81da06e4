#include "model/common/rounded.h"

#include <gtest/gtest.h>

namespace rnic {
namespace {

TEST(Rounded, KeepsItsDigits) {
  EXPECT_EQ(rounded(0.1 + 0.2, 12), 0.3);
  EXPECT_EQ(rounded(1234567, 6), 1234570);
  EXPECT_EQ(rounded(-2.0 / 3, 6), -0.666667);
  EXPECT_EQ(rounded(-1.25e-300, 3), -1.25e-300);
  EXPECT_EQ(rounded(1.7976931348623157e308, 17), 1.7976931348623157e308);
  EXPECT_EQ(rounded(0, 6), 0);
}

}  // namespace
}  // namespace rnic
