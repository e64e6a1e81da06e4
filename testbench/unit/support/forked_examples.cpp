// The tests that forked_tests_test.py runs.
#include <csignal>

#include <gmock/gmock.h>
#include <unistd.h>

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using Elaborates = StageTest;  // a second one in the same process ends it: SystemC elaborates once
TEST_F(Elaborates, First) { run_until_idle(); }
TEST_F(Elaborates, Second) { run_until_idle(); }

class Parameter : public testing::TestWithParam<int> {};
TEST_P(Parameter, IsTwo) { EXPECT_EQ(GetParam(), 2) << "<&\">"; }
INSTANTIATE_TEST_SUITE_P(Values, Parameter, testing::Values(1, 2));

TEST(Ends, Skipped) { GTEST_SKIP(); }
TEST(Ends, ByASignal) { ::raise(SIGTERM); }
TEST(Ends, Never) { ::pause(); }
TEST(Ends, NeverAndIsBusy) {
  for (volatile unsigned i = 0;; i = i + 1) {
  }
}

}  // namespace
}  // namespace rnic::test
