#include "model/rnic/llp/sctp/sctp_traits.h"

#include "model/wire/ddp_session.h"

namespace rnic {
namespace {

// A DATA chunk, wherever it is (RFC 5043 section 5).
std::size_t chunk_octets(bool, wire::StreamPosition, std::uint32_t ulpdu) { return wire::sctp_segment_bytes(ulpdu); }

}  // namespace

LlpTraits sctp_traits() {
  return {&chunk_octets, true, false, "sctp_credit", "SCTP window", "sctp_memory", "SCTP transmit memory", false};
}

}  // namespace rnic
