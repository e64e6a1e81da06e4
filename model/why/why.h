// All symptoms of a run with their causes, and how they are printed.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/why/answer.h"
#include "model/why/cable_summary.h"

namespace rnic::why {

struct Report {
  std::vector<Answer> answers;
  std::optional<std::vector<CableCount>> cable;  // of a run; nullopt: one request was asked for
};

// A run that stalled, failed checks, streams that ended with an error, slow requests, what limits it; or one request
// alone if `request` is not empty. ConfigError if `database` is not that of a run, or has no such request.
Report explain(const std::string& database, const std::string& request);

// At most `most` of one kind; the rest is counted.
void print(const Report& report, std::size_t most, std::ostream& out);
// An object for each symptom, and one for what the cable did. Times in ps.
std::vector<nlohmann::ordered_json> to_json(const Report& report);

}  // namespace rnic::why
