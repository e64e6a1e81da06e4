#include "model/capture/association_table.h"

#include <fmt/format.h>

namespace rnic::capture {

using wire::SctpChunk;
using wire::SctpChunkType;

namespace {

std::pair<Endpoint, Endpoint> key_of(const Endpoint& a, const Endpoint& b) {
  return a < b ? std::pair{a, b} : std::pair{b, a};
}

// INIT and INIT ACK travel alone (RFC 9260 section 6.10).
std::optional<SctpChunk> only_chunk(const SctpPacket& packet) {
  wire::SctpChunks chunks(packet.chunks);
  const auto first = chunks.next();
  if (first) return !chunks.next() && !chunks.malformed() ? first : std::nullopt;
  return packet.missing == 0 ? std::nullopt : wire::sctp_chunk_begun(chunks.malformed_octets());
}

std::optional<SctpOffer> offer_of(const SctpChunk& chunk, bool is_cut) {
  const auto init = wire::SctpInit::parse(chunk.value);
  if (!init || init->initiate_tag == 0) return std::nullopt;
  SctpOffer offer{*init, std::nullopt, is_cut};
  wire::SctpItems parameters(wire::SctpInit::parameters(chunk.value));
  while (const auto p = parameters.next()) {
    if (p->type == static_cast<std::uint16_t>(wire::SctpParameterType::kAdaptationIndication) && p->value.size() == 4) {
      offer.adaptation = load_be32(p->value.data());
    }
  }
  return offer;
}

// ABORT and SHUTDOWN COMPLETE of a side without an association carry the tag of the packet that they answer.
bool tag_is_reflected(const SctpPacket& packet) {
  const auto chunk = wire::SctpChunks(packet.chunks).next();
  return chunk && (chunk->type == SctpChunkType::kAbort || chunk->type == SctpChunkType::kShutdownComplete) &&
         (chunk->flags & SctpChunk::kTagReflected) != 0;
}

}  // namespace

Association* AssociationTable::by_tag(const Endpoint& from, const Endpoint& to, std::uint32_t tag) const {
  const auto found = by_tag_.find({from, to, tag});
  return found == by_tag_.end() ? nullptr : found->second;
}

Association* AssociationTable::open(const Endpoint& initiator, const Endpoint& responder) {
  AssociationObserver* const observer = observe_ ? observe_(initiator, responder) : nullptr;
  associations_.push_back(std::make_unique<Association>(initiator, responder, undecoded_, observer));
  return current_[key_of(initiator, responder)] = associations_.back().get();
}

// An INIT with a known tag is a retransmission, unless its association is over. INITs that cross open one association
// (section 5.2.1).
Association* AssociationTable::init(const SctpPacket& packet, const SctpOffer& offer) {
  Association* association = by_tag(packet.dst, packet.src, offer.init.initiate_tag);
  if (association != nullptr && association->end() == AssociationEnd::kNone) return association;
  const auto known = current_.find(key_of(packet.src, packet.dst));
  association = known == current_.end() ? nullptr : known->second;
  const bool crosses = association != nullptr && !association->established() &&
                       association->end() == AssociationEnd::kNone &&
                       association->terms(association->side_of(packet.src)) == nullptr;
  if (!crosses) association = open(packet.src, packet.dst);
  return association;
}

// The packet's tag is from the INIT that it answers.
Association* AssociationTable::init_ack(const SctpPacket& packet) {
  Association* const association = by_tag(packet.src, packet.dst, packet.tag);
  return association != nullptr ? association : open(packet.dst, packet.src);
}

// The association of an INIT or an INIT ACK.
Association* AssociationTable::opened(const SctpPacket& packet, const SctpChunk& chunk) {
  const bool is_init = chunk.type == SctpChunkType::kInit;
  if (!is_init && chunk.type != SctpChunkType::kInitAck) return nullptr;
  if (is_init != (packet.tag == 0)) return nullptr;
  const auto offer = offer_of(chunk, packet.missing != 0);
  if (!offer) return nullptr;
  Association* const association = is_init ? init(packet, *offer) : init_ack(packet);
  association->offer(association->side_of(packet.src), *offer);
  by_tag_[{packet.dst, packet.src, offer->init.initiate_tag}] = association;
  if (!is_init) by_tag_[{packet.src, packet.dst, packet.tag}] = association;
  return association;
}

bool AssociationTable::packet(const SctpPacket& packet) {
  if (!packet.checksum_ok) return false;
  Association* association = nullptr;
  if (const auto chunk = only_chunk(packet)) association = opened(packet, *chunk);
  if (association == nullptr) {
    association = tag_is_reflected(packet) ? by_tag(packet.dst, packet.src, packet.tag)
                                           : by_tag(packet.src, packet.dst, packet.tag);
  }
  if (association != nullptr) association->packet(association->side_of(packet.src), packet);
  else stranger(packet);
  return true;
}

void AssociationTable::stranger(const SctpPacket& packet) {
  wire::SctpChunks chunks(packet.chunks);
  while (const auto chunk = chunks.next()) {
    if (chunk->type != SctpChunkType::kData) continue;
    if (!strangers_.insert(key_of(packet.src, packet.dst)).second) return;
    undecoded_.push_back({packet.at, fmt::format("{} > {}: DATA, but no INIT of this association is in the capture",
                                                 to_string(packet.src), to_string(packet.dst))});
    return;
  }
}

void AssociationTable::finish() {
  for (const auto& association : associations_) association->finish();
}

}  // namespace rnic::capture
