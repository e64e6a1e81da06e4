#include "model/system/key_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/config/describe.h"
#include "model/system/key_reader.h"

namespace rnic {
namespace {

template <class T>
std::string values_text(const FieldSpec<T>& spec) {
  if (!spec.words.empty()) return fmt::format("`{}`", fmt::join(spec.words, "`, `"));
  if constexpr (std::is_same_v<T, bool>) return "`true`, `false`";
  if constexpr (std::is_same_v<T, std::string>) return "text";
  std::string text = spec.range ? fmt::format("{} to {}", spec.range->lo, spec.range->hi) : "integer";
  if (!spec.unit.empty()) text += fmt::format(" {}", spec.unit);
  return spec.power_of_two ? "power of two, " + text : text;
}

template <class T>
std::string default_text(const T& value, const FieldSpec<T>& spec) {
  for (std::size_t i = 0; i < spec.values.size(); ++i) {
    if (spec.values[i] == value) return fmt::format("`{}`", spec.words[i]);
  }
  if constexpr (std::is_same_v<T, std::string>) return value.empty() ? "empty" : fmt::format("`{}`", value);
  else if constexpr (std::is_same_v<T, bool>) return fmt::format("`{}`", value);
  else return fmt::format("{}", field_json(value, spec).dump());
}

template <class C>
class TableWriter {
 public:
  explicit TableWriter(std::string& into) : into_(into) {}

  template <class M, class S, class... Options>
  void operator()(const char* key, M S::*member, std::string_view meaning, const Options&... options) {
    std::string value;
    (take_default(value, options), ...);
    if constexpr (IsOptional<M>::value) {
      row(key, values_text(key_spec<typename M::value_type>(meaning, options...)), value, meaning);
    } else {
      const FieldSpec<M> spec = key_spec<M>(meaning, options...);
      row(key, values_text(spec), value.empty() ? default_text(defaults_.*member, spec) : value, meaning);
    }
  }
  void form(const char* key, std::string_view values, std::string_view value, std::string_view meaning) {
    row(key, values, value, meaning);
  }
  template <class M, class S>
  void inlined(M S::*) {
    keys_of<M>();
  }
  template <class T>
  void keys_of() {
    TableWriter<T> writer(into_);
    Keys<T>::fields(writer);
  }

 private:
  template <class T>
  struct IsOptional : std::false_type {};
  template <class T>
  struct IsOptional<std::optional<T>> : std::true_type {};

  template <class Option>
  static void take_default(std::string& text, const Option& option) {
    if constexpr (std::is_same_v<Option, RequiredKey>) text = "required";
    if constexpr (std::is_same_v<Option, ShownDefault>) text = option.text;
  }
  void row(std::string_view key, std::string_view values, std::string_view value, std::string_view meaning) {
    into_ += fmt::format("| `{}` | {} | {} | {} |\n", key, values, value, meaning);
  }

  std::string& into_;
  const C defaults_{};
};

template <class C>
KeyTable table_of(const char* element) {
  KeyTable table{element, "| key | values | default | meaning |\n|---|---|---|---|\n"};
  TableWriter<C> writer(table.text);
  Keys<C>::fields(writer);
  return table;
}

}  // namespace

std::vector<KeyTable> key_tables() {
  return {table_of<Scenario>("scenario"),
          table_of<workload::SetupSpec>("setup"),
          table_of<ScenarioNode>("node"),
          table_of<workload::ConnectionSpec>("connection"),
          table_of<consumer::ProgramSpec>("program"),
          table_of<SweepPlan>("sweep"),
          table_of<SweepAxis>("axis"),
          table_of<SweepRange>("range"),
          table_of<SweepColumn>("column"),
          table_of<workload::WorkItem>("work item"),
          table_of<workload::SizeSpec>("size"),
          table_of<inject::Injection>("changed message"),
          table_of<workload::RequestFault>("failing request"),
          table_of<ScenarioCheck>("check")};
}

}  // namespace rnic
