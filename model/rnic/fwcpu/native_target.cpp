#include "model/rnic/fwcpu/native_target.h"

#include "firmware/app/instantiate.h"

namespace rnic {
namespace {

template <class Bus>
using Firmware = fw::Firmware<Bus>;
template <class Bus>
using LargeFirmware = fw::Firmware<Bus, fw::LargeCapacity>;

}  // namespace

std::unique_ptr<FirmwareTarget> make_native_target(ChipBus& bus, const fw::Settings& settings,
                                                   const std::string& name) {
  if (!fw::fits_small(settings)) return std::make_unique<NativeTarget<LargeFirmware>>(bus, settings, name);
  return std::make_unique<NativeTarget<Firmware>>(bus, settings, name);
}

}  // namespace rnic
