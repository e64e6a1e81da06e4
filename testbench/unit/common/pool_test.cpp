// Pools of elements: how many there may be, what is shown of them, and what a reset leaves.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/common/check.h"
#include "model/common/description.h"
#include "model/common/fifo.h"
#include "model/common/node_pool.h"
#include "model/rnic/llp/slot_pool.h"

namespace rnic {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Element {
  std::uint32_t number = 0;
  bool flag = false;
  static constexpr const char* kMessage = "element";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("number", 20, m.number);
    v("flag", 1, m.flag);
  }
};

struct Record {
  std::uint32_t number = 0, next = llp::kNil;
  static constexpr const char* kMessage = "record";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("number", 20, m.number);
  }
};

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const InternalError& e) {
    return e.what();
  }
  return "none";
}

TEST(NodePoolTest, OneElementTooManyStops) {
  NodePool<Element> pool({"reads", 3, "queue pairs x 3"});
  PooledQueue a, b;
  pool.push(a, {1});
  pool.push(b, {2});
  pool.push(a, {3});
  EXPECT_EQ(pool.in_use(), 3u);
  EXPECT_THAT(error_of([&] { pool.push(b, {4}); }),
              AllOf(HasSubstr("reads has room for 3"), HasSubstr("queue pairs x 3")));
  // Nothing of it is left, and a place that is free again is taken.
  EXPECT_EQ(pool.in_use(), 3u);
  EXPECT_EQ(b.size, 1u);
  EXPECT_EQ(pool.pop(a).number, 1u);
  pool.push(b, {4});
  EXPECT_EQ(pool.pop(b).number, 2u);
  EXPECT_EQ(pool.pop(b).number, 4u);
  EXPECT_EQ(pool.pop(a).number, 3u);
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(pool.most(), 3u);
}

TEST(NodePoolTest, OfNoElementsStopsAtTheFirst) {
  NodePool<Element> pool({"none", 0, "nothing"});
  PooledQueue queue;
  EXPECT_THAT(error_of([&] { pool.push(queue, {1}); }), HasSubstr("none has room for 0"));
  EXPECT_TRUE(queue.empty());
}

// An item in place of another one takes its place, also in a full pool.
TEST(NodePoolTest, AnItemIsReplacedInAFullPool) {
  NodePool<Element> pool({"items", 1, "one"});
  PooledItem item;
  pool.put(item, {1});
  pool.put(item, {2});
  EXPECT_EQ(pool.at(item).number, 2u);
  EXPECT_EQ(pool.most(), 1u);
  PooledItem other;
  EXPECT_THAT(error_of([&] { pool.put(other, {3}); }), HasSubstr("items has room for 1"));
}

// The host or the peer may break its rules: that is no error of the chip.
TEST(NodePoolTest, GrowsWhereOthersAreTrusted) {
  for (const PoolLimit limit : {PoolLimit::kHost, PoolLimit::kPeer, PoolLimit::kHome}) {
    NodePool<Element> pool({"outstanding", 2, "rings", limit});
    PooledQueue queue;
    for (std::uint32_t i = 0; i < 5; ++i) pool.push(queue, {i});
    EXPECT_EQ(pool.most(), 5u);
    EXPECT_EQ(pool.entries(), 2u);
  }
}

// A reset forgets the elements, and neither the size nor the mark.
TEST(NodePoolTest, TheMarkOutlivesAReset) {
  NodePool<Element> pool({"reads", 4, "four"});
  PooledQueue queue;
  for (std::uint32_t i = 0; i < 4; ++i) pool.push(queue, {i});
  pool.pop(queue);
  pool.reset();
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(pool.most(), 4u);
  queue = {};
  for (std::uint32_t i = 0; i < 4; ++i) pool.push(queue, {i});
  EXPECT_EQ(pool.front(queue).number, 0u);
  EXPECT_THAT(error_of([&] { pool.push(queue, {4}); }), HasSubstr("reads has room for 4"));
}

// As counters, the mark begins again after a warm-up: from what is there.
TEST(NodePoolTest, TheMarkBeginsAgainWithTheStatistics) {
  NodePool<Element> pool({"reads", 8, "eight"});
  StatsRegistry registry;
  pool.describe(Description(StatsGroup(registry, "stage")));
  PooledQueue queue;
  for (std::uint32_t i = 0; i < 5; ++i) pool.push(queue, {i});
  for (std::uint32_t i = 0; i < 3; ++i) pool.pop(queue);
  EXPECT_EQ(registry.value("stage.reads.used"), 5);
  registry.restart();
  EXPECT_EQ(registry.value("stage.reads.used"), 2);
  pool.push(queue, {6});
  EXPECT_EQ(registry.value("stage.reads.used"), 3);
}

TEST(NodePoolTest, ShowsItsBitsAndOctets) {
  StatsRegistry registry;
  const Description d{StatsGroup(registry, "stage")};
  const NodePool<Element> elements({"elements", 100, "a hundred", PoolLimit::kHost});
  elements.describe(d);
  EXPECT_EQ(registry.value("stage.elements.entries"), 100);
  EXPECT_EQ(registry.value("stage.elements.bits"), 20 + 1 + 7) << "its fields, and the number of one of a hundred";
  EXPECT_EQ(registry.value("stage.elements.size"), 100 * 28 / 8);
  EXPECT_THAT(registry.entry("stage.elements.entries").description,
              AllOf(HasSubstr("a hundred"), HasSubstr("the host")));
  const NodePool<std::uint32_t> list({"list", 64, "numbers"}, 0);
  list.describe(d);
  EXPECT_EQ(registry.value("stage.list.bits"), 6) << "a list of numbers is its links";
}

TEST(SlotPoolTest, HasTheSameLimitAndMark) {
  llp::SlotPool<Record> pool({"segments", 2, "two"});
  EXPECT_EQ(pool.bits(), 20u + 1u);
  const std::uint32_t first = pool.take();
  pool.take();
  EXPECT_THAT(error_of([&] { pool.take(); }), HasSubstr("segments has room for 2"));
  EXPECT_EQ(pool.in_use(), 2u);
  pool.give_back(first);
  EXPECT_EQ(pool.take(), first);
  pool.reset();
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(pool.most(), 2u);
}

TEST(FifoTest, KeepsTheOrderWithinItsRoom) {
  Fifo<Element> fifo({"freed", 2, "two"});
  EXPECT_EQ(fifo.bits(), 21u) << "no link";
  fifo.push({1});
  fifo.push({2});
  EXPECT_THAT(error_of([&] { fifo.push({3}); }), HasSubstr("freed has room for 2"));
  EXPECT_EQ(fifo.size(), 2u);
  EXPECT_EQ(fifo.pop().number, 1u);
  fifo.push({3});
  EXPECT_TRUE(fifo.any([](const Element& e) { return e.number == 3; }));
  EXPECT_EQ(fifo.pop().number, 2u);
  EXPECT_EQ(fifo.front().number, 3u);
  fifo.reset();
  EXPECT_TRUE(fifo.empty());
  EXPECT_EQ(fifo.in_use(), 0u);
  EXPECT_EQ(fifo.most(), 2u);
}

TEST(IndexBitsTest, TellThingsApart) {
  EXPECT_EQ(index_bits(0), 0u);
  EXPECT_EQ(index_bits(1), 0u);
  EXPECT_EQ(index_bits(2), 1u);
  EXPECT_EQ(index_bits(3), 2u);
  EXPECT_EQ(index_bits(65536), 16u);
  EXPECT_EQ(index_bits(65537), 17u);
}

}  // namespace
}  // namespace rnic
