// Watches an association while a capture is read.
#pragma once

#include <cstdint>

#include "model/capture/sctp_reassembly.h"
#include "model/capture/side.h"
#include "model/wire/sctp.h"

namespace rnic::capture {

struct DdpSession;

// Sees an association as its two receivers do: without packets dropped for a wrong checksum. Observers override what
// they want to see.
class AssociationObserver {
 public:
  // A chunk of a packet; `at` is its frame's.
  virtual void chunk(Side /*from*/, wire::SctpChunkType /*type*/, const Place& /*at*/) {}
  // A segment or control message of a session: each once, as soon as it is complete, in any order.
  virtual void message(const DdpSession& /*session*/, Side /*from*/, const SctpMessage& /*message*/) {}

 protected:
  ~AssociationObserver() = default;
};

}  // namespace rnic::capture
