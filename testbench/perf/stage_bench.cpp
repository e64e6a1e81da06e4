// What one datapath stage adds to a beat's cost: a chain with crc_check against the same chain without it.
#include <cstddef>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "model/rnic/rx/crc_check.h"
#include "testbench/perf/child_process.h"
#include "testbench/perf/repeated.h"

namespace rnic::perf {
namespace {

constexpr std::size_t kBeats = 5'000'000;
constexpr unsigned kBeatsPerFpdu = 23;

// A full beat each cycle while there is credit.
class Source final : public Stage {
 public:
  PushPort<FpduBeat> out{*this, "out"};
  Source(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) { wake(0); }
  Wake tick() override {
    if (sent_ == kBeats || !out->can_push()) return Wake::on_traffic();
    FpduBeat beat;
    beat.data = bytes_;
    beat.words = sizeof bytes_ / 4;
    beat.first = sent_ % kBeatsPerFpdu == 0;
    beat.last = (sent_ + 1) % kBeatsPerFpdu == 0;
    out->push(beat);
    ++sent_;
    return Wake::next_cycle();
  }

 private:
  std::uint8_t bytes_[64] = {};
  std::size_t sent_ = 0;
};

class Sink final : public Stage {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  Sink(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  Wake tick() override {
    if (!in->can_pop()) return Wake::on_traffic();
    in->pop();
    ++taken_;
    return Wake::next_cycle();
  }
  std::size_t taken() const { return taken_; }

 private:
  std::size_t taken_ = 0;
};

// Processor seconds of a chain; its look-ahead is that of the chip.
std::vector<double> run(bool with_stage) {
  ClockDomain clk("clk", {4000, 38});
  Link<FpduBeat> in("in", clk, LinkConfig::pipeline(CrcCheckConfig{})),
      out("out", clk, LinkConfig::pipeline(CrcCheckConfig{}));
  Source source("source", clk);
  std::optional<CrcCheck> stage;  // a stage that is there must be bound
  Sink sink("sink", clk);
  source.out(in);
  if (with_stage) {
    stage.emplace("crc_check", clk);
    stage->in(in);
    stage->out(out);
  }
  sink.in(with_stage ? out : in);
  const double start = processor_seconds();
  sc_core::sc_start();
  const double spent = processor_seconds() - start;
  RNIC_CHECK(sink.taken() == kBeats);
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
