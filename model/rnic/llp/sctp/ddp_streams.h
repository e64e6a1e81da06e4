// DDP stream sessions over SCTP, the hardware's part (RFC 5043 sections 5 and 6): the DDP stream sequence numbers of
// both directions of each stream of an association. Segments are placed as they arrive and delivered in the order of
// their numbers. The firmware knows sessions, and which control message fits one (firmware/conn/stream_session.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/llp/sctp/ids.h"
#include "model/wire/ddp_session.h"

namespace rnic::sctp {

// RFC 5043 section 5.2.1: the most chunks of a stream that may be unacknowledged, and the furthest that one may be
// ahead.
inline constexpr std::uint16_t kDdpSsnWindow = 32'767;

// A user message, unfragmented or reassembled.
struct StreamChunk {
  std::uint16_t stream = 0;
  std::uint32_t ppid = 0;
  bool unordered = true;
  ByteSpan user_data;
  ReceivedId token;  // comes back with its delivery
};

// Why a session ends.
enum class StreamViolation : std::uint8_t {
  kNone,
  kForeignPpid,
  kOrdered,      // U = 0
  kTooShort,     // no DDP-SSN, or no function code
  kPrivateData,  // more than 512 octets
  kTooLong,      // a fragmented message, longer than any segment
  kOutOfWindow,
  kDuplicate,
  kBeyondEnd,     // after the last chunk of its sender
  kSegmentFirst,  // a segment has the DDP-SSN 0
};
inline constexpr std::size_t kStreamViolations = 10;
const char* to_string(StreamViolation violation);

// The state that the firmware has given to a stream.
enum class StreamMode : std::uint8_t {
  kIdle,     // no session: one begins with a control message that has the number 0
  kHold,     // its terms are not known yet: segments wait
  kOpen,     // segments are placed as they arrive
  kDiscard,  // ended here: numbers are followed up to the peer's Terminate, nothing is placed
  kEnded,    // the peer's run is complete: later chunks belong to the next session, and wait until this one is over
};

enum class ChunkFate : std::uint8_t {
  kPlace,      // place it now; it is delivered later, or with the next deliver()
  kHeld,       // kept until it is delivered
  kDropped,    // but SCTP acknowledges it
  kNoRoom,     // not accepted: SCTP must not acknowledge it, so the peer retransmits it
  kStray,      // dropped; there is no session. The firmware answers
  kViolation,  // dropped; the session ends. The firmware gets an event
};

struct Arrival {
  ChunkFate fate = ChunkFate::kDropped;
  StreamViolation violation = StreamViolation::kNone;
  bool terminate = false;  // it is a Terminate, which is never answered by another one
};

struct Delivery {
  enum class Kind : std::uint8_t {
    kSegment,
    kControl,  // for the firmware
    kRelease   // the session has ended: only its buffer must be freed
  };
  Kind kind = Kind::kSegment;
  ReceivedId token;
  std::uint16_t ddp_ssn = 0;
  bool placed = false;  // of a segment: false if it had to wait for the session, and is placed now
};

struct StreamLimits {
  std::uint16_t streams = 16;              // the smaller of both directions
  std::uint16_t window = 256;              // DDP-SSNs accepted, from the next one on; a power of two
  std::uint32_t held_octets = 128 * 1024;  // user data of an association that waits unplaced
};

struct StreamCounters {
  std::uint64_t placed = 0, delivered = 0, controls = 0, held = 0, dropped = 0, no_room = 0, strays = 0;
  std::array<std::uint64_t, kStreamViolations> violations{};
};

class DdpStreams {
 public:
  explicit DdpStreams(const StreamLimits& limits);

  // Sending. The number of the next chunk, which is handed to SCTP at once; none while 32767 are unacknowledged.
  std::optional<std::uint16_t> take_ssn(std::uint16_t stream, bool control);
  // SCTP frees the chunks of a stream in the order in which it got them: the oldest one. True: a control message.
  bool acknowledged(std::uint16_t stream);
  std::uint32_t unacknowledged(std::uint16_t stream) const { return tx_[stream].sent - tx_[stream].acked; }

  // Receiving. After each arrival, and each call by the firmware: deliver() until it returns nothing.
  Arrival arrive(const StreamChunk& chunk);
  std::optional<Delivery> deliver(std::uint16_t stream);
  // For a message that never became complete.
  void violate(std::uint16_t stream, StreamViolation why);

  // The firmware's calls.
  void begin(std::uint16_t stream);  // an Initiate is sent
  void open(std::uint16_t stream);
  // The session has ended here. release(token): a kept segment will not be delivered.
  template <class Release>
  void discard(std::uint16_t stream, Release&& release) {
    Rx& rx = rx_[stream];
    if (rx.mode == StreamMode::kEnded) return;
    rx.mode = StreamMode::kDiscard;
    release_all(stream, false, release);
  }
  // Nothing more of this session will arrive, not even a last message of the peer.
  template <class Release>
  void end_run(std::uint16_t stream, Release&& release) {
    if (rx_[stream].mode == StreamMode::kEnded) return;
    release_all(stream, true, release);
    next_run(rx_[stream], StreamMode::kEnded);
  }
  // The session is over: the id may be reused. All our chunks are acknowledged.
  template <class Release>
  void restart(std::uint16_t stream, Release&& release) {
    end_run(stream, release);
    finish(stream);
  }
  // The association is gone, with everything that it kept.
  template <class Release>
  void reset(Release&& release) {
    for (std::uint16_t stream = 0; stream < limits_.streams; ++stream) {
      release_all(stream, true, release);
      rx_[stream] = {};
      tx_[stream] = {};
    }
  }

  StreamMode mode(std::uint16_t stream) const { return rx_[stream].mode; }
  std::uint16_t next_ssn(std::uint16_t stream) const { return rx_[stream].expected; }
  std::uint32_t held_octets() const { return held_octets_; }
  const StreamCounters& counters() const { return counters_; }
  const StreamLimits& limits() const { return limits_; }
  static std::size_t context_bytes(const StreamLimits& limits);

 private:
  enum class SlotKind : std::uint8_t { kEmpty, kGone, kSegment, kPlaced, kControl };
  // A number from `expected` on. Octets of user data count while they wait unplaced.
  struct Slot {
    ReceivedId token;
    std::uint16_t octets = 0;  // a chunk's length is never larger
    SlotKind kind = SlotKind::kEmpty;
  };
  struct Rx {
    StreamMode mode = StreamMode::kIdle;
    bool broken = false;    // by the peer: its numbers cannot be trusted
    bool has_last = false;  // `last` is the number of its last chunk
    std::uint16_t last = 0;
    std::uint16_t expected = 0;
    std::uint16_t top = 0;  // after the highest one received
  };
  struct Tx {
    std::uint32_t sent = 0, acked = 0;       // chunks, over all sessions
    std::uint32_t session = 0;               // the value of `sent` at its start
    std::array<std::uint32_t, 2> control{};  // those among the unacknowledged chunks
    std::uint8_t controls = 0;
  };

  Slot& slot(std::uint16_t stream, std::uint16_t ssn) { return slots_[index(stream, ssn)]; }
  const Slot& slot(std::uint16_t stream, std::uint16_t ssn) const { return slots_[index(stream, ssn)]; }
  std::size_t index(std::uint16_t stream, std::uint16_t ssn) const {
    return std::size_t{stream} * limits_.window + (ssn & (limits_.window - 1u));
  }
  bool between_sessions(std::uint16_t stream) const;
  static SlotKind segment_kind(StreamMode mode);
  Arrival arrive_first(const StreamChunk& chunk, std::uint16_t ssn, bool control);
  Arrival examine(const StreamChunk& chunk, std::uint16_t ssn, bool control);
  Arrival keep(const StreamChunk& chunk, std::uint16_t ssn, SlotKind kind);
  void put(std::uint16_t stream, std::uint16_t ssn, const Slot& what);
  void see(std::uint16_t stream, std::uint16_t ssn);
  Arrival count(Arrival arrival);
  Arrival broken(std::uint16_t stream, StreamViolation why);
  void clear(Slot& slot, SlotKind left);
  void advance(std::uint16_t stream);
  void next_run(Rx& rx, StreamMode mode);
  void finish(std::uint16_t stream);

  // Segments, or all; released ones have been seen.
  template <class Release>
  void release_all(std::uint16_t stream, bool controls, Release&& release) {
    for (std::uint32_t n = 0; n < limits_.window; ++n) {
      Slot& at = slot(stream, static_cast<std::uint16_t>(n));
      const bool segment = at.kind == SlotKind::kSegment || at.kind == SlotKind::kPlaced;
      if (!segment && !(controls && at.kind != SlotKind::kEmpty)) continue;
      if (at.kind != SlotKind::kGone) release(at.token);
      clear(at, controls ? SlotKind::kEmpty : SlotKind::kGone);
    }
  }

  StreamLimits limits_;
  std::vector<Slot> slots_;  // `window` of each stream
  std::vector<Rx> rx_;
  std::vector<Tx> tx_;
  std::uint32_t held_octets_ = 0;
  StreamCounters counters_;
};

}  // namespace rnic::sctp
