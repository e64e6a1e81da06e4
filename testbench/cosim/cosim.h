// A C++ stage and its SystemVerilog twin, each between a source and a sink, given the same beats under the same
// patterns: they agree in every beat and every cycle.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>

#include "model/common/prng.h"
#include "model/rnic/beat.h"
#include "rtl-stubs/verilated/twin.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

struct Traffic {
  const char* name;
  Pattern produce, consume;
};
inline void PrintTo(const Traffic& t, std::ostream* os) { *os << t.name; }

inline const auto kTraffics = testing::Values(
    Traffic{"full_rate", {}, {}}, Traffic{"idle", every(5, 4), {}}, Traffic{"back_pressure", {}, every(3, 2)},
    Traffic{"long_stall", {}, window(100, 400)}, Traffic{"random_both", at_random(1, 50), at_random(2, 50)});
inline std::string traffic_name(const testing::TestParamInfo<Traffic>& info) { return info.param.name; }

template <class Block, class In>
struct Chain {
  Link<In> link_in;
  Link<FpduBeat> link_out;
  Source<In> source;
  Sink<FpduBeat> sink;
  BufferPool pool{16384};
  Block block;

  template <class... Args>
  Chain(const std::string& name, ClockDomain& clk, const LinkConfig& out, Args&&... args)
      : link_in(name + "_in", clk, {4, 1, 1}),
        link_out(name + "_out", clk, out),
        source((name + "_source").c_str(), clk),
        sink((name + "_sink").c_str(), clk),
        block(name.c_str(), clk, std::forward<Args>(args)...) {
    source.out(link_in);
    block.in(link_in);
    block.out(link_out);
    sink.in(link_out);
  }
  void run_as(const Traffic& traffic) {
    source.pause(traffic.produce);
    sink.pause(traffic.consume);
  }
};

template <class Block, class In>
void expect_lock_step(const Chain<Block, In>& model, const Chain<Block, In>& twin) {
  ASSERT_EQ(model.sink.cycles(), twin.sink.cycles());
  for (std::size_t i = 0; i < model.sink.beats().size(); ++i) {
    const FpduBeat &m = model.sink.beats()[i], &t = twin.sink.beats()[i];
    SCOPED_TRACE("beat " + std::to_string(i) + " in cycle " + std::to_string(model.sink.cycles()[i]));
    ASSERT_EQ(m.words, t.words);
    ASSERT_EQ(m.marker_lane, t.marker_lane);
    ASSERT_EQ(load_le32(m.marker), load_le32(t.marker));
    ASSERT_EQ(m.flow, t.flow);
    ASSERT_EQ(std::tuple(m.first, m.last, m.completes_wqe, m.marker_ok, m.crc_on, m.crc_ok),
              std::tuple(t.first, t.last, t.completes_wqe, t.marker_ok, t.crc_on, t.crc_ok));
    ASSERT_EQ(Bytes(m.data, m.data + 4 * m.words), Bytes(t.data, t.data + 4 * t.words));
  }
}

inline Bytes random_octets(Prng& rng, std::size_t count) {
  Bytes octets(count);
  for (std::uint8_t& b : octets) b = static_cast<std::uint8_t>(rng.next());
  return octets;
}

// The seed of a test's traffic, told beside its result.
inline Prng seeded(std::uint64_t seed) {
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return Prng(seed);
}

}  // namespace rnic::test
