// The receiving MAC: filters, the packet buffer, and one output per lower layer.
#include "model/rnic/rx/mac_rx.h"

#include "model/wire/sctp.h"
#include "testbench/unit/rnic/llp/mac_frames.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class MacRxTest : public StageTest {
 protected:
  MacRxTest() { from_line.out.socket.bind(dut.socket); }
  BufferPool pool{2048};
  MacRx dut{"mac_rx", clk, MacRxConfig{16384}, kMacB};
  Sink<Frame> sink = collect(dut.out[LlpId::kMpaTcp], {2, 1, 1});
  Sink<Frame> sctp = collect(dut.out[LlpId::kSctp], {2, 1, 1});
  RawSender from_line{"from_line"};
};

TEST_F(MacRxTest, AFrameIsPassedOnAtTheEdgeAfterItsLastOctet) {
  from_line.out.send(frame_to(pool, kMacB, 60), 10'000);
  from_line.out.send(frame_to(pool, kMacB, 60), 12'000);
  run_until_idle();
  EXPECT_THAT(sink.cycles(), ElementsAre(4, 5));  // taken at 3 and 4, though both came before edge 3
}

TEST_F(MacRxTest, OnlyGoodFramesForThisStationOrForAllPass) {
  from_line.out.send(frame_to(pool, kMacB, 60, false), 10'000);
  from_line.out.send(frame_to(pool, kMacA, 60), 20'000);
  from_line.out.send(frame_to(pool, kMacB, 13), 30'000);
  from_line.out.send(frame_to(pool, {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, 60), 40'000);
  run_until_idle();
  EXPECT_THAT(sink.cycles(), ElementsAre(11));
  EXPECT_EQ(dut.counters().bad_fcs, 2u);
  EXPECT_EQ(dut.counters().other_address, 1u);
  EXPECT_EQ(dut.counters().frames, 1u);
}

TEST_F(MacRxTest, AFrameThatDoesNotFitTheBufferIsDropped) {
  sink.pause(window(0, 2000));
  for (unsigned i = 0; i < 20; ++i) from_line.out.send(frame_to(pool, kMacB, 1514), 10'000 + i * 123'040u);
  run_until_idle();
  // Two frames are in the link. 1514 octets take 24 cells of 64, and ten such frames fit 16384.
  EXPECT_EQ(sink.size(), 12u);
  EXPECT_EQ(dut.counters().overflow, 8u);
  EXPECT_EQ(dut.counters().buffered_max, 10u * 24 * 64);
}

Frame packet_to(BufferPool& pool, std::uint8_t protocol, unsigned vlan_tags = 0, std::uint16_t total_length = 40) {
  Frame f = frame_to(pool, kMacB, 60);
  std::uint8_t* at = f.buf->bytes() + 12;
  for (unsigned i = 0; i < vlan_tags; ++i, at += 4) store_be16(at, wire::kEthertypeVlan);
  store_be16(at, wire::kEthertypeIpv4);
  wire::Ipv4Header ip;
  ip.protocol = protocol;
  ip.total_length = total_length;
  ip.emit({at + 2, wire::Ipv4Header::kBytes});
  return f;
}
constexpr std::uint8_t kIcmp = 1;

TEST_F(MacRxTest, PacketsOfSctpHaveAnOutputOfTheirOwn) {
  Frame arp = packet_to(pool, wire::kIpProtocolSctp);
  store_be16(arp.buf->bytes() + 12, wire::kEthertypeArp);
  const Frame frames[] = {packet_to(pool, wire::kIpProtocolSctp),
                          packet_to(pool, wire::kIpProtocolTcp),
                          packet_to(pool, wire::kIpProtocolSctp, 1),
                          packet_to(pool, kIcmp),
                          arp,
                          packet_to(pool, wire::kIpProtocolSctp, 0, 47),  // longer than its frame
                          packet_to(pool, wire::kIpProtocolSctp)};
  for (unsigned i = 0; i < std::size(frames); ++i) from_line.out.send(frames[i], 10'000 + i * 6'720u);
  run_until_idle();
  EXPECT_EQ(dut.counters().frames, std::size(frames));
  EXPECT_THAT(sctp.cycles(), ElementsAre(4, 7, 14));
  EXPECT_THAT(sink.cycles(), ElementsAre(6, 9, 11, 12));
}

// One buffer, in order of arrival.
TEST_F(MacRxTest, AFrameThatWaitsForItsOutputHoldsUpTheOthers) {
  sctp.pause(window(0, 100));
  for (unsigned i = 0; i < 4; ++i) from_line.out.send(packet_to(pool, wire::kIpProtocolSctp), 10'000 + i * 6'720u);
  from_line.out.send(packet_to(pool, wire::kIpProtocolTcp), 50'000);
  run_until_idle();
  EXPECT_THAT(sctp.cycles(), ElementsAre(100, 101, 102, 103));  // two were in the link
  EXPECT_THAT(sink.cycles(), ElementsAre(104));
}

}  // namespace
}  // namespace rnic::test
