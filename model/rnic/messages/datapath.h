// The datapath's beats: what one stage passes to the next in one cycle. They are plain and small; the bytes stay in a
// pooled buffer whose one reference belongs to the consumer of the last beat.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
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

// A ULPDU on its way to the framer: `bytes` octets (DDP header and payload) at kOffset; there is room for the length
// field before them and for pad and CRC after, so that the FPDU is framed in place.
struct Ulpdu {
  static constexpr std::uint32_t kOffset = kFrameHeadroom + 2;
  BufferRef buf;
  FlowId flow;
  std::uint16_t bytes = 0;
  bool completes_wqe = false;  // the last FPDU of a Send or RDMA Write
  // What the flow's context says, and where the FPDU starts in the stream, modulo the marker interval.
  LlpId llp = LlpId::kMpaTcp;
  bool markers = false, crc = true;
  std::uint16_t position = 0;

  static constexpr const char* kMessage = "ulpdu";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 16, m.bytes);
    v("completes_wqe", 1, m.completes_wqe);
    v("llp", 1, m.llp);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
    v("position", 9, m.position);
  }
};
inline EventUse event_of(const Ulpdu& u, const Owners&, TraceEvent& e) {
  e.bytes = u.bytes;
  e.flow = u.flow;
  e.request = u.buf->owner();
  e.offset = u.buf->offset();
  return EventUse::kEvent;
}

// How the peer ended its stream: by FIN or a session Terminate, or by RST. A beat of one word follows the FPDUs through
// all their stages; it has this value where an FPDU has its length.
enum class StreamEnd : std::uint16_t { kInOrder, kReset };
inline constexpr std::uint32_t kEndBytes = 4;

// A piece of an FPDU. All of MPA is aligned to 4 octets (RFC 5044 section 4), so a beat is counted in 32-bit words.
// Every beat except the last is full. On the receive side a marker that the deframer took out travels beside the words:
// it was before word `marker_lane`, and the CRC covers it there (RFC 5044 section 4.4). At most one fits a beat.
struct FpduBeat {
  static constexpr std::uint8_t kNoMarker = 0xff, kPlaced = 0xfe, kEnds = 0xfd;  // marker_lane without a marker

  Buffer* buf = nullptr;         // owner of the bytes
  std::uint8_t* data = nullptr;  // first octet of this beat
  std::uint8_t marker[4] = {};   // the marker as it was on the wire
  FlowId flow;
  Qpn qpn;                 // receive: the queue pair of the flow,
  std::uint8_t life = 0;   // in this use of its number (life_of())
  std::uint8_t words = 0;  // 1 to beat_bytes / 4
  std::uint8_t marker_lane = kNoMarker;
  bool first : 1;
  bool last : 1;           // the last word is the CRC field
  bool completes_wqe : 1;  // transmit, on the last beat: the last FPDU of a Send or RDMA Write
  bool marker_ok : 1;      // valid on the last beat: all FPDUPTRs of this FPDU agreed with its length field
  bool crc_on : 1;         // negotiated for this stream
  bool crc_ok : 1;         // valid on the last beat, after crc_check

  FpduBeat() : first(false), last(false), completes_wqe(false), marker_ok(true), crc_on(true), crc_ok(false) {}

  // Receive: the FPDU's payload is already placed. It is this one beat, length field and DDP header.
  bool placed() const { return marker_lane == kPlaced; }
  // Receive: no FPDU, but the end of the peer's stream after the last one: its FIN or RST, where marker_ok is false if
  // it came in the middle of an FPDU, or its session Terminate (RFC 5043).
  bool ends() const { return marker_lane == kEnds; }
  bool resets() const { return ends() && load_be16(data) == static_cast<std::uint16_t>(StreamEnd::kReset); }
  bool marked() const { return marker_lane < kEnds; }
  std::uint32_t first_word() const { return load_be32(data); }  // for waveforms

  // Transmit, from the framer to the marker inserter: what a ULPDU says of markers and of its FPDU's start, in the
  // marker's place of the first beat.
  bool wants_markers() const { return load_le32(marker) >> 31 != 0; }
  std::uint16_t start() const { return load_le32(marker) & 0x1ff; }
  void set_start(const Ulpdu& ulpdu) { store_le32(marker, std::uint32_t{ulpdu.markers} << 31 | ulpdu.position); }
  void clear_start() { store_le32(marker, 0); }
  std::uint8_t& size() { return words; }
  // Beats of a run are full, and only the first one may be the FPDU's or have a marker.
  void advance(unsigned beats) {
    data += std::size_t{4} * words * beats;
    store_le32(marker, 0);
    marker_lane = kNoMarker;
    first = false;
  }
  void abandon() {
    if (last) BufferRef::adopt(buf);
  }

  static constexpr const char* kMessage = "fpdu_beat";
  template <class V>
  static void fields(V& v, const FpduBeat& b) {
    const std::uint32_t marker = load_le32(b.marker);
    const std::uint8_t lane = b.marked() ? b.marker_lane : 0;
    const bool marked = b.marked(), placed = b.placed(), ends = b.ends();
    const Flags flags = b.flags();
    visit(v, b, marker, lane, marked, placed, ends, flags);
  }
  template <class V>
  static void fields(V& v, FpduBeat& b) {
    std::uint32_t marker = 0;
    std::uint8_t lane = 0;
    bool marked = false, placed = false, ends = false;
    Flags flags;
    visit(v, b, marker, lane, marked, placed, ends, flags);
    b.first = flags.first;
    b.last = flags.last;
    b.completes_wqe = flags.completes_wqe;
    b.marker_ok = flags.marker_ok;
    b.crc_on = flags.crc_on;
    b.crc_ok = flags.crc_ok;
    store_le32(b.marker, marker);
    b.marker_lane = marked ? lane : placed ? kPlaced : ends ? kEnds : kNoMarker;
  }

 private:
  // As those of the beat, which are single bits.
  struct Flags {
    bool first = false, last = false, completes_wqe = false, marker_ok = false, crc_on = false, crc_ok = false;
  };
  Flags flags() const { return {first, last, completes_wqe, marker_ok, crc_on, crc_ok}; }
  template <class V, class Beat, class Marker, class Lane, class Flag, class Bits>
  static void visit(V& v, Beat& b, Marker& marker, Lane& lane, Flag& marked, Flag& placed, Flag& ends, Bits& flags) {
    v("ends", 1, ends);
    v("placed", 1, placed);
    v("marker", 32, marker);
    v("flow", b.flow);
    v("qpn", b.qpn);
    v("life", 8, b.life);
    v("words", 6, b.words);
    v("marker_lane", 5, lane);
    v("marker_valid", 1, marked);
    v("marker_ok", 1, flags.marker_ok);
    v("completes_wqe", 1, flags.completes_wqe);
    v("first", 1, flags.first);
    v("last", 1, flags.last);
    v("crc_on", 1, flags.crc_on);
    v("crc_ok", 1, flags.crc_ok);
  }
};
static_assert(sizeof(FpduBeat) == 32);
inline EventUse event_of(const FpduBeat& b, const Owners&, TraceEvent& e) {
  if (!b.last || b.ends()) return EventUse::kNone;
  e.flow = b.flow;
  e.values[0] = b.crc_ok;
  e.request = b.buf->owner();
  e.offset = b.buf->offset();
  return EventUse::kEvent;
}

// What the stages above the boundary need of a flow on which octets are received.
struct FlowFacts {
  Qpn qpn = {};           // its queue pair,
  std::uint8_t life = 0;  // in this use of its number (life_of())
  bool markers = false, crc = true;

  static FlowFacts of(const FlowContext& c) { return {c.qpn, life_of(c.qp_epoch), c.rx_markers, c.crc}; }

  static constexpr const char* kMessage = "flow_facts";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("life", 8, m.life);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
  }
};

// A piece of a TCP stream: `bytes` octets at stream position `offset` (0 is the first octet after the start-up frame).
// In-order receivers hand beats up in order; the offset lets segments after a hole be handed up as well.
struct StreamBeat {
  Buffer* buf = nullptr;
  const std::uint8_t* data = nullptr;
  std::uint64_t offset = 0;
  FlowId flow;
  std::uint8_t bytes = 0;  // 1 to beat_bytes
  bool first = false;      // of a TCP segment
  bool last = false;
  // Represents a whole FPDU from `offset` on, whose payload is placed: its first octets, no marker.
  bool placed = false;
  bool ends = false;  // the peer's FIN or RST: a word that says which (StreamEnd), without a place in the stream
  // As FlowFacts.
  std::uint8_t life = 0;
  bool markers = false, crc = true;
  Qpn qpn = {};

  void set(const FlowFacts& of) {
    qpn = of.qpn;
    life = of.life;
    markers = of.markers;
    crc = of.crc;
  }
  FlowFacts facts() const { return {qpn, life, markers, crc}; }
  std::uint8_t& size() { return bytes; }
  // Beats of a run are full, and only the first one may be the segment's.
  void advance(unsigned beats) {
    data += std::size_t{bytes} * beats;
    offset += std::size_t{bytes} * beats;
    first = false;
  }
  void abandon() {
    if (last) BufferRef::adopt(buf);
  }

  static constexpr const char* kMessage = "stream_beat";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("offset", 64, m.offset);
    v("flow", m.flow);
    v("qpn", m.qpn);
    v("life", 8, m.life);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
    v("bytes", 8, m.bytes);
    v("first", 1, m.first);
    v("last", 1, m.last);
    v("placed", 1, m.placed);
    v("ends", 1, m.ends);
  }
};
static_assert(sizeof(StreamBeat) == 40);
inline EventUse event_of(const StreamBeat& b, const Owners&, TraceEvent& e) {
  if (!b.last || b.ends) return EventUse::kNone;
  e.flow = b.flow;
  e.request = b.buf->owner();
  e.offset = b.buf->offset();
  return EventUse::kEvent;
}

}  // namespace rnic
