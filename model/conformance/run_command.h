// Commands of a vector.
#pragma once

#include "model/ends/firmware_end.h"

namespace rnic::conformance {

// Throws std::invalid_argument with the firmware's reason if it does not take the command: a vector that cannot be run.
void run_command(FirmwareEnd& end, const abi::Command& command);

}  // namespace rnic::conformance
