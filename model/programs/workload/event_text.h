// Connection events as text, for messages.
#pragma once

#include <string>

#include "model/host/driver/connection.h"

namespace rnic::workload {

// "the connection failed: timed out". Adds the status, the refused command or the Terminate if there is one.
std::string event_text(const host::CmEvent& event);

}  // namespace rnic::workload
