#include "model/system/request_stations.h"

#include <array>

namespace rnic::stations {
namespace {

struct LegNames {
  std::array<const char*, kLegStations> names;
};

// The blocks of a chip by the words of its page; the peer's have "peer" before them.
constexpr LegNames kThereNames{{"rdmap_segmenter queue",
                                "rdmap_segmenter",
                                "payload_fetch queue",
                                "payload_fetch",
                                "mpa_framer queue",
                                "mpa_framer",
                                "marker_inserter queue",
                                "marker_inserter",
                                "crc_insert queue",
                                "crc_insert",
                                "tcp_tx queue",
                                "tcp_tx",
                                "retransmission",
                                "mac_tx queue",
                                "wire",
                                "peer mac_rx queue",
                                "peer mac_rx",
                                "wait for retransmission",
                                "peer tcp_rx queue",
                                "peer tcp_rx",
                                "peer mpa_deframer queue",
                                "peer mpa_deframer",
                                "peer crc_check queue",
                                "peer crc_check",
                                "peer ddp_placement queue",
                                "peer ddp_placement",
                                "peer rdmap_dispatch queue",
                                "peer rdmap_dispatch"}};
constexpr LegNames kBackNames{{"peer rdmap_segmenter queue",
                               "peer rdmap_segmenter",
                               "peer payload_fetch queue",
                               "peer payload_fetch",
                               "peer mpa_framer queue",
                               "peer mpa_framer",
                               "peer marker_inserter queue",
                               "peer marker_inserter",
                               "peer crc_insert queue",
                               "peer crc_insert",
                               "peer tcp_tx queue",
                               "peer tcp_tx",
                               "retransmission back",
                               "peer mac_tx queue",
                               "wire back",
                               "mac_rx queue",
                               "mac_rx",
                               "wait for retransmission back",
                               "tcp_rx queue",
                               "tcp_rx",
                               "mpa_deframer queue",
                               "mpa_deframer",
                               "crc_check queue",
                               "crc_check",
                               "ddp_placement queue",
                               "ddp_placement",
                               "rdmap_dispatch queue",
                               "rdmap_dispatch"}};

// Over SCTP, by chip and by direction.
const char* sctp_name(LegStation s, bool peers) {
  switch (s) {
    case kSending:
      return peers ? "peer sctp_association send" : "sctp_association send";
    case kSent:
      return peers ? "peer sctp_tx" : "sctp_tx";
    case kChecking:
      return peers ? "peer sctp_rx" : "sctp_rx";
    case kChecked:
      return peers ? "peer sctp_association receive" : "sctp_association receive";
    default:
      return nullptr;
  }
}

constexpr bool in_leg(Leg leg, StationId s) {
  return s >= station(leg, kCutting) && s < station(leg, kCutting) + kLegStations;
}

constexpr Stop there(LegStation begins, LegStation ends) {
  return {station(kRequest, begins), station(kRequest, ends)};
}
constexpr Stop back(LegStation begins, LegStation ends) {
  return {station(kResponse, begins), station(kResponse, ends)};
}
constexpr Stop ends(StationId s) { return {kStations, s}; }

constexpr Stop stop(TraceKind kind, bool own) {
  const auto sent = own ? there : back;  // requests leave their own chip, responses the peer
  const auto received = own ? back : there;
  switch (kind) {
    case TraceKind::kWqeFetched:
      return ends(kFetched);
    case TraceKind::kSegmented:
      return sent(kCutting, kCut);
    case TraceKind::kPayloadRead:
      return ends(sent(kReading, kPayload).ends);
    case TraceKind::kFramed:
      return sent(kFraming, kFramed);
    case TraceKind::kMarked:
      return sent(kMarking, kMarked);
    case TraceKind::kFpduSent:
      return sent(kSealing, kSealed);
    case TraceKind::kFrameSent:
      return sent(kSending, kSent);
    case TraceKind::kRetransmitted:
      return ends(sent(kSending, kResent).ends);
    case TraceKind::kAtPort:
      return ends(received(kOnWire, kAtPort).ends);
    case TraceKind::kFrameReceived:
      return received(kPassing, kArrived);
    case TraceKind::kStreamDelivered:
      return received(kStreaming, kStream);
    case TraceKind::kFpduReceived:
      return received(kDeframing, kDeframed);
    case TraceKind::kCrcChecked:
      return received(kChecking, kChecked);
    case TraceKind::kPlaced:
      return received(kPlacing, kPlaced);
    case TraceKind::kDelivered:
      return received(kDispatching, kDelivered);
    case TraceKind::kDue:
      return ends(kDue);
    case TraceKind::kResponse:
      return ends(kResponseFormed);
    case TraceKind::kCompleted:
      return own ? ends(kCompleted) : Stop{};
    case TraceKind::kCqeWritten:
      return own ? Stop{kCqeWriting, kCqeWritten} : Stop{};
    default:
      return {};
  }
}

using Stops = std::array<std::array<Stop, kTraceKinds>, 2>;
constexpr Stops all_stops() {
  Stops all{};
  for (unsigned kind = 0; kind < kTraceKinds; ++kind) {
    for (const bool own : {false, true}) all[own][kind] = stop(static_cast<TraceKind>(kind), own);
  }
  return all;
}

constexpr Stops kStops = all_stops();

}  // namespace

Stop stop_of(TraceKind kind, bool own) { return kStops[own][static_cast<unsigned>(kind)]; }

// A Send or Write is complete when the peer's TCP has acknowledged it, wherever it is in the peer's pipeline at that
// time: none of its stations after tcp_rx counts. A receive request meets its message when that arrives.
bool on_the_path(RequestClass kind, StationId s) {
  switch (kind) {
    case RequestClass::kAnswered:
    case RequestClass::kLocal:
      return s != kFirstArrived && (s < kPeerCqeWriting || (s >= kDue && s < kAckWritten) || s >= kCompleted);
    case RequestClass::kPosted:
      return s != kFirstArrived && (s <= station(kRequest, kStream) || s >= kAckWritten);
    case RequestClass::kUnused:
      return s <= kFetched || s >= kCompleted;
    case RequestClass::kReceive:
      return s < kThere || s >= kCompleted || (s >= station(kRequest, kAtPort) && s < kPeerCqeWriting);
    case RequestClass::kOneWay:
    case RequestClass::kRound:
      return s != kFirstArrived && s < kDue;
  }
  return false;
}

const char* part_name(RequestClass kind, StationId s, bool over_sctp) {
  const bool receive = kind == RequestClass::kReceive || kind == RequestClass::kUnused;
  if (receive && s == station(kRequest, kAtPort)) return "message";
  if (in_leg(kRequest, s) || in_leg(kResponse, s)) {
    const bool back = in_leg(kResponse, s);
    const auto i = static_cast<LegStation>(s - (back ? kBack : kThere));
    const bool arrives = i >= kPassing, own = receive && arrives;  // of a receive request the receiver's own chip
    const char* const name = over_sctp ? sctp_name(i, back != arrives && !own) : nullptr;
    return name != nullptr ? name : back || own ? kBackNames.names[i] : kThereNames.names[i];
  }
  switch (s) {
    case kRang:
      return "driver";
    case kDoorbell:
      return "doorbell";
    case kFetching:
      return receive ? "RQE fetch queue" : "WQE fetch queue";
    case kFetched:
      return receive ? "RQE fetch" : "WQE fetch";
    case kFirstArrived:
      return "no message";
    case kPeerCqeWriting:
      return "peer CQE write queue";
    case kPeerCqeWritten:
      return "peer CQE write";
    case kPeerPolled:
      return "peer poll";
    case kAnswering:
      return "peer program";
    case kDue:
      return "peer responder queue";
    case kResponseFormed:
      return "peer responder";
    case kAckWritten:
      return "ACK delay";
    case kAckOnWire:
      return "peer mac_tx queue";
    case kAckAtPort:
      return "wire back";
    case kAckLearned:
      return "tcp_rx";
    case kAcknowledged:
      return over_sctp ? "SCTP acknowledgement" : "TCP acknowledgement";
    case kCompleted:
      return kind == RequestClass::kReceive  ? "rdmap_dispatch"
             : kind == RequestClass::kUnused ? "no message"
                                             : "completion";
    case kCovered:
      return "covering completion";
    case kCqeWriting:
      return "CQE write queue";
    case kCqeWritten:
      return "CQE write";
    case kPolled:
      return "poll";
    default:
      return "";
  }
}

Hop hop_of(RequestClass kind, StationId s) {
  if (kind == RequestClass::kUnused) return s <= kCompleted ? Hop::kNoMessage : Hop::kMessage;
  if (kind == RequestClass::kReceive) return s <= kFirstArrived ? Hop::kNoMessage : Hop::kMessage;
  if (kind != RequestClass::kAnswered) return Hop::kNone;
  if (s <= station(kRequest, kAtPort)) return Hop::kRequest;
  return s <= station(kResponse, kOnWire) ? Hop::kPeer : Hop::kResponse;
}

const char* name(Hop hop) {
  constexpr const char* kNames[kHops] = {"", "request", "peer", "response", "no message", "message"};
  return kNames[static_cast<unsigned>(hop)];
}

bool is_queue(StationId s) {
  if (s == kFetching || s == kPeerCqeWriting || s == kDue || s == kCqeWriting) return true;
  if (!in_leg(kRequest, s) && !in_leg(kResponse, s)) return false;
  switch ((s - kThere) % (kBack - kThere)) {
    case kCutting:
    case kReading:
    case kFraming:
    case kMarking:
    case kSealing:
    case kSending:
    case kOnWire:
    case kPassing:
    case kStreaming:
    case kDeframing:
    case kChecking:
    case kPlacing:
    case kDispatching:
      return true;
    default:
      return false;
  }
}

}  // namespace rnic::stations
