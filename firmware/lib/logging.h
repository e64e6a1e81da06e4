// Writes to the log. The chip keeps entries of enabled levels, and the last entries of all levels for a dump.
#pragma once

#include "model/abi/firmware_operations.h"

namespace rnic::fw {

template <class Bus>
void log(Bus& bus, LogCode code, std::uint32_t a = 0, std::uint32_t b = 0) {
  bus.write(Log{code, a, b});
}

}  // namespace rnic::fw
