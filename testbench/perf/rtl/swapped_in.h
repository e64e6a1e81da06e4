// One Verilated block: in its stage's place, and in its own test bench.
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

// For a stage between neighbours that keep it busy. `tables`: see Recorded; `pins`: arguments of the block's Pins
// beside the stage. The block's own bench replays the first cycles of the run. The two alternate every few
// milliseconds, so a phase in which the machine is slow affects both.
template <class Pins, class Tables, class... Args>
SwappedIn measure_swapped_in(typename Pins::Block& stage, Tables tables, Args&... pins) {
  using Taped = Recorded<Pins, Tables>;
  constexpr double kSeconds = 0.6;  // for both
  typename Taped::Record record;

  const rtl::Twin<Taped> twin(stage, record, tables, pins...);
  const auto run = [&stage](Cycle cycles) {
    sc_core::sc_start(sc_core::sc_time::from_value(cycles * stage.clock().period_ps()));
  };
  for (unsigned rounds = 0; record.cycles < Taped::kCycles; ++rounds) {
    RNIC_CHECK_MSG(rounds < 1000, "the block has nothing to do");
    run(1000);
  }
  Taped bench(stage, record, tables, pins...);
  const auto replay = [&] {
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
    const double spent = processor_seconds() - from;
    RNIC_CHECK(record.tape.at_end());
    return spent;
  };

  const std::uint64_t before = record.cycles;
  std::uint64_t replayed = 0;
  SwappedIn spent;
  while (spent.swapped_in + spent.bare < kSeconds) {
    const double from = processor_seconds();
    run(20'000);
    spent.swapped_in += processor_seconds() - from;
    for (; replayed < record.cycles - before; replayed += Taped::kCycles) spent.bare += replay();
  }
  return {1e9 * spent.swapped_in / static_cast<double>(record.cycles - before),
          1e9 * spent.bare / static_cast<double>(replayed)};
}

}  // namespace rnic::perf
