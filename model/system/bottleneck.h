// What limits a run, by the rule of accounting.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/system/accounting.h"

namespace rnic {

struct Bottleneck {
  std::string name, where;  // "ORD", "node a"
  double share = 0;         // of the time: busy, or exhausted and waited for
  std::string line;         // its line in the report
  std::vector<std::string> evidence;
};

struct BottleneckReport {
  struct Phase {
    unsigned number = 0;
    std::string name;
    std::uint64_t time_ps = 0;
    Bottleneck what;
    std::vector<Bottleneck> others;  // other busy resources and waits, by the same rule
  };
  Bottleneck first;
  std::vector<Bottleneck> others;  // of the longest phase
  std::vector<Phase> phases;       // in their order
};

// Of the longest phase; `name` says what a phase is called.
BottleneckReport find_bottleneck(const Accounting& accounting, const std::function<std::string(unsigned)>& name);

// Adds `bottleneck`, `bottleneck_candidates` and, with bottleneck and candidates of each, `phases`.
void add_bottleneck(nlohmann::ordered_json& j, const BottleneckReport& report);

}  // namespace rnic
