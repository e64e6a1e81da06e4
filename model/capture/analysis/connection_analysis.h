// A TCP connection as the analysis sees it: its handshake, its two directions, and the requests of both sides.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/capture/analysis/direction_analysis.h"
#include "model/capture/analysis/request_timing.h"
#include "model/capture/connection.h"

namespace rnic::capture {

// Where a capture was made.
enum class Tap : std::uint8_t {
  kUnknown,
  kInitiator,  // beside it
  kResponder,
  kMiddle,
  kEachEnd,  // each frame is stamped where it arrives
};

class ConnectionAnalysis final : public ConnectionObserver {
 public:
  ConnectionAnalysis(const Endpoint& initiator, const Endpoint& responder, const WirePath& path)
      : initiator_(to_string(initiator)), responder_(to_string(responder)), path_(path) {}

  void segment(Side from, const Segment& segment) override;
  void octets(Side from, ByteSpan octets, const Place& at) override;
  void fpdu(Side from, const SeenFpdu& fpdu) override;

  const std::string& name(Side side) const { return side == Side::kInitiator ? initiator_ : responder_; }
  const DirectionAnalysis& direction(Side from) const { return directions_[static_cast<std::size_t>(from)]; }
  // Of this side's requests.
  std::uint64_t open_requests(Side from) const { return requests_[static_cast<std::size_t>(from)].open(); }
  bool has_syn() const { return has_syn_; }
  bool has_handshake() const { return handshake_.has_value(); }
  // As the handshake tells: beside the side whose part of it is shorter by far.
  Tap nearest() const;

 private:
  struct Handshake {
    std::int64_t of_responder_ns, of_initiator_ns;
  };
  DirectionAnalysis& of(Side from) { return directions_[static_cast<std::size_t>(from)]; }
  void open(Side from, const Segment& segment, const Stamp& stamp);
  void finish_handshake(const Stamp& stamp);
  // Of a frame that brought octets of this side.
  Stamp stamp_of(Side from, const Place& at) const;

  const std::string initiator_, responder_;
  const WirePath path_;
  std::array<DirectionAnalysis, 2> directions_;
  std::array<RequestTiming, 2> requests_{RequestTiming(directions_[0].figures()),
                                         RequestTiming(directions_[1].figures())};
  std::array<StartupFrame, 2> startup_{StartupFrame(wire::MpaFrameKind::kRequest),
                                       StartupFrame(wire::MpaFrameKind::kReply)};
  std::optional<Stamp> mpa_request_;
  std::array<std::map<std::uint64_t, Stamp>, 2> waiting_;  // of frames beyond a gap, by number
  Stamp newest_;
  bool has_syn_ = false;
  std::array<bool, 2> permits_sack_{};
  std::optional<Stamp> syn_, syn_ack_;
  std::optional<Handshake> handshake_;
};

}  // namespace rnic::capture
