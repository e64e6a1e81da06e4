// DDP stream sessions of an association (RFC 5043), as `decode` counts them: user messages in, sessions out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/association_observer.h"
#include "model/capture/ddp_counts.h"
#include "model/capture/numbers_seen.h"
#include "model/capture/sctp_reassembly.h"
#include "model/capture/side.h"
#include "model/capture/undecoded.h"
#include "model/wire/ddp_session.h"

namespace rnic::capture {

// A control message without its private data.
struct SessionControl {
  wire::SessionCode code{};
  std::optional<wire::MpaEnhanced> enhanced;
  std::size_t pd_length = 0;
};

// What one side sent in a session.
struct SessionDirection {
  DdpCounts segments;
  NumbersSeen<std::uint16_t> ddp_ssns;
  std::uint64_t ordered = 0;             // messages without U
  std::optional<SessionControl> set_up;  // the first Initiate, Accept or Reject
  bool terminated = false;               // sent a session Terminate
};

struct DdpSession {
  std::uint16_t stream = 0;
  std::optional<Side> active;  // sender of the Initiate, if that is in the capture
  std::array<SessionDirection, 2> directions;

  const SessionDirection& from(Side side) const { return directions[static_cast<std::size_t>(side)]; }
  SessionDirection& from(Side side) { return directions[static_cast<std::size_t>(side)]; }
};

class DdpSessions {
 public:
  // `names` are what reasons call the directions; `observer` may be nullptr.
  DdpSessions(std::array<std::string, 2> names, UndecodedList& undecoded, AssociationObserver* observer = nullptr)
      : names_(std::move(names)), undecoded_(undecoded), observer_(observer) {}

  void message(Side from, const SctpMessage& message);
  // In the order of their first messages.
  const std::vector<std::unique_ptr<DdpSession>>& sessions() const { return sessions_; }

 private:
  void control(Side from, const SctpMessage& message);
  void tell(Side from, const SctpMessage& message, const std::string& what);
  DdpSession& session_of(Side from, std::uint16_t stream, bool initiates);
  static void count(SessionDirection& direction, const SctpMessage& message);

  const std::array<std::string, 2> names_;
  UndecodedList& undecoded_;
  AssociationObserver* const observer_;
  std::vector<std::unique_ptr<DdpSession>> sessions_;
  std::map<std::uint16_t, DdpSession*> current_;  // by stream
};

}  // namespace rnic::capture
