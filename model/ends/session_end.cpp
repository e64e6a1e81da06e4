#include "model/ends/session_end.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/common/check.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"

namespace rnic {

using fw::SessionAction;
using fw::SessionActions;
using Kind = SessionAction::Kind;

SessionEnd::SessionEnd(const fw::SessionPolicy& policy, const sctp::StreamLimits& limits)
    : listener(policy), streams_(limits), sessions_(limits.streams) {}

void SessionEnd::connect(std::uint16_t stream, const fw::SessionPolicy& policy, ByteSpan private_data) {
  apply(stream, sessions_[stream].connect(policy), private_data);
}
void SessionEnd::accept(std::uint16_t stream, ByteSpan private_data) {
  apply(stream, sessions_[stream].accept(listener), private_data);
}
void SessionEnd::reject(std::uint16_t stream, ByteSpan private_data) {
  apply(stream, sessions_[stream].reject(listener), private_data);
}
void SessionEnd::close(std::uint16_t stream, bool in_order) { apply(stream, sessions_[stream].close(in_order)); }

void SessionEnd::send_segment(std::uint16_t stream, ByteSpan segment) {
  Message message{stream, wire::kPpidDdpSegment, {}};
  message.user_data.resize(wire::kDdpSsnBytes);
  store_be16(message.user_data.data(), streams_.take_ssn(stream, false).value());
  message.user_data.insert(message.user_data.end(), segment.begin(), segment.end());
  sent_.push_back(std::move(message));
}

void SessionEnd::send(std::uint16_t stream, wire::SessionMessage message, ByteSpan private_data) {
  message.ddp_ssn = streams_.take_ssn(stream, true).value();
  message.private_data = message.code == wire::SessionCode::kTerminate ? ByteSpan{} : private_data;
  std::vector<std::uint8_t> octets(message.bytes());
  RNIC_CHECK(message.emit(octets) == octets.size());
  sent_.push_back({stream, wire::kPpidDdpSession, std::move(octets)});
}

void SessionEnd::send_rdmap_terminate(std::uint16_t stream, fw::SetupError error) {
  wire::DdpUntaggedHeader header;
  header.rdmap = wire::RdmapControl::pack(wire::Opcode::kTerminate, wire::kRdmapVersion);
  header.qn = wire::kQnTerminate;
  std::array<std::uint8_t, wire::DdpUntaggedHeader::kBytes + wire::TerminateHeader::kControlBytes> segment{};
  header.emit(segment);
  store_be32(segment.data() + wire::DdpUntaggedHeader::kBytes, wire::terminate_word(fw::cause_of(error)));
  send_segment(stream, segment);
}

void SessionEnd::lose_association() {
  for (std::uint16_t stream = 0; stream < streams_.limits().streams; ++stream) {
    apply(stream, sessions_[stream].association_lost());
  }
  reports_.clear();
  streams_.reset([this](sctp::ReceivedId token) { buffers_.erase(token); });
}

sctp::ChunkFate SessionEnd::receive(const Message& message) {
  using Fate = sctp::ChunkFate;
  const sctp::ReceivedId token{next_token_++};
  const auto& octets = buffers_[token] = message.user_data;
  const sctp::Arrival arrival = streams_.arrive({message.stream, message.ppid, message.unordered, octets, token});
  if (arrival.fate == Fate::kPlace) placed.push_back(octets);
  else if (arrival.fate != Fate::kHeld) buffers_.erase(token);
  if (message.stream >= sessions_.size()) return arrival.fate;
  if (arrival.fate == Fate::kViolation) report({Report::Kind::kViolation, message.stream, arrival.terminate, {}});
  else if (arrival.fate == Fate::kStray) report({Report::Kind::kStray, message.stream, arrival.terminate, {}});
  pump(message.stream);
  return arrival.fate;
}

void SessionEnd::violate(std::uint16_t stream, sctp::StreamViolation why) {
  streams_.violate(stream, why);
  report({Report::Kind::kViolation, stream, false, {}});
  pump(stream);
}

void SessionEnd::report(Report report) {
  reports_.push_back(std::move(report));
  while (!busy && work()) {
  }
}

bool SessionEnd::work() {
  if (reports_.empty()) return false;
  const Report report = std::move(reports_.front());
  reports_.pop_front();
  fw::StreamSession& session = sessions_[report.stream];
  switch (report.kind) {
    case Report::Kind::kControl:
      apply(report.stream, session.control(wire::decode_session_message(report.octets, true), listener, room));
      break;
    case Report::Kind::kViolation:
      apply(report.stream, session.violation(report.terminate));
      break;
    case Report::Kind::kStray:
      apply(report.stream, session.stray(report.terminate));
      break;
    case Report::Kind::kAcknowledged:
      apply(report.stream, session.acknowledged());
      break;
  }
  return true;
}

void SessionEnd::pump(std::uint16_t stream) {
  while (const auto delivery = streams_.deliver(stream)) {
    std::vector<std::uint8_t> octets = std::move(buffers_.at(delivery->token));
    buffers_.erase(delivery->token);
    switch (delivery->kind) {
      case sctp::Delivery::Kind::kRelease:
        break;
      case sctp::Delivery::Kind::kSegment:
        if (!delivery->placed) placed.push_back(octets);
        delivered.push_back(octets);
        break;
      case sctp::Delivery::Kind::kControl:
        report({Report::Kind::kControl, stream, false, std::move(octets)});
        break;
    }
  }
}

std::vector<SessionEnd::Message> SessionEnd::take_sent() { return std::exchange(sent_, {}); }

void SessionEnd::acknowledge(std::uint16_t stream) {
  if (streams_.acknowledged(stream)) report({Report::Kind::kAcknowledged, stream, false, {}});
  pump(stream);
}

void SessionEnd::acknowledge_all() {
  for (std::uint16_t stream = 0; stream < streams_.limits().streams; ++stream) {
    while (streams_.unacknowledged(stream) != 0) acknowledge(stream);
  }
}

bool SessionEnd::was_told(Kind kind) const {
  return std::any_of(told.begin(), told.end(), [&](const Told& event) { return event.kind == kind; });
}

void SessionEnd::tell(std::uint16_t stream, const SessionAction& action) {
  const ByteSpan data = action.message.private_data;
  Told event;
  event.kind = action.kind;
  event.stream = stream;
  event.error = action.error;
  event.ird = action.ird;
  event.ord = action.ord;
  event.rtr = action.rtr;
  event.absorbs_rtr_send = action.absorbs_rtr_send;
  event.word = action.message.enhanced;
  event.private_data.assign(data.begin(), data.end());
  told.push_back(std::move(event));
}

void SessionEnd::apply(std::uint16_t stream, const SessionActions& actions, ByteSpan private_data) {
  const auto release = [this](sctp::ReceivedId token) { buffers_.erase(token); };
  for (const SessionAction& action : actions) {
    switch (action.kind) {
      case Kind::kSend:
        send(stream, action.message, private_data);
        break;
      case Kind::kSendRdmap:
        send_rdmap_terminate(stream, action.error);
        break;
      case Kind::kBegin:
        streams_.begin(stream);
        break;
      case Kind::kOpen:
        streams_.open(stream);
        break;
      case Kind::kDiscard:
        streams_.discard(stream, release);
        break;
      case Kind::kEndRun:
        streams_.end_run(stream, release);
        break;
      case Kind::kRestart:
        streams_.restart(stream, release);
        break;
      default:
        tell(stream, action);
    }
  }
  if (actions.size() != 0) pump(stream);
}

}  // namespace rnic
