// One Verilated block: in its stage's place, and in a test bench of its own.
#pragma once

#include <memory>
#include <vector>

#include "model/common/clock_domain.h"
#include "rtl-stubs/verilated/twin.h"
#include "testbench/perf/child_process.h"
#include "testbench/perf/rtl/replay.h"

namespace rnic::perf {

// Processor time of a cycle in which the block is evaluated, in ns.
struct SwappedIn {
  double swapped_in = 0, bare = 0;
};

// For a stage between neighbours that keep it busy. `tables` as of Recorded; `pins` are what the block's Pins want
// beside the stage. The bench of its own replays the first cycles of the run.
template <class Pins, class Tables, class... Args>
SwappedIn measure_swapped_in(typename Pins::Block& stage, Tables tables, Args&... pins) {
  using Taped = Recorded<Pins, Tables>;
  constexpr double kSeconds = 0.3;
  typename Taped::Record record;
  SwappedIn result;

  const rtl::Twin<Taped> twin(stage, record, tables, pins...);
  const auto run = [&stage](Cycle cycles) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycles * stage.clock().period_ps()));
  };
  for (unsigned rounds = 0; record.cycles < Taped::kCycles; ++rounds) {
    RNIC_CHECK_MSG(rounds < 1000, "the block has nothing to do");
    run(1000);
  }
  const std::uint64_t before = record.cycles;
  const double start = processor_seconds();
  double spent = 0;
  while ((spent = processor_seconds() - start) < kSeconds) run(20'000);
  result.swapped_in = 1e9 * spent / static_cast<double>(record.cycles - before);

  Taped bench(stage, record, tables, pins...);
  std::uint64_t cycles = 0;
  for (spent = 0; spent < kSeconds; cycles += Taped::kCycles) {
    VerilatedContext context;
    context.threads(1);
    typename Pins::Model top(&context, "");
    top.rst_ni = top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
    top.rst_ni = 1;
    record.tape.rewind();
    const double from = processor_seconds();
    for (std::uint64_t c = 0; c < Taped::kCycles; ++c) {
      top.clk_i = 0;
      bench.play(top);
      top.clk_i = 1;
      top.eval();
    }
    spent += processor_seconds() - from;
    RNIC_CHECK(record.tape.at_end());
  }
  result.bare = 1e9 * spent / static_cast<double>(cycles);
  return result;
}

}  // namespace rnic::perf
