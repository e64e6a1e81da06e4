// FPDUs reassembled from the deframer's output for TCP segments.
#pragma once

#include "testbench/support/segment_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// Stands for an FPDU at `offset` whose payload is placed: its length field and tagged DDP header.
inline StreamBeat placed_fpdu(BufferPool& pool, ByteSpan header, std::uint64_t offset, FlowId flow) {
  RNIC_CHECK(header.size() == 16);
  StreamBeat b = cut_segment(pool, header, offset, 16, flow).front();
  b.placed = true;
  return b;
}

// Stands for the peer's FIN.
inline StreamBeat end_of_stream(BufferPool& pool, std::uint64_t offset, FlowId flow) {
  StreamBeat b = cut_segment(pool, Bytes(kEndBytes), offset, 16, flow).front();
  b.ends = true;
  return b;
}

struct ReceivedFpdu {
  FlowId flow;
  Bytes words;  // without markers
  Bytes wire;   // with the markers where they stood
  bool marker_ok = false, crc_on = false, crc_ok = false;
  const std::uint8_t* data = nullptr;
  bool placed = false, ends = false;
};

// Reassembles FPDUs and releases their buffers. All beats but the last must be full, in one piece of memory.
inline std::vector<ReceivedFpdu> receive_fpdus(const std::vector<FpduBeat>& beats, unsigned beat_bytes) {
  std::vector<ReceivedFpdu> fpdus;
  for (const FpduBeat& b : beats) {
    EXPECT_EQ(b.first, fpdus.empty() || (&b)[-1].last);
    if (b.first) fpdus.push_back({b.flow, {}, {}, false, b.crc_on, false, b.data, b.placed(), b.ends()});
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
