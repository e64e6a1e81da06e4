#include "model/external/netdev.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/external/frame_port.h"
#include "model/rnic/llp/link_address.h"
#include "model/wire/arp.h"
#include "model/wire/checksum.h"
#include "model/wire/icmp.h"

namespace rnic::external {
namespace {

constexpr wire::MacAddress kBroadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
constexpr std::uint8_t kEchoRequest = 8, kEchoReply = 0;  // RFC 792
constexpr std::size_t kIcmpHeaderBytes = 8, kIcmpChecksumOffset = 2;
constexpr std::size_t kIpSourceOffset = 12, kIpAddressBytes = 4;

}  // namespace

Netdev::Netdev(sc_core::sc_module_name nm, const LinkAddress& station)
    : sc_module(nm), station_(station), peer_(station_.neighbours.at(0)), buffers_(FramePort::kMaxFrame) {}

Frame Netdev::copy(const Frame& frame) {
  RNIC_CHECK(frame.bytes <= buffers_.block_bytes());
  Frame c{buffers_.take(), 0, frame.bytes, true};
  std::memcpy(c.buf->bytes(), frame.data(), frame.bytes);
  return c;
}

EthernetPort Netdev::before(EthernetPort chip) {
  chip.out.socket.bind(chip_.socket);
  to_chip_.socket.bind(chip.in.socket);
  return {to_wire_, wire_};
}

void Netdev::sent(const Frame& frame, std::uint64_t at_ps) {
  if (peer_mac_) return forward(frame, at_ps);
  waiting_.push_back(frame);
  if (waiting_.size() > kWaiting) {
    waiting_.pop_front();
    ++counters_.unresolved_drops;
  }
  if (!asked_ps_ || at_ps - *asked_ps_ >= kAskPs) ask(at_ps);
}

void Netdev::forward(const Frame& frame, std::uint64_t at_ps) {
  Frame f = copy(frame);
  std::copy(peer_mac_->octets.begin(), peer_mac_->octets.end(), f.buf->bytes());
  to_wire_.send(std::move(f), at_ps);
}

void Netdev::ask(std::uint64_t at_ps) {
  asked_ps_ = at_ps;
  ++counters_.arp_requests;
  Frame f{buffers_.take(), 0, wire::EthernetHeader::kBytes + wire::ArpPacket::kBytes, true};
  MutableByteSpan out{f.buf->bytes(), f.bytes};
  wire::EthernetHeader{kBroadcast, station_.mac, wire::kEthertypeArp}.emit(out);
  wire::ArpPacket{wire::ArpPacket::kRequest, station_.mac, station_.ip, {}, peer_.ip}.emit(
      {out.data() + wire::EthernetHeader::kBytes, wire::ArpPacket::kBytes});
  to_wire_.send(std::move(f), at_ps);
}

void Netdev::received(const Frame& frame, std::uint64_t at_ps) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet) return;
  if (ethernet->header.ethertype == wire::kEthertypeArp) return take_arp(frame, at_ps);
  if (!answer_echo(frame, at_ps)) to_chip_.send(frame, at_ps);
}

// RFC 826, "packet reception": any ARP packet of the peer, request or reply and for any target, updates a known entry.
// Only a packet for this station creates an entry. A request for this station is answered.
void Netdev::take_arp(const Frame& frame, std::uint64_t at_ps) {
  const auto arp =
      wire::ArpPacket::parse({frame.data() + wire::EthernetHeader::kBytes, frame.bytes - wire::EthernetHeader::kBytes});
  if (!arp) return;
  const bool for_us = arp->target_ip == station_.ip;
  if (arp->sender_ip == peer_.ip && (for_us || peer_mac_)) peer_mac_ = arp->sender_mac;
  if (!for_us) return;
  if (arp->operation == wire::ArpPacket::kRequest) {
    ++counters_.arp_answers;
    Frame f{buffers_.take(), 0, wire::EthernetHeader::kBytes + wire::ArpPacket::kBytes, true};
    MutableByteSpan out{f.buf->bytes(), f.bytes};
    wire::EthernetHeader{arp->sender_mac, station_.mac, wire::kEthertypeArp}.emit(out);
    wire::ArpPacket{wire::ArpPacket::kReply, station_.mac, station_.ip, arp->sender_mac, arp->sender_ip}.emit(
        {out.data() + wire::EthernetHeader::kBytes, wire::ArpPacket::kBytes});
    to_wire_.send(std::move(f), at_ps + kAnswerPs);
  }
  for (; peer_mac_ && !waiting_.empty(); waiting_.pop_front()) forward(waiting_.front(), at_ps + kAnswerPs);
}

bool Netdev::answer_echo(const Frame& frame, std::uint64_t at_ps) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (ethernet->vlan_tci || !ip || ip->header.protocol != wire::kIpProtocolIcmp) return false;
  const bool echo = ip->header.dst == station_.ip && !ip->header.is_fragment() && ip->checksum_ok() &&
                    ip->payload.size() >= kIcmpHeaderBytes && ip->payload[0] == kEchoRequest &&
                    wire::internet_checksum(ip->payload) == 0;
  if (!echo) return !wire::FragmentationNeeded::parse(ip->payload);  // the only ICMP message for the chip
  ++counters_.echo_answers;
  Frame f = copy(frame);
  std::uint8_t* const octets = f.buf->bytes();
  wire::EthernetHeader{ethernet->header.src, station_.mac, wire::kEthertypeIpv4}.emit({octets, f.bytes});
  std::uint8_t* const addresses = octets + wire::EthernetHeader::kBytes + kIpSourceOffset;
  std::swap_ranges(addresses, addresses + kIpAddressBytes, addresses + kIpAddressBytes);  // the checksum stays valid
  std::uint8_t* const icmp = octets + (ip->payload.data() - frame.data());
  icmp[0] = kEchoReply;
  store_be16(icmp + kIcmpChecksumOffset, 0);
  store_be16(icmp + kIcmpChecksumOffset, wire::internet_checksum({icmp, ip->payload.size()}));
  to_wire_.send(std::move(f), at_ps + kAnswerPs);
  return true;
}

}  // namespace rnic::external
