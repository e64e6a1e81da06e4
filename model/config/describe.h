// The field lists in the other direction: a reference of all settings, and the values in effect.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/config/field.h"

namespace rnic {

// One line of `rnicsim config --list`.
struct FieldInfo {
  std::string key;    // dotted path
  std::string type;   // bool, u8 to u64, double, string, or the words separated by |
  std::string value;  // the default, as JSON
  std::string range;  // "1..64", "power of two", or empty
  std::string unit;
  std::string meaning;
};

template <class T>
nlohmann::ordered_json field_json(const T& value, const FieldSpec<T>& spec) {
  if constexpr (std::is_enum_v<T>) {
    for (std::size_t i = 0; i < spec.values.size(); ++i) {
      if (spec.values[i] == value) return spec.words[i];
    }
    return nullptr;
  } else {
    return value;
  }
}

template <class T>
std::string type_text(const FieldSpec<T>& spec) {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_unsigned_v<T>) {
    return fmt::format("u{}", 8 * sizeof(T));
  } else if constexpr (std::is_same_v<T, double>) {
    return "double";
  } else {
    return spec.words.empty() ? "string" : fmt::format("{}", fmt::join(spec.words, "|"));
  }
}

template <class T>
std::string range_text(const FieldSpec<T>& spec) {
  std::string text = spec.range ? fmt::format("{}..{}", spec.range->lo, spec.range->hi) : "";
  if (spec.power_of_two) text += text.empty() ? "power of two" : ", power of two";
  return text;
}

// Every setting of C with its default, in the order of the field lists.
template <class C>
std::vector<FieldInfo> list_fields(std::string_view path = {}) {
  std::vector<FieldInfo> list;
  const C defaults{};
  for_each_field(defaults, path, [&](const std::string& key, const auto& value, const auto& spec) {
    list.push_back({key, type_text(spec), field_json(value, spec).dump(), range_text(spec), std::string(spec.unit),
                    std::string(spec.meaning)});
  });
  return list;
}

// The values in effect, nested by group: as input they give the same configuration again.
template <class C>
nlohmann::ordered_json dump_fields(const C& config) {
  nlohmann::ordered_json tree = nlohmann::ordered_json::object();
  for_each_field(config, {}, [&](const std::string& key, const auto& value, const auto& spec) {
    nlohmann::ordered_json* node = &tree;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      node = &(*node)[key.substr(begin, dot - begin)];
    }
    (*node)[key.substr(begin)] = field_json(value, spec);
  });
  return tree;
}

// One aligned line per setting.
void write_list(std::ostream& out, const std::vector<FieldInfo>& list);

}  // namespace rnic
