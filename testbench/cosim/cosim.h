// A C++ stage and its SystemVerilog twin, each between a source and a sink, given the same beats under the same
// patterns: they agree in every beat and every cycle.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/prng.h"
#include "model/rnic/beat.h"
#include "model/stats/registry.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/field_values.h"
#include "rtl-stubs/verilated/twin.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

struct Traffic {
  const char* name;
  Pattern produce, consume;
  Pattern control{};  // of sinks beside the datapath
};
inline void PrintTo(const Traffic& t, std::ostream* os) { *os << t.name; }

inline const auto kTraffics =
    testing::Values(Traffic{"full_rate", {}, {}}, Traffic{"idle", every(5, 4), {}},
                    Traffic{"back_pressure", {}, every(3, 2), every(40, 39)},
                    Traffic{"long_stall", {}, every(1000, 300), every(1300, 300)},
                    Traffic{"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)});
inline std::string traffic_name(const testing::TestParamInfo<Traffic>& info) { return info.param.name; }

// Field by field and cycle by cycle. In beats, octet by octet as well.
template <class T>
void expect_same(const Sink<T>& model, const Sink<T>& twin) {
  ASSERT_EQ(model.cycles(), twin.cycles()) << model.name();
  const std::vector<rtl::Signal> signals = rtl::signals_of<T>(model.name());
  std::vector<std::uint64_t> m(signals.size()), t(signals.size());
  for (std::size_t i = 0; i < model.beats().size(); ++i) {
    SCOPED_TRACE("message " + std::to_string(i) + " in cycle " + std::to_string(model.cycles()[i]));
    for (const auto& [message, values] : {std::pair(&model.beats()[i], &m), std::pair(&twin.beats()[i], &t)}) {
      rtl::StoreFields store(values->data());
      rtl::visit_fields(store, *message);
    }
    for (std::size_t k = 0; k < signals.size(); ++k) ASSERT_EQ(m[k], t[k]) << signals[k].name;
    if constexpr (std::is_same_v<T, FpduBeat>) {
      const ByteSpan a = rtl::octets_of(model.beats()[i]), b = rtl::octets_of(twin.beats()[i]);
      ASSERT_EQ(Bytes(a.begin(), a.end()), Bytes(b.begin(), b.end()));
    }
  }
}

// In the place of a stage that goes no further.
struct Stopped final : Clocked {
  Wake tick() override { return Wake::on_traffic(); }
};

inline Bytes random_octets(Prng& rng, std::size_t count) {
  Bytes octets(count);
  for (std::uint8_t& b : octets) b = static_cast<std::uint8_t>(rng.next());
  return octets;
}

// All that a block counts.
template <class Block>
std::string figures(const Block& block) {
  StatsRegistry registry;
  block.register_stats(StatsGroup(registry));
  std::ostringstream text;
  registry.write_text(text);
  return text.str();
}

// The seed of a test's traffic. RNIC_SEED in the environment replays another one.
inline Prng seeded(std::uint64_t seed) {
  if (const char* const given = std::getenv("RNIC_SEED")) seed = std::stoull(given);
  std::cout << "RNIC_SEED=" << seed << std::endl;  // a failing assertion of the RTL ends the process
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return Prng(seed);
}

// Rounds of traffic, each run until it is through and then compared: as many as it takes for RNIC_BEATS beats, as the
// environment asks for them, or for tens of thousands.
inline unsigned rounds(std::size_t beats_of_a_round) {
  const char* const given = std::getenv("RNIC_BEATS");
  const std::size_t beats = given != nullptr ? std::stoull(given) : 20'000;
  return static_cast<unsigned>(std::max<std::size_t>(1, (beats + beats_of_a_round - 1) / beats_of_a_round));
}

}  // namespace rnic::test
