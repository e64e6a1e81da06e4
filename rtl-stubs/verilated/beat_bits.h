// The beats and ULPDUs of model/rnic/messages/datapath.h as the structures of rtl-stubs/include/rnic_stream_pkg.sv. A
// beat's octets have a port of their own: octet i is [8*i +: 8].
#pragma once

#include <cstring>

#include "model/common/bytes.h"
#include "model/rnic/messages/datapath.h"
#include "rtl-stubs/verilated/bits.h"

namespace rnic::rtl {

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
