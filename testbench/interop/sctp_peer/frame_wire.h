// SCTP packets in Ethernet frames on a Unix socket, one frame per packet, as with the simulator's
// `external.wire=seqpacket`. IPv4 without fragments; ARP (RFC 826) both ways.
#pragma once

#include <array>
#include <cstdio>
#include <functional>
#include <random>

#include "testbench/interop/sctp_peer/octets.h"
#include "testbench/interop/sctp_peer/options.h"

namespace far_end {

class FrameWire {
 public:
  using Take = std::function<void(Bytes& sctp_packet)>;
  FrameWire(const Options& options, Take take);
  ~FrameWire();
  FrameWire(const FrameWire&) = delete;
  FrameWire& operator=(const FrameWire&) = delete;

  void send(Bytes sctp_packet) { send_ip(kSctp, std::move(sctp_packet)); }
  // Sends an ICMP echo request, by which the simulator's programs know that this end listens.
  void ping();
  bool pinged() const { return pinged_; }      // the peer has pinged
  bool answered() const { return answered_; }  // it has answered our ping
  void mute(bool muted) { muted_ = muted; }
  // Takes the available frames; waits up to `ms` for the first.
  void receive(int ms);
  bool gone() const { return gone_; }

 private:
  using Mac = std::array<std::uint8_t, 6>;
  static constexpr std::uint16_t kIpv4 = 0x0800, kArp = 0x0806;
  static constexpr std::uint8_t kIcmp = 1, kSctp = 132;

  void take_frame(const Bytes& frame);
  void take_arp(const Bytes& frame);
  void send_ip(std::uint8_t protocol, Bytes payload);
  void send_arp(std::uint16_t operation, const Mac& to, const Mac& target);
  Bytes frame_to(const Mac& to, std::uint16_t type) const;
  void send_frame(const Bytes& frame);
  void record(const Bytes& frame);

  const Options options_;
  const Take take_;
  const Mac mac_;
  int fd_ = -1;
  bool gone_ = false, muted_ = false;
  bool peer_known_ = false, pinged_ = false, answered_ = false;
  Mac peer_mac_{};
  std::vector<Bytes> waiting_;  // IP packets waiting for an ARP reply
  std::uint16_t identification_ = 0;
  std::mt19937_64 random_;
  std::FILE* pcap_ = nullptr;
};

}  // namespace far_end
