#include "model/rnic/tx/crc_insert.h"

#include "testbench/support/mpa_tx_chain.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class CrcInsertTest : public StageTest {
 protected:
  CrcInsertConfig cfg;
  BufferPool pool{4096};
  CrcInsert dut{"dut", clk};
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(cfg));

  // Takes an FPDU as it is on the wire; its CRC field is zero when it enters. Markers stay among the words.
  void send(Bytes wire, bool crc_on = true) {
    std::fill(wire.end() - 4, wire.end(), std::uint8_t{0});
    auto beats = cut_fpdu(pool, wire, 64, false, 0);
    for (FpduBeat& b : beats) b.crc_on = crc_on;
    source.send(beats);
  }
  std::vector<Bytes> wires() const {
    std::vector<Bytes> out;
    for (const SentFpdu& fpdu : collect_fpdus(sink.messages(), 64)) out.push_back(fpdu.wire);
    return out;
  }
};

TEST_F(CrcInsertTest, BeatLeavesLatencyCyclesAfterItEnters) {
  send(Bytes(3 * 64));
  run_until_idle();
  EXPECT_EQ(source.cycles(), in_a_row(0, 3));
  EXPECT_EQ(sink.cycles(), in_a_row(kToEnd + cfg.pipeline_cycles, 3));
}

// Worked by hand; the last two are RFC 5044 figures 5 and 6.
TEST_F(CrcInsertTest, WritesTheCrcOfTheWorkedExamples) {
  const std::vector<Bytes> examples = {
      from_hex("0004 DEADBEEF 0000 4AD5C925"),
      from_hex("00000000 0004 DEADBEEF 0000 9DD28182"),
      from_hex("0004 DEADBEEF 0000 00000008 0C4D6AB8"),
      from_hex("0001 55 00 9717DC70"),
      from_hex("0002 55AA 7A4A5B53"),
      from_hex("0003 55AA01 000000 13EEEABA"),
      from_hex("0016 4143 00000000 00000000 00000001 00000000 DEADBEEF CE1959F1"),
      from_hex("0012 4143 00000000 00000000 00000001 00000000 587BE8C4"),
      from_hex("000E C140 00000000 0000000000000000 A30572AB"),
      from_hex("00000000 002a4143 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000"
               "00000000 52239983"),
      from_hex("002a4143 00000000 00000000 00000002 00000000 00000014 00000000 00000000 00000000 00000000 00000000"
               "00000000 84925898"),
  };
  for (const Bytes& wire : examples) send(wire);
  run_until_idle();
  EXPECT_EQ(wires(), examples);
  EXPECT_EQ(dut.counters().inserted, examples.size());
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(CrcInsertTest, WithCrcOffTheFieldStaysZeroAndTheNextFpduStartsAnew) {
  const Bytes on = from_hex("0004 DEADBEEF 0000 4AD5C925"), off = from_hex("0004 DEADBEEF 0000 00000000");
  send(off, false);
  send(on);
  send(off, false);
  run_until_idle();
  EXPECT_THAT(wires(), ElementsAre(off, on, off));
  EXPECT_EQ(dut.counters().left_zero, 2u);
}

// Includes lengths where the CRC field has its own beat.
TEST_F(CrcInsertTest, EveryLengthUnderBackpressure) {
  sink.pause(every(4, 3));
  std::vector<Bytes> expected;
  MpaReference reference;
  for (std::size_t n = 2; n < 300; n += 4) {
    expected.push_back(reference.fpdu(counting(n)));
    send(expected.back());
  }
  run_until_idle();
  EXPECT_EQ(wires(), expected);
  EXPECT_EQ(sink.cycles().back() - sink.cycles().front(), 4 * (sink.size() - 1));  // the sink's rate
}

}  // namespace
}  // namespace rnic::test
