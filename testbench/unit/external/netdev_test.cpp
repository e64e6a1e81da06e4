// The network device between a chip and the wire: its answers, the addresses it learns, the frames it passes.
#include "model/external/netdev.h"

#include "model/rnic/llp/link_address.h"
#include "model/wire/arp.h"
#include "model/wire/checksum.h"
#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::external {
namespace {

using test::Bytes;
using testing::ElementsAre;
using wire::ArpPacket;

constexpr wire::MacAddress kOurs{{2, 0, 0, 0, 0, 1}}, kStandIn{{2, 0, 0, 0, 0, 2}}, kPeer{{2, 0x57, 10, 0, 0, 2}};
constexpr wire::MacAddress kAll{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
constexpr wire::Ipv4Address kOurIp{0x0a000001}, kPeerIp{0x0a000002};

class NetdevTest : public testing::Test {
 protected:
  NetdevTest() {
    const EthernetPort port = netdev.before({chip_tx.out, chip_rx});
    wire_tx.out.socket.bind(port.in.socket);
    port.out.socket.bind(wire_rx.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  Frame frame(const Bytes& octets) {
    Frame f{pool.take(), 0, static_cast<std::uint32_t>(octets.size()), true};
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    return f;
  }
  static Bytes arp(wire::MacAddress dst, const ArpPacket& packet) {
    Bytes b(14 + ArpPacket::kBytes);
    wire::EthernetHeader{dst, packet.sender_mac, wire::kEthertypeArp}.emit({b.data(), b.size()});
    packet.emit({b.data() + 14, ArpPacket::kBytes});
    return b;
  }
  static Bytes ip_packet(wire::MacAddress dst, wire::MacAddress src, std::uint8_t protocol, const Bytes& payload) {
    Bytes b(34 + payload.size());
    wire::EthernetHeader{dst, src, wire::kEthertypeIpv4}.emit({b.data(), b.size()});
    wire::Ipv4Header ip;
    ip.protocol = protocol;
    ip.src = kPeerIp, ip.dst = kOurIp;
    ip.total_length = static_cast<std::uint16_t>(20 + payload.size());
    ip.emit({b.data() + 14, 20});
    std::copy(payload.begin(), payload.end(), b.begin() + 34);
    return b;
  }

  BufferPool pool{2048};
  test::RawSender chip_tx{"chip_tx"}, wire_tx{"wire_tx"};
  test::RawReceiver chip_rx{"chip_rx"}, wire_rx{"wire_rx"};
  Netdev netdev{"netdev", LinkAddress{kOurs, kOurIp, {{kPeerIp, kStandIn}}}};
};

TEST_F(NetdevTest, AnswersWhoAsksForItsAddressAndNobodyElse) {
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, kPeer, kPeerIp, {}, {0x0a000003}})), 1000);
  EXPECT_THAT(wire_rx.got.seen, testing::IsEmpty());
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, kPeer, kPeerIp, {}, kOurIp})), 2000);
  ASSERT_EQ(wire_rx.got.seen.size(), 1u);
  EXPECT_EQ(wire_rx.got.seen[0].frame, arp(kPeer, {ArpPacket::kReply, kOurs, kOurIp, kPeer, kPeerIp}));
  EXPECT_THAT(wire_rx.times(), ElementsAre(2000 + Netdev::kAnswerPs));
  EXPECT_THAT(chip_rx.got.seen, testing::IsEmpty()) << "ARP is not for the chip";
}

TEST_F(NetdevTest, FramesWaitUntilThePeersAddressIsKnown) {
  const Bytes data = ip_packet(kStandIn, kOurs, wire::kIpProtocolTcp, {1, 2, 3});
  chip_tx.out.send(frame(data), 1000);
  chip_tx.out.send(frame(data), 2000);
  ASSERT_EQ(wire_rx.got.seen.size(), 1u) << "one question for both";
  EXPECT_EQ(wire_rx.got.seen[0].frame, arp(kAll, {ArpPacket::kRequest, kOurs, kOurIp, {}, kPeerIp}));
  chip_tx.out.send(frame(data), 1000 + Netdev::kAskPs);
  EXPECT_EQ(netdev.counters().arp_requests, 2u) << "and another one when none answered";

  wire_tx.out.send(frame(arp(kOurs, {ArpPacket::kReply, kPeer, kPeerIp, kOurs, kOurIp})), 2 * Netdev::kAskPs);
  ASSERT_EQ(wire_rx.got.seen.size(), 5u);
  Bytes resolved = data;
  std::copy(kPeer.octets.begin(), kPeer.octets.end(), resolved.begin());
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(wire_rx.got.seen[i].frame, resolved);
  chip_tx.out.send(frame(data), 3 * Netdev::kAskPs);
  EXPECT_EQ(wire_rx.got.seen.at(5).frame, resolved);
  EXPECT_EQ(wire_rx.times().at(5), 3 * Netdev::kAskPs) << "it adds no time";
}

// RFC 826: any packet of the peer updates an existing entry, before the target is checked; only a packet for us creates
// a new one.
TEST_F(NetdevTest, ThePeersAddressMayChange) {
  const auto sent_to = [this](std::uint64_t ps) {
    chip_tx.out.send(frame(ip_packet(kStandIn, kOurs, wire::kIpProtocolTcp, {1, 2, 3})), ps);
    const Bytes& last = wire_rx.got.seen.back().frame;
    return Bytes(last.begin(), last.begin() + 6);
  };
  const auto mac = [](std::uint8_t n) { return wire::MacAddress{{2, 0x57, 10, 0, 0, n}}; };
  const auto octets = [](const wire::MacAddress& m) { return Bytes(m.octets.begin(), m.octets.end()); };
  const wire::Ipv4Address other{0x0a000003};
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, mac(8), kPeerIp, {}, kPeerIp})), 1000);
  EXPECT_EQ(sent_to(2000), octets(kAll)) << "it still asks";
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, mac(9), kPeerIp, {}, kOurIp})), 3000);
  EXPECT_EQ(sent_to(10'000'000), octets(mac(9)));
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, mac(10), kPeerIp, {}, kPeerIp})), 11'000'000);
  EXPECT_EQ(sent_to(12'000'000), octets(mac(10))) << "it tells everybody of itself";
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kReply, mac(11), kPeerIp, mac(11), kPeerIp})), 13'000'000);
  EXPECT_EQ(sent_to(14'000'000), octets(mac(11)));
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, mac(12), kPeerIp, {}, other})), 15'000'000);
  EXPECT_EQ(sent_to(16'000'000), octets(mac(12))) << "it asks for somebody else";
  wire_tx.out.send(frame(arp(kAll, {ArpPacket::kRequest, mac(13), other, {}, kOurIp})), 17'000'000);
  EXPECT_EQ(sent_to(20'000'000), octets(mac(12))) << "somebody else asks";
  EXPECT_EQ(netdev.counters().arp_answers, 2u);
}

TEST_F(NetdevTest, TooManyFramesThatWaitPushOutTheOldest) {
  for (std::uint8_t i = 0; i < Netdev::kWaiting + 2; ++i) {
    chip_tx.out.send(frame(ip_packet(kStandIn, kOurs, wire::kIpProtocolTcp, {i})), 1000u + i);
  }
  EXPECT_EQ(netdev.counters().unresolved_drops, 2u);
  wire_tx.out.send(frame(arp(kOurs, {ArpPacket::kReply, kPeer, kPeerIp, kOurs, kOurIp})), 5000);
  ASSERT_EQ(wire_rx.got.seen.size(), 1 + Netdev::kWaiting);
  EXPECT_EQ(wire_rx.got.seen[1].frame.back(), 2);
}

TEST_F(NetdevTest, AnswersAnEchoRequest) {
  Bytes echo{8, 0, 0, 0, 0x12, 0x34, 0, 1, 'a', 'b', 'c'};
  store_be16(echo.data() + 2, wire::internet_checksum({echo.data(), echo.size()}));
  Bytes broken = echo;
  broken.back() ^= 1;
  wire_tx.out.send(frame(ip_packet(kOurs, kPeer, 1, broken)), 1000);
  EXPECT_THAT(wire_rx.got.seen, testing::IsEmpty());
  wire_tx.out.send(frame(ip_packet(kOurs, kPeer, 1, echo)), 2000);
  ASSERT_EQ(wire_rx.got.seen.size(), 1u);
  const Bytes& answer = wire_rx.got.seen[0].frame;
  const auto ethernet = wire::EthernetView::parse({answer.data(), answer.size()});
  EXPECT_EQ(ethernet->header.dst, kPeer);
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  EXPECT_TRUE(ip->checksum_ok());
  EXPECT_EQ(ip->header.src, kOurIp);
  EXPECT_EQ(ip->header.dst, kPeerIp);
  EXPECT_EQ(ip->payload[0], 0);
  EXPECT_EQ(wire::internet_checksum(ip->payload), 0);
  EXPECT_TRUE(std::equal(echo.begin() + 4, echo.end(), ip->payload.data() + 4));
  EXPECT_THAT(chip_rx.got.seen, testing::IsEmpty());
}

TEST_F(NetdevTest, WhatIsForTheChipPassesAsItIs) {
  const Bytes data = ip_packet(kOurs, kPeer, wire::kIpProtocolTcp, {1, 2, 3});
  wire_tx.out.send(frame(data), 1234);
  ASSERT_EQ(chip_rx.got.seen.size(), 1u);
  EXPECT_EQ(chip_rx.got.seen[0].frame, data);
  EXPECT_THAT(chip_rx.times(), ElementsAre(1234));
}

}  // namespace
}  // namespace rnic::external
