// Writes to the log what somebody wants to know.
#pragma once

#include "model/abi/firmware_operations.h"

namespace rnic::fw {

template <class Bus>
void log(Bus& bus, LogCode code, std::uint32_t a = 0, std::uint32_t b = 0) {
  if (bus.logs(describe(code).level)) bus.write(Log{code, a, b});
}

}  // namespace rnic::fw
