#include "model/programs/workload/window.h"

#include <algorithm>
#include <memory>

#include <gmock/gmock.h>

namespace rnic::workload {
namespace {

using testing::Each;

struct Qp final : Window::Member {
  Qp(std::vector<const Qp*>& log) : all(log) {}
  void admit(std::uint64_t) override {
    ++admitted;
    all.push_back(this);
  }
  unsigned admitted = 0;
  std::vector<const Qp*>& all;
};

struct Requests {
  Requests(std::uint32_t size, std::uint32_t qps, std::uint32_t count, std::uint64_t seed = 1)
      : window(size, count, seed) {
    for (std::uint32_t n = 0; n < qps; ++n) members.push_back(std::make_unique<Qp>(order));
    for (const auto& qp : members) window.add(*qp);
  }
  std::vector<unsigned> numbers() const {
    std::vector<unsigned> n;
    for (const Qp* qp : order) {
      const auto is = [qp](const auto& m) { return m.get() == qp; };
      n.push_back(static_cast<unsigned>(std::find_if(members.begin(), members.end(), is) - members.begin()));
    }
    return n;
  }
  void complete(std::size_t requests) {
    for (; requests != 0; --requests) window.completed(0);
  }
  Window window;
  std::vector<const Qp*> order;
  std::vector<std::unique_ptr<Qp>> members;
};

TEST(Window, AdmitsAsManyAsMayBeOutstandingAndThenOneForEachThatIsComplete) {
  Requests r(5, 8, 4);
  r.window.begin(0);
  r.window.begin(0);
  EXPECT_EQ(r.order.size(), 5u);
  r.window.completed(0);
  EXPECT_EQ(r.order.size(), 6u);
  r.complete(31);
  EXPECT_EQ(r.order.size(), 32u);
  for (const auto& qp : r.members) EXPECT_EQ(qp->admitted, 4u);
}
TEST(Window, FewerRequestsThanMayBeOutstandingAreAllAdmitted) {
  Requests r(512, 2, 3);
  r.window.begin(0);
  r.complete(6);
  EXPECT_EQ(r.order.size(), 6u);
}
TEST(Window, TheSeedDecidesTheOrder) {
  std::vector<unsigned> orders[3];
  for (const unsigned n : {0, 1, 2}) {
    Requests r(64, 16, 4, n / 2 + 1);
    r.window.begin(0);
    orders[n] = r.numbers();
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
}
// As likely as not one of its requests is among the first half, and it is not ahead of the others near the end either.
TEST(Window, EachQueuePairIsAsLikelyAtTheEndAsAtTheBeginning) {
  Requests r(40000, 100, 400);
  r.window.begin(0);
  const std::vector<unsigned> order = r.numbers();
  for (const std::size_t from : {std::size_t{0}, order.size() / 2, order.size() - 4000}) {
    std::vector<unsigned> seen(100);
    for (std::size_t n = from; n < from + 4000; ++n) ++seen[order[n]];
    EXPECT_THAT(seen, Each(testing::AllOf(testing::Gt(15u), testing::Lt(65u)))) << "40 each, with a deviation of 6";
    std::size_t repeats = 0;
    for (std::size_t n = from + 1; n < from + 4000; ++n) repeats += order[n] == order[n - 1];
    EXPECT_NEAR(static_cast<double>(repeats), 40, 25) << "one of 100 follows itself";
  }
}

}  // namespace
}  // namespace rnic::workload
