#include "model/cli/confidence.h"

#include <cmath>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

namespace rnic::cli {

namespace {

// Uses double: long double, Boost's default, takes twice as long to compile and is initialized before main().
using StudentsT =
    boost::math::students_t_distribution<double,
                                         boost::math::policies::policy<boost::math::policies::promote_double<false>>>;

}  // namespace

Mean mean_of(const std::vector<double>& values) {
  Mean m;
  m.count = values.size();
  if (values.empty()) return m;
  const auto n = static_cast<double>(values.size());
  // Relative to the first value, so that equal values have an interval of exactly 0.
  const double first = values.front();
  m.mean = first + std::accumulate(values.begin(), values.end(), 0.0, [first](double sum, double v) {
                     return sum + (v - first);
                   }) / n;
  if (values.size() < 2) return m;
  double squares = 0;
  for (const double v : values) squares += (v - m.mean) * (v - m.mean);
  m.ci95 = quantile(StudentsT(n - 1), 0.975) * std::sqrt(squares / (n - 1) / n);
  return m;
}

}  // namespace rnic::cli
