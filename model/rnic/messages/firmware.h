// Messages between the firmware processor and its neighbours.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/abi/tx_internal_work.h"
#include "model/common/buffer.h"
#include "model/rnic/messages/parts.h"
#include "model/rnic/messages/qp_events.h"

namespace rnic {

// A command with its private data (command.private_bytes octets, 512 at most, at the buffer's start).
struct FetchedCommand {
  abi::Command command;
  BufferRef private_data;

  static constexpr const char* kMessage = "fetched_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("command", m.command);
  }
};

// An event for the host; the phase is filled in when it is written.
struct HostEvent {
  abi::Event event;
  BufferRef private_data;

  static constexpr const char* kMessage = "host_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("event", m.event);
  }
};

}  // namespace rnic
