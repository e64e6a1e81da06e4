// Outgoing packets: headers, checksum, cycles.
#include "testbench/unit/rnic/llp/sctp/packet_stages.h"

namespace rnic::test {
namespace {

TEST_F(SctpTxTest, WritesTheChecksumOfTheWorkedExampleAndTheHeaders) {
  Bytes packet = from_hex(kExample);
  std::fill_n(packet.begin() + kSctpChecksumOffset, 4, std::uint8_t{0xff});  // any previous value
  send(packet);
  run_until_idle();
  ASSERT_EQ(sink.size(), 1u);
  const Bytes frame(sink[0].data(), sink[0].data() + sink[0].bytes);
  EXPECT_EQ(Bytes(frame.begin() + 34, frame.end()), from_hex(kExample));
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 14), from_hex("02000000000B 02000000000A 0800"));
  EXPECT_EQ(Bytes(frame.begin() + 14, frame.begin() + 24), from_hex("4500 0048 0000 4000 4084"));  // DF, 132
  EXPECT_EQ(Bytes(frame.begin() + 26, frame.begin() + 34), from_hex("0A000001 0A000002"));
}

// Store and forward: a frame leaves with the last beat out of the CRC engine, and packets follow each other beat by
// beat.
TEST_F(SctpTxTest, APacketTakesABeatACycleAndTheDepthOfTheEngine) {
  const std::vector<std::size_t> sizes = {12, 60, 64, 1480, 16};
  for (const std::size_t n : sizes) send(Bytes(n, 1));
  run_until_idle();
  ASSERT_EQ(sink.size(), sizes.size());
  Cycle first = source.cycles()[0] + kToEnd;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Cycle last = first + beats(sizes[i]) - 1;
    EXPECT_EQ(sink.cycles()[i], last + kToEnd + crc.pipeline_cycles + kToEnd) << sizes[i];
    first = last + 1;
  }
  EXPECT_EQ(dut.counters().packets, sizes.size());
}

TEST_F(SctpTxTest, AFullOutputHoldsItBackAndNothingIsLost) {
  sink.pause(every(16, 15));
  for (unsigned i = 0; i < 50; ++i) send(Bytes(12 + 4 * i, static_cast<std::uint8_t>(i)), i % 2 == 1);
  run_until_idle();
  ASSERT_EQ(sink.size(), 50u);
  for (unsigned i = 0; i < 50; ++i) {
    const ByteSpan packet(sink[i].data() + 34, sink[i].bytes - 34u);
    EXPECT_EQ(packet.size(), 12 + 4 * i);
    EXPECT_EQ(load_crc32c(packet.data() + kSctpChecksumOffset), sctp_checksum(packet));
    EXPECT_EQ(sink[i].again(), i % 2 == 1);
  }
  EXPECT_EQ(dut.counters().retransmissions, 25u);
}

TEST_F(SctpTxTest, AResetAmidAPacketLeavesNothingBehind) {
  send(Bytes(1480, 1));
  sc_core::sc_start(sc_core::sc_time::from_value(12 * clk.period_ps()));
  for (Stage* stage : {static_cast<Stage*>(&dut), static_cast<Stage*>(&insert)}) clk.reset(*stage);
  for (const auto& link : net.links()) link->reset();
  EXPECT_EQ(pool.in_use(), 0u);
  send(from_hex(kExample));
  run_until_idle();
  ASSERT_EQ(sink.size(), 1u);
  EXPECT_EQ(Bytes(sink[0].data() + 34, sink[0].data() + sink[0].bytes), from_hex(kExample));
}

class SctpTxSizes : public SctpTxTest, public testing::WithParamInterface<std::tuple<unsigned, Traffic>> {
 protected:
  SctpTxSizes() : SctpTxTest(std::get<0>(GetParam())) {}
};
TEST_P(SctpTxSizes, EveryPacketLeavesWholeAndInOrder) {
  const auto& [beat_bytes, traffic] = GetParam();
  const std::vector<Bytes> packets = packets_of_all_sizes(beat_bytes);
  for (const Bytes& packet : packets) send(packet);
  source.pause(traffic.produce);
  sink.pause(traffic.consume);
  run_until_idle();
  ASSERT_EQ(sink.size(), packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) {
    EXPECT_EQ(Bytes(sink[i].data() + 34, sink[i].data() + sink[i].bytes), packets[i]) << "packet " << i;
  }
  EXPECT_EQ(pool.in_use(), packets.size()) << "those of the frames";
}
INSTANTIATE_TEST_SUITE_P(Datapath, SctpTxSizes, testing::Combine(testing::Values(16u, 64u, 128u), kTraffics),
                         width_and_traffic);

}  // namespace
}  // namespace rnic::test
