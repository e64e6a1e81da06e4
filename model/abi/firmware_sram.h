// The firmware's layout of the SRAM that it shares with the hardware.
#pragma once

#include <cstdint>

#include "model/abi/firmware_operations.h"
#include "model/wire/ddp_session.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/terminate.h"

namespace rnic::fw {

// The hardware puts a command's private data here before it raises HostCommand.
inline constexpr SramRange kCommandWindow{0, abi::kPrivateDataBytes};

// The header of the Terminate in a QP's event (RFC 5040 section 4.8), put here before the event is raised.
inline constexpr SramRange kTerminateWindow{kCommandWindow.bytes, wire::TerminateHeader::kMaxBytes};

// Control messages of DDP stream sessions, as user data with room for the DDP-SSN at the front. The hardware puts the
// message of SctpControl into the first window, before it raises the event; the firmware builds its own in the other
// one.
inline constexpr std::uint32_t kSessionBytes =
    wire::SessionMessage::kHeaderBytes + wire::SessionMessage::kMaxPrivateData;
inline constexpr SramRange kSessionWindow{kTerminateWindow.offset + kTerminateWindow.bytes, kSessionBytes};
inline constexpr SramRange kSessionOutWindow{kSessionWindow.offset + kSessionWindow.bytes, kSessionBytes};

// A slot for each connection in setup: one startup frame (RFC 5044 section 7.1.1), or the private data of a session
// that has no stream yet; and a word for an octet that a peer should not have sent.
inline constexpr std::uint32_t kFrameBytes = wire::kMpaHeaderBytes + wire::kMpaMaxPrivateData;
inline constexpr std::uint32_t kSlotBytes = kFrameBytes + 4;
constexpr std::uint32_t slot_offset(std::uint32_t slot) {
  return kSessionOutWindow.offset + kSessionOutWindow.bytes + slot * kSlotBytes;
}
constexpr SramRange frame_range(std::uint32_t slot, std::uint32_t from, std::uint32_t bytes) {
  return {slot_offset(slot) + from, bytes};
}
constexpr SramRange guard_octet(std::uint32_t slot) { return {slot_offset(slot) + kFrameBytes, 1}; }
constexpr std::uint32_t sram_bytes(std::uint32_t slots) { return slot_offset(slots); }

}  // namespace rnic::fw
