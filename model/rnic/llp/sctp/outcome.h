// The result of one input to the set-up of associations: a packet, a request of the host or a timer's expiry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/common/cycle.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

enum class SetupTimer : std::uint8_t { kT1Init, kT1Cookie, kT2Shutdown, kT5Guard, kHeartbeat };
inline constexpr std::size_t kSetupTimers = 5;

// For the firmware.
struct SetupEvent {
  enum class Kind : std::uint8_t {
    kUp,
    kRestarted,     // the peer has lost its state: all sessions are gone, the association is up with new terms
    kPeerShutdown,  // no more data is accepted from the host
    kShutDown,      // closed by a complete shutdown
    kAborted,       // closed by an ABORT, the peer's or ours
    kFailed,        // closed: no answer, or a set-up that is impossible
    kPeerError,     // the peer's ERROR chunk; the association continues
  };
  Kind kind = Kind::kUp;
  std::uint16_t cause = 0;  // of kAborted, kFailed and kPeerError; 0: none was named
  ByteSpan information;     // of the cause; in the received packet
};

// Chunks of the packet that others handle, in order of arrival.
struct PassedChunk {
  wire::SctpChunkType type = wire::SctpChunkType::kData;  // kData, kSack, kShutdown: its cumulative TSN ack
  std::uint8_t flags = 0;
  ByteSpan value;
};

// Of an INIT or INIT ACK to be written.
struct SctpParameters {
  static constexpr std::size_t kMax = 12;
  struct Parameter {
    wire::SctpParameterType type = wire::SctpParameterType::kUnrecognized;
    ByteSpan value;
  };
  std::array<Parameter, kMax> list{};
  std::size_t used = 0;

  // Beyond kMax: left out.
  void add(wire::SctpParameterType type, ByteSpan value) {
    if (used < kMax) list[used++] = {type, value};
  }
};

// Apart from the timers: take the events first, then the chunks, then the packet. One scratch object serves all
// associations of an engine: each input clears it.
class Outcome {
 public:
  static constexpr std::size_t kPacketBytes = 9000 - 20;  // of the largest IPv4 packet
  static constexpr std::size_t kMaxChunks = kPacketBytes / (wire::SctpChunk::kHeaderBytes + wire::SctpData::kBytes);
  static constexpr std::size_t kMaxEvents = 4;

  // At most one packet, with a checksum of 0; empty: none.
  ByteSpan packet() const { return {octets_.data(), bytes_}; }
  std::size_t events() const { return events_used_; }
  const SetupEvent& event(std::size_t i) const { return events_[i]; }
  std::size_t chunks() const { return chunks_used_; }
  const PassedChunk& chunk(std::size_t i) const { return chunks_[i]; }
  // The new expiry of a timer to be started or moved; kNever: stop it; nullopt: leave it as it is.
  const std::optional<Cycle>& timer(SetupTimer t) const { return timers_[static_cast<std::size_t>(t)]; }
  // Of an answered HEARTBEAT.
  std::optional<Cycle> rtt;
  // MACs that were computed, of cookies made or checked.
  unsigned macs = 0;

  // For the producers.
  void clear();
  void set(SetupTimer t, Cycle at) { timers_[static_cast<std::size_t>(t)] = at; }
  void tell(const SetupEvent& event);  // beyond kMaxEvents: the first ones count, except for the last place
  void pass(const wire::SctpChunk& chunk);
  void drop_chunks() { chunks_used_ = 0; }

  // The packet, chunk by chunk. The first sets its header; false: it no longer fits, and is left out.
  struct Header {
    std::uint16_t port = 0, peer_port = 0;
    std::uint32_t tag = 0;
  };
  void limit(std::size_t octets) { limit_ = octets < kPacketBytes ? octets : kPacketBytes; }
  bool chunk(const Header& to, wire::SctpChunkType type, ByteSpan value = {}, std::uint8_t flags = 0);
  bool cause(const Header& to, wire::SctpChunkType type, wire::SctpCause cause, ByteSpan information,
             std::uint8_t flags = 0);
  bool init(const Header& to, wire::SctpChunkType type, const wire::SctpInit& init, const SctpParameters& parameters);
  void drop_packet() { bytes_ = 0; }

 private:
  template <class Fill>
  bool append(const Header& to, Fill fill);

  std::array<std::uint8_t, kPacketBytes> octets_{};
  std::size_t bytes_ = 0, limit_ = kPacketBytes;
  std::array<std::optional<Cycle>, kSetupTimers> timers_{};
  std::array<SetupEvent, kMaxEvents> events_{};
  std::size_t events_used_ = 0;
  std::array<PassedChunk, kMaxChunks> chunks_{};
  std::size_t chunks_used_ = 0;
};

}  // namespace rnic::sctp
