// Incoming packets: checksum, cycles, and drops.
#include "model/wire/checksum.h"
#include "testbench/unit/rnic/llp/sctp/packet_stages.h"

namespace rnic::test {
namespace {

TEST_F(SctpRxTest, APacketGoesOnWithItsLastCheckedBeat) {
  const std::vector<std::size_t> sizes = {12, 60, 64, 1480, 16};
  for (const std::size_t n : sizes) send(frame_of(sealed(Bytes(n, 1))));
  run_until_idle();
  ASSERT_EQ(sink.size(), sizes.size());
  Cycle first = source.cycles()[0] + kToEnd;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Cycle last = first + beats(sizes[i]) - 1;
    EXPECT_EQ(sink.cycles()[i], last + kToEnd + crc.pipeline_cycles + kToEnd) << sizes[i];
    EXPECT_EQ(sink[i].bytes, sizes[i]);
    EXPECT_EQ(sink[i].peer_ip, kPeerIp);
    EXPECT_EQ(sink[i].peer_mac, kPeerMac);
    first = last + 1;
  }
}

// The sender and others on the wire share the frame.
TEST_F(SctpRxTest, TheFrameStaysAsItIs) {
  const Bytes frame = frame_of(from_hex(kExample));
  send(frame);
  run_until_idle();
  ASSERT_EQ(sink.size(), 1u);
  EXPECT_EQ(Bytes(sink[0].data() + 12, sink[0].data() + sink[0].bytes), Bytes(frame.begin() + 46, frame.end()));
}

TEST_F(SctpRxTest, EveryBitOfAPacketCounts) {
  const Bytes good = from_hex(kExample);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes packet = good;
    packet[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    send(frame_of(packet));
  }
  run_until_idle();
  EXPECT_TRUE(sink.empty());
  EXPECT_EQ(dut.counters().bad_checksum, good.size() * 8);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(SctpRxTest, WhatIsNoPacketForThisStationIsDropped) {
  const Bytes good = frame_of(from_hex(kExample));
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes f = good;
    f[at] = value;
    if (at >= 14 && at != 24) sum_header(f);
    send(f);
  };
  with(24, static_cast<std::uint8_t>(good[24] ^ 1));  // the header's checksum
  with(20, 0x20);                                     // more fragments
  with(33, 9);                                        // another destination
  with(26, 224);                                      // from a group
  with(0, 3);                                         // to a group
  Bytes short_packet = frame_of(Bytes(8));
  send(short_packet);
  send(frame_of(Bytes(14)));
  run_until_idle();
  EXPECT_TRUE(sink.empty());
  EXPECT_EQ(dut.counters().bad_ipv4, 1u);
  EXPECT_EQ(dut.counters().fragments, 1u);
  EXPECT_EQ(dut.counters().not_for_us, 3u);
  EXPECT_EQ(dut.counters().bad_shape, 2u);
}

// From a peer with a larger MTU than ours: up to the largest one possible.
TEST_F(SctpRxTest, APacketLongerThanOurOwnIsTaken) {
  BufferPool jumbo(10'000);
  const std::vector<std::size_t> sizes = {1484, 8980, 9144};
  for (const std::size_t n : sizes) {
    const Bytes octets = frame_of(sealed(Bytes(n, 1)));
    Frame f;
    f.buf = jumbo.take();
    f.bytes = static_cast<std::uint32_t>(octets.size());
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    source.send(f);
  }
  run_until_idle();
  ASSERT_EQ(sink.size(), 2u);
  EXPECT_EQ(sink[0].bytes, 1484);
  EXPECT_EQ(sink[1].bytes, 8980);
  EXPECT_EQ(Bytes(sink[1].data() + 12, sink[1].data() + 8980), Bytes(8968, 1));
  EXPECT_EQ(dut.counters().bad_shape, 1u);
}

// In any order, with other packets in between, and twice.
TEST_F(SctpRxTest, FragmentsMakeAPacketWhole) {
  Bytes packet(1200);
  for (std::size_t i = 0; i < packet.size(); ++i) packet[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  packet = sealed(packet);
  const auto fragment = [&](std::uint16_t id, std::size_t at, std::size_t bytes, bool more) {
    const auto from = packet.begin() + static_cast<std::ptrdiff_t>(at);
    Bytes f = frame_of(Bytes(from, from + static_cast<std::ptrdiff_t>(bytes)));
    store_be16(&f[18], id);
    store_be16(&f[20], static_cast<std::uint16_t>((more ? 0x2000 : 0) | at / 8));
    sum_header(f);
    send(f);
  };
  fragment(1, 800, 400, false);
  fragment(2, 0, 400, true);  // its other fragments never come
  fragment(1, 0, 400, true);
  fragment(1, 0, 400, true);
  send(frame_of(from_hex(kExample)));
  fragment(1, 400, 400, true);
  fragment(3, 400, 396, true);  // not a multiple of 8
  fragment(4, 800, 400, false);
  fragment(4, 800, 100, false);  // contradicts it
  fragment(5, 800, 392, true);   // after the end given by the next one, which has as many octets before it
  fragment(5, 392, 8, false);
  run_until_idle();
  ASSERT_EQ(sink.size(), 2u);
  EXPECT_EQ(sink[1].bytes, packet.size());
  EXPECT_EQ(Bytes(sink[1].data() + 12, sink[1].data() + sink[1].bytes), Bytes(packet.begin() + 12, packet.end()));
  EXPECT_EQ(dut.counters().fragments, 9u);
  EXPECT_EQ(dut.counters().bad_checksum, 0u);
}

// For any length of the packet that the router quotes (RFC 1812 section 4.3.2.3), and also if it does not say what
// fits.
TEST_F(SctpRxTest, APathMtuReportIsItsPortsAndItsTag) {
  for (const std::size_t quoted : {8u, 12u, 200u}) {
    for (const std::uint16_t mtu : {std::uint16_t{0}, std::uint16_t{1000}}) {
      Bytes icmp = from_hex("0304 0000 0000 0000 4500 05DC 0001 4000 4084 0000 0A000001 0A000002");
      const Bytes packet = from_hex(kExample);
      for (std::size_t i = 0; i < quoted; ++i) icmp.push_back(packet[i % packet.size()]);
      store_be16(&icmp[6], mtu);
      store_be16(&icmp[2], wire::internet_checksum(icmp));
      Bytes frame = frame_of(icmp);
      frame[23] = 1;  // ICMP
      sum_header(frame);
      send(frame);
    }
  }
  run_until_idle();
  ASSERT_EQ(sink.size(), 6u);
  for (std::size_t i = 0; i < sink.size(); ++i) {
    EXPECT_EQ(Bytes(sink[i].data(), sink[i].data() + sink[i].bytes), from_hex("A028A029 2B1C3D4E")) << i;
    EXPECT_EQ(sink[i].peer_ip, kPeerIp);
    EXPECT_EQ(sink[i].path_mtu, i % 2 == 0 ? 1 : 1000);
  }
  EXPECT_EQ(dut.counters().path_mtu_reports, 6u);
}

class SctpRxSizes : public SctpRxTest, public testing::WithParamInterface<std::tuple<unsigned, Traffic>> {
 protected:
  SctpRxSizes() : SctpRxTest(std::get<0>(GetParam())) {}
};
TEST_P(SctpRxSizes, EveryPacketPassesWholeAndInOrder) {
  const auto& [beat_bytes, traffic] = GetParam();
  const std::vector<Bytes> packets = packets_of_all_sizes(beat_bytes);
  for (const Bytes& packet : packets) send(frame_of(packet));
  source.pause(traffic.produce);
  sink.pause(traffic.consume);
  run_until_idle();
  ASSERT_EQ(sink.size(), packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const Bytes got(sink[i].data(), sink[i].data() + sink[i].bytes);
    ASSERT_EQ(got.size(), packets[i].size());
    EXPECT_TRUE(std::equal(got.begin() + 12, got.end(), packets[i].begin() + 12)) << "packet " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Datapath, SctpRxSizes, testing::Combine(testing::Values(16u, 64u, 128u), kTraffics),
                         width_and_traffic);

}  // namespace
}  // namespace rnic::test
