// Which fields a vector may have. What a user wrote and no check reads may not pass for checked.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace rnic::conformance {

struct VectorField {
  VectorField(const char* n, std::vector<VectorField> inside = {}) : name(n), fields(std::move(inside)) {}
  std::string name;
  std::vector<VectorField> fields;  // of the object, or of each object of the list, that stands here; none: a value
};

// Throws std::invalid_argument with the path of the first field that is not among the known ones, and the nearest that
// is. What is no object has no fields.
void refuse_unknown_fields(const nlohmann::json& object, const std::vector<VectorField>& known,
                           const std::string& path = "");

}  // namespace rnic::conformance
