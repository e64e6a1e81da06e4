// What the next packet of an association that is up holds, and its DATA chunks as octets.
#pragma once

#include <cstdint>
#include <cstring>

#include "model/common/bytes.h"
#include "model/rnic/llp/sctp/data_receiver.h"
#include "model/rnic/llp/sctp/data_sender.h"
#include "model/rnic/llp/sctp/setup.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

inline constexpr std::uint32_t kDataHeaderBytes = wire::SctpChunk::kHeaderBytes + wire::SctpData::kBytes;

// Octets of one DATA chunk, and of a SACK before it; 0: none.
struct PacketContents {
  std::uint32_t data = 0, sack = 0;
};

// One DATA chunk, as TCP has one FPDU per segment, preceded by a SACK if one is due or pending. A SACK that does not
// fit the packet goes alone if it is due, and waits if it is only pending.
inline PacketContents next_contents(const Setup& setup, const DataSender& sender, const DataReceiver& receiver) {
  const Setup::State state = setup.state();
  const bool sends = state == Setup::State::kEstablished || state == Setup::State::kShutdownPending ||
                     state == Setup::State::kShutdownReceived;
  if (!sends && state != Setup::State::kShutdownSent) return {};
  const std::uint32_t room = sender.pmdcs() / 4 * 4;
  PacketContents next;
  next.data = sends ? sender.next_octets() : 0;
  if (receiver.sack_owed() || (next.data != 0 && receiver.sack_pending())) {
    next.sack = static_cast<std::uint32_t>(receiver.sack_bytes(room));
    if (next.data + next.sack > room && next.data != 0) (receiver.sack_owed() ? next.data : next.sack) = 0;
  }
  return next;
}

// These write a chunk at `at` and return where the next octets go: of the first, the user data.
inline std::uint8_t* write_data_header(const DataChunk& chunk, std::uint8_t* at) {
  at[0] = static_cast<std::uint8_t>(wire::SctpChunkType::kData);
  at[1] = chunk.flags;
  store_be16(at + 2, static_cast<std::uint16_t>(kDataHeaderBytes + chunk.bytes));
  store_be32(at + 4, chunk.tsn);
  store_be16(at + 8, chunk.stream);
  store_be16(at + 10, 0);  // SSN: nothing is ordered
  store_be32(at + 12, chunk.ppid);
  return at + kDataHeaderBytes;
}
// `message`: of which the chunk has a part.
inline std::uint8_t* write_data(const DataChunk& chunk, const std::uint8_t* message, std::uint8_t* at) {
  at = write_data_header(chunk, at);
  const std::size_t padded = wire::sctp_padded(chunk.bytes);
  std::memcpy(at, message + chunk.offset, chunk.bytes);
  std::memset(at + chunk.bytes, 0, padded - chunk.bytes);
  return at + padded;
}

}  // namespace rnic::sctp
