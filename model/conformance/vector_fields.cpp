#include "model/conformance/vector_fields.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "model/config/nearest.h"

namespace rnic::conformance {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& key, const std::vector<VectorField>& known) {
  std::vector<std::string> names;
  for (const VectorField& field : known) names.push_back(field.name);
  if (names.empty()) throw std::invalid_argument(fmt::format("unknown field {}{}", path, key));
  throw std::invalid_argument(
      fmt::format("unknown field {0}{1}; the nearest is {0}{2}", path, key, nearest(key, names)));
}

}  // namespace

void refuse_unknown_fields(const nlohmann::json& object, const std::vector<VectorField>& known,
                           const std::string& path) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    const auto field = std::find_if(known.begin(), known.end(), [&k = key](const auto& f) { return f.name == k; });
    if (field == known.end()) refuse(path, key, known);
    if (field->fields.empty()) continue;
    refuse_unknown_fields(value, field->fields, path + key + '.');
    if (!value.is_array()) continue;
    for (std::size_t i = 0; i < value.size(); ++i) {
      refuse_unknown_fields(value[i], field->fields, fmt::format("{}{}[{}].", path, key, i));
    }
  }
}

}  // namespace rnic::conformance
