// A TCP segment or an SCTP packet found in a captured frame.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "model/capture/capture_reader.h"
#include "model/common/bytes.h"
#include "model/wire/sctp.h"
#include "model/wire/tcp.h"

namespace rnic::capture {

struct Endpoint {
  bool ipv6 = false;
  std::array<std::uint8_t, 16> address{};  // IPv4 in the first four octets
  std::uint16_t port = 0;

  friend bool operator<(const Endpoint& a, const Endpoint& b) {
    return std::tie(a.ipv6, a.address, a.port) < std::tie(b.ipv6, b.address, b.port);
  }
  friend bool operator==(const Endpoint& a, const Endpoint& b) {
    return std::tie(a.ipv6, a.address, a.port) == std::tie(b.ipv6, b.address, b.port);
  }
};
std::string to_string(const Endpoint& endpoint);  // 10.0.0.2:7471, [fd00::2]:7471

// kPartial: the field holds only the pseudo header's sum, as a host with checksum offload leaves it. Such a segment may
// be right or wrong.
enum class TcpChecksum : std::uint8_t { kGood, kPartial, kWrong };

struct Segment {
  Place at;  // of the frame
  Endpoint src, dst;
  wire::TcpHeader header;
  TcpChecksum checksum = TcpChecksum::kGood;
  ByteSpan payload;
  std::size_t missing = 0;               // octets after those, which the capture did not keep; then `checksum` is kGood
  std::size_t frame_bytes = 0;           // on the wire, without FCS
  std::uint8_t traffic_class = 0;        // of the IP header: DSCP and ECN
  std::optional<std::uint16_t> ipv4_id;  // the identification, which most hosts count up

  std::size_t bytes() const { return payload.size() + missing; }
};

struct SctpPacket {
  Place at;  // of the frame
  Endpoint src, dst;
  std::uint32_t tag = 0;  // the receiver's, or 0 with an INIT
  bool checksum_ok = true;
  ByteSpan chunks;
  std::size_t missing = 0;  // octets after those, which the capture did not keep; then `checksum_ok`
};

enum class FrameFate : std::uint8_t { kSegment, kSctp, kLostByCable, kSomethingElse, kWrongIpChecksum, kUndecoded };

struct FrameResult {
  bool is_cut() const { return segment.missing + packet.missing != 0; }  // part of the payload is missing

  FrameFate fate = FrameFate::kSomethingElse;
  Segment segment;     // valid iff kSegment; its payload is a view into the frame
  SctpPacket packet;   // valid iff kSctp; its chunks are a view into the frame
  std::string reason;  // iff kUndecoded
};

// "the capture kept 96 of the frame's 1514 octets"
std::string kept_of(const CapturedFrame& frame);

// `trust_checksums`: treat every checksum as good, IPv4's too.
FrameResult read_frame(const CapturedFrame& frame, bool trust_checksums);

}  // namespace rnic::capture
