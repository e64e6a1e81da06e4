// What the firmware processor exchanges with its neighbours.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/ids.h"
#include "model/rnic/host_abi.h"

namespace rnic {

// What the hardware tells the firmware about a queue pair.
struct QpEvent {
  enum class Kind : std::uint8_t {
    kFirstFpdu,          // the first valid FPDU of a responder; its fence is lifted
    kTerminateReceived,  // terminate: the first word of the peer's Terminate
    kStreamError,        // terminate: that of the one the hardware sends
    kSendDrained         // answers TxInternalWork::kDrain
  };
  Kind kind = Kind::kFirstFpdu;
  Qpn qpn;
  std::uint32_t terminate = 0;
};

// A command with its private data (command.private_bytes octets, 512 at most, at the buffer's start).
struct FetchedCommand {
  abi::Command command;
  BufferRef private_data;
};

// An event for the host; the phase is filled in when it is written.
struct HostEvent {
  abi::Event event;
  BufferRef private_data;
};

}  // namespace rnic
