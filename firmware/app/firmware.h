// The firmware: one event in, some operations out. It keeps no clock and no thread; between events it does nothing.
// Each target instantiates it for its bus in one source file (instantiate.h); its other files need only this header.
#pragma once

#include "firmware/conn/connection_manager.h"
#include "firmware/qp/resource_manager.h"

namespace rnic::fw {

// Bus is the part that differs between targets:
//   template <class Op> void write(const Op& op);   // of firmware_operations.h, in order; returns once it is taken
//   MutableByteSpan sram(SramRange range);          // a window on the shared memory, charged by the word
template <class Bus, class Capacity = DefaultCapacity>
class Firmware {
 public:
  // No resource of the chip may exceed the firmware's capacity.
  Firmware(Bus& bus, const Settings& settings)
      : bus_(bus), resources_(bus, settings), connections_(bus, settings, resources_) {}

  void on(const HostCommand& event);
  void on(const CqOverflow& event);
  void on(const SrqLimitReached& event);
  void on(const SrqOverrun& event);
  void on(const HomeReleased& event);
  void on(const ContextLost& event);
  template <class HardwareEvent>
  void on(const HardwareEvent& event) {
    connections_.on(event);
  }

  // The present connections, and those of them in setup.
  std::uint32_t connections() const { return connections_.connections(); }
  std::uint32_t setups() const { return connections_.setups(); }
  ConnState state(std::uint32_t connection) const { return connections_.state(connection); }

 private:
  using Status = abi::CommandStatus;
  Status execute(const abi::Command& command);
  void modify_qp(const abi::Command& command);
  void query_qp(const abi::Command& command);
  void query_srq(const abi::Command& command);
  void release_home(const abi::Command& command);
  void fail_srq(Srqn srqn);
  void done(const abi::Command& command, Status status) {
    if (status != Status::kOk) {
      log(bus_, LogCode::kCommandRefused, static_cast<std::uint32_t>(command.op), static_cast<std::uint32_t>(status));
    }
    bus_.write(PostEvent{command_done(command, status)});
  }

  Bus& bus_;
  abi::Command releases_;  // kReleaseHome, until the hardware has answered
  ResourceManager<Bus, Capacity> resources_;
  ConnectionManager<Bus, Capacity> connections_;
};

}  // namespace rnic::fw
