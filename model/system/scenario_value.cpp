#include "model/system/scenario_value.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/config/nearest.h"

namespace rnic {

void ScenarioValue::fail(const std::string& reason) const {
  throw ConfigError(file_ + ": " + (path_.empty() ? "" : path_ + ": ") + reason);
}

void ScenarioValue::fail_unknown(const std::string& what, const std::string& word,
                                 const std::vector<std::string>& candidates) const {
  fail(fmt::format("unknown {} '{}'{}", what, cited(word),
                   candidates.empty() ? "" : fmt::format("; did you mean '{}'?", cited(nearest(word, candidates)))));
}

std::string ScenarioValue::written() const { return cited(value_.dump()); }

void ScenarioValue::expect_object() const {
  if (!value_.is_object()) fail(fmt::format("must be an object, not {}", written()));
}

void ScenarioValue::expect_keys(const std::vector<std::string>& keys) const {
  expect_object();
  for (const auto& [key, unused] : value_.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) fail_unknown("key", key, keys);
  }
}

ScenarioValue ScenarioValue::at(const char* key) const {
  if (!has(key)) fail(fmt::format("needs '{}'", key));
  return {value_.at(key), path_.empty() ? key : path_ + "." + key, file_};
}

std::vector<ScenarioValue> ScenarioValue::elements() const {
  if (!value_.is_array()) fail(fmt::format("must be a list, not {}", written()));
  std::vector<ScenarioValue> list;
  for (std::size_t i = 0; i < value_.size(); ++i) list.emplace_back(value_[i], fmt::format("{}[{}]", path_, i), file_);
  return list;
}

std::uint64_t ScenarioValue::unsigned_in(std::uint64_t lo, std::uint64_t hi) const {
  const bool natural = value_.is_number_unsigned() || (value_.is_number_integer() && value_.get<std::int64_t>() >= 0);
  const std::uint64_t n = natural ? value_.get<std::uint64_t>() : 0;
  if (!natural || n < lo || n > hi) fail(fmt::format("must be an integer from {} to {}, not {}", lo, hi, written()));
  return n;
}

std::uint64_t ScenarioValue::unsigned_or_hex(std::uint64_t most) const {
  if (!is_string()) return unsigned_in(0, most);
  const std::string text = string();
  char* end = nullptr;
  const bool digits = !text.empty() && text[0] >= '0' && text[0] <= '9';
  errno = 0;
  const std::uint64_t n = digits ? std::strtoull(text.c_str(), &end, 0) : 0;
  if (!digits || *end != '\0' || errno != 0 || n > most) {
    fail(fmt::format("must be a number from 0 to {:#x}, not {}", most, written()));
  }
  return n;
}

std::int64_t ScenarioValue::integer() const {
  const bool fits =
      value_.is_number_integer() && (!value_.is_number_unsigned() || value_.get<std::uint64_t>() <= INT64_MAX);
  if (!fits) fail(fmt::format("must be an integer, not {}", written()));
  return value_.get<std::int64_t>();
}

double ScenarioValue::number_in(double lo, double hi) const {
  const bool fits = value_.is_number() && value_.get<double>() >= lo && value_.get<double>() <= hi;
  if (!fits) fail(fmt::format("must be a number from {} to {}, not {}", lo, hi, written()));
  return value_.get<double>();
}

bool ScenarioValue::boolean() const {
  if (!value_.is_boolean()) fail(fmt::format("must be true or false, not {}", written()));
  return value_.get<bool>();
}

std::string ScenarioValue::string() const {
  if (!value_.is_string()) fail(fmt::format("must be a string, not {}", written()));
  return value_.get<std::string>();
}

std::size_t ScenarioValue::word_of(const std::vector<std::string>& words) const {
  const auto w = std::find(words.begin(), words.end(), string());
  if (w == words.end()) fail(fmt::format("must be one of {}, not '{}'", fmt::join(words, ", "), cited(string())));
  return static_cast<std::size_t>(w - words.begin());
}

}  // namespace rnic
