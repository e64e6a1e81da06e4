// DDP segment headers (RFC 5041 sections 4.2 and 4.3). The octet that DDP reserves for its ULP is RDMAP's control
// octet: see rdmap.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/fields.h"

namespace rnic::wire {

inline constexpr std::uint8_t kDdpVersion = 1;       // RFC 5041
inline constexpr std::uint8_t kDdpVersionRdmac = 0;  // RDMAC peers

// The control octet; its four reserved bits are sent as 0 and ignored.
struct DdpControl {
  static constexpr std::uint8_t kTagged = 0x80, kLast = 0x40, kVersionMask = 0x03;
  static constexpr bool tagged(std::uint8_t octet) { return octet & kTagged; }
  static constexpr bool last(std::uint8_t octet) { return octet & kLast; }
  static constexpr std::uint8_t version(std::uint8_t octet) { return octet & kVersionMask; }
  static constexpr std::uint8_t pack(bool tagged, bool last, std::uint8_t version) {
    return static_cast<std::uint8_t>((tagged ? kTagged : 0) | (last ? kLast : 0) | (version & kVersionMask));
  }
};

struct DdpTaggedHeader {
  static constexpr std::size_t kBytes = 14;
  std::uint8_t control = DdpControl::pack(true, true, kDdpVersion);
  std::uint8_t rdmap = 0;  // RsvdULP: the RDMAP control octet
  std::uint32_t stag = 0;
  std::uint64_t to = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.control, h.rdmap, h.stag, h.to);
  }
  constexpr bool last() const { return DdpControl::last(control); }
  constexpr std::uint8_t version() const { return DdpControl::version(control); }
  constexpr std::size_t emit(MutableByteSpan out) const { return emit_fields(*this, out); }
};

struct DdpUntaggedHeader {
  static constexpr std::size_t kBytes = 18;
  std::uint8_t control = DdpControl::pack(false, true, kDdpVersion);
  std::uint8_t rdmap = 0;             // RsvdULP: the RDMAP control octet
  std::uint32_t invalidate_stag = 0;  // RsvdULP: 0 unless the message invalidates
  std::uint32_t qn = 0;
  std::uint32_t msn = 1;  // the first message of a queue has 1
  std::uint32_t mo = 0;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.control, h.rdmap, h.invalidate_stag, h.qn, h.msn, h.mo);
  }
  constexpr bool last() const { return DdpControl::last(control); }
  constexpr std::uint8_t version() const { return DdpControl::version(control); }
  constexpr std::size_t emit(MutableByteSpan out) const { return emit_fields(*this, out); }
};

// A segment (ULPDU): decoded header and a view of the payload. nullopt if it is too short or T is of the other kind;
// nothing else is checked here.
template <class Header, bool kTagged>
struct DdpView {
  static constexpr std::size_t kHeaderBytes = Header::kBytes;
  Header header;
  ByteSpan payload;

  static constexpr std::optional<DdpView> parse(ByteSpan ulpdu) {
    if (ulpdu.size() < kHeaderBytes || DdpControl::tagged(ulpdu[0]) != kTagged) return std::nullopt;
    return DdpView{*parse_fields<Header>(ulpdu), ulpdu.subspan(kHeaderBytes)};
  }
};
using DdpTaggedView = DdpView<DdpTaggedHeader, true>;
using DdpUntaggedView = DdpView<DdpUntaggedHeader, false>;

// Octets of a header with this control octet.
constexpr std::size_t ddp_header_bytes(std::uint8_t control) {
  return DdpControl::tagged(control) ? DdpTaggedHeader::kBytes : DdpUntaggedHeader::kBytes;
}

}  // namespace rnic::wire
