// The streams of an association, and the sessions that the firmware has on them.
#include <algorithm>
#include <utility>

#include "model/rnic/llp/sctp/association.h"

namespace rnic::sctp {

// Those that the firmware knows.
bool Association::has_session() const {
  const auto live = [](const StreamContext& s) { return s.in_use && !s.abandoned; };
  return std::any_of(c_.stream.begin(), c_.stream.end(), live);
}

void Association::want_stream(std::uint32_t cookie) {
  if (c_.ddp_streams != 0) give_stream(cookie);
  else c_.asked.push_back(cookie);
}

// Initiates that cross on one stream end both sessions. To avoid that, the opener of the association takes the even
// ids, the other side the odd ones.
std::uint32_t Association::free_streams() const {
  const std::uint32_t ids = c_.ddp_streams != 0 ? c_.ddp_streams : e_.config.streams;
  std::uint32_t free = 0;
  for (std::uint32_t s = c_.setup.initiator() ? 0 : 1; s < ids; s += 2) free += !c_.stream[s].in_use;
  const auto asked = static_cast<std::uint32_t>(c_.asked.size());
  return free > asked ? free - asked : 0;
}

void Association::give_stream(std::uint32_t cookie) {
  std::uint16_t s = c_.setup.initiator() ? 0 : 1;
  while (c_.stream[s].in_use) s = static_cast<std::uint16_t>(s + 2);
  ++c_.in_use;
  c_.stream[s].in_use = true;
  tell(s, fw::SctpConnected{{}, cookie, c_.setup.ends().port, c_.mulpdu}, c_.begun_at);
}

// By the peer: the firmware gets an event, and returns the stream when it no longer needs it.
void Association::use(std::uint16_t stream) {
  c_.in_use = static_cast<std::uint16_t>(c_.in_use + !c_.stream[stream].in_use);
  c_.stream[stream].in_use = c_.stream[stream].told = true;
}

void Association::on_stream_op(std::uint16_t stream, fw::SctpStreamAction action) {
  using Action = fw::SctpStreamAction;
  StreamContext& s = c_.stream[stream];
  const auto release = [this](ReceivedId message) { e_.delivery.consume(message); };
  switch (action) {
    case Action::kBegin:
      c_.streams.begin(stream);
      break;
    case Action::kOpen:
      send_from(stream);
      c_.streams.open(stream);
      break;
    case Action::kDiscard:
      send_from(stream);  // an RDMAP Terminate may follow
      c_.streams.discard(stream, release);
      break;
    case Action::kEndRun:
      c_.streams.end_run(stream, release);
      break;
    case Action::kRestart:
      c_.streams.restart(stream, release);
      if (s.open) close(stream);
      c_.in_use = static_cast<std::uint16_t>(c_.in_use - s.in_use);
      s.renew();
      grant_all();
      e_.idle.push(id_);
      break;
    case Action::kAbandon:
      ++e_.counters.sessions_abandoned;
      c_.streams.discard(stream, release);
      s.abandoned = true;
      ++s.life;
      e_.idle.push(id_);
      break;
    case Action::kGiveBack:
      if (s.told) break;
      c_.in_use = static_cast<std::uint16_t>(c_.in_use - std::exchange(s.in_use, false));
      e_.idle.push(id_);
      break;
    case Action::kAbort:
      return abort(wire::SctpCause::kUserInitiatedAbort, {}, flow_of(stream));
  }
  if (c_.in_service) deliver(stream);
}

// The segmenter may send on it.
void Association::send_from(std::uint16_t stream) {
  if (c_.stream[stream].open || !c_.setup.takes_host_data()) return;
  c_.stream[stream].open = true;
  ++c_.open;
  if (e_.memory != nullptr) e_.memory->open(flow_of(stream));
  e_.windows.forget(e_.index_of(id_, stream));
  e_.credits.push(e_.index_of(id_, stream));
}

// The peer shuts the association down: nothing new is sent on it.
void Association::close_streams() {
  for (std::uint16_t s = 0; s < c_.stream.size(); ++s) {
    if (c_.stream[s].open) close(s);
  }
}

void Association::close(std::uint16_t stream) {
  c_.stream[stream].open = false;
  --c_.open;
  if (e_.memory != nullptr) e_.memory->close(flow_of(stream));
}

// The Terminate of a session that was given up meanwhile says nothing about the one that has begun since.
void Association::on_ended(std::uint16_t stream, bool told) {
  StreamContext& s = c_.stream[stream];
  if (s.old_ends != 0) {
    --s.old_ends;
    return;
  }
  if (!std::exchange(s.ending, false) || told) return;
  if (s.in_use) tell<fw::SctpPeerClosed>(stream);
}

}  // namespace rnic::sctp
