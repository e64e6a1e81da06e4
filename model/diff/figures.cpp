#include "model/diff/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::diff {
namespace {

using nlohmann::ordered_json;

// Values in the order of the file, with their paths.
using Values = std::vector<std::pair<std::string, ordered_json>>;

std::string text_of(const ordered_json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string below(const std::string& path, const std::string& key) {
  return path.empty() ? key : fmt::format("{}.{}", path, key);
}

void flatten(const ordered_json& value, const std::string& path, Values& into) {
  if (!value.is_object()) {
    into.emplace_back(path, value);
    return;
  }
  for (const auto& [key, member] : value.items()) flatten(member, below(path, key), into);
}

// A name, and its value in each run.
struct Both {
  std::string name;
  ordered_json a, b;
};

// All names, those that only B has last; null where a run has none.
std::vector<Both> joined(const Values& a, const Values& b) {
  std::vector<Both> both;
  std::map<std::string, std::size_t> index;
  for (const auto& [name, value] : a) {
    index.emplace(name, both.size());
    both.push_back({name, value, nullptr});
  }
  for (const auto& [name, value] : b) {
    const auto known = index.find(name);
    if (known == index.end()) both.push_back({name, nullptr, value});
    else both[known->second].b = value;
  }
  return both;
}

Figure figure(const std::string& name, const std::string& unit, const ordered_json& a, const ordered_json& b) {
  Figure f{name, unit, a, b, {}};
  if (a.is_number() && b.is_number() && a.get<double>() != 0) {
    f.change = (b.get<double>() - a.get<double>()) / std::abs(a.get<double>());
  }
  return f;
}

// By node; "" is the run.
std::map<std::string, Values> settings_of(const RunInput& input, bool by_stats) {
  std::map<std::string, Values> settings;
  settings[""].emplace_back("scenario", input.fact("scenario"));
  if (!by_stats) {
    for (const Fact& fact : input.facts) {
      if (!fact.node.empty()) settings[fact.node].emplace_back(fact.name, fact.value);
    }
    return settings;
  }
  for (const char* key : {"as", "warmup_ps"}) settings[""].emplace_back(key, input.fact(key));
  if (input.stats->contains("assigned")) flatten((*input.stats)["assigned"], "", settings[""]);
  if (!input.stats->contains("config")) return settings;
  for (const auto& [node, of_node] : (*input.stats)["config"].items()) flatten(of_node, "", settings[node]);
  return settings;
}

const ordered_json& member(const RunInput& input, const char* key) {
  static const ordered_json none = ordered_json::object();
  return input.stats && input.stats->contains(key) ? (*input.stats)[key] : none;
}

// Members of each item, below its name. Curves are left out, and so are cycles, which the times tell.
Values items_of(const ordered_json& list, const std::string& prefix) {
  Values values;
  for (ordered_json item : list) {
    const std::string name = prefix + item.value("name", "");
    for (const char* key : {"name", "latency_cdf", "latency_cycles", "phase"}) item.erase(key);
    flatten(item, name, values);
  }
  return values;
}

// "goodput_gbps" has its unit at its end; below "latency_ns" it is in the middle.
Values results_of(const RunInput& input) {
  Values values;
  for (const char* key : {"end", "sim_time_ps", "frames"}) values.emplace_back(key, member(input, key));
  for (const auto& [list, prefix] :
       {std::pair("results", ""), std::pair("checks", "check "), std::pair("programs", "")}) {
    for (auto& value : items_of(member(input, list), prefix)) values.push_back(std::move(value));
  }
  values.emplace_back("bottleneck", member(input, "bottleneck").value("name", ""));
  values.emplace_back("errors", member(input, "errors"));
  return values;
}

struct Counter {
  ordered_json value;
  std::string unit;
};

// What the simulation of a clock cost is no counter of the model.
bool is_of_simulator(const std::string& key) { return key == "core_clk" || key == "host_clk"; }

// Of a distribution its mean.
void counters_of(const ordered_json& tree, const std::string& path, Values& values,
                 std::map<std::string, std::string>& units) {
  if (!tree.is_object()) return;
  if (tree.contains("unit") && tree["unit"].is_string()) {
    const bool is_single = tree.contains("value");
    const std::string name = is_single ? path : path + ", mean";
    values.emplace_back(name, is_single ? tree["value"] : tree.value("mean", ordered_json()));
    units[name] = tree["unit"];
    return;
  }
  for (const auto& [key, member] : tree.items()) {
    if (!is_of_simulator(key)) counters_of(member, below(path, key), values, units);
  }
}

bool is_number_in_both(const Both& both) { return both.a.is_number() && both.b.is_number(); }
double absolute(const Both& both) { return std::abs(both.a.get<double>() - both.b.get<double>()); }
// To the larger one, so that a counter that was 0 is not infinitely far away.
double relative(const Both& both) {
  const double larger = std::max(std::abs(both.a.get<double>()), std::abs(both.b.get<double>()));
  return larger == 0 ? 0 : absolute(both) / larger;
}

// Of breakdown.tsv: a message of a ping-pong has several lines.
struct Median {
  std::string request, operation;
  bool operator<(const Median& o) const { return std::tie(request, operation) < std::tie(o.request, o.operation); }
};

// The median request of each kind of work: "writes of a" and its id.
std::map<std::string, Median> medians_of(const RunInput& input) {
  std::map<std::string, Median> medians;
  for (const ordered_json& item : member(input, "latency_breakdown")) {
    if (!item.contains("examples") || !item["examples"].contains("p50")) continue;
    const std::string work = item.value("work", "");
    const std::string name =
        fmt::format("{}{}, {}", work.empty() ? "" : work + ", ", item.value("node", ""), item.value("operation", ""));
    medians[name] = {item["examples"]["p50"], item.value("operation", "")};
  }
  return medians;
}

// "name=ps;…"
Values parts_in(std::string_view text, const std::string& where) {
  Values parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.rfind('=');
    std::uint64_t ps = 0;
    const char* const end = part.data() + part.size();
    if (equals == std::string_view::npos || std::from_chars(part.data() + equals + 1, end, ps).ptr != end) {
      throw ConfigError(where + ": parts: must be names with numbers");
    }
    parts.emplace_back(std::string(part.substr(0, equals)), static_cast<double>(ps) / 1000);
  }
  return parts;
}

// Of these requests, from breakdown.tsv if there is one: request, work, operation, total_ps, parts.
std::map<Median, Values> parts_of(const RunInput& input, const std::map<std::string, Median>& medians) {
  std::map<Median, Values> parts;
  for (const auto& [name, median] : medians) parts[median];
  const std::string file = (std::filesystem::path(input.folder) / "breakdown.tsv").string();
  std::ifstream in(file);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream columns(line);
    Median median;
    std::string work;
    std::getline(columns, median.request, '\t');
    std::getline(columns, work, '\t');
    std::getline(columns, median.operation, '\t');
    const auto its = parts.find(median);
    if (its == parts.end()) continue;
    its->second =
        parts_in(std::string_view(line).substr(line.rfind('\t') + 1), fmt::format("{}: line {}", file, number));
  }
  return parts;
}

}  // namespace

std::vector<Setting> settings_that_differ(const RunInput& a, const RunInput& b) {
  const bool by_stats = a.stats && b.stats;
  if (!by_stats && (a.facts.empty() || b.facts.empty())) return {};
  std::map<std::string, Values> of_a = settings_of(a, by_stats), of_b = settings_of(b, by_stats);
  std::vector<Setting> settings;
  for (const auto& [node, values] : of_a) {
    for (const Both& both : joined(values, of_b[node])) {
      if (both.a == both.b) continue;
      const Setting differs{both.name, text_of(both.a), text_of(both.b), {}};
      const auto same = std::find_if(settings.begin(), settings.end(), [&](const Setting& s) {
        return s.name == differs.name && s.a == differs.a && s.b == differs.b;
      });
      Setting& s = same != settings.end() ? *same : settings.emplace_back(differs);
      if (!node.empty()) s.nodes.push_back(node);
    }
  }
  return settings;
}

std::vector<Figure> results_that_differ(const RunInput& a, const RunInput& b) {
  std::vector<Figure> figures;
  if (!a.stats || !b.stats) return figures;
  for (const Both& both : joined(results_of(a), results_of(b))) {
    if (both.a != both.b) figures.push_back(figure(both.name, "", both.a, both.b));
  }
  return figures;
}

std::vector<Figure> parts_that_differ(const RunInput& a, const RunInput& b) {
  std::vector<Figure> figures;
  const std::map<std::string, Median> of_a = medians_of(a), of_b = medians_of(b);
  std::map<Median, Values> parts_a = parts_of(a, of_a), parts_b = parts_of(b, of_b);
  for (const auto& [name, median] : of_a) {
    const auto other = of_b.find(name);
    if (other == of_b.end() || parts_a[median].empty() || parts_b[other->second].empty()) continue;
    const std::string &request = median.request, &others = other->second.request;
    if (request != others) figures.push_back(figure(name + ": request", "", request, others));
    for (const Both& both : joined(parts_a[median], parts_b[other->second])) {
      const ordered_json zero = 0.0;  // a part that a request did not have took no time
      const ordered_json &x = both.a.is_null() ? zero : both.a, &y = both.b.is_null() ? zero : both.b;
      if (x != y) figures.push_back(figure(fmt::format("{}: {}", name, both.name), "ns", x, y));
    }
  }
  return figures;
}

std::vector<Figure> counters_that_differ(const RunInput& a, const RunInput& b) {
  std::vector<Figure> figures;
  if (!a.stats || !b.stats) return figures;
  Values of_a, of_b;
  std::map<std::string, std::string> units;
  counters_of(member(a, "stats"), "", of_a, units);
  counters_of(member(b, "stats"), "", of_b, units);
  std::vector<Both> both = joined(of_a, of_b);
  const auto is_equal = [](const Both& x) { return x.a == x.b || !is_number_in_both(x); };
  both.erase(std::remove_if(both.begin(), both.end(), is_equal), both.end());
  std::stable_sort(both.begin(), both.end(), [](const Both& x, const Both& y) {
    return relative(x) != relative(y) ? relative(x) > relative(y) : absolute(x) > absolute(y);
  });
  for (const Both& x : both) figures.push_back(figure(x.name, units[x.name], x.a, x.b));
  return figures;
}

}  // namespace rnic::diff
