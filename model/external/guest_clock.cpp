#include "model/external/guest_clock.h"

#include <sys/socket.h>

#include "model/external/external_peer.h"

namespace rnic::external {
namespace {

enum Op : std::uint32_t { kAck, kStart, kRequest, kWait, kGet, kUpdate, kRun, kFreeUntil, kGetTimeOfDay };
// A later time, which simulated time cannot reach, means never; the guest sends 2^63 - 1.
constexpr std::uint64_t kLatestNs = GuestClock::kNever / 1000 - 1;
// At the beginning of every run.
constexpr std::uint64_t kTimeOfDayNs = 1'000'000'000'000'000'000;

}  // namespace

GuestClock::GuestClock(const std::string& path, std::chrono::milliseconds patience)
    : patience_(patience), listener_(bound_unix_socket(path, SOCK_STREAM)) {}

bool GuestClock::receive(Message& message) {
  if (receive_whole(guest_, {reinterpret_cast<std::uint8_t*>(&message), sizeof(message)}, patience_)) return true;
  gone_ = true;
  guest_.close();
  return false;
}

void GuestClock::send(const Message& message) {
  send_whole(guest_, {reinterpret_cast<const std::uint8_t*>(&message), sizeof(message)}, patience_);
}

// Acknowledges every message; the answer to a query is in the acknowledgement's time.
void GuestClock::serve(std::uint64_t now_ns) {
  if (!guest_.open()) {
    guest_ = accept_waiting(listener_);
    return;
  }
  Message m{};
  if (!receive(m)) return;
  std::uint64_t answer = 0;
  switch (m.op) {
    case kAck:
      acknowledged_ = m.sequence;
      return;
    case kRequest:
      wake_ns_ = m.time_ns > kLatestNs ? kNever : m.time_ns;
      break;
    case kWait:
      waiting_ = true;
      break;
    case kGet:
      answer = now_ns;
      break;
    case kGetTimeOfDay:
      answer = kTimeOfDayNs + now_ns;
      break;
    case kUpdate:  // before it kicks a device; only a guest that runs freely may be ahead of our time
      if (m.time_ns > now_ns) throw PeerError("the guest's clock is ahead of ours");
      break;
    case kStart:
      break;
    default:
      throw PeerError("the guest's clock sends message " + std::to_string(m.op) + ", which is invalid here");
  }
  send({kAck, m.sequence, answer});
}

void GuestClock::run(std::uint64_t now_ns) {
  waiting_ = false;
  wake_ns_ = kNever;
  send({kRun, ++sequence_, now_ns});
  while (!gone_ && acknowledged_ != sequence_) serve(now_ns);
}

}  // namespace rnic::external
