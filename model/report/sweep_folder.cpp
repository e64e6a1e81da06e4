#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "model/report/output_files.h"
#include "model/report/run_folder.h"

namespace rnic::report {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

// The columns of the page's table, with their values at each point.
class Measures {
 public:
  explicit Measures(std::size_t points) : points_(points) {}

  void set(std::size_t point, const std::string& title, const ordered_json& value) {
    auto found = std::find_if(list_.begin(), list_.end(), [&](const auto& m) { return m.first == title; });
    if (found == list_.end()) found = list_.insert(found, {title, std::vector<ordered_json>(points_)});
    found->second[point] = value;
  }
  ordered_json titles() const {
    ordered_json titles = ordered_json::array();
    for (const auto& [title, values] : list_) titles.push_back(title);
    return titles;
  }
  ordered_json of(std::size_t point) const {
    ordered_json row = ordered_json::array();
    for (const auto& [title, values] : list_) row.push_back(values[point]);
    return row;
  }

 private:
  std::size_t points_;
  std::vector<std::pair<std::string, std::vector<ordered_json>>> list_;
};

const ordered_json& member(const ordered_json& object, const char* name) {
  static const ordered_json none;
  return object.is_object() && object.contains(name) ? object[name] : none;
}

// Takes results from a run's stats.json, or from those that the sweep has kept.
void take_results(const ordered_json& results, std::size_t point, Measures& measures) {
  for (const ordered_json& r : results) {
    const auto take = [&, name = r["name"].get<std::string>()](const char* title, const ordered_json& value) {
      if (value.is_number()) measures.set(point, fmt::format("{}: {}", name, title), value);
    };
    const ordered_json& latency = member(r, "latency_ns");
    take("goodput Gb/s", member(r, "goodput_gbps"));
    take("rate M/s", member(r, "rate_mops"));
    take("p50 latency ns", latency.is_object() ? member(latency, "p50") : member(r, "p50_ns"));
    take("p99 latency ns", latency.is_object() ? member(latency, "p99") : member(r, "p99_ns"));
  }
}

void take_utilization(const ordered_json& stats, std::size_t point, Measures& measures) {
  const ordered_json& utilization = member(stats, "utilization");
  for (const auto& [resource, share] : utilization.items()) {
    if (share.is_number()) measures.set(point, resource + " %", 100 * share.get<double>());
  }
}

// A point's stats.json. The summary may name a folder of another machine or working directory.
std::optional<fs::path> stats_of(const fs::path& sweep, const ordered_json& record) {
  const ordered_json& folder = member(record, "folder");
  if (!folder.is_string()) return std::nullopt;
  const fs::path file = sweep / fs::path(folder.get<std::string>()).filename() / "stats.json";
  std::error_code none;
  return fs::is_regular_file(file, none) ? std::optional(file) : std::nullopt;
}

}  // namespace

ordered_json read_sweep_folder(const fs::path& folder, const std::string& name) {
  const std::string file = (folder / "sweep.json").string();
  const ordered_json summary = read_sweep(file).value;
  const ordered_json& points = summary["points"];
  ordered_json sweep{{"name", name}, {"folder", folder.string()}};
  for (const char* key : {"scenario", "complete", "mode", "axes", "knees"}) {
    if (summary.contains(key)) sweep[key] = summary[key];
  }
  Measures measures(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const auto& [title, value] : member(points[i], "columns").items()) measures.set(i, title, value);
  }
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    ordered_json point{{"settings", ordered_json::object()}};
    for (const char* key : {"folder", "exit_code", "settings", "bottleneck", "error"}) {
      if (const ordered_json& value = member(points[i], key); !value.is_null()) point[key] = value;
    }
    if (const ordered_json& kept = member(points[i], "results"); kept.is_array()) {
      take_results(kept, i, measures);
    } else if (const auto stats_file = stats_of(folder, points[i])) {
      const ordered_json stats = read_stats(stats_file->string()).value;
      take_results(member(stats, "results"), i, measures);
      take_utilization(stats, i, measures);
      if (const ordered_json& bottleneck = member(stats, "bottleneck"); bottleneck.is_object()) {
        point["bottleneck"] = bottleneck;
      }
    }
    list.push_back(std::move(point));
  }
  sweep["measures"] = measures.titles();
  for (std::size_t i = 0; i < list.size(); ++i) list[i]["values"] = measures.of(i);
  sweep["points"] = std::move(list);
  return sweep;
}

}  // namespace rnic::report
