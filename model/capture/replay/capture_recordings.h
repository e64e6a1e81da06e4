// The connections of a capture as recordings to replay.
#pragma once

#include <string>
#include <vector>

#include "model/capture/replay/recording.h"

namespace rnic::capture {

// In the order of their SYNs. ConfigError if the file is no capture, holds no TCP connection from its SYN on, lacks
// octets of one, or holds DDP over SCTP.
std::vector<replay::Recording> read_recordings(const std::string& capture);

}  // namespace rnic::capture
