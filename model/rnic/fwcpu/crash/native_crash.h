// What a crash of native firmware is to those who hear of it.
#pragma once

#include <string>

#include "model/rnic/fwcpu/crash/native_guard.h"
#include "model/rnic/fwcpu/firmware_fault.h"

namespace rnic {

// `places`, a line each, becomes where it was and who called it.
FirmwareFault fault_of(const NativeCrash& crash, std::string& places);
// Of a handler that does not end, and was asked to by this signal.
FirmwareFault abandoned_fault(int signal, const std::string& where = "");

}  // namespace rnic
