// All symptoms of a run with their causes, and how they are printed.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/why/answer.h"

namespace rnic::why {

// A run that stalled, failed checks, streams that ended with an error, slow requests; or one request alone if `request`
// is not empty. ConfigError if `database` is not that of a run, or has no such request.
std::vector<Answer> answers(const std::string& database, const std::string& request);

// At most `most` of one kind; the rest is counted.
void print(const std::vector<Answer>& answers, std::size_t most, std::ostream& out);
// Times in ps.
nlohmann::ordered_json to_json(const Answer& answer);

}  // namespace rnic::why
