// The firmware cannot continue: it did something that its processor or the chip does not permit.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "model/abi/host_abi.h"

namespace rnic {

struct FirmwareFault : std::runtime_error {
  FirmwareFault(abi::FaultCause why, const std::string& text, std::string further = "")
      : std::runtime_error(text), cause(why), advice(std::move(further)) {}
  abi::FaultCause cause;
  std::string advice;  // how to find out more, if there is a way
};

}  // namespace rnic
