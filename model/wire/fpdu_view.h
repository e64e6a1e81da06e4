// An FPDU in a TCP stream, with or without markers (RFC 5044 section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/fpdu.h"

namespace rnic::wire {

class FpduView {
 public:
  // The FPDU at the beginning of `stream`, whose first octet is at `position`; nullopt while it is incomplete.
  static std::optional<FpduView> parse(ByteSpan stream, StreamPosition position, bool markers);

  // As parse(), also if the stream ends before the FPDU does; nullopt while its length is not there. octets() are then
  // those that are there, and nothing may be asked of the others.
  static std::optional<FpduView> parse_begun(ByteSpan stream, StreamPosition position, bool markers);

  ByteSpan octets() const { return octets_; }  // with markers, pad and CRC
  // Of the whole FPDU, and the number of markers in it.
  std::size_t bytes() const { return markers_ ? marked_fpdu_bytes(position_, ulpdu_bytes_) : fpdu_bytes(ulpdu_bytes_); }
  std::size_t markers() const { return (bytes() - fpdu_bytes(ulpdu_bytes_)) / kMarkerBytes; }
  std::size_t ulpdu_bytes() const { return ulpdu_bytes_; }
  // Index in octets() of octet `i` counted without markers; octet kUlpduLengthBytes is the ULPDU's first.
  std::size_t place(std::size_t i) const { return markers_ ? i + kMarkerBytes * fpdu_markers(position_, i + 1) : i; }
  std::uint8_t ulpdu_octet(std::size_t i) const { return octets_[place(kUlpduLengthBytes + i)]; }
  std::size_t crc_at() const { return place(fpdu_bytes(ulpdu_bytes_) - kFpduCrcBytes); }
  // The octets that the CRC covers: all before it, including markers (section 4.4).
  ByteSpan covered() const { return octets_.subspan(0, crc_at()); }

  // The ULPDU without markers, as far as it is there. `out` has room for
  // it. Returns the octets written.
  std::size_t copy_ulpdu(MutableByteSpan out) const;

  // Calls f(FPDUPTR, expected FPDUPTR) for each marker.
  template <class F>
  void for_each_marker(F f) const {
    if (!markers_) return;
    for (std::size_t at = octets_to_marker(position_); at + kMarkerBytes <= octets_.size(); at += kMarkerInterval) {
      f(load_marker(octets_.data() + at),
        fpduptr(position_ + static_cast<StreamPosition>(at), ulpdu_length_position(position_)));
    }
  }

 private:
  FpduView(ByteSpan octets, StreamPosition position, bool markers, std::size_t ulpdu_bytes)
      : octets_(octets), position_(position), markers_(markers), ulpdu_bytes_(ulpdu_bytes) {}

  ByteSpan octets_;
  StreamPosition position_;
  bool markers_;
  std::size_t ulpdu_bytes_;
};

}  // namespace rnic::wire
