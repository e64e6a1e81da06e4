// `rnicsim diff`: two runs, and where they first differ (diff.md).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/diff/around.h"
#include "model/diff/figures.h"
#include "model/diff/run_input.h"

namespace rnic::diff {

struct Comparison {
  // A difference, and what to say of it.
  struct First {
    std::string what;  // "only", "content", "order" or "time"
    std::uint64_t ps = 0;
    std::string text;
    std::optional<Told> a, b;
  };

  std::string a, b;  // names of the runs
  bool is_equal = false;
  std::string head;  // the first line
  std::vector<Setting> settings;
  std::optional<First> first;            // what the first line says
  std::vector<First> also;               // the first differences of other kinds
  Surroundings around;                   // of `first`
  std::vector<std::string> notes;        // what was not compared, and why
  std::uint64_t only_a = 0, only_b = 0;  // work requests
  std::vector<Figure> results, parts, counters;
};

// ConfigError for a database or log that no run writes.
Comparison compare(RunInputs& runs);

void print(const Comparison& comparison, std::ostream& out);
nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace rnic::diff
