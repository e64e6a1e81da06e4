// The connections of a capture as recordings to replay.
#pragma once

#include <string>
#include <vector>

#include "model/capture/replay/recording.h"

namespace rnic::capture {

struct CaptureRecordings {
  // TCP connections in the order of their SYNs, then DDP stream sessions over SCTP.
  std::vector<replay::Recording> list;
  std::string ends_at;  // where a capture that is not whole ends for a replay, and why; empty if it is whole
};

// ConfigError if the file is not a capture, or has neither a TCP connection from its SYN on nor a session from its INIT
// on. A capture that is not whole (its file is cut, a frame is, octets of a stream are missing) is an error too, unless
// `partial`: then the frames before that count, and of a stream what comes before its first missing octet.
CaptureRecordings read_recordings(const std::string& capture, bool partial);

}  // namespace rnic::capture
