#include "model/rnic/tx/mpa_framer.h"

#include "testbench/support/mpa_tx_chain.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class MpaFramerTest : public StageTest {
 protected:
  MpaFramerConfig cfg;
  BufferPool pool{2048};
  MpaFramer dut{"dut", clk, {}};
  Source<Ulpdu> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(cfg));

  void send(const Bytes& ulpdu, FlowId flow = FlowId{1}, bool completes_wqe = false) {
    source.send(make_ulpdu(pool, ulpdu, flow, completes_wqe));
  }
  std::vector<Bytes> framed() const {
    std::vector<Bytes> wire;
    for (const SentFpdu& fpdu : collect_fpdus(sink.messages(), 64)) wire.push_back(fpdu.wire);
    return wire;
  }
};

TEST_F(MpaFramerTest, FramesOneBeatACycleWithoutBubblesBetweenFpdus) {
  send(Bytes(3 * 64 - 6));  // exactly three beats
  send(Bytes(4));           // one
  send(Bytes(64));          // two
  send(Bytes(58));          // exactly one
  run_until_idle();
  EXPECT_EQ(source.cycles(), in_a_row(0, 4));
  EXPECT_EQ(sink.cycles(), in_a_row(kToEnd + cfg.pipeline_cycles, 3 + 1 + 2 + 1));
  std::vector<unsigned> words;
  for (const FpduBeat& b : sink) words.push_back(b.words);
  EXPECT_THAT(words, ElementsAre(16, 16, 16, 3, 16, 2, 16));
  EXPECT_EQ(collect_fpdus(sink.messages(), 64).size(), 4u);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(MpaFramerTest, PadAndCrcFieldAreZeroAndLengthCountsTheUlpduOnly) {
  send({});
  send(from_hex("55"));
  send(from_hex("55AA"));
  send(from_hex("55AA01"));
  send(from_hex("DEADBEEF"));
  run_until_idle();
  EXPECT_THAT(framed(), ElementsAre(from_hex("0000 0000 00000000"), from_hex("0001 55 00 00000000"),
                                    from_hex("0002 55AA 00000000"), from_hex("0003 55AA01 000000 00000000"),
                                    from_hex("0004 DEADBEEF 0000 00000000")));
}

TEST_F(MpaFramerTest, FramesInPlace) {
  const Ulpdu ulpdu = make_ulpdu(pool, counting(100), FlowId{1});
  const std::uint8_t* const bytes = ulpdu.buf->bytes();
  source.send(ulpdu);
  run_until_idle();
  EXPECT_EQ(sink[0].data, bytes + kFrameHeadroom);
  EXPECT_EQ(sink[1].data, bytes + kFrameHeadroom + 64);
}

TEST_F(MpaFramerTest, TakesTheCrcSettingFromTheUlpduAndMarksTheLastBeatOfAWorkRequest) {
  send(Bytes(100), FlowId{1}, true);
  Ulpdu no_crc = make_ulpdu(pool, Bytes(100), FlowId{2});
  no_crc.crc = false;
  source.send(std::move(no_crc));
  send(Bytes(10), FlowId{1}, true);
  run_until_idle();
  std::vector<bool> crc_on, completes;
  for (const FpduBeat& b : sink) {
    crc_on.push_back(b.crc_on);
    completes.push_back(b.completes_wqe);
  }
  EXPECT_THAT(crc_on, ElementsAre(true, true, false, false, true));
  EXPECT_EQ(framed()[1].size(), framed()[0].size()) << "the field is there in any case";
  EXPECT_THAT(completes, ElementsAre(false, true, false, false, true));
}

// The marker inserter reads both in the first beat; the others have no marker.
TEST_F(MpaFramerTest, TheFirstBeatTellsWhereTheFpduStartsAndWhetherItGetsMarkers) {
  Ulpdu ulpdu = make_ulpdu(pool, Bytes(100), FlowId{1});
  ulpdu.markers = true;
  ulpdu.position = 508;
  source.send(std::move(ulpdu));
  send(Bytes(10));
  run_until_idle();
  ASSERT_EQ(sink.size(), 3u);
  EXPECT_TRUE(sink[0].wants_markers());
  EXPECT_EQ(sink[0].start(), 508u);
  for (const std::size_t i : {1u, 2u}) EXPECT_EQ(load_le32(sink[i].marker), 0u) << i;
  framed();
}

TEST_F(MpaFramerTest, BackpressureLosesNothing) {
  sink.pause(at_random(7, 60));
  std::vector<Bytes> expected;
  MpaReference reference;
  reference.crc = false;
  for (std::size_t n = 0; n < 300; n += 7) {
    send(counting(n, static_cast<std::uint8_t>(n)));
    expected.push_back(reference.fpdu(counting(n, static_cast<std::uint8_t>(n))));
  }
  run_until_idle();
  EXPECT_EQ(framed(), expected);
  EXPECT_EQ(dut.counters().fpdus, expected.size());
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(dut.waiting_for(), "");
}

TEST_F(MpaFramerTest, ABufferWithoutRoomForTheCrcIsABug) {
  BufferPool small(kFrameHeadroom + 64);
  source.send(make_ulpdu(small, Bytes(60), FlowId{1}));
  // The kernel wraps exceptions that a process throws.
  EXPECT_THAT([&] { run_until_idle(); }, testing::ThrowsMessage<sc_core::sc_report>(testing::HasSubstr("capacity")));
}

}  // namespace
}  // namespace rnic::test
