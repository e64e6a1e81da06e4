#include "rtl-stubs/verilated/verilated_crc.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/stream_cosim.h"
#include "testbench/support/mpa_reference.h"

namespace rnic::test {
namespace {

constexpr unsigned kBeatBytes = sizeof(Vcrc_check::in_data_i);

struct CrcCheckSide : Chain<CrcCheck, FpduBeat, rtl::CrcCheckPins> {
  static constexpr const char* kBlock = "crc_check";
  CrcCheckSide(const std::string& name, ClockDomain& clk) : Chain(name, clk, LinkConfig::pipeline(CrcCheckConfig{})) {}
  void attach_twin() { rtl.emplace(block); }
};

// FPDUs of any flow from any place of its stream; every fourth one has a bit error anywhere. Or a header whose payload
// is placed, or the end of a stream.
struct ReceivedFpdus {
  FpdusUnderWay under_way;
  std::uint64_t good = 0, bad = 0;

  std::size_t send(Prng& rng, Cycle from, const std::vector<CrcCheckSide*>& sides) {
    const bool markers = rng.below(2) != 0, crc_on = rng.below(8) != 0, damage = rng.below(4) == 0;
    const FlowEnd flow{markers, static_cast<wire::StreamPosition>(4 * rng.below(1024))};
    MpaReference reference{markers, true, flow.position};
    Bytes wire = reference.fpdu(random_bytes(rng, random_ulpdu_bytes(rng, flow, kBeatBytes)));
    if (damage) wire[rng.below(wire.size())] ^= static_cast<std::uint8_t>(1u << rng.below(8));
    const bool placed = rng.below(8) == 0;
    const bool ends = !placed && rng.below(16) == 0;
    if (placed || ends) wire = random_bytes(rng, placed ? 16 : 4);
    if (crc_on && !ends) ++(damage && !placed ? bad : good);
    const FlowId id{static_cast<std::uint32_t>(rng.below(65536))};
    under_way.sent(id, flow.position);
    std::size_t count = 0;
    for (CrcCheckSide* side : sides) {
      auto beats = cut_fpdu(side->pool, wire, kBeatBytes, markers && !placed && !ends, flow.position, id);
      for (FpduBeat& b : beats) {
        b.crc_on = crc_on;
        if (placed) b.marker_lane = FpduBeat::kPlaced;
        if (ends) b.marker_lane = FpduBeat::kEnds;
      }
      side->source.send_at(from, beats);
      count = beats.size();
    }
    return count;
  }
};

using CrcCheckCosim = StreamCosim<CrcCheckSide, ReceivedFpdus>;

TEST_P(CrcCheckCosim, AgreesInEveryBeatAndEveryCycle) {
  agree(20260101);
  for (const auto* side : {&model, &twin}) {
    EXPECT_EQ(side->block.counters().good, generator.good);
    EXPECT_EQ(side->block.counters().bad, generator.bad);
  }
  EXPECT_GT(generator.bad, 50u);
}
TEST_P(CrcCheckCosim, BehavesAsNewAfterAResetAmidAnFpdu) { agree_after_resets(20260111); }

// A twin's report when nothing moves any more: its link and its pipeline are full, and more input waits.
using CrcCheckTwin = CrcCheckCosim;
TEST_P(CrcCheckTwin, SaysWhatItWaitsFor) {
  EXPECT_EQ(twin.rtl->waiting_for(), "");
  twin.sink.pause(window(0, 1000));
  for (int i = 0; i < 3; ++i) {
    twin.source.send(cut_fpdu(twin.pool, Bytes(4 * kBeatBytes), kBeatBytes, false, 0));
  }
  sc_core::sc_start(sc_core::sc_time::from_value(500 * clk.period_ps()));
  EXPECT_EQ(twin.rtl->waiting_for(), "twin waits for room in out (in: 4)");
  run_until_idle();
  EXPECT_EQ(twin.rtl->waiting_for(), "");
}
INSTANTIATE_TEST_SUITE_P(Once, CrcCheckTwin, testing::Values(Traffic{"full_rate", {}, {}}), traffic_name);

INSTANTIATE_TEST_SUITE_P(Patterns, CrcCheckCosim, kTraffics, traffic_name);

using CrcCheckBoard = CrcCheckCosim;
TEST_P(CrcCheckBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree(20260121);
  expect_right();
}
TEST_P(CrcCheckBoard, IsRightAfterResetsAmidAnFpdu) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  judge_by_board(kBeatBytes);
  agree_after_resets(20260131);
  expect_right();
}
INSTANTIATE_TEST_SUITE_P(Once, CrcCheckBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
