// The TCP header (RFC 9293 section 3.1) and arithmetic on sequence numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/tcp_options.h"

namespace rnic::wire {

// Serial arithmetic modulo 2^32: right for numbers less than 2^31 apart.
constexpr std::int32_t seq_diff(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b); }
constexpr bool seq_lt(std::uint32_t a, std::uint32_t b) { return seq_diff(a, b) < 0; }
constexpr bool seq_le(std::uint32_t a, std::uint32_t b) { return seq_diff(a, b) <= 0; }
constexpr bool seq_gt(std::uint32_t a, std::uint32_t b) { return seq_diff(a, b) > 0; }
constexpr bool seq_ge(std::uint32_t a, std::uint32_t b) { return seq_diff(a, b) >= 0; }
constexpr std::uint32_t seq_max(std::uint32_t a, std::uint32_t b) { return seq_ge(a, b) ? a : b; }
constexpr std::uint32_t seq_min(std::uint32_t a, std::uint32_t b) { return seq_le(a, b) ? a : b; }

struct TcpHeader {
  static constexpr std::size_t kBytes = 20;  // without options
  static constexpr std::size_t kChecksumOffset = 16;
  static constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10, kUrg = 0x20,
                                kEce = 0x40, kCwr = 0x80;

  std::uint16_t src_port = 0, dst_port = 0;
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 0;    // not scaled
  std::uint16_t checksum = 0;  // sent as given: the sum also covers pseudo header and payload (checksum.h)
  std::uint16_t urgent = 0;
  TcpOptions options;

  constexpr bool has(std::uint8_t flag) const { return flags & flag; }
  std::size_t bytes() const { return kBytes + options.bytes(); }

  // Header and options. Returns the octets written, 0 if `out` is too small or the options do not fit a header.
  std::size_t emit(MutableByteSpan out) const;
};

// A segment. nullopt: a data offset below 20 octets or beyond the end. The checksum is not verified here.
struct TcpView {
  TcpHeader header;
  ByteSpan payload;

  static std::optional<TcpView> parse(ByteSpan segment);
};

}  // namespace rnic::wire
