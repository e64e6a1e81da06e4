// TCP segments as stream beats.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "model/common/bytes.h"
#include "testbench/support/fpdu_beats.h"

namespace rnic::test {

// One segment's payload at stream position `offset`. In its buffer it starts after Ethernet, IP and TCP headers of
// common size, which is at no multiple of 4.
inline std::vector<StreamBeat> cut_segment(BufferPool& pool, ByteSpan octets, std::uint64_t offset, unsigned beat_bytes,
                                           FlowId flow) {
  constexpr std::size_t kHeaders = 54;
  Buffer* buf = pool.take().release();
  RNIC_CHECK(kHeaders + octets.size() <= buf->capacity());
  std::memcpy(buf->bytes() + kHeaders, octets.data(), octets.size());
  std::vector<StreamBeat> beats;
  for (std::size_t at = 0; at < octets.size(); at += beat_bytes) {
    StreamBeat b;
    b.buf = buf;
    b.data = buf->bytes() + kHeaders + at;
    b.offset = offset + at;
    b.flow = flow;
    b.bytes = static_cast<std::uint8_t>(std::min<std::size_t>(beat_bytes, octets.size() - at));
    b.first = at == 0;
    b.last = at + b.bytes == octets.size();
    beats.push_back(b);
  }
  return beats;
}

}  // namespace rnic::test
