// A C++ stage and its SystemVerilog twin, each between a source and a sink, get the same beats under the same patterns:
// they agree in every beat and every cycle.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/common/description.h"
#include "model/common/message.h"
#include "model/common/prng.h"
#include "model/rnic/messages/datapath.h"
#include "model/stats/report.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/twin.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/sizes.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// The first difference between the outputs of a stage and its twin; empty if all fields, octets of beats and cycles
// agree.
//   crc_check.out, cycle 4978 (19.912 us), message 203: words: the stage has 16, the twin 15
template <class T>
std::string first_difference(const Sink<T>& model, const Sink<T>& twin, std::size_t& message) {
  const auto came = [&](const Sink<T>& side) { return message < side.size(); };
  const auto at = [&](Cycle cycle, const std::string& what) {
    const double us = static_cast<double>(cycle * model.clock().period_ps()) * 1e-6;
    return fmt::format("{}, cycle {} ({:.3f} us), message {}: {}", model.in->name(), cycle, us, message, what);
  };
  const auto differ = [&](const std::string& field, std::uint64_t m, std::uint64_t t) {
    return at(model.cycles()[message], fmt::format("{}: the stage has {}, the twin {}", field, m, t));
  };
  const std::vector<Signal> signals = signals_of<T>();
  std::vector<std::uint64_t> m(signals.size()), t(signals.size());
  for (message = 0; came(model) || came(twin); ++message) {
    if (!came(twin)) return at(model.cycles()[message], "the stage gives it, the twin never");
    if (!came(model)) return at(twin.cycles()[message], "the twin gives it, the stage never");
    const Cycle stage_cycle = model.cycles()[message], twin_cycle = twin.cycles()[message];
    if (stage_cycle < twin_cycle)
      return at(stage_cycle, fmt::format("the stage gives it, the twin in cycle {}", twin_cycle));
    if (twin_cycle < stage_cycle)
      return at(twin_cycle, fmt::format("the twin gives it, the stage in cycle {}", stage_cycle));
    const T &of_model = model[message], &of_twin = twin[message];
    for (const auto& [given, values] : {std::pair(&of_model, &m), std::pair(&of_twin, &t)}) {
      StoreFields store(values->data());
      visit_fields(store, *given);
    }
    for (std::size_t k = 0; k < signals.size(); ++k) {
      if (m[k] != t[k]) return differ(signals[k].name, m[k], t[k]);
    }
    if constexpr (std::is_same_v<T, FpduBeat>) {
      const ByteSpan a = rtl::octets_of(of_model), b = rtl::octets_of(of_twin);
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k] != b[k]) return differ(fmt::format("octet[{}]", k), a[k], b[k]);
      }
    }
  }
  return "";
}

// Ends the test: nothing after the first difference is meaningful.
[[noreturn]] inline void end_test(const std::string& text) {
  ADD_FAILURE() << text;
  throw testing::AssertionException({testing::TestPartResult::kFatalFailure, __FILE__, __LINE__, text.c_str()});
}

// Ends the test at the first difference, with a line about its kind and time, and another that `where` makes from the
// message's number.
template <class T, class Where>
void expect_same(const Sink<T>& model, const Sink<T>& twin, Where where) {
  std::size_t message = 0;
  const std::string difference = first_difference(model, twin, message);
  if (!difference.empty()) end_test(difference + where(message));
}
template <class T>
void expect_same(const Sink<T>& model, const Sink<T>& twin) {
  expect_same(model, twin, [](std::size_t) { return ""; });
}
// The same for lists of numbers: cycles, addresses, octets.
template <class List>
void expect_same(const std::string& what, const List& model, const List& twin) {
  if (model == twin) return;
  const auto [m, t] = std::mismatch(model.begin(), model.end(), twin.begin(), twin.end());
  const auto value = [](auto at, const List& of) { return at == of.end() ? "no more" : std::to_string(*at); };
  end_test(
      fmt::format("{}[{}]: the stage has {}, the twin {}", what, m - model.begin(), value(m, model), value(t, twin)));
}

// Replaces a stage that does nothing more.
struct Stopped final : Clocked {
  Wake tick() override { return Wake::on_traffic(); }
  void reset() override {}
};

inline Bytes random_octets(Prng& rng, std::size_t count) {
  Bytes octets(count);
  for (std::uint8_t& b : octets) b = static_cast<std::uint8_t>(rng.next());
  return octets;
}

// All counters of a block, but for the marks of its pools: a twin has memories of its own.
template <class Block>
std::string figures(Block& block) {
  StatsRegistry registry;
  block.describe(Description(StatsGroup(registry)));
  std::stringstream text;
  write_text(text, registry);
  std::string counters;
  for (std::string line; std::getline(text, line);) {
    if (line.find(".used ") == std::string::npos) counters += line + '\n';
  }
  return counters;
}

// The seed of a test's traffic. RNIC_SEED in the environment overrides it, to replay another run.
inline Prng seeded(std::uint64_t seed) {
  if (const char* const given = std::getenv("RNIC_SEED")) seed = std::stoull(given);
  std::cout << "RNIC_SEED=" << seed << std::endl;  // a failing assertion of the RTL ends the process
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return Prng(seed);
}

// Rounds of traffic; each runs until all of it has passed, and is then compared. The number of rounds gives at least
// RNIC_BEATS beats, an environment variable, or 20,000.
inline unsigned rounds(std::size_t beats_of_a_round) {
  const char* const given = std::getenv("RNIC_BEATS");
  const std::size_t beats = given != nullptr ? std::stoull(given) : 20'000;
  return static_cast<unsigned>(std::max<std::size_t>(1, (beats + beats_of_a_round - 1) / beats_of_a_round));
}

}  // namespace rnic::test
