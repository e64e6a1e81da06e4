#include "model/rnic/llp/tcp/mpa_tcp_traits.h"

namespace rnic {
namespace {

// An FPDU, with the markers at its place.
std::size_t fpdu_octets(bool markers, wire::StreamPosition position, std::uint32_t ulpdu) {
  return markers ? wire::marked_fpdu_bytes(position, ulpdu) : wire::fpdu_bytes(ulpdu);
}

}  // namespace

LlpTraits mpa_tcp_traits() {
  return {&fpdu_octets, false, true, "credit", "TCP window", "tcp_memory", "TCP transmit memory", true};
}

}  // namespace rnic
