// An error on demand: which message of which stream is changed on its way, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/cable/inject/message_fields.h"

namespace rnic::inject {

// Exactly one of field, octet and close_after.
struct Change {
  std::optional<Field> field;                // gets another value
  std::optional<std::uint16_t> octet;        // of the startup frame or the ULPDU, from 0
  std::optional<std::uint16_t> close_after;  // so many octets of the ULPDU, then a FIN; nothing behind them passes
  bool relative = false;                     // the value is added to what was there
  std::uint64_t value = 0;
};

struct Injection {
  std::string name;          // "inject[2]", for messages
  unsigned node = 0;         // that sends the message, at this end of the cable
  std::uint16_t port = 0;    // of the side that listens
  bool by_listener = false;  // it is that side that sends
  MessageKind message = wire::Opcode::kSend;
  std::uint64_t number = 0;   // among those of its kind that the side sends on this connection, from 0
  std::uint64_t segment = 0;  // the DDP segment of it that is changed, from 0
  Change change;
};

}  // namespace rnic::inject
