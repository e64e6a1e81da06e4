// A DDP stream session in the form of an MPA stream, so that a replay handles both alike: control messages become
// startup frames, segments become FPDUs without markers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/ddp_session.h"

namespace rnic::replay {

// Appends the MPA form of an Initiate, Accept or Reject. The startup frame asks for CRCs and has revision 2 if the
// message is enhanced.
void append_startup(const wire::SessionMessage& message, std::vector<std::uint8_t>& to);
// Appends the FPDU of a DDP segment of at most wire::kMaxMulpdu octets.
void append_fpdu(ByteSpan segment, std::vector<std::uint8_t>& to);

// The message of a complete startup frame; nullopt if it is not one, or not the `expected` kind. Its private data is a
// view into the frame.
std::optional<wire::SessionMessage> session_message(ByteSpan startup, wire::MpaFrameKind expected);
constexpr bool is_reject(wire::SessionCode code) {
  return code == wire::SessionCode::kReject || code == wire::SessionCode::kEnhancedReject;
}

}  // namespace rnic::replay
