#include "rtl-stubs/verilated/pass_through_pins.h"
#include "testbench/cosim/stream_cosim.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {
namespace {

constexpr unsigned kBeatBytes = sizeof(Vpass_through::in_data_i);

struct PassThroughSide : Chain<PassThrough, FpduBeat, rtl::PassThroughPins> {
  static constexpr const char* kBlock = "pass_through";
  PassThroughSide(const std::string& name, ClockDomain& clk)
      : Chain(name, clk, LinkConfig::pipeline(PassThroughConfig{})) {}
  void attach_twin() { rtl.emplace(block); }
};

// FPDUs of any flow from any place of its stream.
struct Fpdus {
  FpdusUnderWay under_way;

  std::size_t send(Prng& rng, Cycle from, const std::vector<PassThroughSide*>& sides) {
    const FlowEnd flow{rng.below(2) != 0, static_cast<wire::StreamPosition>(4 * rng.below(1024))};
    MpaReference reference{flow.markers, true, flow.position};
    const Bytes wire = reference.fpdu(random_octets(rng, random_ulpdu_bytes(rng, flow, kBeatBytes)));
    const FlowId id{static_cast<std::uint32_t>(rng.below(65536))};
    under_way.sent(id, flow.position);
    std::size_t count = 0;
    for (PassThroughSide* side : sides) {
      const auto beats = cut_fpdu(side->pool, wire, kBeatBytes, flow.markers, flow.position, id);
      side->source.send_at(from, beats);
      count = beats.size();
    }
    return count;
  }
};

using PassThroughCosim = StreamCosim<PassThroughSide, Fpdus>;
TEST_P(PassThroughCosim, AgreesInEveryBeatAndEveryCycle) {
  agree(20261123);
  EXPECT_EQ(figures(model.block), figures(twin.block));
}
TEST_P(PassThroughCosim, BehavesAsNewAfterAResetAmidAnFpdu) { agree_after_resets(20261124); }
INSTANTIATE_TEST_SUITE_P(Patterns, PassThroughCosim, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
