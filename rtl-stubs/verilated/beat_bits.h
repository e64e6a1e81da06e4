// The beats of model/rnic/beat.h, and ULPDUs, as the structures of rtl-stubs/include/rnic_stream_pkg.sv. A beat's
// octets have a port of their own: octet i is [8*i +: 8].
#pragma once

#include <cstring>

#include "model/common/bytes.h"
#include "model/rnic/beat.h"
#include "model/rnic/tx/ulpdu.h"
#include "rtl-stubs/verilated/bits.h"

namespace rnic::rtl {

template <>
struct Message<FpduBeat> {
  static constexpr const char* kName = "fpdu_beat";
  template <class V>
  static void fields(V& v, const FpduBeat& b) {
    const unsigned lane = b.marked() ? b.marker_lane : 0;
    visit(v, b, load_le32(b.marker), lane, b.marked(), b.placed(), b.ends());
  }
  template <class V>
  static void fields(V& v, FpduBeat& b) {
    std::uint32_t marker = 0;
    std::uint8_t lane = 0;
    bool marked = false, placed = false, ends = false;
    visit(v, b, marker, lane, marked, placed, ends);
    store_le32(b.marker, marker);
    b.marker_lane = marked ? lane : placed ? FpduBeat::kPlaced : ends ? FpduBeat::kEnds : FpduBeat::kNoMarker;
  }

 private:
  template <class V, class Beat, class Marker, class Lane, class Marked, class Placed, class Ends>
  static void visit(V& v, Beat& b, Marker&& marker, Lane&& lane, Marked&& marked, Placed&& placed, Ends&& ends) {
    v("ends", 1, ends);
    v("placed", 1, placed);
    v("marker", 32, marker);
    v("flow", b.flow);
    v("words", 6, b.words);
    v("marker_lane", 5, lane);
    v("marker_valid", 1, marked);
    v("marker_ok", 1, b.marker_ok);
    v("completes_wqe", 1, b.completes_wqe);
    v("first", 1, b.first);
    v("last", 1, b.last);
    v("crc_on", 1, b.crc_on);
    v("crc_ok", 1, b.crc_ok);
  }
};
template <>
struct Message<StreamBeat> {
  static constexpr const char* kName = "stream_beat";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("offset", 64, m.offset);
    v("flow", m.flow);
    v("bytes", 8, m.bytes);
    v("first", 1, m.first);
    v("last", 1, m.last);
    v("placed", 1, m.placed);
    v("ends", 1, m.ends);
  }
};
template <>
struct Message<Ulpdu> {
  static constexpr const char* kName = "ulpdu";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 16, m.bytes);
    v("completes_wqe", 1, m.completes_wqe);
  }
};

inline ByteSpan octets_of(const FpduBeat& b) { return {b.data, 4u * b.words}; }
inline ByteSpan octets_of(const StreamBeat& b) { return {b.data, b.bytes}; }

// Most beats are full, and copies of a fixed size are the fastest.
template <std::size_t kFull>
void copy_octets(void* to, const void* from, std::size_t octets) {
  if (octets == kFull) std::memcpy(to, from, kFull);
  else std::memcpy(to, from, octets);
}
// What a port holds behind a beat's last octet does not matter.
template <class Beat, class Bits, class Data>
void pack(const Beat& b, Bits& bits, Data& data) {
  pack(b, bits);
  copy_octets<sizeof data>(&data, b.data, octets_of(b).size());
}
// The block's octets are authoritative: they are written to where the beat's octets live.
template <class Bits, class Data>
void unpack(const Bits& bits, const Data& data, FpduBeat& b) {
  unpack(bits, b);
  copy_octets<sizeof data>(b.data, &data, octets_of(b).size());
}

}  // namespace rnic::rtl
