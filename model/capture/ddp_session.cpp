#include "model/capture/ddp_session.h"

#include <fmt/format.h>

namespace rnic::capture {

using wire::SessionCode;

namespace {

bool initiates(SessionCode code) { return code == SessionCode::kInitiate || code == SessionCode::kEnhancedInitiate; }

}  // namespace

void DdpSessions::tell(Side from, const SctpMessage& message, const std::string& what) {
  undecoded_.push_back(
      {message.at, fmt::format("{}: stream {}: {}", names_[static_cast<std::size_t>(from)], message.stream, what)});
}

void DdpSessions::message(Side from, const SctpMessage& message) {
  if (message.ppid == wire::kPpidDdpSession) return control(from, message);
  if (message.ppid != wire::kPpidDdpSegment) {
    return tell(from, message,
                fmt::format("{} octets with PPID {}, which is not DDP's", message.octets.size(), message.ppid));
  }
  if (message.octets.size() < wire::kDdpSsnBytes) return tell(from, message, "DDP segment chunk without a DDP-SSN");
  DdpSession& session = session_of(from, message.stream, false);
  SessionDirection& direction = session.from(from);
  count(direction, message);
  const std::string wrong = direction.segments.take(message.octets.subspan(wire::kDdpSsnBytes), message.missing);
  if (!wrong.empty()) tell(from, message, wrong);
  if (observer_ != nullptr) observer_->message(session, from, message);
}

void DdpSessions::control(Side from, const SctpMessage& message) {
  if (message.missing != 0) return tell(from, message, "the capture did not keep the whole session control message");
  const wire::SessionDecode decoded = wire::decode_session_message(message.octets, true);
  if (decoded.error != wire::SessionError::kNone) {
    return tell(from, message, fmt::format("session control message refused: {}", to_string(decoded.error)));
  }
  const wire::SessionMessage& m = decoded.message;
  DdpSession& session = session_of(from, message.stream, initiates(m.code));
  SessionDirection& direction = session.from(from);
  count(direction, message);
  if (initiates(m.code) && !session.active) session.active = from;
  if (m.code == SessionCode::kTerminate) direction.terminated = true;
  else if (!direction.set_up) direction.set_up = SessionControl{m.code, m.enhanced, m.pd_length()};
  if (observer_ != nullptr) observer_->message(session, from, message);
}

// A stream is reused only when nothing of its previous session can be in flight (RFC 5043 section 6), so an Initiate
// begins a session. The exception: Initiates that cross belong to one session, which neither side then gets.
DdpSession& DdpSessions::session_of(Side from, std::uint16_t stream, bool initiates) {
  DdpSession*& current = current_[stream];
  bool begins = current == nullptr;
  if (current != nullptr && initiates) {
    const bool crosses = current->active == other(from) && !current->from(other(from)).terminated &&
                         !current->from(from).set_up && !current->from(from).terminated;
    begins = !crosses && current->active.has_value();
  }
  if (begins) {
    sessions_.push_back(std::make_unique<DdpSession>());
    current = sessions_.back().get();
    current->stream = stream;
    for (SessionDirection& direction : current->directions) direction.ddp_ssns.start(0);
  }
  return *current;
}

void DdpSessions::count(SessionDirection& direction, const SctpMessage& message) {
  direction.ddp_ssns.take(direction.ddp_ssns.position(load_be16(message.octets.data())));
  direction.ordered += !message.unordered;
}

}  // namespace rnic::capture
