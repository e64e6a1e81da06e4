// Second pass of a comparison: the first row in which two runs differ.
#pragma once

#include <cstdint>
#include <optional>

#include "model/diff/digests.h"
#include "model/diff/events.h"

namespace rnic::diff {

struct Difference {
  enum class Kind {
    kOnly,     // one run has a row that the other has not
    kContent,  // both have it, but it says something else
    kOrder,    // at one place the same rows come in another order
    kTime,     // the same row comes at another time
  };
  Kind kind{};
  std::uint64_t ps = 0;  // in A; of a row that only B has, about when A would have it
  std::optional<Row> a, b;
};

// Rows that a run had no time for, as it was interrupted or came to its time limit.
struct Cut {
  bool a = false, b = false;
};

struct Pair {
  Events& a;
  Events& b;
};

// The earliest differences in what happened, by the time of A.
struct WhatDiffers {
  std::optional<Difference> row;    // kOnly or kContent
  std::optional<Difference> order;  // kOrder
};

// `a` and `b` are of digest() with the same filter.
WhatDiffers what_differs(const Pair& runs, const Digests& a, const Digests& b, const Filter& filter, Cut cut);

// The first row of A that comes at another time in B, if until then each place has the same rows, and it is before
// `until_ps`.
std::optional<Difference> time_differs(const Pair& runs, const Filter& filter, std::uint64_t until_ps);

}  // namespace rnic::diff
