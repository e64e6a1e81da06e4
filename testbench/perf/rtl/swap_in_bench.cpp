// A Verilated block in its stage's place, against the same block in a test bench of its own: both at a beat a cycle.
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "rtl-stubs/verilated/crc_pins.h"
#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/twin.h"
#include "testbench/perf/rtl/beat_sink.h"

namespace rnic::perf {
namespace {

constexpr std::uint64_t kFpdus = 20'000;

// An FPDU of 1460 octets without markers, in beats.
class Fpdu {
 public:
  Fpdu() {
    std::uint8_t* const octets = buf_->bytes() + kFrameHeadroom;
    for (unsigned i = 0; i < 4 * kWords; ++i) octets[i] = ulpdu_octet(i);
    store_be16(octets, 4 * kWords - 6);
    for (unsigned at = 0; at < kWords; at += 16) {
      FpduBeat& beat = beats_.emplace_back();
      beat.buf = buf_.get();
      beat.data = octets + 4 * at;
      beat.words = static_cast<std::uint8_t>(std::min(16u, kWords - at));
      beat.first = at == 0;
      beat.last = at + 16 >= kWords;
    }
  }
  const std::vector<FpduBeat>& beats() const { return beats_; }
  void lend() const { BufferRef(buf_).release(); }  // the reference that travels with the beats

 private:
  static constexpr unsigned kWords = 365;
  BufferPool pool_{2048};
  BufferRef buf_ = pool_.take();
  std::vector<FpduBeat> beats_;
};

class BeatSource final : public Stage {
 public:
  PushPort<FpduBeat> out{*this, "out"};
  explicit BeatSource(ClockDomain& clk) : Stage("source", clk) { wake(0); }
  Wake tick() override {
    if (sent_ == kFpdus || !out->can_push()) return Wake::on_traffic();
    const FpduBeat& beat = fpdu_.beats()[next_];
    if (beat.first) fpdu_.lend();
    out->push(beat);
    if (beat.last) ++sent_;
    next_ = beat.last ? 0 : next_ + 1;
    return Wake::next_cycle();
  }

 private:
  const Fpdu fpdu_;
  std::size_t next_ = 0;
  std::uint64_t sent_ = 0;
};

// In the calendar. `pins` are what the block's Pins want beside the stage.
template <class Pins, class... Args>
ChainFigures swapped_in(ClockDomain& clk, typename Pins::Block& stage, const LinkConfig& output, Args&... pins) {
  Link<FpduBeat> in("in", clk, {4, 1, 1}), out("out", clk, output);
  BeatSource source(clk);
  BeatSink sink(clk);
  source.out(in);
  stage.in(in);
  stage.out(out);
  sink.in(out);
  const rtl::Twin<Pins> twin(stage, pins...);
  const double start = processor_seconds();
  sc_core::sc_start();
  const double spent = processor_seconds() - start;
  RNIC_CHECK(sink.digest.fpdus() == kFpdus);
  return {spent, sink.digest.value()};
}

// In a loop. `table(top)` is what lies outside the block, before the edge.
template <class V, class Table>
ChainFigures bare(Table table) {
  struct Offer {
    std::decay_t<decltype(V::in_i)> bits;
    std::decay_t<decltype(V::in_data_i)> data;
  };
  const Fpdu fpdu;
  std::vector<Offer> script;
  for (const FpduBeat& beat : fpdu.beats()) {
    Offer& offer = script.emplace_back();
    rtl::pack(beat, offer.bits, offer.data);
  }

  VerilatedContext context;
  V top(&context, "");
  top.rst_ni = top.clk_i = 0;
  top.eval();
  top.clk_i = 1;
  top.eval();
  top.rst_ni = top.out_ready_i = 1;
  std::size_t next = 0;
  std::uint64_t taken = 0;
  ChainDigest digest;
  const double start = processor_seconds();
  for (std::uint64_t cycle = 1; digest.fpdus() < kFpdus; ++cycle) {
    top.clk_i = 0;
    top.in_valid_i = taken < kFpdus;
    top.in_i = script[next].bits;
    top.in_data_i = script[next].data;
    top.eval();
    if (top.out_valid_o) {
      const std::uint32_t bits = top.out_o[0];  // of rnic_stream_pkg::fpdu_beat_t
      digest.beat(cycle, bits & 8, bits & 4, top.out_data_o[(bits >> 12 & 0x3f) - 1]);
    }
    if (top.in_valid_i && top.in_ready_o && ++next == script.size()) next = 0, ++taken;
    table(top);
    top.clk_i = 1;
    top.eval();
  }
  return {processor_seconds() - start, digest.value()};
}

struct Measured {
  const char* block;
  ChainFigures (*swapped_in)();
  ChainFigures (*bare)();
};
template <class Pins>
constexpr Measured measured_crc(const char* block) {
  using Stage = typename Pins::Block;
  return {block,
          [] {
            ClockDomain clk("clk", {4000, 38});
            Stage stage("block", clk);
            return swapped_in<Pins>(clk, stage, Stage::output_link({}));
          },
          [] { return bare<typename Pins::Model>([](auto&) {}); }};
}
constexpr Measured kMeasured[] = {measured_crc<rtl::CrcCheckPins>("crc_check"),
                                  measured_crc<rtl::CrcInsertPins>("crc_insert"),
                                  {"marker_inserter",
                                   [] {
                                     ClockDomain clk("clk", {4000, 38});
                                     ContextStore contexts(clk, {1, 1, 1, 1});
                                     FlowContext flow;
                                     flow.tx_markers = true;
                                     contexts.write(FlowId{0}, flow);
                                     contexts.commit();
                                     BufferPool frames(2048);
                                     MarkerInserter stage("block", clk, {}, contexts, frames);
                                     return swapped_in<rtl::MarkerInserterPins>(
                                         clk, stage, MarkerInserter::output_link({}), contexts, frames);
                                   },
                                   [] {
                                     return bare<Vmarker_inserter>([written = 0u](Vmarker_inserter& top) mutable {
                                       top.tx_markers_i = 1;
                                       top.position_i = written;
                                       if (top.position_write_o) written = top.position_o;
                                     });
                                   }}};

void rtl_swapped_in(benchmark::State& state) {
  const Measured& m = kMeasured[state.range(0)];
  for (auto _ : state) {
    const ChainFigures swapped = measure(m.swapped_in), bare = measure(m.bare);
    if (swapped.digest != bare.digest) return state.SkipWithError("the digests differ");
    state.SetIterationTime(swapped.cpu_s);
    state.counters["swapped_in_ns/FPDU"] = 1e9 * swapped.cpu_s / kFpdus;
    state.counters["bare_ns/FPDU"] = 1e9 * bare.cpu_s / kFpdus;
    state.counters["swapped_in/bare"] = swapped.cpu_s / bare.cpu_s;
    state.SetLabel(fmt::format("{}; digests: {:016x}, {:016x}", m.block, swapped.digest, bare.digest));
  }
}
BENCHMARK(rtl_swapped_in)->ArgName("block")->DenseRange(0, 2)->UseManualTime()->Iterations(1)->Repetitions(5);

}  // namespace
}  // namespace rnic::perf
