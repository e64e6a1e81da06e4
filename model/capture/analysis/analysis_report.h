// Reports an analysis as JSON and as text, with what was left out, and what one tap cannot know.
#pragma once

#include <ostream>
#include <string>

#include <nlohmann/json.hpp>

#include "model/capture/analysis/analysis.h"

namespace rnic::capture {

nlohmann::ordered_json to_json(const Analysis& analysis, const std::string& file);
void print(const Analysis& analysis, const std::string& file, std::ostream& out);

}  // namespace rnic::capture
