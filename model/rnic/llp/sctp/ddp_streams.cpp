#include "model/rnic/llp/sctp/ddp_streams.h"

#include <algorithm>

#include "model/common/check.h"

namespace rnic::sctp {
namespace {

using wire::SessionCode;
using wire::SessionMessage;

constexpr std::size_t kSessionCodeOffset = wire::kDdpSsnBytes;

bool has_code(const StreamChunk& chunk, SessionCode code) {
  return load_be16(chunk.user_data.data() + kSessionCodeOffset) == static_cast<std::uint16_t>(code);
}
bool is_terminate(const StreamChunk& chunk) {
  return chunk.ppid == wire::kPpidDdpSession && chunk.user_data.size() >= SessionMessage::kHeaderBytes &&
         has_code(chunk, SessionCode::kTerminate);
}
bool initiates(const StreamChunk& chunk) {
  return has_code(chunk, SessionCode::kInitiate) || has_code(chunk, SessionCode::kEnhancedInitiate);
}
// A Terminate is the last chunk of its sender, and a rejection is the only one.
bool ends_run(const StreamChunk& chunk, std::uint16_t ssn) {
  return has_code(chunk, SessionCode::kTerminate) ||
         (ssn == 0 && (has_code(chunk, SessionCode::kReject) || has_code(chunk, SessionCode::kEnhancedReject)));
}

// Rules for a single chunk.
StreamViolation check_chunk(const StreamChunk& chunk) {
  const bool control = chunk.ppid == wire::kPpidDdpSession;
  if (!control && chunk.ppid != wire::kPpidDdpSegment) return StreamViolation::kForeignPpid;
  const std::size_t least = control ? SessionMessage::kHeaderBytes : wire::kDdpSsnBytes;
  if (chunk.user_data.size() < least) return StreamViolation::kTooShort;
  if (!chunk.unordered) return StreamViolation::kOrdered;
  const std::size_t most = SessionMessage::kHeaderBytes + SessionMessage::kMaxPrivateData;
  return control && chunk.user_data.size() > most ? StreamViolation::kPrivateData : StreamViolation::kNone;
}

constexpr bool has_number(StreamViolation violation) {
  return violation == StreamViolation::kOrdered || violation == StreamViolation::kPrivateData;
}

constexpr std::uint16_t ssn_distance(std::uint16_t from, std::uint16_t to) {
  return static_cast<std::uint16_t>(to - from);
}

}  // namespace

const char* to_string(StreamViolation violation) {
  switch (violation) {
    case StreamViolation::kNone:
      return "none";
    case StreamViolation::kForeignPpid:
      return "foreign_ppid";
    case StreamViolation::kOrdered:
      return "ordered";
    case StreamViolation::kTooShort:
      return "too_short";
    case StreamViolation::kPrivateData:
      return "private_data";
    case StreamViolation::kTooLong:
      return "too_long";
    case StreamViolation::kOutOfWindow:
      return "out_of_window";
    case StreamViolation::kDuplicate:
      return "duplicate";
    case StreamViolation::kBeyondEnd:
      return "beyond_end";
    case StreamViolation::kSegmentFirst:
      return "segment_first";
  }
  return "unknown";
}

DdpStreams::DdpStreams(const StreamLimits& limits)
    : limits_(limits), slots_(std::size_t{limits.streams} * limits.window), rx_(limits.streams), tx_(limits.streams) {
  const bool power_of_two = (limits.window & (limits.window - 1u)) == 0;
  RNIC_CHECK_MSG(limits.window != 0 && power_of_two && limits.window <= kDdpSsnWindow + 1u,
                 "a window of DDP-SSNs is a power of two up to 32768");
}

std::size_t DdpStreams::context_bytes(const StreamLimits& limits) {
  return limits.streams * (limits.window * sizeof(Slot) + sizeof(Rx) + sizeof(Tx));
}

std::optional<std::uint16_t> DdpStreams::take_ssn(std::uint16_t stream, bool control) {
  Tx& tx = tx_[stream];
  if (tx.sent - tx.acked >= kDdpSsnWindow) return {};
  if (control) {
    RNIC_CHECK_MSG(tx.controls < tx.control.size(), "a control message while two are unacknowledged");
    tx.control[tx.controls++] = tx.sent;
  }
  return static_cast<std::uint16_t>(tx.sent++ - tx.session);
}

bool DdpStreams::acknowledged(std::uint16_t stream) {
  Tx& tx = tx_[stream];
  RNIC_CHECK_MSG(tx.sent != tx.acked, "an acknowledgement of a chunk that was not sent");
  const std::uint32_t chunk = tx.acked++;
  if (tx.controls == 0 || tx.control[0] != chunk) return false;
  tx.control[0] = tx.control[1];
  --tx.controls;
  return true;
}

Arrival DdpStreams::arrive(const StreamChunk& chunk) {
  if (chunk.stream >= limits_.streams) return count({ChunkFate::kStray, StreamViolation::kNone, true});
  if (const StreamViolation why = check_chunk(chunk); why != StreamViolation::kNone) {
    if (has_number(why)) see(chunk.stream, load_be16(chunk.user_data.data()));
    Arrival arrival = broken(chunk.stream, why);
    arrival.terminate = is_terminate(chunk);
    return arrival;
  }
  const std::uint16_t ssn = load_be16(chunk.user_data.data());
  const bool control = chunk.ppid == wire::kPpidDdpSession;
  if (between_sessions(chunk.stream)) return arrive_first(chunk, ssn, control);
  if (const Arrival arrival = examine(chunk, ssn, control); arrival.fate != ChunkFate::kHeld) return arrival;
  return keep(chunk, ssn, control ? SlotKind::kControl : segment_kind(rx_[chunk.stream].mode));
}

bool DdpStreams::between_sessions(std::uint16_t stream) const {
  const StreamMode mode = rx_[stream].mode;
  return (mode == StreamMode::kIdle || mode == StreamMode::kEnded) && slot(stream, 0).kind == SlotKind::kEmpty;
}

DdpStreams::SlotKind DdpStreams::segment_kind(StreamMode mode) {
  if (mode == StreamMode::kOpen) return SlotKind::kPlaced;
  return mode == StreamMode::kDiscard ? SlotKind::kGone : SlotKind::kSegment;
}

// A session begins with the number 0. Until that is acknowledged its sender sends no other: anything earlier belongs to
// no session.
Arrival DdpStreams::arrive_first(const StreamChunk& chunk, std::uint16_t ssn, bool control) {
  if (control && ssn == 0 && initiates(chunk)) return keep(chunk, ssn, SlotKind::kControl);
  if (rx_[chunk.stream].mode == StreamMode::kEnded) return count({ChunkFate::kDropped});
  return count({ChunkFate::kStray, StreamViolation::kNone, is_terminate(chunk)});
}

// kHeld: it takes its place in the run.
Arrival DdpStreams::examine(const StreamChunk& chunk, std::uint16_t ssn, bool control) {
  Rx& rx = rx_[chunk.stream];
  const std::uint16_t ahead = ssn_distance(rx.expected, ssn);
  if (ahead > kDdpSsnWindow) return broken(chunk.stream, StreamViolation::kOutOfWindow);
  if (rx.has_last && ahead > ssn_distance(rx.expected, rx.last))
    return broken(chunk.stream, StreamViolation::kBeyondEnd);
  if (ahead >= limits_.window) {
    // It makes no sense to wait for numbers that cannot be trusted.
    return count({rx.broken ? ChunkFate::kDropped : ChunkFate::kNoRoom});
  }
  if (slot(chunk.stream, ssn).kind != SlotKind::kEmpty) return broken(chunk.stream, StreamViolation::kDuplicate);
  if (!control && rx.mode == StreamMode::kHold && ssn == 0 && rx.expected == 0)
    return broken(chunk.stream, StreamViolation::kSegmentFirst);
  if (control && ends_run(chunk, ssn)) {
    if (ssn_distance(rx.expected, rx.top) > ahead) return broken(chunk.stream, StreamViolation::kBeyondEnd);
    rx.has_last = true;
    rx.last = ssn;
  }
  return {ChunkFate::kHeld};
}

Arrival DdpStreams::keep(const StreamChunk& chunk, std::uint16_t ssn, SlotKind kind) {
  const bool waits = kind == SlotKind::kSegment || kind == SlotKind::kControl;
  const auto octets = static_cast<std::uint32_t>(waits ? chunk.user_data.size() : 0);
  // A chunk that the firmware waits for needs no room: it goes there at once.
  const bool waited_for = kind == SlotKind::kControl && ssn == rx_[chunk.stream].expected;
  if (!waited_for && octets > limits_.held_octets - std::min(held_octets_, limits_.held_octets))
    return count({ChunkFate::kNoRoom});
  held_octets_ += octets;
  put(chunk.stream, ssn, {chunk.token, static_cast<std::uint16_t>(octets), kind});
  return count({kind == SlotKind::kPlaced ? ChunkFate::kPlace
                : kind == SlotKind::kGone ? ChunkFate::kDropped
                                          : ChunkFate::kHeld});
}

void DdpStreams::put(std::uint16_t stream, std::uint16_t ssn, const Slot& what) {
  Rx& rx = rx_[stream];
  slot(stream, ssn) = what;
  if (ssn_distance(rx.expected, ssn) >= ssn_distance(rx.expected, rx.top)) rx.top = static_cast<std::uint16_t>(ssn + 1);
}

// A dropped chunk still uses up its number.
void DdpStreams::see(std::uint16_t stream, std::uint16_t ssn) {
  const bool fits = ssn_distance(rx_[stream].expected, ssn) < limits_.window;
  if (!between_sessions(stream) && fits && slot(stream, ssn).kind == SlotKind::kEmpty)
    put(stream, ssn, {{}, 0, SlotKind::kGone});
}

Arrival DdpStreams::count(Arrival arrival) {
  switch (arrival.fate) {
    case ChunkFate::kPlace:
      ++counters_.placed;
      break;
    case ChunkFate::kHeld:
      ++counters_.held;
      break;
    case ChunkFate::kDropped:
      ++counters_.dropped;
      break;
    case ChunkFate::kNoRoom:
      ++counters_.no_room;
      break;
    case ChunkFate::kStray:
      ++counters_.strays;
      break;
    case ChunkFate::kViolation:
      ++counters_.violations[static_cast<std::size_t>(arrival.violation)];
      break;
  }
  return arrival;
}

// Nothing is placed from here on, whenever the firmware handles it.
Arrival DdpStreams::broken(std::uint16_t stream, StreamViolation why) {
  violate(stream, why);
  return {ChunkFate::kViolation, why};
}

void DdpStreams::violate(std::uint16_t stream, StreamViolation why) {
  Rx& rx = rx_[stream];
  ++counters_.violations[static_cast<std::size_t>(why)];
  if (rx.mode == StreamMode::kIdle || rx.mode == StreamMode::kEnded) return;  // there is no session to end
  rx.mode = StreamMode::kDiscard;
  rx.broken = true;
}

void DdpStreams::clear(Slot& slot, SlotKind left) {
  held_octets_ -= slot.octets;
  slot = {};
  slot.kind = left;
}

void DdpStreams::advance(std::uint16_t stream) {
  Rx& rx = rx_[stream];
  clear(slot(stream, rx.expected), SlotKind::kEmpty);
  const std::uint16_t ssn = rx.expected++;
  if (rx.has_last && ssn == rx.last) next_run(rx, StreamMode::kEnded);
}

void DdpStreams::next_run(Rx& rx, StreamMode mode) {
  rx = {};
  rx.mode = mode;
}

std::optional<Delivery> DdpStreams::deliver(std::uint16_t stream) {
  Rx& rx = rx_[stream];
  while (rx.mode != StreamMode::kEnded) {
    const std::uint16_t ssn = rx.expected;
    const Slot at = slot(stream, ssn);
    switch (at.kind) {
      case SlotKind::kEmpty:
        return {};
      case SlotKind::kGone:
        advance(stream);
        continue;
      case SlotKind::kSegment:
      case SlotKind::kPlaced: {
        if (rx.mode == StreamMode::kIdle || rx.mode == StreamMode::kHold) return {};
        const bool ends = rx.mode == StreamMode::kDiscard;
        advance(stream);
        ++(ends ? counters_.dropped : counters_.delivered);
        return Delivery{ends ? Delivery::Kind::kRelease : Delivery::Kind::kSegment, at.token, ssn,
                        at.kind == SlotKind::kPlaced};
      }
      case SlotKind::kControl:
        ++counters_.controls;
        if (rx.mode == StreamMode::kIdle) rx.mode = StreamMode::kHold;
        else if (rx.mode == StreamMode::kOpen) rx.mode = StreamMode::kDiscard;  // in any case it is the end
        advance(stream);
        return Delivery{Delivery::Kind::kControl, at.token, ssn, false};
    }
  }
  return {};
}

void DdpStreams::begin(std::uint16_t stream) {
  // Otherwise an Initiate of the peer is on its way to the firmware, which sees them cross.
  if (rx_[stream].mode == StreamMode::kIdle) rx_[stream].mode = StreamMode::kHold;
}

void DdpStreams::open(std::uint16_t stream) {
  if (rx_[stream].mode == StreamMode::kHold) rx_[stream].mode = StreamMode::kOpen;
}

void DdpStreams::finish(std::uint16_t stream) {
  Tx& tx = tx_[stream];
  RNIC_CHECK_MSG(tx.sent == tx.acked, "a session is over with chunks that are not acknowledged");
  tx.session = tx.sent;
  rx_[stream].mode = StreamMode::kIdle;
}

}  // namespace rnic::sctp
