// Start-up frames, and how both ends of a negotiation handle them.
#include "firmware/conn/mpa_negotiation.h"
#include "testbench/fuzz/input.h"
#include "testbench/fuzz/parsers.h"

namespace rnic::fuzz {
namespace {

fw::MpaPolicy policy(Input& in) {
  const std::uint64_t bits = in.number(2);
  fw::MpaPolicy p;
  p.markers = bits & 1;
  p.crc = bits & 2;
  p.enhanced = bits & 4;
  p.peer_to_peer = bits & 8;
  p.rtr = {(bits & 16) != 0, (bits & 32) != 0, (bits & 64) != 0};
  p.negotiate_ird = bits & 128;
  p.negotiate_ord = bits & 256;
  p.personality = static_cast<abi::Personality>(static_cast<unsigned>(abi::Personality::kIetf) + (bits >> 9) % 3);
  p.ird = in.octet();
  p.ord = in.octet();
  p.max_ird = in.octet();
  p.need_ord = in.octet();
  return p;
}

void emitted_is_read(const wire::MpaFrame& frame, wire::MpaFrameKind kind) {
  std::uint8_t octets[wire::kMpaHeaderBytes + wire::kMpaMaxPrivateData];
  const std::size_t bytes = frame.emit(octets);
  require(bytes == frame.bytes(), "a frame that was decoded cannot be sent");
  const wire::MpaFrameDecode again = wire::decode_mpa_frame({octets, bytes}, kind, wire::kMpaRev2);
  require(again.error == wire::MpaFrameError::kNone, "what we send is refused");
  require(again.frame.rev == frame.rev && again.frame.crc == frame.crc && again.frame.markers == frame.markers &&
              again.frame.pd_length() == frame.pd_length(),
          "what we send is read otherwise");
}

void negotiate(const wire::MpaFrame& frame, wire::MpaFrameKind kind, const fw::MpaPolicy& local) {
  if (kind == wire::MpaFrameKind::kRequest) {
    if (!fw::version_for_request(local.personality, frame.rev)) {
      return emitted_is_read(fw::make_revision_refusal(frame, local), wire::MpaFrameKind::kReply);
    }
    const fw::ReplyDecision reply = fw::negotiate_reply(frame, local);
    emitted_is_read(reply.frame, wire::MpaFrameKind::kReply);
    emitted_is_read(fw::make_rejection(frame, local), wire::MpaFrameKind::kReply);
    require(reply.error != fw::SetupError::kNone || reply.ird <= std::max(local.ird, local.max_ird) || reply.ird == 1,
            "an IRD beyond the limit");
  } else {
    const wire::MpaFrame request = fw::make_request(local, {});
    emitted_is_read(request, wire::MpaFrameKind::kRequest);
    fw::accept_reply(request, frame, local);
  }
}

}  // namespace

void mpa(ByteSpan octets) {
  Input in(octets);
  const std::uint8_t how = in.octet();
  const auto kind = how & 1 ? wire::MpaFrameKind::kRequest : wire::MpaFrameKind::kReply;
  const fw::MpaPolicy local = policy(in);
  const ByteSpan frame = in.rest();
  const std::uint8_t max_rev = how & 2 ? wire::kMpaRev2 : fw::max_revision(local);
  const wire::MpaFrameDecode decoded = wire::decode_mpa_frame(frame, kind, max_rev);
  wire::to_string(decoded.error);
  // Piece by piece gives the same result, except for surplus octets, which nothing asks for.
  std::size_t known = wire::kMpaHeaderBytes;
  fw::FrameProgress progress;
  while (known <= frame.size() && (progress = fw::examine_frame(frame.subspan(0, known), kind, max_rev)).missing != 0 &&
         progress.error == wire::MpaFrameError::kNone) {
    known += progress.missing;
  }
  if (decoded.error != wire::MpaFrameError::kNone) return;
  require(wire::starts_like_mpa_key(frame, kind), "a frame does not begin like one");
  require(wire::mpa_frame_bytes(frame) == frame.size(), "a frame has another length");
  require(progress.error == wire::MpaFrameError::kNone && progress.missing == 0,
          "a whole frame is not whole in pieces");
  emitted_is_read(decoded.frame, kind);
  negotiate(decoded.frame, kind, local);
}

}  // namespace rnic::fuzz
