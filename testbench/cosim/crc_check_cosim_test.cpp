// crc_check and its SystemVerilog twin, driven with the same beats, agree in every beat and every cycle.
#include <tuple>

#include "model/common/crc32c.h"
#include "model/common/prng.h"
#include "model/rnic/rx/crc_check.h"
#include "rtl-stubs/verilated/crc_check_pins.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

struct Traffic {
  const char* name;
  Pattern produce, consume;
};
void PrintTo(const Traffic& t, std::ostream* os) { *os << t.name; }

// One block between a source and a sink.
template <class Block>
struct Chain {
  Link<FpduBeat> link_in, link_out;
  Source<FpduBeat> source;
  Sink<FpduBeat> sink;
  Block block;
  BufferPool pool{16384};
  Chain(const std::string& name, ClockDomain& clk)
      : link_in(name + "_in", clk, {4, 1, 1}),
        link_out(name + "_out", clk, CrcCheck::output_link({})),
        source((name + "_source").c_str(), clk),
        sink((name + "_sink").c_str(), clk),
        block(name.c_str(), clk) {
    source.out(link_in);
    block.in(link_in);
    block.out(link_out);
    sink.in(link_out);
  }
};

class CrcCheckCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  Chain<CrcCheck> model{"model", clk};
  Chain<rtl::CrcCheckRtl> twin{"twin", clk};

  void send(const Bytes& wire, bool markers, std::uint64_t pos, bool crc_on, FlowId flow) {
    const auto give = [&](auto& chain) {
      auto beats = cut_fpdu(chain.pool, wire, 64, markers, pos, flow);
      for (FpduBeat& b : beats) b.crc_on = crc_on;
      chain.source.script(beats);
    };
    give(model);
    give(twin);
  }
  void expect_lock_step() {
    ASSERT_EQ(model.sink.cycles(), twin.sink.cycles());
    for (std::size_t i = 0; i < model.sink.beats().size(); ++i) {
      const FpduBeat &m = model.sink.beats()[i], &t = twin.sink.beats()[i];
      SCOPED_TRACE("beat " + std::to_string(i) + " in cycle " + std::to_string(model.sink.cycles()[i]));
      ASSERT_EQ(m.words, t.words);
      ASSERT_EQ(m.marker_lane, t.marker_lane);
      ASSERT_EQ(load_le32(m.marker), load_le32(t.marker));
      ASSERT_EQ(m.flow, t.flow);
      ASSERT_EQ(std::tuple(m.first, m.last, m.crc_on, m.crc_ok), std::tuple(t.first, t.last, t.crc_on, t.crc_ok));
      ASSERT_EQ(Bytes(m.data, m.data + 4 * m.words), Bytes(t.data, t.data + 4 * t.words));
    }
  }
};

// An FPDU of random size and content with its right CRC; the stream position decides where markers stand.
Bytes random_fpdu(Prng& rng, bool markers, std::uint64_t pos) {
  const std::size_t words = rng.below(4) == 0 ? rng.between(2, 4) : rng.between(2, 400);
  Bytes wire(4 * words + (markers && (pos + 4 * words) % 512 == 4 ? 4 : 0));  // a last word cannot be a marker
  for (std::uint8_t& b : wire) b = static_cast<std::uint8_t>(rng.next());
  store_crc32c(&wire[wire.size() - 4], crc32c(ByteSpan(wire.data(), wire.size() - 4)));
  return wire;
}

TEST_P(CrcCheckCosim, AgreesInEveryBeatAndEveryCycle) {
  constexpr std::uint64_t kSeed = 20260101;
  RecordProperty("seed", std::to_string(kSeed));
  Prng rng(kSeed);
  std::uint64_t good = 0, bad = 0;
  std::size_t beats = 0;
  for (int i = 0; i < 600; ++i) {
    const bool markers = rng.below(2) != 0, crc_on = rng.below(8) != 0, damage = rng.below(4) == 0;
    const std::uint64_t pos = 4 * rng.below(1024);
    Bytes wire = random_fpdu(rng, markers, pos);
    if (damage) wire[rng.below(wire.size())] ^= static_cast<std::uint8_t>(1u << rng.below(8));
    beats += (wire.size() + 63) / 64;
    if (crc_on) ++(damage ? bad : good);
    send(wire, markers, pos, crc_on, FlowId{static_cast<std::uint32_t>(rng.below(65536))});
  }
  for (auto* source : {&model.source, &twin.source}) source->pause(GetParam().produce);
  for (auto* sink : {&model.sink, &twin.sink}) sink->pause(GetParam().consume);
  run_until_idle();
  EXPECT_GT(model.sink.beats().size(), beats - 100);
  EXPECT_EQ(model.block.good().value(), good);
  EXPECT_EQ(model.block.bad().value(), bad);
  expect_lock_step();
}

INSTANTIATE_TEST_SUITE_P(Patterns, CrcCheckCosim,
                         testing::Values(Traffic{"full_rate", {}, {}}, Traffic{"idle", every(5, 4), {}},
                                         Traffic{"back_pressure", {}, every(3, 2)},
                                         Traffic{"long_stall", {}, window(100, 400)},
                                         Traffic{"random_both", at_random(1, 50), at_random(2, 50)}),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace rnic::test
