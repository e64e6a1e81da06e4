// The JSON files that runs and sweeps leave in their folders, as a format for readers. If a member is missing, it was
// not asked for, or it is newer than the program that wrote the file.
#pragma once

#include <string>

#include "model/config/json_file.h"

namespace rnic::report {

// ConfigError with file, line and path of an invalid value.
ReadBack read_stats(const std::string& file);   // stats.json of a run
ReadBack read_series(const std::string& file);  // series.json: as many rows as times, each with all columns
ReadBack read_sweep(const std::string& file);   // sweep.json

// Shapes of any bottleneck, and of a check.
inline constexpr const char* kBottleneckShape =
    R"({"name!": "text", "where": "text", "share": "number?", "evidence": ["text"], "line": "text"})";
inline constexpr const char* kCheckShape = R"({"name!": "text", "passed!": "flag", "text!": "text"})";
// Shape of an item's results that a sweep has kept.
inline constexpr const char* kKeptResultShape = R"({
  "name!": "text", "op": "text", "count": "count", "bytes": "count", "duration_ps": "count",
  "goodput_gbps!": "number?", "limit_gbps": "number?", "rate_mops!": "number?", "data_ok": "flag", "error": "text",
  "p50_ns!": "number?", "p99_ns!": "number?", "limited_by": "text"})";

}  // namespace rnic::report
