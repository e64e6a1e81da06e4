// A requested error: which message of which stream to change in flight, and how.
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
  std::optional<std::uint16_t> close_after;  // octets of the ULPDU before a FIN; nothing after them passes
  bool relative = false;                     // the value is added to the old one
  std::uint64_t value = 0;
};

struct Injection {
  std::string name;          // "inject[2]", for messages
  unsigned node = 0;         // sender of the message, at this end of the cable
  std::uint16_t port = 0;    // of the listener
  bool by_listener = false;  // the listener is the sender
  MessageKind message = wire::Opcode::kSend;
  std::uint64_t number = 0;   // among the sender's messages of this kind on the connection, from 0
  std::uint64_t segment = 0;  // the message's DDP segment to change, from 0
  Change change;
};

}  // namespace rnic::inject
