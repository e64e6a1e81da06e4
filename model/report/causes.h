// What went wrong in a run or was slow, and why (model/why), for the page.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace rnic::report {

// {"answers": what `explain --why --json` prints, at most 8, "left_out": {kind: count}}: the failures first, then the
// slow requests, then what was sent again. Throws ConfigError if `database` is not that of a run.
nlohmann::ordered_json causes(const std::string& database);

}  // namespace rnic::report
