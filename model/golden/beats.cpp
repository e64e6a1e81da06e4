#include "model/golden/beats.h"

#include "model/wire/fpdu.h"

namespace rnic::golden {
namespace {

void require(bool good, const char* text) {
  if (!good) fail_value(text);
}

constexpr std::size_t kMostOctets = wire::marked_fpdu_bytes(0, 0xffff);

}  // namespace

void Beats<Ulpdu>::check(const UlpduMessage& m, unsigned) {
  require(m.octets.size() <= 0xffff,
          "ulpdu: it has more than 65535 octets, which a length field cannot say (RFC 5044 section 4)");
  require(m.position % 4 == 0, "ulpdu.position: an FPDU starts at a multiple of 4 octets (RFC 5044 section 4.1)");
}

void Beats<FpduBeat>::check(const FpduMessage& m, unsigned beat_bytes) {
  const unsigned beat_words = beat_bytes / 4;
  require(!m.octets.empty() && m.octets.size() % 4 == 0,
          "fpdu: its octets are no multiple of 4 (RFC 5044 section 4.1)");
  require(m.octets.size() <= kMostOctets, "fpdu: it has more octets than an FPDU can have");
  require(!m.placed || (!m.ends && m.octets.size() / 4 <= beat_words),
          "fpdu.placed: such a one is one beat, and no end of a stream");
  require(!m.ends || (m.octets.size() == kEndBytes && m.marks.empty()), "fpdu.ends: the end of a stream is one word");
  require(m.position % 4 == 0, "fpdu.position: an FPDU starts at a multiple of 4 octets (RFC 5044 section 4.1)");
  require(!m.wants_markers || m.marks.empty(),
          "fpdu.wants_markers: markers that are still to be inserted cannot be beside the words");
  require(m.marks.empty() || !m.placed, "fpdu.placed: such a one has no markers beside it");
  std::uint32_t beats = 0;  // the first beat that has no marker yet
  for (const Mark& mark : m.marks) {
    require(mark.word < m.octets.size() / 4, "fpdu.marks: a marker is beyond the words");
    require(mark.word / beat_words >= beats,
            "fpdu.marks: two markers in a beat, or not in order; they are 512 octets apart");
    beats = mark.word / beat_words + 1;
  }
}

FpduBeat Beats<FpduBeat>::begin(const FpduMessage& m, bool first) {
  FpduBeat beat;
  beat.flow = m.flow;
  beat.qpn = m.qpn;
  beat.life = m.life;
  beat.first = first;
  beat.last = false;
  beat.crc_on = m.crc_on;
  if (m.placed) beat.marker_lane = FpduBeat::kPlaced;
  if (m.ends) beat.marker_lane = FpduBeat::kEnds;
  if (first && (m.wants_markers || m.position != 0))
    store_le32(beat.marker, std::uint32_t{m.wants_markers} << 31 | m.position);
  return beat;
}

void Beats<FpduBeat>::end(const FpduMessage& m, FpduBeat& beat) {
  beat.last = true;
  beat.completes_wqe = m.completes_wqe;
  beat.marker_ok = m.marker_ok;
  beat.crc_ok = m.crc_ok;
}

bool Beats<FpduBeat>::join(const FpduBeat& beat) {
  FpduMessage& m = transaction;
  if (beat.first) {
    m = {};
    m.flow = beat.flow;
    m.qpn = beat.qpn;
    m.life = beat.life;
    m.placed = beat.placed();
    m.ends = beat.ends();
    m.crc_on = beat.crc_on;
    if (!beat.marked()) {
      m.wants_markers = beat.wants_markers();
      m.position = beat.start();
    }
  }
  if (beat.marked()) {
    Mark& mark = m.marks.emplace_back();
    mark.word = static_cast<std::uint32_t>(m.octets.size() / 4) + beat.marker_lane;
    std::copy(std::begin(beat.marker), std::end(beat.marker), mark.octets);
  }
  m.octets.insert(m.octets.end(), beat.data, beat.data + std::size_t{4} * beat.words);
  if (!beat.last) return false;
  m.completes_wqe = beat.completes_wqe;
  m.marker_ok = beat.marker_ok;
  m.crc_ok = beat.crc_ok;
  BufferRef::adopt(beat.buf);
  return true;
}

void Beats<StreamBeat>::check(const SegmentMessage& m, unsigned) {
  require(!m.octets.empty(), "segment: it has no octets");
  require(m.octets.size() <= kMostOctets, "segment: it has more octets than an FPDU can have");
  require(!m.placed || !m.ends, "segment: the end of a stream cannot be placed");
  require(!m.ends || m.octets.size() == kEndBytes, "segment.ends: the end of a stream is one word");
}

bool Beats<StreamBeat>::join(const StreamBeat& beat) {
  SegmentMessage& m = transaction;
  if (beat.first) {
    m = {};
    m.offset = beat.offset;
    m.flow = beat.flow;
    m.qpn = beat.qpn;
    m.life = beat.life;
    m.markers = beat.markers;
    m.crc = beat.crc;
    m.placed = beat.placed;
    m.ends = beat.ends;
  }
  m.octets.insert(m.octets.end(), beat.data, beat.data + beat.bytes);
  if (beat.last) BufferRef::adopt(beat.buf);
  return beat.last;
}

StreamBeat Beats<StreamBeat>::beat(const SegmentMessage& m, Buffer* buf, std::size_t at, std::size_t n) {
  StreamBeat beat;
  beat.buf = buf;
  beat.data = buf->bytes() + at;
  beat.offset = m.offset + at;
  beat.flow = m.flow;
  beat.bytes = static_cast<std::uint8_t>(n);
  beat.first = at == 0;
  beat.last = at + n == m.octets.size();
  beat.placed = m.placed;
  beat.ends = m.ends;
  beat.set({m.qpn, m.life, m.markers, m.crc});
  return beat;
}

}  // namespace rnic::golden
