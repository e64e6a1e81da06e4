// What a predictor's stream ports carry: all beats of an FPDU or of a segment as one message.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/ids.h"

namespace rnic::golden {

// A marker beside the words of a received FPDU, as it was on the wire before word `word` (RFC 5044 section 4.3).
struct Mark {
  std::uint32_t word = 0;
  std::uint8_t octets[4] = {};
};

// What a structure of the C interface points to, beside its fields.
struct Payload {
  std::vector<std::uint8_t> octets;
};

// DDP header and payload, on their way to the framer.
struct UlpduMessage : Payload {
  FlowId flow;
  bool completes_wqe = false, markers = false, crc = true;
  std::uint16_t position = 0;  // of the FPDU in its stream, modulo the marker interval

  static constexpr const char* kMessage = "ulpdu";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("completes_wqe", 1, m.completes_wqe);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
    v("position", 9, m.position);
  }
};

// Length field, ULPDU, pad and CRC field. On the transmit side markers are among the octets once they are inserted; on
// the receive side they are beside them.
struct FpduMessage : Payload {
  FlowId flow;
  Qpn qpn;
  std::uint8_t life = 0;
  bool wants_markers = false;  // from framer to marker inserter, with the FPDU's start
  std::uint16_t position = 0;
  bool completes_wqe = false, marker_ok = true, crc_on = true, crc_ok = false;
  bool placed = false;  // its payload is placed: length field and DDP header alone
  bool ends = false;    // no FPDU, but the end of the peer's stream
  std::vector<Mark> marks;

  static constexpr const char* kMessage = "fpdu";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("qpn", m.qpn);
    v("life", 8, m.life);
    v("wants_markers", 1, m.wants_markers);
    v("position", 9, m.position);
    v("completes_wqe", 1, m.completes_wqe);
    v("marker_ok", 1, m.marker_ok);
    v("crc_on", 1, m.crc_on);
    v("crc_ok", 1, m.crc_ok);
    v("placed", 1, m.placed);
    v("ends", 1, m.ends);
  }
};

// The octets of a TCP segment that a receiver hands up, in the order of the stream.
struct SegmentMessage : Payload {
  std::uint64_t offset = 0;  // in the stream, from the first octet after the start-up frame
  FlowId flow;
  Qpn qpn;
  std::uint8_t life = 0;
  bool markers = false, crc = true;
  bool placed = false, ends = false;

  static constexpr const char* kMessage = "segment";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("offset", 64, m.offset);
    v("flow", m.flow);
    v("qpn", m.qpn);
    v("life", 8, m.life);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
    v("placed", 1, m.placed);
    v("ends", 1, m.ends);
  }
};

// A row of the deframer's table "stream": where a flow's next FPDU begins, for a stream that is taken over in its
// middle.
struct StreamPlace {
  std::uint64_t position = 0;

  static constexpr const char* kMessage = "stream_place";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("position", 64, m.position);
  }
};

}  // namespace rnic::golden
