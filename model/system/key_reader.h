// Reads an object of a scenario file into a structure, as the list of its keys (scenario_keys.h) describes it.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/config/field.h"
#include "model/system/scenario_keys.h"
#include "model/system/scenario_value.h"

namespace rnic {

// An option that field.h knows, or nothing for one of keys.
template <class O>
auto field_option(const O& option) {
  if constexpr (std::is_same_v<O, RequiredKey> || std::is_same_v<O, ShownDefault>) return std::tuple<>();
  else return std::tuple<O>(option);
}

template <class T, class... Options>
FieldSpec<T> key_spec(std::string_view meaning, const Options&... options) {
  return std::apply([&](const auto&... known) { return FieldSpec<T>(meaning, known...); },
                    std::tuple_cat(field_option(options)...));
}

// ConfigError, with the value's path, for one that does not fit.
template <class T>
T key_value(const ScenarioValue& v, const FieldSpec<T>& spec) {
  if constexpr (!std::is_same_v<T, std::string>) {
    if (!spec.words.empty()) return spec.values[v.word_of({spec.words.begin(), spec.words.end()})];
  }
  if constexpr (std::is_same_v<T, bool>) {
    return v.boolean();
  } else if constexpr (std::is_same_v<T, double>) {
    return v.number_in(spec.range->lo, spec.range->hi);
  } else if constexpr (std::is_unsigned_v<T>) {
    const auto n = static_cast<T>(spec.range ? v.unsigned_in(spec.range->lo, spec.range->hi)
                                             : v.unsigned_in(0, std::numeric_limits<T>::max()));
    if (spec.power_of_two && (n & (n - 1)) != 0) v.fail("must be a power of two");
    return n;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return v.string();
  } else {
    return T{};  // an enumeration has words
  }
}

// The names of an element's keys.
class KeyNames {
 public:
  template <class M, class S, class... Options>
  void operator()(const char* key, M S::*, std::string_view, const Options&...) {
    names_.emplace_back(key);
  }
  void form(const char* key, std::string_view, std::string_view, std::string_view) { names_.emplace_back(key); }
  template <class M, class S>
  void inlined(M S::*) {
    Keys<M>::fields(*this);
  }
  template <class T>
  void keys_of() {
    Keys<T>::fields(*this);
  }
  const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
};

template <class C>
class KeyReader {
 public:
  KeyReader(const ScenarioValue& from, C& into) : from_(from), into_(into) {}

  template <class T, class S, class... Options>
  void operator()(const char* key, T S::*member, std::string_view meaning, const Options&... options) {
    constexpr bool needed = (std::is_same_v<Options, RequiredKey> || ...);
    if (needed || from_.has(key)) into_.*member = key_value(from_.at(key), key_spec<T>(meaning, options...));
  }
  template <class T, class S, class... Options>
  void operator()(const char* key, std::optional<T> S::*member, std::string_view meaning, const Options&... options) {
    if (from_.has(key)) into_.*member = key_value(from_.at(key), key_spec<T>(meaning, options...));
  }
  void form(const char*, std::string_view, std::string_view, std::string_view) {}
  template <class M, class S>
  void inlined(M S::*member) {
    KeyReader<M> reader(from_, into_.*member);
    Keys<M>::fields(reader);
  }
  template <class T>
  void keys_of() {}

 private:
  const ScenarioValue& from_;
  C& into_;
};

// Refuses every other key, and values that are not objects.
template <class C>
void expect_keys(const ScenarioValue& v) {
  KeyNames names;
  Keys<C>::fields(names);
  v.expect_keys(names.list());
}

// Members whose keys are there; the others stay as they are. Keys with a form of their own are left to the caller.
template <class C>
void read_keys(const ScenarioValue& v, C& into) {
  KeyReader<C> reader(v, into);
  Keys<C>::fields(reader);
}

template <class C>
C expect_and_read(const ScenarioValue& v, C into = {}) {
  expect_keys<C>(v);
  read_keys(v, into);
  return into;
}

}  // namespace rnic
