// The mean of a few measurements and its confidence interval.
#pragma once

#include <optional>
#include <vector>

namespace rnic::cli {

struct Mean {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> ci95;  // half of the 95 % confidence interval (Student's t), if there are two values or more
};

Mean mean_of(const std::vector<double>& values);

}  // namespace rnic::cli
