// The clock of a User-Mode Linux guest under time-travel=ext (the kernel's include/uapi/linux/um_timetravel.h). The
// guest computes in zero time, requests a time to wake, and waits until simulated time reaches it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "model/external/descriptor.h"

namespace rnic::external {

class GuestClock {
 public:
  // PeerError if the guest is silent for `patience` in the middle of an exchange.
  GuestClock(const std::string& path, std::chrono::milliseconds patience);

  // Poll this for input; then serve() takes one message, or accepts the guest.
  int descriptor() const { return guest_.open() ? guest_.get() : listener_.get(); }
  void serve(std::uint64_t now_ns);

  bool gone() const { return gone_; }
  // The guest sleeps; only then may time advance. False before the guest connects.
  bool waiting() const { return waiting_; }
  // When the guest wants to run; kNever if only an interrupt can wake it.
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t wake_ns() const { return wake_ns_; }
  // Lets the guest run at its time.
  void run(std::uint64_t now_ns);

 private:
  struct Message {
    std::uint32_t op, sequence;
    std::uint64_t time_ns;
  };
  bool receive(Message& message);
  void send(const Message& message);

  const std::chrono::milliseconds patience_;
  Descriptor listener_, guest_;
  bool gone_ = false, waiting_ = false;
  std::uint64_t wake_ns_ = kNever;
  std::uint32_t sequence_ = 0, acknowledged_ = 0;
};

}  // namespace rnic::external
