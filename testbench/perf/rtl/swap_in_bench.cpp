// A Verilated block in its stage's place, against the same block in its own test bench.
#include <benchmark/benchmark.h>

#include "testbench/perf/repeated.h"
#include "testbench/perf/rtl/swap_in_blocks.h"

namespace rnic::perf {
namespace {

struct Measured {
  const char* block;
  SwappedIn (*measure)();
};
constexpr Measured kMeasured[] = {{"mpa_framer", measure_mpa_framer},
                                  {"marker_inserter", measure_marker_inserter},
                                  {"crc_insert", measure_crc_insert},
                                  {"mpa_deframer", measure_mpa_deframer},
                                  {"crc_check", measure_crc_check},
                                  {"ddp_placement", measure_ddp_placement},
                                  {"irrq", measure_irrq},
                                  {"atomic_alu", measure_atomic_alu},
                                  {"response_queue", measure_response_queue},
                                  {"terminate_generator", measure_terminate_generator}};

void rtl_swapped_in(benchmark::State& state) {
  const Measured& m = kMeasured[state.range(0)];
  for (auto _ : state) {
    const std::vector<double> ns = in_child([&m] {
      const SwappedIn figures = m.measure();
      return std::vector<double>{figures.swapped_in, figures.bare};
    });
    state.SetIterationTime(1e-9 * ns.at(0));
    state.counters["swapped_in_ns"] = ns.at(0);
    state.counters["bare_ns"] = ns.at(1);
    state.counters["swapped_in/bare"] = ns.at(0) / ns.at(1);
    state.SetLabel(m.block);
  }
}
BENCHMARK(rtl_swapped_in)->ArgName("block")->DenseRange(0, 9)->UseManualTime()->Iterations(1)->Apply(repeated);

}  // namespace
}  // namespace rnic::perf
