// Firmware that runs as code of this program: an exception that leaves its handler ends the firmware, unless it comes
// from the model beyond the bus. So does a signal of its code, if the program catches signals.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/rnic/fwcpu/crash/native_crash.h"
#include "model/rnic/fwcpu/crash/native_guard.h"
#include "model/rnic/fwcpu/crash/planted_faults.h"
#include "model/rnic/fwcpu/event_names.h"
#include "model/rnic/fwcpu/firmware_fault.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/stats/registry.h"

namespace rnic {

// The bus for native firmware. An exception from beyond it is kept, so that it cannot be taken for the firmware's.
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

  // An exception from beyond the bus is rethrown unchanged, even if the firmware caught it: a FirmwareFault, or a bug
  // of the model. Anything else that leaves the handler is a FirmwareFault.
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
    const NativeGuard::Outside model;
    try {
      if (const int signal = NativeGuard::abandoned(); signal != 0) throw abandoned_fault(signal);
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
  NativeTarget(ChipBus& bus, const fw::Settings& settings, std::string name)
      : bus_(bus), settings_(settings), name_(std::move(name)) {
    reset();
  }
  void reset() override {
    firmware_.emplace(bus_, settings_);
    places_.clear();
  }
  void on(const FirmwareEvent& event) override {
    guarded(event, [&] { std::visit([this](const auto& e) { firmware_->on(e); }, event); });
  }

  // A panic is an exception. The others are signals, if they are caught, except for the watchdog, which has none.
  void fail(PlantedFault fault, const FirmwareEvent& event) override {
    constexpr const char* kWhy = "injected by rnic.fwcpu.fault";
    const auto plant = [&](abi::FaultCause cause, void (*mistake)()) {
      if (!NativeGuard::catches_crashes()) throw FirmwareFault(cause, kWhy);
      guarded(event, mistake);
    };
    switch (fault) {
      case PlantedFault::kNone:
        return;
      case PlantedFault::kPanic:
        return guarded(event, [&] { throw std::logic_error(kWhy); });
      case PlantedFault::kWatchdog:
        throw FirmwareFault(abi::FaultCause::kWatchdog, kWhy);
      case PlantedFault::kIllegalInstruction:
        return plant(abi::FaultCause::kIllegalInstruction, planted::illegal_instruction);
      case PlantedFault::kBusFault:
        return plant(abi::FaultCause::kBusFault, planted::bus_fault);
      case PlantedFault::kStackOverflow:
        return plant(abi::FaultCause::kStackOverflow, planted::stack_overflow);
      case PlantedFault::kEndlessLoop:
        return guarded(event, planted::endless_loop);
    }
  }

  std::string dump() const override { return places_.empty() ? "native: no registers\n" : places_; }

  void register_stats(const StatsGroup& group) const override {
    group.derived(
        "connections", [this] { return static_cast<double>(firmware_->connections()); }, "connections",
        "connections of the firmware at present");
    group.derived(
        "setups", [this] { return static_cast<double>(firmware_->setups()); }, "connections",
        "connections that exchange start-up frames at present");
  }

 private:
  template <class F>
  void guarded(const FirmwareEvent& event, F handler) {
    const auto crash =
        NativeGuard::run({name_.c_str(), kEventNames[event.index()]}, [&] { bus_.run([&] { handler(); }); });
    if (crash) throw fault_of(*crash, places_);
  }

  GuardedBus<ChipBus> bus_;
  const fw::Settings settings_;
  const std::string name_;
  std::string places_;  // of a crash
  std::optional<Firmware<GuardedBus<ChipBus>>> firmware_;
};

}  // namespace rnic
