#include "model/conformance/atomic_vectors.h"

#include <gmock/gmock.h>

#include "model/conformance/bench_predictors.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

const json kAdd = json::parse(R"({"original": "0xff01ff02ff03ff04", "add": "0x0101010101010101",
    "mask": "0x8080808080808080", "result": "0x0002000300040005", "returned": "0xff01ff02ff03ff04"})");
const json kSwap = json::parse(R"({"original": "0x1111222233334444", "compare": "0x9999999999994444",
    "compare_mask": "0x000000000000ffff", "swap": "0xaaaabbbbccccdddd", "swap_mask": "0xffff000000000000", "match": 1,
    "result": "0xaaaa222233334444", "returned": "0x1111222233334444"})");

class AtomicVectorsTest : public testing::Test {
 protected:
  BenchPredictors stages;
  AtomicChain chain{stages};

  static std::vector<std::string> fields(const Outcome& outcome) {
    std::vector<std::string> names;
    for (const Outcome::Difference& d : outcome.differences) names.push_back(d.field);
    return names;
  }
  std::vector<std::string> add(const json& vector) { return fields(check_fetch_add(chain, vector)); }
  std::vector<std::string> swap(const json& vector) { return fields(check_cmp_swap(chain, vector)); }
  static json with(json vector, const char* key, const char* value) {
    vector[key] = value;
    return vector;
  }
};

TEST_F(AtomicVectorsTest, GoodVectorsPassOneAfterTheOther) {
  EXPECT_THAT(add(kAdd), IsEmpty());
  EXPECT_THAT(swap(kSwap), IsEmpty());
  EXPECT_THAT(add(kAdd), IsEmpty());
}

TEST_F(AtomicVectorsTest, EveryFieldCounts) {
  EXPECT_THAT(add(with(kAdd, "result", "0x1")), ElementsAre("result"));
  EXPECT_THAT(add(with(kAdd, "returned", "0x1")), ElementsAre("returned"));
  EXPECT_THAT(add(with(kAdd, "mask", "0x0")), ElementsAre("result"));
  EXPECT_THAT(add(with(kAdd, "original", "0x0")), ElementsAre("result", "returned"));
  EXPECT_THAT(swap(with(kSwap, "compare", "0x1")), ElementsAre("result", "match"));
  EXPECT_THAT(swap(with(kSwap, "compare_mask", "0xffff0000")), ElementsAre("result", "match"));
  EXPECT_THAT(swap(with(kSwap, "swap_mask", "0x0")), ElementsAre("result"));
  EXPECT_THAT(swap(with(kSwap, "swap", "0x0")), ElementsAre("result"));
}

TEST_F(AtomicVectorsTest, WhatIsMissingIsSaid) {
  json vector = kAdd;
  vector.erase("mask");
  EXPECT_THROW(check_fetch_add(chain, vector), std::exception);
}

}  // namespace
}  // namespace rnic::conformance
