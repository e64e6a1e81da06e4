// Records the DDP stream sessions of an association for a replay.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/association_observer.h"
#include "model/capture/replay/recording.h"
#include "model/capture/segment.h"
#include "model/wire/ddp_session.h"

namespace rnic::capture {

class AssociationRecorder final : public AssociationObserver {
 public:
  AssociationRecorder(const Endpoint& initiator, const Endpoint& responder);

  void chunk(Side from, wire::SctpChunkType type, const Place& at) override;
  void message(const DdpSession& session, Side from, const SctpMessage& message) override;

  // The first session with messages missing; empty if there is none.
  std::string hole() const;
  // Appends a recording of each session, or of an association that was refused. The sender of the Initiate is the
  // recording's initiator. Of a session with messages missing it has what comes before the first of them. ConfigError
  // for a session that both sides initiated.
  void take(std::vector<replay::Recording>& to);

 private:
  struct Waiting {  // for earlier messages
    std::uint32_t ppid = 0;
    std::vector<std::uint8_t> user_data;
    std::uint64_t offset = 0;
  };
  struct Direction {
    std::uint16_t next = 0;  // DDP-SSN
    std::map<std::uint16_t, Waiting> waiting;
    std::optional<wire::SessionCode> set_up;
    bool too_long = false;  // a segment is
    replay::RecordedStream stream;
  };
  struct Session {
    std::uint16_t stream = 0;
    std::array<Direction, 2> directions;  // by side of the association
    bool begun() const { return directions[0].set_up || directions[1].set_up; }
    Side active() const;  // the sender of the Initiate
  };
  static void deliver(Direction& direction, const Waiting& message);
  replay::Recording recording_of(Session& session) const;
  std::string name_of(Side active) const;
  std::string name_of(const Session& session) const;

  const std::array<Endpoint, 2> ends_;
  std::deque<Session> sessions_;
  std::map<const DdpSession*, Session*> by_session_;
  bool established_ = false, refused_ = false;
  std::array<std::uint64_t, 2> closed_{replay::kNotCaptured, replay::kNotCaptured};  // when a side ended it
};

}  // namespace rnic::capture
