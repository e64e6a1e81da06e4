// Whether a tagged DDP segment may be placed, and where: RFC 5041 sections 5.2 and 7.1, in the order of choices.md 20.
// Between the two halves ddp_placement checks the place of a Read Response in its stream.
#pragma once

#include <optional>

#include "model/abi/context_types.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

// For a segment with a complete header.
inline std::optional<wire::TerminateCause> check_tagged_header(unsigned version, const wire::DdpTaggedHeader& h) {
  if (h.version() != version) return wire::ddp::kTaggedInvalidVersion;
  if (wire::RdmapControl::version(h.rdmap) != version) return wire::rdma::kInvalidVersion;
  if (!wire::is_tagged(wire::RdmapControl::opcode(h.rdmap))) return wire::rdma::kUnexpectedOpcode;
  return {};
}

// For a segment with payload and a valid header, whose STag names this, or nullptr.
inline std::optional<wire::TerminateCause> check_tagged_buffer(const StagContext* stag, const StagUser& user,
                                                               const wire::DdpTaggedHeader& h, std::uint32_t bytes,
                                                               MemoryPiece& piece) {
  const bool write = wire::RdmapControl::opcode(h.rdmap) == wire::Opcode::kWrite;
  const std::uint8_t right = write ? abi::kRemoteWrite : abi::kLocalWrite;
  if (stag == nullptr) return wire::ddp::kInvalidStag;
  if (!stag->serves(user)) return wire::ddp::kStagNotAssociated;
  if (!(stag->access & right)) return wire::ddp::kInvalidStag;  // choices.md 11
  if (h.to + bytes < h.to) return wire::ddp::kToWrap;
  if (!stag->contains(h.to, bytes)) return wire::ddp::kBaseOrBounds;
  piece = stag->piece(h.stag, h.to, bytes);
  return {};
}

}  // namespace rnic
