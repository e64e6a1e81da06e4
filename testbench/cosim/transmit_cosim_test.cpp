// mpa_framer, marker_inserter and crc_insert.
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "model/wire/fpdu.h"
#include "rtl-stubs/verilated/crc_pins.h"
#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/mpa_framer_pins.h"
#include "testbench/cosim/cosim.h"
#include "testbench/support/mpa_tx_chain.h"

namespace rnic::test {
namespace {

constexpr unsigned kFlows = 8;

// Small ones, those that end near a beat's end, one of a frame, now and then a long one.
std::size_t random_ulpdu_bytes(Prng& rng) {
  switch (rng.below(8)) {
    case 0:
      return rng.below(8);
    case 1:
      return 64 * rng.between(1, 8) - 6 + rng.below(12) - 4;
    case 2:
      return 1440;
    case 3:
      return rng.below(20) == 0 ? 9000 + rng.below(100) : 512;
    default:
      return rng.below(700);
  }
}

// Odd flows have markers, the first two CRC.
class TransmitCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  ContextStore contexts{clk, {1, kFlows, 1, 1}};
  TransmitCosim() {
    for (unsigned i = 0; i < kFlows; ++i) {
      FlowContext flow;
      flow.tx_markers = i % 2 != 0;
      flow.crc = i / 2 % 2 == 0;
      flow.epoch = 1;
      contexts.write(FlowId{i}, flow);
    }
  }
  template <class Model, class Twin>
  void run(Model& model, Twin& twin, std::size_t beats) {
    model.run_as(GetParam());
    twin.run_as(GetParam());
    run_until_idle();
    EXPECT_GE(model.sink.beats().size(), beats);
    expect_same(model.sink, twin.sink);
    model.clear();
    twin.clear();
  }
};

struct FramerCosim : TransmitCosim {
  Chain<MpaFramer, Ulpdu> model{"model", clk, MpaFramer::output_link({}), DatapathConfig{}, contexts};
  Chain<MpaFramer, Ulpdu> twin{"twin", clk, MpaFramer::output_link({}), DatapathConfig{}, contexts};
  rtl::Twin<rtl::MpaFramerPins> rtl{twin.block, contexts};
};
TEST_P(FramerCosim, AgreesInEveryBeatAndEveryCycle) {
  Prng rng = seeded(20260102);
  for (unsigned round = rounds(8'000); round-- > 0;) {
    for (int i = 0; i < 1200; ++i) {
      const Bytes ulpdu = random_octets(rng, random_ulpdu_bytes(rng));
      const FlowId flow{static_cast<std::uint32_t>(rng.below(kFlows))};
      const bool completes = rng.below(2) != 0;
      model.source.script({make_ulpdu(model.pool, ulpdu, flow, completes)}, clk.now() + 1);
      twin.source.script({make_ulpdu(twin.pool, ulpdu, flow, completes)}, clk.now() + 1);
    }
    run(model, twin, 8'000);
  }
}
INSTANTIATE_TEST_SUITE_P(Patterns, FramerCosim, kTraffics, traffic_name);

// An FPDU as the framer makes it.
template <class C>
void send_framed(C& chain, const Bytes& ulpdu, FlowId flow, bool crc_on, bool completes, Cycle from) {
  MpaReference plain;
  plain.crc = false;
  auto beats = cut_fpdu(chain.pool, plain.fpdu(ulpdu), 64, false, 0, flow);
  for (FpduBeat& b : beats) b.crc_on = crc_on;
  beats.back().completes_wqe = completes;
  chain.source.script(beats, from);
}

struct InserterCosim : TransmitCosim {
  BufferPool marked_model{16384}, marked_twin{16384};
  Chain<MarkerInserter, FpduBeat> model{"model",          clk,      MarkerInserter::output_link({}),
                                        DatapathConfig{}, contexts, marked_model};
  Chain<MarkerInserter, FpduBeat> twin{"twin",           clk,      MarkerInserter::output_link({}),
                                       DatapathConfig{}, contexts, marked_twin};
  rtl::Twin<rtl::MarkerInserterPins> rtl{twin.block, contexts, marked_twin};
};
TEST_P(InserterCosim, AgreesInEveryBeatAndEveryCycle) {
  Prng rng = seeded(20260103);
  for (unsigned round = rounds(8'000); round-- > 0;) {
    for (int i = 0; i < 1200; ++i) {
      const Bytes ulpdu = random_octets(rng, random_ulpdu_bytes(rng));
      const FlowId flow{static_cast<std::uint32_t>(rng.below(kFlows))};
      const bool crc_on = rng.below(2) != 0, completes = rng.below(2) != 0;
      send_framed(model, ulpdu, flow, crc_on, completes, clk.now() + 1);
      send_framed(twin, ulpdu, flow, crc_on, completes, clk.now() + 1);
    }
    run(model, twin, 8'000);
  }
  EXPECT_GT(model.block.markers().value(), 400u);
  EXPECT_EQ(model.block.markers().value(), twin.block.markers().value());
  EXPECT_EQ(marked_model.in_use(), marked_twin.in_use());
}
// A flow starts anew where its context says so, and not where another flow's does.
TEST_P(InserterCosim, AgreesOnAFlowThatBeginsAgain) {
  const auto send = [&](Cycle from) {
    for (const std::uint32_t flow : {1u, 3u, 1u}) {
      send_framed(model, Bytes(300), FlowId{flow}, true, false, from);
      send_framed(twin, Bytes(300), FlowId{flow}, true, false, from);
    }
  };
  send(0);
  run(model, twin, 15);
  FlowContext again = contexts.flow(FlowId{1});
  ++again.epoch;
  contexts.write(FlowId{1}, again);
  send(clk.now() + 1);
  run(model, twin, 15);
  EXPECT_EQ(model.block.markers().value(), 6u);
  EXPECT_EQ(twin.block.markers().value(), 6u);
}
INSTANTIATE_TEST_SUITE_P(Patterns, InserterCosim, kTraffics, traffic_name);

struct CrcInsertCosim : TransmitCosim {
  Chain<CrcInsert, FpduBeat> model{"model", clk, CrcInsert::output_link({})};
  Chain<CrcInsert, FpduBeat> twin{"twin", clk, CrcInsert::output_link({})};
  rtl::Twin<rtl::CrcInsertPins> rtl{twin.block};
};
TEST_P(CrcInsertCosim, AgreesInEveryBeatAndEveryCycle) {
  Prng rng = seeded(20260104);
  for (unsigned round = rounds(8'000); round-- > 0;) {
    for (int i = 0; i < 1200; ++i) {
      const Bytes ulpdu = random_octets(rng, random_ulpdu_bytes(rng));
      const FlowId flow{static_cast<std::uint32_t>(rng.below(kFlows))};
      const bool crc_on = rng.below(4) != 0;
      send_framed(model, ulpdu, flow, crc_on, false, clk.now() + 1);
      send_framed(twin, ulpdu, flow, crc_on, false, clk.now() + 1);
    }
    run(model, twin, 8'000);
  }
}
INSTANTIATE_TEST_SUITE_P(Patterns, CrcInsertCosim, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
