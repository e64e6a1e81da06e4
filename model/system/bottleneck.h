// What limits a run, by the rule of accounting.md.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/system/accounting.h"

namespace rnic {

struct Bottleneck {
  std::string name, where;  // "ORD", "node a"
  double share = 0;         // of the time: busy, or used up and waited for
  std::string line;         // what the report says of it
  std::vector<std::string> evidence;
};

struct BottleneckReport {
  Bottleneck first;
  std::vector<Bottleneck> others;  // what else was busy or waited for, by the same rule
};

// Of the longest phase; `name` says what a phase is called.
BottleneckReport find_bottleneck(const Accounting& accounting, const std::function<std::string(unsigned)>& name);

// Adds `bottleneck` and `bottleneck_candidates`.
void add_bottleneck(nlohmann::ordered_json& j, const BottleneckReport& report);

}  // namespace rnic
