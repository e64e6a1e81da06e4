#include "model/rnic/fwcpu/native_target.h"

#include "firmware/app/instantiate.h"

namespace rnic {
namespace {

template <class Bus>
using Firmware = fw::Firmware<Bus>;

}  // namespace

std::unique_ptr<FirmwareTarget> make_native_target(ChipBus& bus, const fw::Settings& settings,
                                                   const std::string& name) {
  return std::make_unique<NativeTarget<Firmware>>(bus, settings, name);
}

}  // namespace rnic
