#include "model/common/crc32c.h"
#include "model/rnic/rx/crc_check.h"
#include "rtl-stubs/verilated/crc_pins.h"
#include "testbench/cosim/cosim.h"

namespace rnic::test {
namespace {

class CrcCheckCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  Chain<CrcCheck, FpduBeat> model{"model", clk, CrcCheck::output_link({})};
  Chain<CrcCheck, FpduBeat> twin{"twin", clk, CrcCheck::output_link({})};
  rtl::Twin<rtl::CrcCheckPins> rtl{twin.block};

  void send(Chain<CrcCheck, FpduBeat>& chain, const Bytes& wire, bool markers, std::uint64_t pos, bool crc_on,
            FlowId flow) const {
    auto beats = cut_fpdu(chain.pool, wire, 64, markers, pos, flow);
    for (FpduBeat& b : beats) b.crc_on = crc_on;
    chain.source.script(beats, clk.now() + 1);
  }
};

// An FPDU of random size and content with its right CRC; the stream position decides where markers stand.
Bytes random_fpdu(Prng& rng, bool markers, std::uint64_t pos) {
  const std::size_t words = rng.below(4) == 0 ? rng.between(2, 4) : rng.between(2, 400);
  Bytes wire = random_octets(rng, 4 * words + (markers && (pos + 4 * words) % 512 == 4 ? 4 : 0));
  store_crc32c(&wire[wire.size() - 4], crc32c(ByteSpan(wire.data(), wire.size() - 4)));
  return wire;  // its last word is no marker
}

TEST_P(CrcCheckCosim, AgreesInEveryBeatAndEveryCycle) {
  Prng rng = seeded(20260101);
  std::uint64_t good = 0, bad = 0;
  model.run_as(GetParam());
  twin.run_as(GetParam());
  for (unsigned round = rounds(5'000); round-- > 0;) {
    std::size_t beats = 0;
    for (int i = 0; i < 600; ++i) {
      const bool markers = rng.below(2) != 0, crc_on = rng.below(8) != 0, damage = rng.below(4) == 0;
      const std::uint64_t pos = 4 * rng.below(1024);
      Bytes wire = random_fpdu(rng, markers, pos);
      if (damage) wire[rng.below(wire.size())] ^= static_cast<std::uint8_t>(1u << rng.below(8));
      beats += (wire.size() + 63) / 64;
      if (crc_on) ++(damage ? bad : good);
      const FlowId flow{static_cast<std::uint32_t>(rng.below(65536))};
      send(model, wire, markers, pos, crc_on, flow);
      send(twin, wire, markers, pos, crc_on, flow);
    }
    run_until_idle();
    EXPECT_GT(model.sink.beats().size(), beats - 100);
    expect_same(model.sink, twin.sink);
    model.clear();
    twin.clear();
  }
  for (const auto* chain : {&model, &twin}) {
    EXPECT_EQ(chain->block.good().value(), good);
    EXPECT_EQ(chain->block.bad().value(), bad);
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, CrcCheckCosim, kTraffics, traffic_name);

}  // namespace
}  // namespace rnic::test
