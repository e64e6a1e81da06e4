// The connections of a capture as recordings to replay.
#pragma once

#include <string>
#include <vector>

#include "model/capture/replay/recording.h"

namespace rnic::capture {

// TCP connections in the order of their SYNs, then DDP stream sessions over SCTP. ConfigError if the file is not a
// capture, has neither a TCP connection from its SYN on nor a session from its INIT on, or lacks octets of one.
std::vector<replay::Recording> read_recordings(const std::string& capture);

}  // namespace rnic::capture
