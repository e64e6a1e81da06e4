// The firmware cannot go on: it did something that its processor or the chip does not let it do.
#pragma once

#include <stdexcept>

#include "model/abi/host_abi.h"

namespace rnic {

struct FirmwareFault : std::runtime_error {
  FirmwareFault(abi::FaultCause why, const std::string& text) : std::runtime_error(text), cause(why) {}
  abi::FaultCause cause;
};

}  // namespace rnic
