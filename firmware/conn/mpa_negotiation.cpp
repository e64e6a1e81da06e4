#include "firmware/conn/mpa_negotiation.h"

namespace rnic::fw {
namespace {

constexpr std::uint16_t kNotNegotiated = wire::MpaEnhanced::kNotNegotiated;

constexpr std::uint16_t smaller(std::uint16_t a, std::uint16_t b) { return a < b ? a : b; }
constexpr std::uint16_t larger(std::uint16_t a, std::uint16_t b) { return a > b ? a : b; }

RtrKinds kinds(const wire::MpaEnhanced& word) {
  if (!word.peer_to_peer) return {};
  return {word.rtr_send, word.rtr_write, word.rtr_read};
}
constexpr RtrKinds common(RtrKinds a, RtrKinds b) { return {a.send && b.send, a.write && b.write, a.read && b.read}; }
void set_kinds(wire::MpaEnhanced& word, RtrKinds rtr) {
  word.rtr_send = rtr.send;
  word.rtr_write = rtr.write;
  word.rtr_read = rtr.read;
}

constexpr bool has(RtrKinds kinds, Rtr kind) {
  return (kind == Rtr::kSend && kinds.send) || (kind == Rtr::kWrite && kinds.write) ||
         (kind == Rtr::kRead && kinds.read);
}

// The initiator's choice among the common kinds. Left to itself: a Write needs nothing of the peer, a Send takes an
// MSN.
constexpr Rtr choose(RtrKinds rtr, std::uint8_t order) {
  for (unsigned rest = order; rest != 0; rest >>= 2) {
    if (has(rtr, static_cast<Rtr>(rest & 3))) return static_cast<Rtr>(rest & 3);
  }
  return rtr.write ? Rtr::kWrite : rtr.read ? Rtr::kRead : rtr.send ? Rtr::kSend : Rtr::kNone;
}

// IRD at least the peer's ORD, as far as it goes. ORD 0, or none in the request, counts as 1 if the RTR may be a Read.
std::uint16_t reply_ird(const wire::MpaEnhanced& request, RtrKinds common_kinds, const MpaPolicy& local) {
  const std::uint16_t told = request.ord == kNotNegotiated ? 0 : request.ord;
  const std::uint16_t wanted = told == 0 && common_kinds.read ? 1 : told;
  return larger(local.ird, smaller(wanted, local.max_ird));
}

wire::MpaFrame reply_to(const wire::MpaFrame& request, const MpaPolicy& local) {
  const bool rdmac = version_for_request(local.personality, request.rev) == 0;
  wire::MpaFrame reply;
  reply.kind = wire::MpaFrameKind::kReply;
  reply.rev = rdmac ? wire::kMpaRevRdmac : request.rev == wire::kMpaRevRdmac ? wire::kMpaRev1 : request.rev;
  reply.markers = local.markers || rdmac;
  reply.crc = local.crc || request.crc || rdmac;
  return reply;
}

}  // namespace

wire::MpaFrame make_request(const MpaPolicy& local, ByteSpan private_data) {
  wire::MpaFrame request;
  request.markers = local.markers;
  request.crc = local.crc;
  request.private_data = private_data;
  if (local.personality == abi::Personality::kRdmac) {
    request.rev = wire::kMpaRevRdmac;
    request.markers = request.crc = true;
    return request;
  }
  if (!local.enhanced) return request;
  request.rev = wire::kMpaRev2;
  wire::MpaEnhanced word;
  word.ird = local.negotiate_ird ? local.ird : kNotNegotiated;
  word.ord = local.negotiate_ord ? local.ord : kNotNegotiated;
  word.peer_to_peer = local.peer_to_peer;
  if (local.peer_to_peer) set_kinds(word, local.rtr);
  request.enhanced = word;
  return request;
}

ReplyDecision negotiate_reply(const wire::MpaFrame& request, const MpaPolicy& local) {
  ReplyDecision decision{reply_to(request, local), local.ird, local.ord, MpaError::kNone};
  if (!request.enhanced) return decision;
  const wire::MpaEnhanced& asked = *request.enhanced;
  const std::uint16_t ird = reply_ird(asked, common(kinds(asked), local.rtr), local);
  RtrKinds offered = local.rtr;
  if (ird == 0) offered.read = false;  // there is no place for a Read Request
  const RtrKinds shared = common(kinds(asked), offered);
  const bool ird_open = asked.ird == kNotNegotiated;

  wire::MpaEnhanced word;
  word.peer_to_peer = asked.peer_to_peer;
  if (asked.peer_to_peer) set_kinds(word, shared.any() ? shared : offered);
  word.ird = asked.ord == kNotNegotiated ? kNotNegotiated : ird;

  if (!ird_open && asked.ird < local.need_ord) {
    decision.error = MpaError::kInsufficientIrd;
    decision.frame.rejected = true;
    word.ord = local.need_ord;
  } else {
    decision.ird = ird;
    decision.ord = ird_open ? local.ord : smaller(local.ord, asked.ird);
    word.ord = ird_open ? kNotNegotiated : decision.ord;
  }
  decision.frame.enhanced = word;
  return decision;
}

wire::MpaFrame make_rejection(const wire::MpaFrame& request, const MpaPolicy& local) {
  wire::MpaFrame frame = negotiate_reply(request, local).frame;
  frame.rejected = true;
  if (frame.enhanced && local.need_ord != 0) frame.enhanced->ord = local.need_ord;
  return frame;
}

wire::MpaFrame make_revision_refusal(const wire::MpaFrame& request, const MpaPolicy& local) {
  return reply_to(request, local);
}

SetupResult accept_reply(const wire::MpaFrame& request, const wire::MpaFrame& reply, const MpaPolicy& local) {
  using Kind = SetupResult::Kind;
  const std::optional<std::uint8_t> version = version_for_reply(local.personality, reply.rev);
  SetupResult result{Kind::kEstablished, MpaError::kNone, local.ird, local.ord, Rtr::kNone, version.value_or(1)};
  if (reply.rejected) {
    result.kind = Kind::kRejected;
    return result;
  }
  const bool answers = version == 0 || reply.rev == request.rev;  // an RDMAC peer answers with its own revision
  if (!version || !answers || reply.enhanced.has_value() != request.enhanced.has_value()) {
    return {Kind::kBadReply, MpaError::kBadFrame, local.ird, local.ord};
  }
  if (!reply.enhanced) return result;
  const wire::MpaEnhanced& answer = *reply.enhanced;

  if (answer.ord != kNotNegotiated) {
    if (answer.ord > larger(local.ird, local.max_ird)) {
      return {Kind::kTerminate, MpaError::kInsufficientIrd, local.ird, local.ord};
    }
    result.ird = larger(local.ird, answer.ord);
  }
  if (answer.ird != kNotNegotiated) result.ord = smaller(local.ord, answer.ird);

  if (request.enhanced->peer_to_peer) {
    RtrKinds usable = common(kinds(answer), local.rtr);
    if (answer.ird == 0) usable.read = false;  // the peer has no place for a Read Request
    result.rtr = choose(usable, local.rtr_order);
    if (result.rtr == Rtr::kNone) {
      return {Kind::kTerminate, MpaError::kNoMatchingRtr, result.ird, result.ord};
    }
    if (result.rtr == Rtr::kRead) result.ord = larger(result.ord, 1);
  }
  return result;
}

FrameProgress examine_frame(ByteSpan octets, wire::MpaFrameKind expected, std::uint8_t max_rev) {
  const wire::MpaFrameDecode decode = wire::decode_mpa_frame(octets, expected, max_rev);
  if (decode.error == wire::MpaFrameError::kTruncated && octets.size() == wire::kMpaHeaderBytes) {
    return {wire::MpaFrameError::kNone, static_cast<std::uint32_t>(*wire::mpa_frame_bytes(octets) - octets.size()), {}};
  }
  return {decode.error, 0, decode.frame};
}

}  // namespace rnic::fw
