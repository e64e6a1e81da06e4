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

inline constexpr std::size_t kMaxBeatBytes = 128;  // the widest datapath of DatapathConfig

// Most beats are full, and copies of a fixed size are the fastest.
template <std::size_t kFull>
void copy_octets(void* to, const void* from, std::size_t octets) {
  if (octets == kFull) std::memcpy(to, from, kFull);
  else std::memcpy(to, from, octets);
}
template <class Data>
void copy_to_port(Data& port, const void* from, std::size_t octets) {
  copy_octets<sizeof(Data)>(&port, from, octets);
}
template <class Data>
void copy_from_port(void* to, const Data& port, std::size_t octets) {
  copy_octets<sizeof(Data)>(to, &port, octets);
}
// A port's contents after a beat's last octet do not matter.
template <class Beat, class Bits, class Data>
void pack(const Beat& b, Bits& bits, Data& data) {
  pack(b, bits);
  copy_to_port(data, b.data, octets_of(b).size());
}
// The block's octets are authoritative: they replace the beat's octets in its buffer. False if the block gives more
// octets than its port or the beat's buffer has; then none is written.
template <class Bits, class Data>
[[nodiscard]] bool unpack(const Bits& bits, const Data& data, FpduBeat& b) {
  unpack(bits, b);
  const std::size_t octets = octets_of(b).size();
  if (octets > port_octets(data)) return false;
  if (b.buf != nullptr && b.data + octets > b.buf->bytes() + b.buf->capacity()) return false;
  copy_from_port(b.data, data, octets);
  return true;
}

}  // namespace rnic::rtl
