// FpduBeat <-> fpdu_beat_t of rtl-stubs/include/rnic_stream_pkg.sv and its octets, as Verilator's 32-bit words, least
// significant first.
#pragma once

#include "model/common/bytes.h"
#include "model/rnic/beat.h"

namespace rnic::rtl {

template <class Wide, class Data>
void pack(const FpduBeat& b, Wide& w, Data& data) {
  const bool marker = b.marker_lane != FpduBeat::kNoMarker;
  const unsigned lane = marker ? b.marker_lane : 0;
  w[0] = b.flow.v << 18 | b.words << 12 | lane << 7 | marker << 6 | b.marker_ok << 5 | b.completes_wqe << 4 |
         b.first << 3 | b.last << 2 | b.crc_on << 1 | b.crc_ok;
  w[1] = load_le32(b.marker) << 18 | b.flow.v >> 14;
  w[2] = load_le32(b.marker) >> 14;
  for (unsigned i = 0; i < b.words; ++i) data[i] = load_le32(b.data + 4 * i);
}

// The block's octets are authoritative: they are written to where the beat's octets live.
template <class Wide, class Data>
void unpack(const Wide& w, const Data& data, FpduBeat& b) {
  const std::uint32_t control = w[0];
  b.words = static_cast<std::uint8_t>(control >> 12 & 0x3f);
  b.marker_lane = control & 0x40 ? static_cast<std::uint8_t>(control >> 7 & 0x1f) : FpduBeat::kNoMarker;
  b.marker_ok = control & 0x20;
  b.completes_wqe = control & 0x10;
  b.first = control & 8;
  b.last = control & 4;
  b.crc_on = control & 2;
  b.crc_ok = control & 1;
  b.flow = FlowId{w[1] << 14 | control >> 18};
  store_le32(b.marker, w[2] << 14 | w[1] >> 18);
  for (unsigned i = 0; i < b.words; ++i) store_le32(b.data + 4 * i, data[i]);
}

inline std::size_t octets_of(const FpduBeat& b) { return 4u * b.words; }

// f(name, a's, b's) for every field that pins carry.
template <class F>
void for_each_field(const FpduBeat& a, const FpduBeat& b, F f) {
  f("flow", a.flow.v, b.flow.v);
  f("words", a.words, b.words);
  f("marker_lane", a.marker_lane, b.marker_lane);
  f("marker", load_be32(a.marker), load_be32(b.marker));
  f("marker_ok", a.marker_ok, b.marker_ok);
  f("completes_wqe", a.completes_wqe, b.completes_wqe);
  f("first", a.first, b.first);
  f("last", a.last, b.last);
  f("crc_on", a.crc_on, b.crc_on);
  f("crc_ok", a.crc_ok, b.crc_ok);
}

}  // namespace rnic::rtl
