// The datapath's beats: what one stage hands to the next in one cycle. Both are plain and small; the bytes stay in a
// pooled buffer whose one reference belongs to the consumer of the last beat.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/ids.h"
#include "model/config/field.h"

namespace rnic {

// Datapath width in octets: a power of two from 16 to 128 (default 64, 512 bits).
struct DatapathConfig {
  unsigned beat_bytes = 64;
  template <class V>
  static void fields(V& v) {
    v("beat_bytes", &DatapathConfig::beat_bytes, "datapath width in octets", in_range(16, 128), power_of_two(),
      unit("octets"));
  }
};

// On the transmit side an FPDU starts here in its buffer: Ethernet, IP and TCP headers are written before it.
inline constexpr std::uint32_t kFrameHeadroom = 128;

// A piece of an FPDU. All of MPA lies on 4-octet steps (RFC 5044 section 4), so a beat is counted in 32-bit words.
// Every beat but the last is full. On the receive side a marker that the deframer took out travels beside the words:
// it stood before word `marker_lane`, and the CRC covers it there (RFC 5044 section 4.4). At most one fits a beat.
struct FpduBeat {
  static constexpr std::uint8_t kNoMarker = 0xff, kPlaced = 0xfe, kEnds = 0xfd;  // marker_lane without a marker

  Buffer* buf = nullptr;         // owner of the bytes
  std::uint8_t* data = nullptr;  // first octet of this beat
  std::uint8_t marker[4] = {};   // the marker as it was on the wire
  FlowId flow;
  std::uint8_t words = 0;  // 1 to beat_bytes / 4
  std::uint8_t marker_lane = kNoMarker;
  bool first = false;
  bool last = false;           // the last word is the CRC field
  bool completes_wqe = false;  // transmit, on the last beat: the last FPDU of a Send or RDMA Write
  bool marker_ok = true;       // valid on the last beat: all FPDUPTRs of this FPDU agreed with its length field
  bool crc_on = true;          // negotiated for this stream
  bool crc_ok = false;         // valid on the last beat, behind crc_check

  // Receive: the FPDU's payload is placed already. It is this one beat, length field and DDP header.
  bool placed() const { return marker_lane == kPlaced; }
  // Receive: no FPDU, but the peer's FIN behind the last one; marker_ok is false if it came amid an FPDU.
  bool ends() const { return marker_lane == kEnds; }
  bool marked() const { return marker_lane < kEnds; }
  void abandon() {
    if (last) BufferRef::adopt(buf);
  }
};

// A piece of a TCP stream: `bytes` octets at stream position `offset` (0 is the first octet after the start-up frame).
// In-order receivers hand beats up in order; the offset lets segments behind a hole be handed up as well.
struct StreamBeat {
  Buffer* buf = nullptr;
  const std::uint8_t* data = nullptr;
  std::uint64_t offset = 0;
  FlowId flow;
  std::uint8_t bytes = 0;  // 1 to beat_bytes
  bool first = false;      // of a TCP segment
  bool last = false;
  // Stands for a whole FPDU from `offset` on, whose payload is placed: its first octets, no marker.
  bool placed = false;
  bool ends = false;  // the peer's FIN: a word that means nothing and has no place in the stream

  void abandon() {
    if (last) BufferRef::adopt(buf);
  }
};

// Octets of the beat that stands for the peer's FIN.
inline constexpr std::uint32_t kEndBytes = 4;

}  // namespace rnic
