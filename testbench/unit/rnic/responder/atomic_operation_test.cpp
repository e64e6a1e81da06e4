#include "model/rnic/responder/atomic_operation.h"

#include <gtest/gtest.h>

#include "model/common/prng.h"
#include "testbench/unit/rnic/responder/masked_reference.h"

namespace rnic::test {
namespace {

// Wire-facts 30 to 37.
TEST(AtomicOperationTest, FetchAddOfTheWorkedExamples) {
  EXPECT_EQ(masked_add(0xffffffff, 1, 0), 0x100000000u);
  EXPECT_EQ(masked_add(0xffffffffffffffff, 0x0000000100000001, 0x8000000080000000), 0u);
  EXPECT_EQ(masked_add(0xffff0001ffff7fff, 0x0001000200010001, 0x8000800080008000), 0x0000000300008000u);
  EXPECT_EQ(masked_add(0xff01ff02ff03ff04, 0x0101010101010101, 0x8080808080808080), 0x0002000300040005u);
  EXPECT_EQ(masked_add(0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00, ~std::uint64_t{0}), 0x0ff00ff00ff00ff0u);
}

TEST(AtomicOperationTest, CmpSwapOfTheWorkedExamples) {
  using wire::AtomicRequest;
  const std::uint64_t v = 0x1111222233334444, all = ~std::uint64_t{0};
  EXPECT_EQ(execute(AtomicRequest::cmp_swap(0xaaaabbbbccccdddd, 0xffff000000000000, 0x4444, 0xffff), v).value,
            0xaaaa222233334444u);
  EXPECT_EQ(execute(AtomicRequest::cmp_swap(5, all, 99, 0), v).value, 5u);
  EXPECT_EQ(execute(AtomicRequest::cmp_swap(5, 0, v, all), v).value, v);
  EXPECT_FALSE(execute(AtomicRequest::cmp_swap(5, all, v + 1, all), v).writes);
}

TEST(AtomicOperationTest, EqualsTheReferenceBitByBit) {
  std::uint64_t state = 1;
  const auto draw = [&state] {  // ones are rarer, fields longer
    const std::uint64_t some = mix64(++state);
    return some & mix64(++state);
  };
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t value = mix64(++state), add = mix64(++state), mask = draw();
    ASSERT_EQ(masked_add(value, add, mask), reference_add(value, add, mask)) << i;
    const std::uint64_t compare = i % 2 != 0 ? value ^ draw() : value, compare_mask = draw();
    const auto r = execute(wire::AtomicRequest::cmp_swap(add, mask, compare, compare_mask), value);
    ASSERT_EQ(r.value, reference_swap(value, compare, compare_mask, add, mask)) << i;
  }
}

}  // namespace
}  // namespace rnic::test
