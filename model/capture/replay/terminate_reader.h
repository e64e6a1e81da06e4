// Reads Terminate messages of real peers into RFC 5040's layout, whatever layout they were sent in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/wire/terminate.h"

namespace rnic::replay {

struct ReadTerminate {
  wire::TerminateCause cause;
  bool swapped = false;  // Linux siw on a little-endian host: both nibbles of octet 0 and the M, D, R bits mirrored
  std::optional<std::uint16_t> segment_length;
  std::vector<std::uint8_t> ddp_header, read_request;
};

// `payload` follows the untagged DDP header; nullopt if it is shorter than the control word.
std::optional<ReadTerminate> read_terminate(ByteSpan payload);

// "layer 1, type 1, code 0x00"
std::string cause_text(const wire::TerminateCause& cause);

}  // namespace rnic::replay
