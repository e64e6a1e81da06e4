#include "model/wire/ipv6.h"

#include <algorithm>

#include "model/wire/fields.h"

namespace rnic::wire {
namespace {

constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kDestinationOptions = 60;
constexpr std::size_t kFragmentHeaderBytes = 8;

// The header on the wire: version, traffic class and flow label share a word.
struct Fixed {
  static constexpr std::size_t kBytes = Ipv6Header::kBytes - 2 * Ipv6Address::kBytes;
  std::uint32_t first_word = 0;
  std::uint16_t payload_length = 0;
  std::uint8_t next_header = 0, hop_limit = 0;
  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.first_word, h.payload_length, h.next_header, h.hop_limit);
  }
};

Ipv6Address load_address(const std::uint8_t* at) {
  Ipv6Address address;
  for (std::uint8_t& octet : address.octets) octet = *at++;
  return address;
}

void store_address(std::uint8_t* at, const Ipv6Address& address) {
  for (const std::uint8_t octet : address.octets) *at++ = octet;
}

// Moves past extension headers; false if one does not fit.
bool skip_extensions(Ipv6View& view) {
  for (;;) {
    std::size_t length = 0;
    if (view.protocol == kFragment) {
      length = kFragmentHeaderBytes;
      view.fragment = true;
    } else if (view.protocol == kHopByHop || view.protocol == kRouting || view.protocol == kDestinationOptions) {
      if (view.payload.size() < 2) return false;
      length = 8 * (std::size_t{view.payload[1]} + 1);
    } else {
      return true;
    }
    if (view.payload.size() < length) return false;
    view.protocol = view.payload[0];
    view.payload = view.payload.subspan(length);
    if (view.fragment) return true;
  }
}

}  // namespace

std::size_t Ipv6Header::emit(MutableByteSpan out) const {
  if (out.size() < kBytes) return 0;
  const Fixed fixed{6u << 28 | std::uint32_t{traffic_class} << 20 | (flow_label & 0xfffffu), payload_length,
                    next_header, hop_limit};
  emit_fields(fixed, out);
  store_address(out.data() + Fixed::kBytes, src);
  store_address(out.data() + Fixed::kBytes + Ipv6Address::kBytes, dst);
  return kBytes;
}

namespace {

enum class Length : std::uint8_t { kWhole, kOffloaded, kCut };

std::optional<Ipv6View> view_of(ByteSpan packet, Length kind) {
  if (packet.size() < Ipv6Header::kBytes) return std::nullopt;
  const Fixed fixed = *parse_fields<Fixed>(packet);
  const std::size_t behind = packet.size() - Ipv6Header::kBytes;
  std::size_t length = kind != Length::kWhole && fixed.payload_length == 0 ? behind : fixed.payload_length;
  if (kind == Length::kCut) length = std::min(length, behind);
  if (fixed.first_word >> 28 != 6 || behind < length) return std::nullopt;
  Ipv6View view;
  view.header.traffic_class = static_cast<std::uint8_t>(fixed.first_word >> 20);
  view.header.flow_label = fixed.first_word & 0xfffffu;
  view.header.payload_length = fixed.payload_length;
  view.header.next_header = fixed.next_header;
  view.header.hop_limit = fixed.hop_limit;
  view.header.src = load_address(packet.data() + Fixed::kBytes);
  view.header.dst = load_address(packet.data() + Fixed::kBytes + Ipv6Address::kBytes);
  view.protocol = fixed.next_header;
  view.payload = packet.subspan(Ipv6Header::kBytes, length);
  if (!skip_extensions(view)) return std::nullopt;
  return view;
}

}  // namespace

std::optional<Ipv6View> Ipv6View::parse(ByteSpan packet) { return view_of(packet, Length::kWhole); }
std::optional<Ipv6View> Ipv6View::parse_offloaded(ByteSpan packet) { return view_of(packet, Length::kOffloaded); }
std::optional<Ipv6View> Ipv6View::parse_cut(ByteSpan packet) { return view_of(packet, Length::kCut); }

}  // namespace rnic::wire
