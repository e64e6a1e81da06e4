// The transmit chain of MPA as stages, against the same blocks as Verilated RTL in their own test bench.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "testbench/perf/repeated.h"
#include "testbench/perf/rtl/beat_sink.h"

namespace rnic::perf {
namespace {

// The same ULPDU again and again, at its due times.
class UlpduSource final : public Stage {
 public:
  PushPort<Ulpdu> out{*this, "out"};
  UlpduSource(ClockDomain& clk, const ChainLoad& load) : Stage("source", clk), load_(load) {
    ulpdu_.buf = pool_.take();
    ulpdu_.bytes = load.ulpdu_bytes;
    ulpdu_.markers = true;
    for (unsigned i = 0; i < load.ulpdu_bytes; ++i) ulpdu_.buf->bytes()[Ulpdu::kOffset + i] = ulpdu_octet(i);
    wake(0);
  }
  Wake tick() override {
    if (sent_ == load_.fpdus) return Wake::on_traffic();
    if (now() < sent_ * load_.period) return Wake::at_cycle(sent_ * load_.period);
    if (!out->can_push()) return Wake::on_traffic();
    ulpdu_.position = static_cast<std::uint16_t>(position_ % wire::kMarkerInterval);
    out->push(ulpdu_);
    position_ += static_cast<wire::StreamPosition>(wire::marked_fpdu_bytes(position_, ulpdu_.bytes));
    ++sent_;
    return Wake::at_cycle(std::max(now() + 1, sent_ * load_.period));
  }

 private:
  const ChainLoad& load_;
  BufferPool pool_{2048};
  Ulpdu ulpdu_;
  wire::StreamPosition position_ = 0;
  std::uint64_t sent_ = 0;
};

// The stages of transmit_chain.sv, with the chip's look-ahead.
struct Chain {
  ClockDomain clk{"clk", {4000, 38}};
  BufferPool frames{2048};
  Link<Ulpdu> ulpdus{"ulpdus", clk, {4, 1, 1}};
  Link<FpduBeat> framed{"framed", clk, LinkConfig::pipeline(MpaFramerConfig{})};
  Link<FpduBeat> marked{"marked", clk, LinkConfig::pipeline(MarkerInserterConfig{})};
  Link<FpduBeat> sealed{"sealed", clk, LinkConfig::pipeline(CrcInsertConfig{})};
  UlpduSource source;
  MpaFramer framer{"mpa_framer", clk, {}};
  MarkerInserter inserter{"marker_inserter", clk, {}, frames};
  CrcInsert crc{"crc_insert", clk};
  BeatSink sink{clk};

  explicit Chain(const ChainLoad& load) : source(clk, load) {
    source.out(ulpdus);
    framer.in(ulpdus);
    framer.out(framed);
    inserter.in(framed);
    inserter.out(marked);
    crc.in(marked);
    crc.out(sealed);
    sink.in(sealed);
  }
  ChainFigures run(const ChainLoad& load) {
    const double start = processor_seconds();
    sc_core::sc_start();
    const double spent = processor_seconds() - start;
    RNIC_CHECK(sink.digest.fpdus() == load.fpdus);
    return {spent, sink.digest.value()};
  }
};

// transmit_chain as built by a compiler, if the compiler is installed.
std::optional<ChainFigures> run_bare_chain(const char* compiler, std::size_t load) {
  const std::string program = fmt::format("{}{}", RNIC_BARE_CHAIN, compiler);
  if (!std::filesystem::exists(program)) return {};
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(fmt::format("{} {}", program, load).c_str(), "r"), pclose);
  ChainFigures f;
  unsigned long long digest = 0;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf %llu", &f.cpu_s, &digest) != 2) {
    throw std::runtime_error("no figures from " + program);
  }
  f.digest = digest;
  return f;
}

void rtl_chain(benchmark::State& state) {
  const auto number = static_cast<std::size_t>(state.range(0));
  const ChainLoad& load = kChainLoads[number];
  const auto fpdus = static_cast<double>(load.fpdus);
  for (auto _ : state) {
    const ChainFigures model = measure([&] { return Chain(load).run(load); });
    std::string label = fmt::format("{}; digests: model {:016x}", load.name, model.digest);
    double fastest = 1e99;
    for (const char* compiler : {"g++", "clang++"}) {
      const std::optional<ChainFigures> bare = run_bare_chain(compiler, number);
      if (!bare) continue;
      label += fmt::format(", {} {:016x}", compiler, bare->digest);
      if (bare->digest != model.digest) return state.SkipWithError(("the digests differ: " + label).c_str());
      state.counters[fmt::format("{}_ns/FPDU", compiler)] = 1e9 * bare->cpu_s / fpdus;
      fastest = std::min(fastest, bare->cpu_s);
    }
    state.SetIterationTime(model.cpu_s);
    state.counters["model_ns/FPDU"] = 1e9 * model.cpu_s / fpdus;
    state.counters["RTL/model"] = fastest / model.cpu_s;
    state.SetLabel(label);
  }
}
BENCHMARK(rtl_chain)->ArgName("load")->DenseRange(0, 2)->UseManualTime()->Iterations(1)->Apply(repeated);

}  // namespace
}  // namespace rnic::perf
