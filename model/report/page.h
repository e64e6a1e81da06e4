// One HTML file that needs no other file and no network: our page, the plotting library, and the data.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace rnic::report {

std::string page(const nlohmann::ordered_json& data);

}  // namespace rnic::report
