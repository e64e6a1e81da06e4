// What both runs did before and after their first difference.
#pragma once

#include <optional>
#include <vector>

#include "model/diff/merge.h"

namespace rnic::diff {

// An event of each run, where it has one.
struct Beside {
  std::optional<Told> a, b;
  bool is_difference = false;
};

struct Surroundings {
  std::vector<Beside> of_request, of_place;
};

// Three events before and after, of the same request and at the same place.
Surroundings around(const Pair& runs, const Difference& difference, const Filter& filter);

}  // namespace rnic::diff
