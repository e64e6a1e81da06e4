#include "model/system/sweep_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "model/common/rounded.h"
#include "model/system/key_reader.h"

namespace rnic {
namespace {

constexpr double kLargest = 1e18;
constexpr double kSmallestFactor = 1.001;
constexpr double kRoundingError = 1e-9;  // of a step's number

// So that 0.1 + 2 * 0.1 is 0.3, and a power is the same on every machine, whatever the last digit of its pow() is.
constexpr int kDigitsOfSums = 12, kDigitsOfPowers = 6;

nlohmann::json number(double value, bool whole, int digits) {
  if (whole) return static_cast<std::int64_t>(std::llround(value));
  return rounded(value, digits);
}

bool is_whole(const ScenarioValue& v) { return v.json().is_number_integer(); }

}  // namespace

SweepRange read_range(const ScenarioValue& v) {
  auto r = expect_and_read<SweepRange>(v);
  r.from = v.at("from").number_in(-kLargest, kLargest);
  r.to = v.at("to").number_in(r.from, kLargest);
  r.whole = is_whole(v.at("from")) && is_whole(v.at("to"));
  if (v.has("step") + v.has("factor") + v.has("per_decade") > 1) v.fail("has one of step, factor and per_decade");
  if (v.has("step")) {
    r.step = v.at("step").number_in(0, kLargest);
    if (r.step == 0) v.at("step").fail("must be more than 0");
    r.whole = r.whole && is_whole(v.at("step"));
  }
  if (v.has("factor")) {
    r.factor = v.at("factor").number_in(kSmallestFactor, kLargest);
  }
  const bool logarithmic = r.factor != 0 || r.per_decade != 0 || r.logarithmic;
  if (logarithmic && r.from <= 0) v.at("from").fail("must be more than 0 for a logarithmic range");
  if (v.has("scale") && !r.is_interval()) v.at("scale").fail("is for an interval, without step, factor and per_decade");
  return r;
}

std::vector<nlohmann::json> values_of(const SweepRange& r, std::size_t most) {
  std::vector<nlohmann::json> values;
  const double last = r.to + kRoundingError * std::abs(r.step != 0 ? r.step : r.to);
  for (std::size_t i = 0; values.size() <= most; ++i) {
    const auto n = static_cast<double>(i);
    const double value = r.step != 0     ? r.from + n * r.step
                         : r.factor != 0 ? r.from * std::pow(r.factor, n)
                                         : r.from * std::pow(10.0, n / r.per_decade);
    if (value > last) break;
    nlohmann::json next = number(value, r.whole, r.step != 0 ? kDigitsOfSums : kDigitsOfPowers);
    if (values.empty() || values.back() != next) values.push_back(std::move(next));  // rounded, some are the same
    else if (r.step != 0) break;  // too small a step for so large a number
  }
  return values;
}

std::vector<double> shares(unsigned points, bool in_strata, Prng& random) {
  const auto unit = [&random] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
  std::vector<double> list(points);
  if (!in_strata) {
    std::generate(list.begin(), list.end(), unit);
    return list;
  }
  std::vector<unsigned> strata(points);
  std::iota(strata.begin(), strata.end(), 0u);
  for (unsigned i = points; i > 1; --i) std::swap(strata[i - 1], strata[random.below(i)]);
  for (unsigned i = 0; i < points; ++i) list[i] = (strata[i] + unit()) / points;
  return list;
}

nlohmann::json sample(const std::vector<nlohmann::json>& list, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(list.size()));
  return list[std::min(at, list.size() - 1)];
}

nlohmann::json sample(const SweepRange& r, double share) {
  if (r.logarithmic) return number(r.from * std::pow(r.to / r.from, share), r.whole, kDigitsOfPowers);
  if (r.whole) return number(std::min(std::floor(r.from + share * (r.to - r.from + 1)), r.to), true, 0);
  return number(r.from + share * (r.to - r.from), false, kDigitsOfPowers);
}

}  // namespace rnic
