#include "model/rnic/llp/sctp/ip_reassembly.h"

#include <algorithm>
#include <cstring>

namespace rnic::sctp {

using wire::Ipv4Header;

IpReassembly::Packet& IpReassembly::of(const Ipv4Header& header) {
  for (Packet& p : packets_) {
    if (p.buf && p.source == header.src.v && p.id == header.identification) return p;
  }
  Packet& p = packets_[next_];
  next_ = (next_ + 1) % kPackets;
  given_up_ += static_cast<bool>(p.buf);
  p = Packet{};
  p.source = header.src.v;
  p.id = header.identification;
  p.buf = pool_->take();
  return p;
}

std::optional<ByteSpan> IpReassembly::put(const wire::Ipv4View& fragment) {
  const Ipv4Header& h = fragment.header;
  const std::size_t at = std::size_t{h.fragment & unsigned{Ipv4Header::kFragmentOffsetMask}} * kUnit;
  const std::size_t bytes = fragment.payload.size(), end = at + bytes;
  const bool last = (h.fragment & Ipv4Header::kMoreFragments) == 0;
  if (bytes == 0 || (!last && bytes % kUnit != 0) || end > pool_->block_bytes()) return std::nullopt;
  Packet& p = of(h);
  if (last && p.bytes == 0) p.bytes = static_cast<std::uint32_t>(end);
  p.top = std::max(p.top, static_cast<std::uint32_t>(end));
  if (p.bytes != 0 && (p.top > p.bytes || (last && end != p.bytes))) {
    ++given_up_;
    p = Packet{};
    return std::nullopt;
  }
  std::memcpy(p.buf->bytes() + at, fragment.payload.data(), bytes);
  for (std::size_t unit = at / kUnit; unit * kUnit < end; ++unit) p.units.set(unit);
  if (p.bytes == 0 || p.units.count() != (p.bytes + kUnit - 1) / kUnit) return std::nullopt;
  whole_ = std::move(p.buf);
  const ByteSpan octets(whole_->bytes(), p.bytes);
  p = Packet{};
  return octets;
}

}  // namespace rnic::sctp
