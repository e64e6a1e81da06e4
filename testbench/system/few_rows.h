// Nodes whose chip has only some rows of a table of contexts.
#pragma once

#include <ostream>

#include <gtest/gtest.h>

#include "model/system/node.h"

namespace rnic::test {

struct FewRows {
  const char* name;
  unsigned entries, ways;
  HomeKind kind = HomeKind::kHost;
  unsigned flip_fetch = 0;
  QpFetch fetch = QpFetch::kHalf;
  bool write_back = true;

  friend std::ostream& operator<<(std::ostream& out, const FewRows& f) { return out << f.name; }
  // `table`: such as &CachesConfig::cq.
  template <class Config>
  NodeConfig of(Config CachesConfig::*table) const {
    NodeConfig config;
    CacheConfig& cache = config.rnic.context.cache.*table;
    cache = {entries, ways, CachePolicy::kLru, 2, 1, write_back};
    config.rnic.context.cache.qp.fetch = fetch;
    config.rnic.context.home.kind = kind;
    config.rnic.context.home.flip_fetch = flip_fetch;
    return config;
  }
};

// Of each, with one row a set or two, in host memory or on the board.
inline auto few_rows_of_queues() {
  return testing::Values(FewRows{"OnePlace", 1, 1}, FewRows{"TwoWays", 2, 2}, FewRows{"TwoSets", 4, 2},
                         FewRows{"OnePlaceOnBoard", 1, 1, HomeKind::kBoard});
}

}  // namespace rnic::test
