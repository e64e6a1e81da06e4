// TCP segments as stream beats, and FPDUs put together again from what the deframer made of them.
#pragma once

#include "model/common/bytes.h"
#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// One segment's payload at stream position `offset`. It lies in its buffer where Ethernet, IP and TCP headers of
// everyday size leave it, which is no multiple of 4.
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

struct ReceivedFpdu {
  FlowId flow;
  Bytes words;  // without markers
  Bytes wire;   // with the markers where they stood
  bool marker_ok = false, crc_on = false, crc_ok = false;
  const std::uint8_t* data = nullptr;
};

// Puts FPDUs together and releases their buffers. All beats but the last must be full, in one piece of memory.
inline std::vector<ReceivedFpdu> receive_fpdus(const std::vector<FpduBeat>& beats, unsigned beat_bytes) {
  std::vector<ReceivedFpdu> fpdus;
  for (const FpduBeat& b : beats) {
    EXPECT_EQ(b.first, fpdus.empty() || (&b)[-1].last);
    if (b.first) fpdus.push_back({b.flow, {}, {}, false, b.crc_on, false, b.data});
    ReceivedFpdu& fpdu = fpdus.back();
    EXPECT_EQ(b.flow, fpdu.flow);
    EXPECT_EQ(b.data, fpdu.data + fpdu.words.size());
    EXPECT_TRUE(b.last || b.words == beat_bytes / 4);
    for (unsigned lane = 0; lane < b.words; ++lane) {
      if (b.marker_lane == lane) fpdu.wire.insert(fpdu.wire.end(), b.marker, b.marker + 4);
      fpdu.wire.insert(fpdu.wire.end(), b.data + 4 * lane, b.data + 4 * lane + 4);
    }
    fpdu.words.insert(fpdu.words.end(), b.data, b.data + 4 * b.words);
    if (!b.last) continue;
    fpdu.marker_ok = b.marker_ok;
    fpdu.crc_ok = b.crc_ok;
    BufferRef::adopt(b.buf);
  }
  return fpdus;
}

}  // namespace rnic::test
