// What MMIO writes turn into inside the chip, and what asks for an interrupt.
#pragma once

#include <cstdint>

#include "model/common/ids.h"

namespace rnic {

struct SqDoorbell {
  Qpn qpn;
  std::uint32_t producer = 0;  // ring index after the newest WQE, modulo 4096
};
struct RqDoorbell {
  Rqn rqn;
  std::uint32_t producer = 0;
};
struct CqArm {
  Cqn cqn;
  bool solicited_only = false;
  std::uint32_t consumer = 0;  // completions the host has seen, modulo 2048: newer ones notify at once
};
struct CommandDoorbell {
  std::uint32_t producer = 0;  // commands ever announced, modulo 2^16
};
struct EventsTaken {
  std::uint32_t consumer = 0;  // events the host has taken, modulo 2^16
};
// Asks event_writer to tell the host that an armed CQ has a completion.
struct CqNotify {
  Cqn cqn;
};
struct MsixRequest {
  unsigned vector = 0;
};

}  // namespace rnic
