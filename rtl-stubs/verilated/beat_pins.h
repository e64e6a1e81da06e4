// FpduBeat <-> fpdu_beat_t of rtl-stubs/include/rnic_stream_pkg.sv, as Verilator's 32-bit words, least significant
// first.
#pragma once

#include <cstring>

#include "model/common/check.h"
#include "model/rnic/beat.h"

namespace rnic::rtl {

inline constexpr unsigned kCtl = 0, kFlow = 1, kMarker = 2, kData = 3;  // word indexes

template <class Wide>
void pack(const FpduBeat& b, Wide& w) {
  const bool marker = b.marker_lane != FpduBeat::kNoMarker;
  w[kCtl] = std::uint32_t{b.words} << 11 | (marker ? std::uint32_t{b.marker_lane} << 6 : 0u) | marker << 5 |
            b.completes_wqe << 4 | b.first << 3 | b.last << 2 | b.crc_on << 1 | b.crc_ok;
  w[kFlow] = b.flow.v;
  w[kMarker] = load_le32(b.marker);
  for (unsigned i = 0; i < b.words; ++i) w[kData + i] = load_le32(b.data + 4 * i);
}

// The block's bytes are authoritative: they are written to where the beat's bytes live.
template <class Wide>
void unpack(const Wide& w, FpduBeat& b) {
  const std::uint32_t ctl = w[kCtl];
  b.words = static_cast<std::uint8_t>(ctl >> 11 & 0x3f);
  b.marker_lane = ctl & 0x20 ? static_cast<std::uint8_t>(ctl >> 6 & 0x1f) : FpduBeat::kNoMarker;
  b.completes_wqe = ctl & 0x10;
  b.first = ctl & 8;
  b.last = ctl & 4;
  b.crc_on = ctl & 2;
  b.crc_ok = ctl & 1;
  b.flow = FlowId{w[kFlow]};
  store_le32(b.marker, w[kMarker]);
  for (unsigned i = 0; i < b.words; ++i) store_le32(b.data + 4 * i, w[kData + i]);
}

}  // namespace rnic::rtl
