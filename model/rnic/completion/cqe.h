// What the stages ask of the completion path.
#pragma once

#include <optional>

#include "model/common/ids.h"
#include "model/rnic/host_abi.h"

namespace rnic {

// A completion queue entry to write; its phase is the writer's.
struct CqeRequest {
  Cqn cqn;
  abi::Cqe cqe;
};
// A completion queue had no room for an entry: the entry is lost, and all that follow.
struct CqOverflow {
  Cqn cqn;
};
// A work request has left the segmenter, whole: it completes when its condition is met, in posting order.
struct WqeIssued {
  Qpn qpn;
  std::uint64_t wr_id = 0;
  std::uint32_t bytes = 0;
  abi::WrOpcode opcode = abi::WrOpcode::kSend;
  abi::WcStatus status = abi::WcStatus::kSuccess;  // an error found before anything was sent
  bool signaled = true;
  bool internal = false;          // a ready-to-receive Read: retired without a completion
  std::optional<Stag> ends = {};  // a Read's sink, to be invalidated when the response is placed
  // Not a work request, but said in the order of their completion: tell the firmware that all before is complete,
  // complete all before with an error, or the Terminate, behind which no response is awaited any more.
  enum class Marker : std::uint8_t { kNone, kDrain, kFlush, kTerminate };
  Marker marker = Marker::kNone;
};

// The last FPDU of a Send or Write was given up before TCP had it, for its stream broke: no acknowledgement will come.
struct WqeLost {
  Qpn qpn;
};

// The oldest outstanding RDMA Read of a QP is complete: all its octets are placed. Or the peer has closed.
struct ReadDone {
  Qpn qpn;
  bool closed = false;  // no response comes any more
};

// An Atomic Request has left the segmenter; its response is awaited.
struct AtomicIssued {
  Qpn qpn;
  std::uint32_t request_id = 0;
  abi::Sge sink;  // of the value before the operation
};
// The oldest outstanding atomic of a QP is complete: the value is in local memory.
struct AtomicDone {
  Qpn qpn;
};

}  // namespace rnic
