// The description of a configuration structure's members. The structure lists its fields once,
//
//   struct CrcCheckConfig {
//     bool enabled = true;                       // the member initialiser is the default, and the only one
//     unsigned pipeline_cycles = 4;
//     template <class V>
//     static void fields(V& v) {
//       v("enabled", &CrcCheckConfig::enabled, "off only when both peers agreed on MPA C=0");
//       v("pipeline_cycles", &CrcCheckConfig::pipeline_cycles, "CRC32c tree depth", in_range(1, 64), unit("cycles"));
//     }
//   };
//
// and a structure of structures names them with v.group("crc_check", &RxConfig::crc_check).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rnic {

// One enumerator and the word that users write for it.
template <class E>
struct Named {
  E value;
  std::string_view name;
};
template <class E>
Named(E, const char*) -> Named<E>;

template <class N>
struct RangeOption {
  N lo, hi;
};
struct UnitOption {
  std::string_view unit;
};
struct PowerOfTwoOption {};
struct ChoiceOption {
  std::initializer_list<std::string_view> words;
};
template <class E>
struct EnumOption {
  const Named<E>* first;
  std::size_t count;
};

// Options of a field. Bounds are inclusive.
template <class N>
constexpr RangeOption<N> in_range(N lo, N hi) {
  return {lo, hi};
}
constexpr UnitOption unit(std::string_view name) { return {name}; }
constexpr PowerOfTwoOption power_of_two() { return {}; }
constexpr ChoiceOption one_of(std::initializer_list<std::string_view> words) { return {words}; }
// The table must outlive the call; a constexpr array beside the enumeration does.
template <class E, std::size_t N>
constexpr EnumOption<E> one_of(const std::array<Named<E>, N>& table) {
  return {table.data(), N};
}

// A field list's entry for one member of type T.
template <class T>
struct FieldSpec {
  static_assert(std::is_same_v<T, bool> || std::is_unsigned_v<T> || std::is_same_v<T, double> ||
                    std::is_same_v<T, std::string> || std::is_enum_v<T>,
                "a configuration field is a bool, an unsigned integer, a double, a string or an enumeration");
  using Limit = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;

  std::string_view meaning;
  std::string_view unit{};
  std::optional<RangeOption<Limit>> range{};
  bool power_of_two = false;
  std::vector<std::string_view> words{};  // of a string or of an enumeration
  std::vector<T> values{};                // of an enumeration, in the order of its words

  template <class... Options>
  explicit FieldSpec(std::string_view text, const Options&... options) : meaning(text) {
    static_assert(!std::is_enum_v<T> || (std::is_same_v<Options, EnumOption<T>> || ...),
                  "an enumeration needs one_of(table of names)");
    (apply(options), ...);
  }

 private:
  template <class N>
  void apply(const RangeOption<N>& o) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "only numbers have a range");
    range = RangeOption<Limit>{static_cast<Limit>(o.lo), static_cast<Limit>(o.hi)};
  }
  void apply(const UnitOption& o) { unit = o.unit; }
  void apply(const PowerOfTwoOption&) {
    static_assert(std::is_unsigned_v<T> && !std::is_same_v<T, bool>, "only unsigned integers are powers of two");
    power_of_two = true;
  }
  void apply(const ChoiceOption& o) {
    static_assert(std::is_same_v<T, std::string>, "an enumeration needs a table of names");
    words.assign(o.words.begin(), o.words.end());
  }
  void apply(const EnumOption<T>& o) {
    for (const Named<T>* n = o.first; n != o.first + o.count; ++n) {
      words.push_back(n->name);
      values.push_back(n->value);
    }
  }
};

// Calls leaf(path, member, spec) for every field of a structure and of its groups, in the order of the field lists.
template <class C, class Leaf>
class FieldWalker {
 public:
  FieldWalker(C& object, std::string prefix, Leaf& leaf) : object_(object), prefix_(std::move(prefix)), leaf_(leaf) {}

  // Out of line: hundreds of fields are walked once each, and inlining each one costs compile time.
  template <class T, class S, class... Options>
  [[gnu::noinline, gnu::cold]] void operator()(const char* key, T S::*member, std::string_view meaning,
                                               const Options&... options) {
    leaf_(prefix_ + key, object_.*member, FieldSpec<T>(meaning, options...));
  }
  template <class G, class S>
  void group(const char* key, G S::*member) {
    auto& inner = object_.*member;
    FieldWalker<std::remove_reference_t<decltype(inner)>, Leaf> walker(inner, prefix_ + key + '.', leaf_);
    G::fields(walker);
  }

 private:
  C& object_;
  const std::string prefix_;
  Leaf& leaf_;
};

template <class C, class Leaf>
void for_each_field(C& object, std::string_view path, Leaf&& leaf) {
  FieldWalker<C, std::remove_reference_t<Leaf>> walker(object, path.empty() ? "" : std::string(path) + '.', leaf);
  C::fields(walker);
}

}  // namespace rnic
