#include "model/capture/replay/association_recorder.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/capture/ddp_session.h"
#include "model/capture/replay/session_octets.h"
#include "model/common/check.h"
#include "model/wire/fpdu.h"

namespace rnic::capture {

using replay::RecordedStream;
using replay::Recording;
using wire::SctpChunkType;
using wire::SessionCode;

namespace {

constexpr bool initiates(SessionCode code) {
  return code == SessionCode::kInitiate || code == SessionCode::kEnhancedInitiate;
}

constexpr std::size_t index(Side side) { return static_cast<std::size_t>(side); }

}  // namespace

AssociationRecorder::AssociationRecorder(const Endpoint& initiator, const Endpoint& responder)
    : ends_{initiator, responder} {}

std::string AssociationRecorder::name_of(Side active) const {
  return fmt::format("{} > {}", to_string(ends_[index(active)]), to_string(ends_[index(other(active))]));
}

void AssociationRecorder::chunk(Side from, SctpChunkType type, const Place& at) {
  if (type == SctpChunkType::kCookieEcho) established_ = true;
  const bool aborts = type == SctpChunkType::kAbort;
  if (aborts && !established_ && from == Side::kResponder) refused_ = true;
  if (aborts || type == SctpChunkType::kShutdown) closed_[index(from)] = std::min(closed_[index(from)], at.offset);
}

void AssociationRecorder::message(const DdpSession& session, Side from, const SctpMessage& message) {
  Session*& known = by_session_[&session];
  if (known == nullptr) {
    known = &sessions_.emplace_back();
    known->stream = session.stream;
  }
  Direction& direction = known->directions[index(from)];
  const std::uint16_t ssn = load_be16(message.octets.data());
  direction.waiting[ssn] = {message.ppid, {message.octets.begin(), message.octets.end()}, message.at.offset};
  for (auto at = direction.waiting.find(direction.next); at != direction.waiting.end();
       at = direction.waiting.find(direction.next)) {
    deliver(direction, at->second);
    direction.waiting.erase(at);
    ++direction.next;
  }
}

// A message that overtook an earlier one counts as arriving with it.
void AssociationRecorder::deliver(Direction& direction, const Waiting& message) {
  RecordedStream& stream = direction.stream;
  const std::uint64_t order = std::max(stream.newest(), message.offset);
  if (message.ppid == wire::kPpidDdpSession) {
    const wire::SessionDecode decoded = wire::decode_session_message(message.user_data, true);
    if (decoded.message.code == SessionCode::kTerminate) {
      stream.closed = std::min(stream.closed, order);
      return;
    }
    if (direction.set_up) return;  // its sender's error, which a replay does not repeat
    direction.set_up = decoded.message.code;
    replay::append_startup(decoded.message, stream.octets);
  } else {
    const ByteSpan segment = ByteSpan(message.user_data).subspan(wire::kDdpSsnBytes);
    direction.too_long = direction.too_long || segment.size() > wire::kMaxMulpdu;
    if (direction.too_long) return;
    stream.emss = std::max(stream.emss, static_cast<std::uint16_t>(segment.size()));
    replay::append_fpdu(segment, stream.octets);
  }
  stream.arrivals.push_back({stream.octets.size(), order});
}

Side AssociationRecorder::Session::active() const {
  const auto& first = directions[0].set_up;
  return first && initiates(*first) ? Side::kInitiator : Side::kResponder;
}

std::string AssociationRecorder::name_of(const Session& session) const {
  return fmt::format("{} stream {}", name_of(session.active()), session.stream);
}

std::string AssociationRecorder::hole() const {
  for (const Session& session : sessions_) {
    const auto& [first, second] = session.directions;
    const bool is_whole = first.waiting.empty() && second.waiting.empty();
    if (session.begun() && !is_whole) return name_of(session) + ": messages are missing";
  }
  return {};
}

Recording AssociationRecorder::recording_of(Session& session) const {
  const Side active = session.active();
  Recording recording;
  recording.name = name_of(session);
  recording.transport = host::Transport::kSctp;
  const auto refuse = [&](const char* why) { throw ConfigError(fmt::format("{}: {}", recording.name, why)); };
  for (const Direction& direction : session.directions) {
    if (direction.too_long) refuse("a segment is longer than any FPDU");
  }
  for (const Side side : {Side::kInitiator, Side::kResponder}) {
    const Side own = side == Side::kInitiator ? active : other(active);
    Direction& direction = session.directions[index(own)];
    if (direction.set_up && initiates(*direction.set_up) != (side == Side::kInitiator))
      refuse("both sides initiated it");
    if (!direction.set_up && !direction.stream.octets.empty()) refuse("segments without a control message");
    recording.ports[index(side)] = ends_[index(own)].port;
    direction.stream.closed = std::min(direction.stream.closed, closed_[index(own)]);
    recording.streams[index(side)] = std::move(direction.stream);
  }
  for (const Side side : {Side::kInitiator, Side::kResponder}) {
    const Side own = side == Side::kInitiator ? active : other(active);
    if (!session.directions[index(own)].waiting.empty()) recording.end_with(side);
  }
  return recording;
}

void AssociationRecorder::take(std::vector<Recording>& to) {
  for (Session& session : sessions_) {
    if (session.begun()) to.push_back(recording_of(session));
  }
  if (!refused_) return;
  Recording recording;
  recording.name = name_of(Side::kInitiator);
  recording.transport = host::Transport::kSctp;
  recording.ports = {ends_[0].port, ends_[1].port};
  recording.refused = true;
  to.push_back(std::move(recording));
}

}  // namespace rnic::capture
