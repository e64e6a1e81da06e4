#include "firmware/conn/mpa_negotiation.h"

namespace rnic::fw {
namespace {

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
  request.enhanced = request_word(local);
  return request;
}

ReplyDecision negotiate_reply(const wire::MpaFrame& request, const MpaPolicy& local) {
  ReplyDecision decision{reply_to(request, local), local.ird, local.ord, SetupError::kNone};
  if (!request.enhanced) return decision;
  decision.frame.enhanced = answer_word(*request.enhanced, local, decision);
  return decision;
}

wire::MpaFrame make_rejection(const wire::MpaFrame& request, const MpaPolicy& local) {
  wire::MpaFrame frame = negotiate_reply(request, local).frame;
  frame.rejected = true;
  if (frame.enhanced) name_needed_ord(*frame.enhanced, local);
  return frame;
}

wire::MpaFrame make_revision_refusal(const wire::MpaFrame& request, const MpaPolicy& local) {
  return reply_to(request, local);
}

SetupResult accept_reply(const wire::MpaFrame& request, const wire::MpaFrame& reply, const MpaPolicy& local) {
  using Kind = SetupResult::Kind;
  const std::optional<std::uint8_t> version = version_for_reply(local.personality, reply.rev);
  SetupResult result{Kind::kEstablished, SetupError::kNone, local.ird, local.ord, Rtr::kNone, version.value_or(1)};
  if (reply.rejected) {
    result.kind = Kind::kRejected;
    return result;
  }
  const bool answers = version == 0 || reply.rev == request.rev;  // an RDMAC peer answers with its own revision
  if (!version || !answers || reply.enhanced.has_value() != request.enhanced.has_value()) {
    return {Kind::kBadReply, SetupError::kBadFrame, local.ird, local.ord};
  }
  if (!reply.enhanced) return result;
  const WordResult concluded = conclude_word(*request.enhanced, *reply.enhanced, local);
  if (concluded.error != SetupError::kNone) {
    return {Kind::kTerminate, concluded.error, concluded.ird, concluded.ord};
  }
  result.ird = concluded.ird;
  result.ord = concluded.ord;
  result.rtr = concluded.rtr;
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
