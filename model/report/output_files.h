// The JSON that a run and a sweep leave in their folders, as readers may rely on it. A missing member was not asked
// for, or is newer than the program that wrote the file.
#pragma once

#include <string>

#include "model/config/json_file.h"

namespace rnic::report {

// ConfigError with file, line and path of what cannot be.
ReadBack read_stats(const std::string& file);   // stats.json of a run
ReadBack read_series(const std::string& file);  // series.json: as many rows as times, each with all columns
ReadBack read_sweep(const std::string& file);   // sweep.json

// Of a bottleneck, wherever it is named, and of a check.
inline constexpr const char* kBottleneckShape =
    R"({"name!": "text", "where": "text", "share": "number?", "evidence": ["text"], "line": "text"})";
inline constexpr const char* kCheckShape = R"({"name!": "text", "passed!": "flag", "text!": "text"})";
// Of an item's results, where a sweep has kept them.
inline constexpr const char* kKeptResultShape = R"({
  "name!": "text", "op": "text", "count": "count", "bytes": "count", "duration_ps": "count",
  "goodput_gbps!": "number?", "limit_gbps": "number?", "rate_mops!": "number?", "data_ok": "flag", "error": "text",
  "p50_ns!": "number?", "p99_ns!": "number?", "limited_by": "text"})";

}  // namespace rnic::report
