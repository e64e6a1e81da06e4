#include "model/rnic/rx/crc_check.h"

#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// Worked by hand, and RFC 5044 section 4.4.
const Bytes kPlain = from_hex("0004 DEADBEEF 0000 4AD5C925");
const Bytes kFirstOnStream = from_hex("00000000 0004 DEADBEEF 0000 9DD28182");
const Bytes kMarkerBeforeCrc = from_hex("0004 DEADBEEF 0000 00000008 0C4D6AB8");
const Bytes kFigure5 = from_hex(
    "00000000 002a4143 00000000 00000000 00000001 00000000"
    "00000000 00000000 00000000 00000000 00000000 00000000 52239983");
const Bytes kFigure6 = from_hex(
    "002a4143 00000000 00000000 00000002 00000000 00000014"
    "00000000 00000000 00000000 00000000 00000000 00000000 84925898");

class CrcCheckTest : public StageTest {
 protected:
  CrcCheckConfig cfg;
  BufferPool pool{4096};
  CrcCheck dut{"dut", clk};
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(cfg));

  void send(const Bytes& wire, bool markers, std::uint64_t pos, bool crc_on = true) {
    auto beats = cut_fpdu(pool, wire, 64, markers, pos);
    for (FpduBeat& b : beats) b.crc_on = crc_on;
    source.send(beats);
  }
  std::vector<bool> verdicts() const {
    std::vector<bool> v;
    for (const FpduBeat& b : sink) {
      if (b.last) v.push_back(b.crc_ok);
    }
    return v;
  }
};

TEST_F(CrcCheckTest, BeatLeavesLatencyCyclesAfterItEnters) {
  Bytes long_fpdu(3 * 64);
  send(long_fpdu, false, 0);
  run_until_idle();
  EXPECT_EQ(source.cycles(), in_a_row(0, 3));
  EXPECT_EQ(sink.cycles(), in_a_row(kToEnd + cfg.pipeline_cycles, 3));
}

TEST_F(CrcCheckTest, AcceptsTheWorkedExamplesMarkersIncluded) {
  send(kPlain, false, 0);
  send(kFirstOnStream, true, 0);
  send(kMarkerBeforeCrc, true, 504);
  send(kFigure5, true, 0);
  send(kFigure6, true, 492);
  run_until_idle();
  EXPECT_THAT(verdicts(), ElementsAre(true, true, true, true, true));
  EXPECT_EQ(dut.counters().good, 5u);
}

TEST_F(CrcCheckTest, RefusesAnySingleBitErrorAnywhereAlsoInTheMarker) {
  unsigned errors = 0;
  for (std::size_t bit = 0; bit < 8 * kFigure6.size(); ++bit, ++errors) {
    Bytes damaged = kFigure6;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    send(damaged, true, 492);
  }
  run_until_idle();
  EXPECT_THAT(verdicts(), testing::Each(false));
  EXPECT_EQ(dut.counters().bad, errors);
}

TEST_F(CrcCheckTest, WithCrcOffTheFieldIsNotLookedAt) {
  Bytes no_crc = kPlain;
  no_crc.back() ^= 0xff;
  send(no_crc, false, 0, false);
  send(kPlain, false, 0);  // and the register starts again
  run_until_idle();
  EXPECT_THAT(verdicts(), ElementsAre(true, true));
  EXPECT_EQ(dut.counters().good, 1u);
}

TEST_F(CrcCheckTest, BackpressureLosesNothingAndReordersNothing) {
  sink.pause(every(4, 3));
  std::vector<const std::uint8_t*> order;
  for (int i = 0; i < 16; ++i) {
    const auto beats = cut_fpdu(pool, Bytes(200, static_cast<std::uint8_t>(i)), 64, false, 0);
    for (const FpduBeat& b : beats) order.push_back(b.data);
    source.send(beats);
  }
  run_until_idle();
  std::vector<const std::uint8_t*> seen;
  for (const FpduBeat& b : sink) seen.push_back(b.data);
  EXPECT_EQ(seen, order);
  EXPECT_EQ(sink.cycles().back() - sink.cycles().front(), 4 * (order.size() - 1));  // the sink's rate, no bubble
}

// It has no CRC.
TEST_F(CrcCheckTest, TheEndOfAStreamPassesUncounted) {
  send(kPlain, false, 0);
  auto end = cut_fpdu(pool, Bytes(4, 0xee), 64, false, 0);
  end.front().marker_lane = FpduBeat::kEnds;
  source.send(end);
  send(kPlain, false, 0);
  run_until_idle();
  EXPECT_THAT(verdicts(), ElementsAre(true, true, true));
  EXPECT_TRUE(sink[1].ends());
  EXPECT_EQ(sink.cycles(), in_a_row(kToEnd + cfg.pipeline_cycles, 3));
  EXPECT_EQ(dut.counters().good, 2u);
}

// Its CRC was checked when its payload was placed.
TEST_F(CrcCheckTest, AHeaderOfWhatIsPlacedPassesAndLeavesTheRegisterAlone) {
  send(kPlain, false, 0);
  auto header = cut_fpdu(pool, Bytes(16, 0xee), 64, false, 0);
  header.front().marker_lane = FpduBeat::kPlaced;
  source.send(header);
  send(kPlain, false, 0);
  run_until_idle();
  EXPECT_THAT(verdicts(), ElementsAre(true, true, true));
  EXPECT_TRUE(sink[1].placed());
  EXPECT_EQ(sink.cycles(), in_a_row(kToEnd + cfg.pipeline_cycles, 3));
  EXPECT_EQ(dut.counters().good, 3u);
}

}  // namespace
}  // namespace rnic::test
