// The settings that callers of the C interface give as JSON.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace rnic::golden {

// Throws Error for what is no JSON object, and for one that is nested more deeply than a scenario may be: walking
// through it would take the stack.
nlohmann::json parse_settings(std::string_view text);

}  // namespace rnic::golden
