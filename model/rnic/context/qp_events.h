// What the datapath tells the firmware about a queue pair, and what the firmware asks the transmit side to send.
#pragma once

#include <cstdint>

#include "model/common/ids.h"
#include "model/wire/terminate.h"

namespace rnic {

struct QpEvent {
  enum class Kind : std::uint8_t {
    kFirstFpdu,          // the responder's fence is lifted (RFC 5044 section 7.1.2 rule 4)
    kTerminateReceived,  // cause: the peer's
    kStreamError,        // cause: ours to report; nothing more is delivered from this stream
    kLocalError,         // a work request failed locally; it and all later ones complete with an error
    kSendDrained         // answers TxInternalWork::kDrain
  };
  Kind kind = Kind::kFirstFpdu;
  Qpn qpn;
  wire::TerminateCause cause;
};

// The ready-to-receive message of RFC 6581: zero length, never seen in a completion queue.
struct RtrRequest {
  enum class Kind : std::uint8_t { kSend, kWrite, kRead };
  Qpn qpn;
  Kind kind = Kind::kWrite;
};

// The receive side met a condition that the transmit side may be waiting for.
struct TxUnblock {
  enum class Kind : std::uint8_t {
    kFirstFpdu,  // a responder may send now (RFC 5044 section 7.1.2 rule 4)
    kReadDone    // a Read of ours is complete: one fewer is outstanding against ORD
  };
  Kind kind = Kind::kFirstFpdu;
  Qpn qpn;
};

}  // namespace rnic
