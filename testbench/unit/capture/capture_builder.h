// Builds small pcap files frame by frame, for cases that real captures do not show.
#pragma once

#include <cstdint>
#include <string>

#include "model/common/sctp_checksum.h"
#include "model/wire/checksum.h"
#include "model/wire/ethernet.h"
#include "model/wire/ipv4.h"
#include "model/wire/sctp.h"
#include "model/wire/tcp.h"
#include "testbench/unit/wire/hex.h"

namespace rnic::capture {

enum class Sum : std::uint8_t { kGood, kPseudoHeaderOnly, kWrong };

class CaptureBuilder {
 public:
  static constexpr std::uint32_t kClient = 0x0a000002, kServer = 0x0a000001;
  static constexpr std::uint16_t kClientPort = 40000, kServerPort = 7471;

  CaptureBuilder() { bytes_ = hex("D4C3B2A1 0200 0400 00000000 00000000 00000400 01000000"); }

  CaptureBuilder& from_client(std::uint8_t flags, std::uint32_t seq, const Bytes& payload = {}, Sum sum = Sum::kGood,
                              std::uint32_t ack = 0) {
    return frame(tcp_frame(kClient, kServer, kClientPort, kServerPort, flags, seq, ack, payload, sum));
  }
  CaptureBuilder& from_server(std::uint8_t flags, std::uint32_t seq, const Bytes& payload = {}, Sum sum = Sum::kGood,
                              std::uint32_t ack = 0) {
    return frame(tcp_frame(kServer, kClient, kServerPort, kClientPort, flags, seq, ack, payload, sum));
  }

  // Both SYNs and MPA startup frames; the streams then go on at client_isn + 1 + 20 and server_isn + 1 + 20.
  CaptureBuilder& connect(std::uint32_t client_isn, std::uint32_t server_isn, std::uint8_t mpa_flags = 0,
                          Sum sum = Sum::kGood) {
    using wire::TcpHeader;
    const Bytes flags_and_rest = {mpa_flags, 1, 0, 0};
    from_client(TcpHeader::kSyn, client_isn, {}, sum);
    from_server(TcpHeader::kSyn | TcpHeader::kAck, server_isn, {}, sum, client_isn + 1);
    from_client(TcpHeader::kAck, client_isn + 1, hex("4D504120494420526571204672616D65") + flags_and_rest, sum);
    return from_server(TcpHeader::kAck, server_isn + 1, hex("4D504120494420526570204672616D65") + flags_and_rest, sum);
  }

  // `kept`: octets of the frame that a snapshot length leaves.
  CaptureBuilder& frame(const Bytes& octets, std::size_t kept = SIZE_MAX) {
    if (kept > octets.size()) kept = octets.size();
    last_record_ = bytes_.size();
    std::uint8_t header[16] = {};
    store_le32(header + 8, static_cast<std::uint32_t>(kept));
    store_le32(header + 12, static_cast<std::uint32_t>(octets.size()));
    bytes_.insert(bytes_.end(), header, header + sizeof header);
    bytes_.insert(bytes_.end(), octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(kept));
    return *this;
  }

  static Bytes tcp_frame(std::uint32_t src, std::uint32_t dst, std::uint16_t src_port, std::uint16_t dst_port,
                         std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const Bytes& payload, Sum sum) {
    wire::TcpHeader tcp;
    tcp.src_port = src_port;
    tcp.dst_port = dst_port;
    tcp.seq = seq;
    tcp.ack = ack;
    tcp.flags = flags;
    Bytes segment = emitted(tcp, wire::TcpHeader::kBytes) + payload;
    const wire::ChecksumAccumulator pseudo =
        wire::tcp_pseudo_header(wire::Ipv4Address{src}, wire::Ipv4Address{dst}, segment.size());
    wire::ChecksumAccumulator whole = pseudo;
    whole.add(segment);
    const std::uint16_t value = sum == Sum::kGood               ? whole.checksum()
                                : sum == Sum::kPseudoHeaderOnly ? pseudo.partial()
                                                                : static_cast<std::uint16_t>(whole.checksum() ^ 0x0400);
    store_be16(segment.data() + wire::TcpHeader::kChecksumOffset, value);

    return ip_frame(src, dst, wire::kIpProtocolTcp, segment);
  }

  // An SCTP packet with the given ports and octets, checksum included.
  CaptureBuilder& packet(bool from_client, const Bytes& octets) {
    return frame(from_client ? ip_frame(kClient, kServer, wire::kIpProtocolSctp, octets)
                             : ip_frame(kServer, kClient, wire::kIpProtocolSctp, octets));
  }
  // A packet with these chunks and a correct checksum.
  CaptureBuilder& sctp_from_client(std::uint32_t tag, const Bytes& chunks) { return sctp(true, tag, chunks); }
  CaptureBuilder& sctp_from_server(std::uint32_t tag, const Bytes& chunks) { return sctp(false, tag, chunks); }

  static Bytes ip_frame(std::uint32_t src, std::uint32_t dst, std::uint8_t protocol, const Bytes& payload,
                        std::uint16_t fragment = wire::Ipv4Header::kDontFragment) {
    wire::Ipv4Header ip;
    ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + payload.size());
    ip.protocol = protocol;
    ip.fragment = fragment;
    ip.src = {src};
    ip.dst = {dst};
    return emitted(wire::EthernetHeader{}, wire::EthernetHeader::kBytes) + emitted(ip, wire::Ipv4Header::kBytes) +
           payload;
  }
  static Bytes sctp_packet(bool from_client, std::uint32_t tag, const Bytes& chunks) {
    const wire::SctpHeader header{from_client ? kClientPort : kServerPort, from_client ? kServerPort : kClientPort,
                                  tag};
    Bytes octets = emitted(header, wire::SctpHeader::kBytes) + chunks;
    store_crc32c(octets.data() + kSctpChecksumOffset, sctp_checksum(octets));
    return octets;
  }

  CaptureBuilder& sctp(bool from_client, std::uint32_t tag, const Bytes& chunks) {
    return packet(from_client, sctp_packet(from_client, tag, chunks));
  }

  const Bytes& bytes() const { return bytes_; }
  std::size_t last_record() const { return last_record_; }  // offset in the file

 private:
  Bytes bytes_;
  std::size_t last_record_ = 0;
};

}  // namespace rnic::capture
