// series.json as the page draws it: column by column, and no finer than a screen.
#pragma once

#include <nlohmann/json.hpp>

namespace rnic::report {

// {"interval_ps", "warmup_ps", "rows": of the file, "every": rows in a mean, "time_ps": […],
//  "columns": [{"name", "unit", "kind", "values": […], or a number that never changes}…]}
nlohmann::ordered_json series_columns(const nlohmann::ordered_json& series);

}  // namespace rnic::report
