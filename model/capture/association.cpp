#include "model/capture/association.h"

#include <fmt/format.h>

namespace rnic::capture {

using wire::SctpChunk;
using wire::SctpChunkType;

namespace {

std::array<std::string, 2> names_of(const Endpoint& initiator, const Endpoint& responder) {
  const std::string a = to_string(initiator), b = to_string(responder);
  return {a + " > " + b, b + " > " + a};
}

// False for chunks whose tag does not show which INIT ACK was accepted.
bool uses_the_association(SctpChunkType type) {
  return type != SctpChunkType::kInit && type != SctpChunkType::kInitAck && type != SctpChunkType::kAbort &&
         type != SctpChunkType::kShutdownComplete;
}

}  // namespace

Association::Association(const Endpoint& initiator, const Endpoint& responder, UndecodedList& undecoded,
                         AssociationObserver* observer)
    : initiator_(initiator),
      responder_(responder),
      undecoded_(undecoded),
      observer_(observer),
      names_(names_of(initiator, responder)),
      directions_{{{names_[0], undecoded}, {names_[1], undecoded}}},
      sessions_(names_, undecoded, observer) {}

void Association::tell(Side from, const SctpPacket& packet, const std::string& what) {
  undecoded_.push_back({packet.at, fmt::format("{}: {}", names_[static_cast<std::size_t>(from)], what)});
}

void Association::packet(Side from, const SctpPacket& packet) {
  ++direction(from).counts.packets;
  wire::SctpChunks chunks(packet.chunks);
  while (const auto next = chunks.next()) chunk(from, *next, 0, packet);
  if (!chunks.malformed()) return;
  const ByteSpan octets = chunks.malformed_octets();
  const auto cut = packet.missing == 0 ? std::nullopt : wire::sctp_chunk_begun(octets);
  const std::size_t length = cut ? load_be16(octets.data() + 2) : 0;
  if (length > octets.size()) chunk(from, *cut, length - octets.size(), packet);
  else if (cut || packet.missing == 0)
    tell(from, packet, "a chunk's length is below 4 or passes the end of the packet");
}

// `missing`: octets at the end of the chunk that the capture did not keep.
void Association::chunk(Side from, const SctpChunk& chunk, std::size_t missing, const SctpPacket& packet) {
  ++direction(from).counts.by_chunk[static_cast<unsigned>(chunk.type)];
  if (observer_ != nullptr) observer_->chunk(from, chunk.type, packet.at);
  Direction& peer = direction(other(from));
  if (!peer.chosen && uses_the_association(chunk.type) && peer.offers.count(packet.tag) != 0) peer.chosen = packet.tag;
  switch (chunk.type) {
    case SctpChunkType::kData:
      return data(from, chunk, missing, packet);
    case SctpChunkType::kSack:
      if (missing == 0 && !wire::SctpSackView::parse(chunk.value))
        tell(from, packet, "a SACK is shorter than its counts say");
      return;
    case SctpChunkType::kCookieEcho:
      established_ = true;
      return;
    case SctpChunkType::kAbort:
      ends(AssociationEnd::kAbort);
      return causes(from, chunk, packet);
    case SctpChunkType::kError:
      return causes(from, chunk, packet);
    case SctpChunkType::kShutdownComplete:
      ends(AssociationEnd::kShutdown);
      return;
    default:
      return;
  }
}

// The first end counts: a side whose association is gone also answers late packets with an ABORT.
void Association::ends(AssociationEnd end) {
  if (end_ == AssociationEnd::kNone) end_ = end;
}

bool Association::start(Direction& direction) {
  if (direction.started) return true;
  if (direction.offers.empty()) return false;
  if (!direction.chosen) direction.chosen = direction.offers.begin()->first;
  direction.reassembly.start(direction.offers.at(*direction.chosen).init.initial_tsn);
  return direction.started = true;
}

void Association::data(Side from, const SctpChunk& chunk, std::size_t missing, const SctpPacket& packet) {
  const auto header = wire::SctpData::parse(chunk.value);
  if (!header && missing != 0) return;
  if (!header || chunk.value.size() + missing == wire::SctpData::kBytes)
    return tell(from, packet, "DATA without user data");
  Direction& sender = direction(from);
  if (!start(sender)) {
    if (!sender.told_no_init) tell(from, packet, "DATA, but its INIT or INIT ACK is not in the capture");
    sender.told_no_init = true;
    return;
  }
  sender.reassembly.data(chunk.flags, *header, wire::SctpData::user_data(chunk.value), missing, packet.at,
                         [&](const SctpMessage& message) {
                           if (ddp()) sessions_.message(from, message);
                         });
}

void Association::causes(Side from, const SctpChunk& chunk, const SctpPacket& packet) {
  wire::SctpItems items(chunk.value);
  while (const auto item = items.next()) ++direction(from).counts.by_cause[item->type];
  if (items.malformed() && packet.missing == 0)
    tell(from, packet, "an error cause's length is below 4 or passes the end of its chunk");
}

const SctpOffer* Association::terms(Side of) const {
  const Direction& side = directions_[static_cast<std::size_t>(of)];
  if (side.offers.empty()) return nullptr;
  return side.chosen ? &side.offers.at(*side.chosen) : &side.offers.begin()->second;
}

bool Association::ddp() const {
  for (const Side side : {Side::kInitiator, Side::kResponder}) {
    const SctpOffer* const offer = terms(side);
    if (offer == nullptr || (offer->is_cut && !offer->adaptation)) continue;
    if (offer->adaptation != wire::kDdpAdaptation) return false;
  }
  return true;
}

void Association::finish() {
  if (!ddp()) return;
  for (Direction& direction : directions_) direction.reassembly.finish();
}

}  // namespace rnic::capture
