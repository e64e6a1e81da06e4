// The stations of a work request on its path, and the names of the times between them. See latency_breakdown.md.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/trace/event.h"

namespace rnic::stations {

// A request's path, once it is posted.
enum class RequestClass : std::uint8_t {
  kPosted,    // complete when it was acknowledged: Sends and Writes
  kAnswered,  // Reads and atomics
  kLocal,     // nothing was sent: work without a message, and early failures
  kReceive,   // of a receive queue, shared or not, with its message
  kUnused,    // flushed: used by no message
  // Of a ping-pong.
  kOneWay,  // a message, until the program at the other end sees it
  kRound,   // and its answer, until the first program sees that: half of each part
};
inline constexpr unsigned kRequestClasses = static_cast<unsigned>(RequestClass::kRound) + 1;

// The stages that its octets pass from one chip's segmenter to the other's RDMAP. "…ing" is the end of a wait: service
// begins.
enum LegStation : std::uint8_t {
  kCutting,
  kCut,
  kReading,
  kPayload,
  kFraming,
  kFramed,
  kMarking,
  kMarked,
  kSealing,
  kSealed,
  kSending,
  kSent,
  kResent,  // what arrived was a retransmission
  kOnWire,
  kAtPort,
  kPassing,
  kArrived,
  kRepaired,  // it had arrived, and the retransmission that it had to wait for has arrived now
  kStreaming,
  kStream,
  kDeframing,
  kDeframed,
  kChecking,
  kChecked,
  kPlacing,
  kPlaced,
  kDispatching,
  kDelivered,
  kLegStations
};
enum Leg : std::uint8_t { kRequest, kResponse, kLegs };

// In the order in which a request passes them.
using StationId = std::uint8_t;
enum : StationId {
  kPost,
  kRang,
  kDoorbell,
  kFetching,
  kFetched,
  kFirstArrived,  // the first frame of the message that uses a receive request, at the port
  kThere,
  // Of a message in the receiver's chip and program.
  kPeerCqeWriting = kThere + kLegStations,
  kPeerCqeWritten,
  kPeerPolled,
  kAnswering,
  kDue,
  kResponseFormed,
  kBack,
  // Of the first acknowledgement that covers it.
  kAckWritten = kBack + kLegStations,
  kAckOnWire,
  kAckAtPort,
  kAckLearned,
  kAcknowledged,  // completed, and no acknowledgement is known
  kCompleted,
  kCovered,  // it was unsignaled, and the next signaled request is complete
  kCqeWriting,
  kCqeWritten,
  kPolled,
  kStations
};
constexpr StationId station(Leg leg, LegStation s) {
  return static_cast<StationId>((leg == kRequest ? kThere : kBack) + s);
}

// Whether a request of this class passes it.
bool on_the_path(RequestClass kind, StationId station);
// The time until a station was spent there. A request `over_sctp` passes the association engine instead of MPA and TCP.
const char* part_name(RequestClass kind, StationId station, bool over_sctp = false);
// Of a Read or an atomic: until the request is at the peer's port, until the peer's mac_tx takes the response, and
// until the end. Of a receive request: until its message's first frame is at the port, and from then on. Other work has
// none.
enum class Hop : std::uint8_t { kNone, kRequest, kPeer, kResponse, kNoMessage, kMessage };
inline constexpr unsigned kHops = static_cast<unsigned>(Hop::kMessage) + 1;
Hop hop_of(RequestClass kind, StationId station);
const char* name(Hop hop);
// Waiting, rather than being served: a part without a wait is omitted.
bool is_queue(StationId station);

// The information in an event: when the service of a block began and when the next one could see the message.
// kStations: no such time.
struct Stop {
  StationId begins = kStations, ends = kStations;
};
// Of an event on the request's own chip, or on its peer.
Stop stop_of(TraceKind kind, bool own);

}  // namespace rnic::stations
