// Firmware that runs as code of this program: an exception that leaves its handler is the firmware's end, unless it
// comes from the model behind the bus.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/rnic/fwcpu/firmware_fault.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/stats/registry.h"

namespace rnic {

// The bus as native firmware has it. What is thrown behind it is kept, so that it cannot be taken for the firmware's.
template <class Bus>
class GuardedBus {
 public:
  explicit GuardedBus(Bus& bus) : bus_(bus) {}

  template <class Op>
  void write(const Op& op) {
    behind([&] { bus_.write(op); });
  }
  MutableByteSpan sram(fw::SramRange range) {
    return behind([&] { return bus_.sram(range); });
  }

  // What was thrown behind the bus goes on as it is, even if the firmware caught it: a FirmwareFault, or a bug of the
  // model. Anything else that leaves the handler is a FirmwareFault.
  template <class F>
  void run(F handler) {
    try {
      handler();
    } catch (const std::exception& e) {
      if (!thrown_)
        throw FirmwareFault(abi::FaultCause::kPanic, std::string("an exception left its handler: ") + e.what());
    } catch (...) {
      if (!thrown_) throw FirmwareFault(abi::FaultCause::kPanic, "an exception left its handler");
    }
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  template <class F>
  auto behind(F access) {
    try {
      return access();
    } catch (...) {
      if (!thrown_) thrown_ = std::current_exception();
      throw;
    }
  }

  Bus& bus_;
  std::exception_ptr thrown_;
};

// `Firmware` is that of `firmware/`, or a test's.
template <template <class Bus> class Firmware>
class NativeTarget final : public FirmwareTarget {
 public:
  NativeTarget(ChipBus& bus, const fw::Settings& settings) : bus_(bus), settings_(settings) { reset(); }
  void reset() override { firmware_.emplace(bus_, settings_); }
  void on(const FirmwareEvent& event) override {
    bus_.run([&] { std::visit([this](const auto& e) { firmware_->on(e); }, event); });
  }

  // A panic is an exception in the place of the handler; a processor's traps are none of native code.
  void fail(PlantedFault fault, const FirmwareEvent&) override {
    constexpr const char* kWhy = "injected by rnic.fwcpu.fault";
    switch (fault) {
      case PlantedFault::kNone:
        return;
      case PlantedFault::kPanic:
        return bus_.run([&] { throw std::logic_error(kWhy); });
      case PlantedFault::kWatchdog:
      case PlantedFault::kEndlessLoop:
        throw FirmwareFault(abi::FaultCause::kWatchdog, kWhy);
      case PlantedFault::kIllegalInstruction:
        throw FirmwareFault(abi::FaultCause::kIllegalInstruction, kWhy);
      case PlantedFault::kBusFault:
        throw FirmwareFault(abi::FaultCause::kBusFault, kWhy);
      case PlantedFault::kStackOverflow:
        throw FirmwareFault(abi::FaultCause::kStackOverflow, kWhy);
    }
  }

  void register_stats(const StatsGroup& group) const override {
    group.derived(
        "connections", [this] { return static_cast<double>(firmware_->connections()); }, "connections",
        "connections of the firmware at present");
    group.derived(
        "setups", [this] { return static_cast<double>(firmware_->setups()); }, "connections",
        "connections that exchange start-up frames at present");
  }

 private:
  GuardedBus<ChipBus> bus_;
  const fw::Settings settings_;
  std::optional<Firmware<GuardedBus<ChipBus>>> firmware_;
};

}  // namespace rnic
