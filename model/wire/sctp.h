// SCTP packets: common header, chunks, parameters and error causes (RFC 9260 section 3). The checksum is
// model/common/sctp_checksum.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

inline constexpr std::uint8_t kIpProtocolSctp = 132;
inline constexpr std::size_t kSctpAlign = 4;  // chunks, parameters and causes are zero-padded to it
constexpr std::size_t sctp_padded(std::size_t octets) { return (octets + kSctpAlign - 1) / kSctpAlign * kSctpAlign; }

// Serial arithmetic modulo 2^16 for stream sequence numbers: right for numbers less than 2^15 apart.
constexpr std::int16_t ssn_diff(std::uint16_t a, std::uint16_t b) { return static_cast<std::int16_t>(a - b); }

struct SctpHeader {
  static constexpr std::size_t kBytes = 12;

  std::uint16_t src_port = 0, dst_port = 0;
  std::uint32_t verification_tag = 0;

  // nullopt: too short. The checksum is not verified here.
  static std::optional<SctpHeader> parse(ByteSpan packet);
  // With 0 for the checksum. Returns the octets written, 0 if `out` is too small.
  std::size_t emit(MutableByteSpan out) const;
};

// Others are unknown (unknown_chunk_ends, unknown_chunk_is_reported).
enum class SctpChunkType : std::uint8_t {
  kData = 0,
  kInit = 1,
  kInitAck = 2,
  kSack = 3,
  kHeartbeat = 4,
  kHeartbeatAck = 5,
  kAbort = 6,
  kShutdown = 7,
  kShutdownAck = 8,
  kError = 9,
  kCookieEcho = 10,
  kCookieAck = 11,
  kShutdownComplete = 14,
};

enum class SctpParameterType : std::uint16_t {
  kHeartbeatInfo = 1,
  kIpv4Address = 5,
  kIpv6Address = 6,
  kStateCookie = 7,
  kUnrecognized = 8,
  kCookiePreservative = 9,
  kHostName = 11,
  kSupportedAddressTypes = 12,
  kAdaptationIndication = 0xc006,  // RFC 5061 section 4.2.6
};

enum class SctpCause : std::uint16_t {
  kInvalidStream = 1,
  kMissingParameter = 2,
  kStaleCookie = 3,
  kOutOfResource = 4,
  kUnresolvableAddress = 5,
  kUnrecognizedChunk = 6,
  kInvalidParameter = 7,
  kUnrecognizedParameters = 8,
  kNoUserData = 9,
  kCookieWhileShuttingDown = 10,
  kRestartWithNewAddresses = 11,
  kUserInitiatedAbort = 12,
  kProtocolViolation = 13,
};

// The two upper bits of an unknown type tell the receiver (sections 3.2 and 3.2.1) whether to stop there and whether to
// report it.
constexpr bool unknown_chunk_ends(std::uint8_t type) { return (type & 0x80) == 0; }
constexpr bool unknown_chunk_is_reported(std::uint8_t type) { return (type & 0x40) != 0; }
constexpr bool unknown_parameter_ends(std::uint16_t type) { return (type & 0x8000) == 0; }
constexpr bool unknown_parameter_is_reported(std::uint16_t type) { return (type & 0x4000) != 0; }

struct SctpChunk {
  static constexpr std::size_t kHeaderBytes = 4;
  static constexpr std::uint8_t kTagReflected = 0x01;  // T, of ABORT and SHUTDOWN COMPLETE

  SctpChunkType type = SctpChunkType::kData;
  std::uint8_t flags = 0;
  ByteSpan value;  // after the chunk's header, without the pad
  ByteSpan whole;  // with header, without the pad: what ERROR cause 6 quotes
};

// A parameter of INIT, INIT ACK or HEARTBEAT, or a cause of ABORT or ERROR.
struct SctpItem {
  static constexpr std::size_t kHeaderBytes = 4;

  std::uint16_t type = 0;
  ByteSpan value, whole;
};

// Iterates over items. A length below 4 or beyond the end makes the rest malformed, to be dropped.
template <class T>
class SctpList {
 public:
  explicit SctpList(ByteSpan octets) : rest_(octets) {}
  std::optional<T> next();
  bool malformed() const { return malformed_; }  // once next() has returned nothing
  ByteSpan malformed_octets() const { return malformed_octets_; }

 private:
  ByteSpan rest_, malformed_octets_;
  bool malformed_ = false;
};
using SctpChunks = SctpList<SctpChunk>;  // of a packet without its header
using SctpItems = SctpList<SctpItem>;
// The chunk that begins with these octets, with the part of its value that they have; nullopt without its header.
std::optional<SctpChunk> sctp_chunk_begun(ByteSpan octets);
extern template class SctpList<SctpChunk>;
extern template class SctpList<SctpItem>;

struct SctpData {
  static constexpr std::size_t kBytes = 12;  // of the value, before the user data
  static constexpr std::uint8_t kEnd = 0x01, kBegin = 0x02, kUnordered = 0x04, kImmediate = 0x08;  // flags

  std::uint32_t tsn = 0;
  std::uint16_t stream = 0;
  std::uint16_t ssn = 0;  // of an ordered message
  std::uint32_t ppid = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.tsn, h.stream, h.ssn, h.ppid);
  }
  static std::optional<SctpData> parse(ByteSpan value);
  static ByteSpan user_data(ByteSpan value) { return value.subspan(kBytes); }
  // Octets of a DATA chunk with `user_data` octets of user data, including header and pad.
  static constexpr std::size_t chunk_bytes(std::size_t user_data) {
    return sctp_padded(SctpChunk::kHeaderBytes + kBytes + user_data);
  }
};

// Of INIT and INIT ACK.
struct SctpInit {
  static constexpr std::size_t kBytes = 16;  // of the value, before the parameters

  std::uint32_t initiate_tag = 0;
  std::uint32_t a_rwnd = 0;
  std::uint16_t outbound_streams = 0, max_inbound_streams = 0;
  std::uint32_t initial_tsn = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.initiate_tag, h.a_rwnd, h.outbound_streams, h.max_inbound_streams, h.initial_tsn);
  }
  static std::optional<SctpInit> parse(ByteSpan value);
  static ByteSpan parameters(ByteSpan value) { return value.subspan(kBytes); }
};

// TSNs received beyond a gap, as offsets from the cumulative TSN ack, both inclusive.
struct SctpGapBlock {
  std::uint16_t start = 0, end = 0;
};

struct SctpSack {
  static constexpr std::size_t kBytes = 12;  // of the value, before the blocks
  static constexpr std::size_t kEntryBytes = 4;

  std::uint32_t cumulative_tsn = 0;
  std::uint32_t a_rwnd = 0;
  std::uint16_t gap_blocks = 0, duplicates = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.cumulative_tsn, h.a_rwnd, h.gap_blocks, h.duplicates);
  }
};

struct SctpSackView {
  SctpSack header;
  ByteSpan blocks, tsns;

  // nullopt: too short for its counts.
  static std::optional<SctpSackView> parse(ByteSpan value);
  SctpGapBlock gap(std::size_t i) const;         // i < header.gap_blocks
  std::uint32_t duplicate(std::size_t i) const;  // i < header.duplicates
};

// Writes a packet chunk by chunk into a caller's buffer:
//     SctpWriter w(out, header);
//     w.begin(SctpChunkType::kError);
//     w.item(static_cast<std::uint16_t>(SctpCause::kStaleCookie), staleness);
//     const std::size_t bytes = w.finish();
class SctpWriter {
 public:
  SctpWriter(MutableByteSpan out, const SctpHeader& header);

  // Begins a chunk and ends the previous one.
  void begin(SctpChunkType type, std::uint8_t flags = 0);
  // Append to the chunk.
  void put(const SctpData& data);
  void put(const SctpInit& init);
  void put(const SctpSack& sack);  // its blocks and duplicates follow
  void put(SctpGapBlock block);
  void put(std::uint32_t value);
  void put(ByteSpan octets);
  // A parameter or cause. The chunk's length includes the previous item's pad, but not its own.
  void item(std::uint16_t type, ByteSpan value);
  // The octets of the packet with all pads, 0 if they do not fit.
  std::size_t finish();

 private:
  MutableByteSpan room() const { return out_.subspan(at_); }
  void advance(std::size_t octets, std::size_t wanted);
  void pad();
  void end_chunk();

  MutableByteSpan out_;
  std::size_t at_ = 0, chunk_ = 0;  // chunk_: where it begins; 0: none yet
  bool fits_ = true;
};

}  // namespace rnic::wire
