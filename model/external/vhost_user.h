// A virtio network card for a guest by the vhost-user protocol (QEMU, docs/interop/vhost-user.rst). Notifications are
// in-band messages, so that they are ordered with those of the guest's clock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/common/bytes.h"
#include "model/external/descriptor.h"
#include "model/external/guest_memory.h"

namespace rnic::external {

class VhostUser {
 public:
  using Transmit = std::function<void(ByteSpan frame)>;

  // PeerError if the guest is silent for `patience` in the middle of an exchange.
  VhostUser(const std::string& path, std::chrono::milliseconds patience);

  // Poll this for input; then serve() takes one message, or accepts the guest. The guest's frames go to `transmit`.
  int descriptor() const { return guest_.open() ? guest_.get() : listener_.get(); }
  void serve(const Transmit& transmit);
  bool gone() const { return gone_; }

  // Puts a frame into a receive buffer of the guest; false if it has none. The guest may then want an interrupt.
  bool receive(ByteSpan frame);
  // begin_interrupt() interrupts the guest for a queue with news; false if none has any. The guest answers on
  // interrupts() after informing its clock; end_interrupt() takes the answer.
  bool begin_interrupt();
  int interrupts() const { return interrupts_.get(); }
  void end_interrupt();

 private:
  enum Queue : std::uint32_t { kReceive, kTransmit, kQueues };
  struct Header {
    std::uint32_t request, flags, bytes;
  };
  bool take(Header& header, std::vector<std::uint8_t>& payload, std::vector<Descriptor>& files);
  void reply(const Header& to, const std::vector<std::uint8_t>& payload);
  void take_memory(const std::vector<std::uint8_t>& payload, std::vector<Descriptor>& files);
  void transmit(const Transmit& transmit);
  Virtqueue& queue(std::uint32_t number);

  const std::chrono::milliseconds patience_;
  Descriptor listener_, guest_, interrupts_;
  GuestMemory memory_;
  std::array<Virtqueue, kQueues> queues_;
  std::array<bool, kQueues> pending_{};
  std::vector<std::uint8_t> frame_;
  bool gone_ = false;
};

}  // namespace rnic::external
