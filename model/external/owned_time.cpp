#include "model/external/owned_time.h"

#include <algorithm>

#include <poll.h>

#include "model/common/kernel_time.h"

namespace rnic::external {
namespace {

std::uint64_t now_ns() { return kernel_time_ps() / 1000; }

}  // namespace

// Called while the guest sleeps, at a whole nanosecond. Pauses the kernel, as the guest wants to run now.
void OwnedTime::deliver(ByteSpan frame) {
  if (gone()) return;
  lost_ += !card_.receive(frame);
  sc_core::sc_pause();
}

// Serves one message of clock or card. True if `extra` is readable instead.
bool OwnedTime::poll(int extra, WireEnd* wire) {
  pollfd fds[] = {
      {clock_.descriptor(), POLLIN, 0}, {card_.gone() ? -1 : card_.descriptor(), POLLIN, 0}, {extra, POLLIN, 0}};
  if (::poll(fds, 3, patience_ms_) <= 0) throw PeerError("the guest does not answer");
  if (fds[0].revents != 0) return clock_.serve(now_ns()), false;
  if (fds[1].revents != 0) {
    card_.serve([&](ByteSpan frame) {
      if (wire != nullptr) wire->inject(frame);
    });
    return false;
  }
  return true;
}

void OwnedTime::serve_until_it_sleeps(WireEnd& wire) {
  while (!gone() && !clock_.waiting()) poll(-1, &wire);
}

// Waits for the guest's answer: before it answers, the guest tells its clock that it wants to run at once.
void OwnedTime::interrupt() {
  while (!gone() && card_.begin_interrupt()) {
    while (!gone() && !poll(card_.interrupts(), nullptr)) {
    }
    if (!gone()) card_.end_interrupt();
  }
}

void OwnedTime::advance(std::uint64_t until_ps, WireEnd& wire) {
  for (;;) {
    serve_until_it_sleeps(wire);
    interrupt();
    const std::uint64_t wake_ps =
        gone() || clock_.wake_ns() == GuestClock::kNever ? GuestClock::kNever : clock_.wake_ns() * 1000;
    const std::uint64_t stop_ps = std::min(wake_ps, until_ps);
    if (stop_ps > kernel_time_ps()) sc_core::sc_start(sc_core::sc_time::from_value(stop_ps - kernel_time_ps()));
    if (gone() && kernel_time_ps() >= until_ps) return;
    if (wake_ps <= kernel_time_ps()) clock_.run(now_ns());
    else if (kernel_time_ps() >= until_ps) return;
  }
}

}  // namespace rnic::external
