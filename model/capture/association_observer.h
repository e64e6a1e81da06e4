// What a reader of a capture may want to see of an association while it is read.
#pragma once

#include <cstdint>

#include "model/capture/sctp_reassembly.h"
#include "model/capture/side.h"
#include "model/wire/sctp.h"

namespace rnic::capture {

struct DdpSession;

// Sees an association as its two receivers do: what is dropped for its checksum is not there.
class AssociationObserver {
 public:
  // A chunk of a packet; `offset` is that of its frame.
  virtual void chunk(Side from, wire::SctpChunkType type, std::uint64_t offset) = 0;
  // A segment or a control message of a session: each once, as soon as it is whole, in any order.
  virtual void message(const DdpSession& session, Side from, const SctpMessage& message) = 0;

 protected:
  ~AssociationObserver() = default;
};

}  // namespace rnic::capture
