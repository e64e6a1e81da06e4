// Resolves defaults and an overlay to a structure with checked values.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/config/field.h"
#include "model/config/setting_value.h"

namespace rnic {

// The violated constraint of a field's value; empty if there is none.
template <class T>
std::string constraint_violation(const T& value, const FieldSpec<T>& spec) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (spec.range && (value < spec.range->lo || value > spec.range->hi)) {
      return fmt::format("must be {} to {}{}{}", spec.range->lo, spec.range->hi, spec.unit.empty() ? "" : " ",
                         spec.unit);
    }
  }
  if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
    if (spec.power_of_two && (value == 0 || (value & (value - 1)) != 0)) return "must be a power of two";
  }
  return {};
}

template <class T>
T setting_as(const std::string& path, const Setting& setting, const FieldSpec<T>& spec) {
  if constexpr (std::is_same_v<T, bool>) {
    return bool_value(path, setting);
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(unsigned_value(path, setting, std::numeric_limits<T>::max()));
  } else if constexpr (std::is_same_v<T, double>) {
    return double_value(path, setting);
  } else if constexpr (std::is_enum_v<T>) {
    return spec.values[word_index(path, setting, spec.words)];
  } else {
    if (!spec.words.empty()) word_index(path, setting, spec.words);
    return string_value(path, setting);
  }
}

// Throws ConfigError for a setting within `path` whose key is unknown.
void fail_on_unknown_keys(const Overlay& overlay, std::string_view path, const std::vector<std::string>& known);

// The structure at `path` of the configuration tree; an empty path is its root. Throws ConfigError for an unknown key
// within the path and for a value that does not fit; a default that does not fit is our own bug.
template <class C>
C resolve(const Overlay& overlay, std::string_view path = {}) {
  C config{};
  std::vector<std::string> known;
  for_each_field(config, path, [&](const std::string& key, auto& value, const auto& spec) {
    known.push_back(key);
    const Setting* setting = overlay.find(key);
    if (setting != nullptr) value = setting_as(key, *setting, spec);
    const std::string violation = constraint_violation(value, spec);
    if (violation.empty()) return;
    if (setting != nullptr) fail_setting(key, *setting, violation);
    RNIC_CHECK_MSG(violation.empty(), key + ": its default " + violation);
  });
  fail_on_unknown_keys(overlay, path, known);
  return config;
}

}  // namespace rnic
