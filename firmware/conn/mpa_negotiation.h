// MPA connection setup as pure functions. They compute the result of a request, a reply and the local policy (RFC 5044
// section 7.1, RFC 6581 sections 9 and 10, draft-carrier-rddp-rnic-interop-00 section 5).
#pragma once

#include <cstdint>
#include <optional>

#include "firmware/conn/enhanced_negotiation.h"
#include "model/abi/host_abi.h"
#include "model/wire/mpa_frame.h"

namespace rnic::fw {

// The policy of one end for an MPA stream.
struct MpaMarking {
  bool markers = false;  // M
  bool crc = true;       // C
};

// The policy of one end for MPA. `enhanced` means revision 2.
struct MpaPolicy : MpaMarking, EnhancedPolicy {
  abi::Personality personality = abi::Personality::kIetf;  // not kDevice
};

// The highest revision that this end reads. An RDMAC RNIC does not support enhanced frames.
constexpr std::uint8_t max_revision(const MpaPolicy& local) {
  return local.enhanced && local.personality != abi::Personality::kRdmac ? wire::kMpaRev2 : wire::kMpaRev1;
}

// The version of DDP and RDMAP that a request of this revision yields at its responder; nothing if there is none.
constexpr std::optional<std::uint8_t> version_for_request(abi::Personality responder, std::uint8_t rev) {
  if (responder == abi::Personality::kRdmac)
    return rev <= wire::kMpaRev1 ? std::optional<std::uint8_t>(0) : std::nullopt;
  if (rev != wire::kMpaRevRdmac) return 1;
  return responder == abi::Personality::kPermissive ? std::optional<std::uint8_t>(0) : std::nullopt;
}
// The same for a reply, at the initiator.
constexpr std::optional<std::uint8_t> version_for_reply(abi::Personality initiator, std::uint8_t rev) {
  if (rev == wire::kMpaRevRdmac)
    return initiator == abi::Personality::kIetf ? std::nullopt : std::optional<std::uint8_t>(0);
  return initiator == abi::Personality::kRdmac ? std::nullopt : std::optional<std::uint8_t>(1);
}

wire::MpaFrame make_request(const MpaPolicy& local, ByteSpan private_data);

// The responder's answer. `frame` carries no private data yet.
struct ReplyDecision {
  wire::MpaFrame frame;
  std::uint16_t ird = 0, ord = 0;        // local values from now on
  SetupError error = SetupError::kNone;  // not kNone: frame rejects for this reason

  constexpr void reject(SetupError reason) {
    error = reason;
    frame.rejected = true;
  }
};
// `request` was decoded with the revision that the policy allows, and yields a version.
ReplyDecision negotiate_reply(const wire::MpaFrame& request, const MpaPolicy& local);
// The answer when the ULP does not want the connection.
wire::MpaFrame make_rejection(const wire::MpaFrame& request, const MpaPolicy& local);

// The answer to a request that yields no version. It carries our revision, and TCP is closed after it.
wire::MpaFrame make_revision_refusal(const wire::MpaFrame& request, const MpaPolicy& local);

// The initiator's conclusion.
struct SetupResult {
  enum class Kind : std::uint8_t {
    kEstablished,
    kRejected,   // by the peer: the stream leaves MPA
    kTerminate,  // send a Terminate with `error`, then close
    kBadReply    // close at once
  };
  Kind kind = Kind::kEstablished;
  SetupError error = SetupError::kNone;
  std::uint16_t ird = 0, ord = 0;  // local values from now on
  Rtr rtr = Rtr::kNone;            // to be sent first
  std::uint8_t version = 1;        // of DDP and RDMAP
};
SetupResult accept_reply(const wire::MpaFrame& request, const wire::MpaFrame& reply, const MpaPolicy& local);

// The result of both frames for the stream, at the end that sent `local`. With version 0 both sides send and check
// markers and CRC, whatever an IETF initiator asked for before it knew its peer (Figure 3).
struct StreamOptions {
  bool tx_markers = false, rx_markers = false, crc = true;
};
constexpr StreamOptions stream_options(const wire::MpaFrame& local, const wire::MpaFrame& peer, std::uint8_t version) {
  if (version == 0) return {true, true, true};
  return {peer.markers, local.markers, local.crc || peer.crc};
}

// The progress of a startup frame that arrives piece by piece.
struct FrameProgress {
  wire::MpaFrameError error = wire::MpaFrameError::kNone;
  std::uint32_t missing = 0;  // octets to read; 0: `frame` is complete, its private data a window on the input
  wire::MpaFrame frame;
};
// `octets` is a header, or a whole frame. Key, revision and PD_Length are checked as soon as the header is there.
FrameProgress examine_frame(ByteSpan octets, wire::MpaFrameKind expected, std::uint8_t max_rev);

}  // namespace rnic::fw
