#include "model/report/output_files.h"

#include <fmt/format.h>

namespace rnic::report {
namespace {

using nlohmann::ordered_json;

constexpr const char* kResultShape = R"({
  "name!": "text", "phase": "count", "op": "text", "count": "count", "bytes": "count", "duration_ps": "count",
  "goodput_gbps": "number?", "rate_mops": "number?", "limit_gbps": "number?", "tcp_limit_gbps": "number?",
  "fairness": "number?", "latency_ns": {"*": "number?"}, "latency_cycles": {"*": "number?"},
  "latency_cdf": {"share!": ["number"], "ns!": ["number"]}, "one_way_ns": {"*": "number?"},
  "connections_per_s": "number?", "outcomes": {"*": "count"}, "retries": "count", "data_ok": "flag", "error": "text"})";

constexpr const char* kBreakdownShape = R"({
  "work": "text", "node": "text", "operation!": "text", "requests!": "count",
  "parts!": [{"name!": "text", "hop": "text", "*": "number?"}], "hops": [{"name!": "text", "*": "number?"}],
  "total!": {"mean_ns": "number?", "p50_ns": "number?", "p99_ns": "number?", "worst_ns": "number?"},
  "examples": {"*": "text"}})";

constexpr const char* kOccupancyShape = R"({
  "node!": "text", "name!": "text", "kind!": "text", "capacity!": "count", "cycle_ps": "count", "cycles!": "count",
  "busy_cycles": "count", "blocked_cycles": "count", "starved_cycles": "count", "idle_cycles": "count",
  "bin_width": "count", "histogram": ["count"]})";

constexpr const char* kPhaseOccupancyShape = R"({
  "node!": "text", "name!": "text", "cycles!": "count", "busy_cycles": "count", "blocked_cycles": "count",
  "starved_cycles": "count"})";

constexpr const char* kProgramShape = R"({
  "name!": "text", "done": "flag", "rounds": "count", "bytes": "count", "refused": "count", "last_refusal": "text",
  "first_ps": "count", "last_ps": "count", "error": "text"})";

constexpr const char* kComparisonShape = R"({
  "messages": "count", "matched": "count",
  "differences": [{"what": "text", "expected": "text", "got": "text", "explained_by": "text?"}]})";

const JsonShape& stats_shape() {
  static const JsonShape shape(fmt::format(R"({{
    "scenario": "text", "capture": "text", "as": "text", "assigned": {{"*": "any"}},
    "end": "text", "complete": "flag", "versions": {{"*": "text"}}, "seed": "count", "fault_seed": "count",
    "digest": "text", "sim_time_ps": "count", "warmup_ps": "count", "wall_s": "number", "cpu_s": "number",
    "frames": "count", "frames_per_cpu_s": "number?", "wave_changes": "count",
    "results": [{}], "checks": [{}], "programs": [{}], "comparison": {}, "latency_breakdown": [{}],
    "errors": ["text"], "bottleneck": {}, "bottleneck_candidates": [{}], "occupancy": [{}],
    "phases": [{{"phase!": "count", "name!": "text", "time_ps": "count", "bottleneck!": {}, "candidates": [{}],
                 "utilization": {{"*": "number?"}}, "occupancy": [{}]}}],
    "utilization": {{"*": "number?"}}, "config": {{"*": "settings"}}, "not_written": ["text"], "stats": "statistics"}})",
                                           kResultShape, kCheckShape, kProgramShape, kComparisonShape, kBreakdownShape,
                                           kBottleneckShape, kBottleneckShape, kOccupancyShape, kBottleneckShape,
                                           kBottleneckShape, kPhaseOccupancyShape)
                                   .c_str());
  return shape;
}

const JsonShape& series_shape() {
  static const JsonShape shape(R"({
    "interval_ps": "count", "warmup_ps": "count",
    "columns!": [{"name!": "text", "unit!": "text", "kind!": "text"}], "time_ps!": ["count"], "rows!": [["number?"]]})");
  return shape;
}

const JsonShape& sweep_shape() {
  static const JsonShape shape(fmt::format(R"({{
    "scenario": "text", "complete": "flag", "version": "text", "mode": "text",
    "axes": [{{"keys!": ["text"], "title!": "text", "values!": ["any"], "labels!": ["text"], "baseline": "any",
               "mean": "flag"}}],
    "columns": [{{"title!": "text", "path!": "text"}}],
    "points!": [{{"point": "count", "folder": "text?", "exit_code": "0..255", "digest": "text",
                  "settings": {{"*": "any"}}, "axis": "count?", "columns": {{"*": "number?"}}, "id": "text",
                  "end": "text", "cpu_s": "number", "results": [{}], "checks": [{}], "bottleneck": {},
                  "error": "text"}}],
    "knees": [{{"axis!": "count", "column!": "text", "best": "number?", "limits_below": "number?",
                "limits_above": "number?", "limited_by": ["text"]}}],
    "means": [{{"points": ["count"], "settings": {{"*": "any"}}, "columns": {{"*": "any"}}, "results": ["any"]}}]}})",
                                           kKeptResultShape, kCheckShape, kBottleneckShape)
                                   .c_str());
  return shape;
}

std::string element(std::size_t i) { return fmt::format("[{}]", i); }

// Fails if a list is not as long as another one.
void expect_length(const ReadBack& read, const std::vector<std::string>& path, const ordered_json& list,
                   std::size_t length, const char* other) {
  if (list.size() == length) return;
  read.fail(path, fmt::format("has {} elements, '{}' has {}", list.size(), other, length));
}

}  // namespace

ReadBack read_stats(const std::string& file) {
  ReadBack read(file, stats_shape());
  for (std::size_t i = 0; read.value.contains("results") && i < read.value["results"].size(); ++i) {
    const ordered_json& result = read.value["results"][i];
    if (!result.contains("latency_cdf")) continue;
    const ordered_json& cdf = result["latency_cdf"];
    expect_length(read, {"results", element(i), "latency_cdf", "share"}, cdf["share"], cdf["ns"].size(), "ns");
  }
  return read;
}

ReadBack read_series(const std::string& file) {
  ReadBack read(file, series_shape());
  const ordered_json& rows = read.value["rows"];
  expect_length(read, {"rows"}, rows, read.value["time_ps"].size(), "time_ps");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    expect_length(read, {"rows", element(i)}, rows[i], read.value["columns"].size(), "columns");
  }
  return read;
}

ReadBack read_sweep(const std::string& file) {
  ReadBack read(file, sweep_shape());
  const std::size_t axes = read.value.contains("axes") ? read.value["axes"].size() : 0;
  for (std::size_t i = 0; i < axes; ++i) {
    const ordered_json& axis = read.value["axes"][i];
    expect_length(read, {"axes", element(i), "labels"}, axis["labels"], axis["values"].size(), "values");
  }
  for (std::size_t i = 0; read.value.contains("knees") && i < read.value["knees"].size(); ++i) {
    const auto axis = read.value["knees"][i]["axis"].get<std::uint64_t>();
    if (axis >= axes) read.fail({"knees", element(i), "axis"}, fmt::format("is {}, and there are {} axes", axis, axes));
  }
  return read;
}

}  // namespace rnic::report
