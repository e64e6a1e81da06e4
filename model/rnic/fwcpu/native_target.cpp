#include <optional>

#include "firmware/app/firmware.h"
#include "model/rnic/fwcpu/firmware_fault.h"
#include "model/rnic/fwcpu/firmware_target.h"

namespace rnic {
namespace {

class NativeTarget final : public FirmwareTarget {
 public:
  NativeTarget(ChipBus& bus, const fw::Settings& settings) : bus_(bus), settings_(settings) { reset(); }
  void reset() override { firmware_.emplace(bus_, settings_); }
  void on(const FirmwareEvent& event) override {
    std::visit([this](const auto& e) { firmware_->on(e); }, event);
  }

  void fail(abi::FaultCause cause) override { throw FirmwareFault(cause, "as rnic.fwcpu.fault wants it"); }

  void register_stats(const StatsGroup& group) const override {
    group.derived(
        "connections", [this] { return static_cast<double>(firmware_->connections()); }, "connections",
        "connections that the firmware keeps now");
    group.derived(
        "setups", [this] { return static_cast<double>(firmware_->setups()); }, "connections",
        "connections that exchange start-up frames now");
  }

 private:
  ChipBus& bus_;
  const fw::Settings settings_;
  std::optional<fw::Firmware<ChipBus>> firmware_;
};

}  // namespace

std::unique_ptr<FirmwareTarget> make_native_target(ChipBus& bus, const fw::Settings& settings) {
  return std::make_unique<NativeTarget>(bus, settings);
}

}  // namespace rnic
