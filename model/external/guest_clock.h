// The clock of a User-Mode Linux guest under time-travel=ext (the kernel's include/uapi/linux/um_timetravel.h): it
// computes in no time, asks to be woken, and waits until simulated time has come so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "model/external/descriptor.h"

namespace rnic::external {

class GuestClock {
 public:
  // PeerError where the guest says nothing for so long in the middle of something.
  GuestClock(const std::string& path, std::chrono::milliseconds patience);

  // To be polled for input; then serve() takes one message, or the guest itself.
  int descriptor() const { return guest_.open() ? guest_.get() : listener_.get(); }
  void serve(std::uint64_t now_ns);

  bool gone() const { return gone_; }
  // It sleeps, and only now may time go on; not before it has come.
  bool waiting() const { return waiting_; }
  // When it wants to run; kNever if nothing but an interrupt can wake it.
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t wake_ns() const { return wake_ns_; }
  // Lets it run at its time.
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
