// The cost that one datapath stage adds to a beat: a chain with crc_check against the same chain without it.
#include <cstddef>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "model/ends/ends.h"
#include "model/rnic/rx/crc_check.h"
#include "testbench/perf/child_process.h"
#include "testbench/perf/repeated.h"

namespace rnic::perf {
namespace {

constexpr std::size_t kFpdus = 220'000, kBeatsPerFpdu = 23, kBeats = kFpdus * kBeatsPerFpdu;

// The beats of one FPDU, all full.
std::vector<FpduBeat> one_fpdu() {
  static std::uint8_t bytes[64] = {};
  FpduBeat beat;
  beat.data = bytes;
  beat.words = sizeof bytes / 4;
  std::vector<FpduBeat> beats(kBeatsPerFpdu, beat);
  beats.front().first = beats.back().last = true;
  return beats;
}

// Processor seconds of a chain with the chip's look-ahead.
std::vector<double> run(bool with_stage) {
  ClockDomain clk("clk", {4000, 38});
  const LinkConfig link = LinkConfig::pipeline(CrcCheckConfig{});
  test::Source<FpduBeat> source("source", clk);
  std::optional<CrcCheck> stage;  // unbound, it could not be elaborated
  test::Sink<FpduBeat> sink("sink", clk);
  Netlist net("chain", clk);
  if (with_stage) {
    stage.emplace("crc_check", clk);
    net.connect(source.out, stage->in, "in", link);
    net.connect(stage->out, sink.in, "out", link);
  } else {
    net.connect(source.out, sink.in, "in", link);
  }
  source.send(one_fpdu());
  source.repeat(kFpdus);
  sink.drop();
  const double start = processor_seconds();
  sc_core::sc_start();
  const double spent = processor_seconds() - start;
  RNIC_CHECK(sink.dropped() == kBeats);
  return {spent};
}

void crc_check_per_beat(benchmark::State& state) {
  for (auto _ : state) {
    const double with = in_child([] { return run(true); }).at(0), without = in_child([] { return run(false); }).at(0);
    state.SetIterationTime(with);
    state.counters["ns/beat"] = 1e9 * (with - without) / kBeats;
    state.counters["chain_ns/beat"] = 1e9 * with / kBeats;
  }
}
BENCHMARK(crc_check_per_beat)->UseManualTime()->Iterations(1)->Apply(repeated);

}  // namespace
}  // namespace rnic::perf
