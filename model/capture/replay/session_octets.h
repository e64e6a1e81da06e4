// A DDP stream session in the form of an MPA stream, so that a replay reads, plans and compares both alike: its control
// messages as startup frames, its segments as FPDUs without markers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/ddp_session.h"

namespace rnic::replay {

// Appends the MPA form of an Initiate, Accept or Reject. Its startup frame asks for CRCs, and is of revision 2 if the
// message is enhanced.
void append_startup(const wire::SessionMessage& message, std::vector<std::uint8_t>& to);
// Appends the FPDU of a DDP segment of at most wire::kMaxMulpdu octets.
void append_fpdu(ByteSpan segment, std::vector<std::uint8_t>& to);

// The message of a whole startup frame; nullopt if it is none, or not `expected`. Its private data is a window on the
// frame.
std::optional<wire::SessionMessage> session_message(ByteSpan startup, wire::MpaFrameKind expected);
constexpr bool is_reject(wire::SessionCode code) {
  return code == wire::SessionCode::kReject || code == wire::SessionCode::kEnhancedReject;
}

}  // namespace rnic::replay
