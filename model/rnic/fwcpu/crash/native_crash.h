// A crash of native firmware, for those who report it.
#pragma once

#include <string>

#include "model/rnic/fwcpu/crash/native_guard.h"
#include "model/rnic/fwcpu/firmware_fault.h"

namespace rnic {

// `places`, one line each, receives the place of the crash and its callers.
FirmwareFault fault_of(const NativeCrash& crash, std::string& places);
// For a handler that does not end, and was stopped by this signal.
FirmwareFault abandoned_fault(int signal, const std::string& where = "");

}  // namespace rnic
