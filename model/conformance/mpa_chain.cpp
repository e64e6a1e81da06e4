#include "model/conformance/mpa_chain.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "model/conformance/run_stages.h"

namespace rnic::conformance {
namespace {

constexpr FlowId kFlow{0};
constexpr std::size_t kSegmentOctets = 1460;
constexpr std::size_t kBlockOctets = kFrameHeadroom + wire::marked_fpdu_bytes(0, 0xffff);

}  // namespace

std::size_t FoundFpdu::header_offset() const {
  const bool leading_marker = !markers.empty() && markers.front().offset == offset;
  return offset + (leading_marker ? wire::kMarkerBytes : 0);
}

std::size_t FoundFpdu::pad() const {
  return words.size() - wire::kUlpduLengthBytes - ulpdu_length() - wire::kFpduCrcBytes;
}

MpaChain::MpaChain(const TwinSource* twins)
    : clk_("mpa_clk", {}),
      pool_(static_cast<std::uint32_t>(kBlockOctets)),
      framer_("mpa_framer", clk_, datapath_),
      inserter_("marker_inserter", clk_, datapath_, pool_),
      crc_insert_("crc_insert", clk_),
      deframer_("mpa_deframer", clk_, {}, datapath_, 1, pool_),
      crc_check_("crc_check", clk_),
      net_("mpa", clk_) {
  net_.connect(framer_.out, inserter_.in, "framed", LinkConfig::pipeline(MpaFramerConfig{}));
  net_.connect(inserter_.out, crc_insert_.in, "marked", LinkConfig::pipeline(MarkerInserterConfig{}));
  net_.connect(deframer_.out, crc_check_.in, "deframed", LinkConfig::pipeline(MpaDeframerConfig{}));
  if (twins == nullptr) return;
  for (Stage* stage : std::initializer_list<Stage*>{&framer_, &inserter_, &crc_insert_, &deframer_, &crc_check_}) {
    twins_.push_back(twins->make(stage->basename(), *stage, {nullptr, &pool_}, TwinMode::kReplace));
  }
}

std::vector<Octets> MpaChain::send(const MpaStream& stream, const std::vector<Octets>& ulpdus) {
  begin(stream);
  wire::StreamPosition position = stream.position;
  for (const Octets& octets : ulpdus) {
    if (octets.size() > 0xffff) throw std::length_error("a ULPDU has more than 65535 octets");
    Ulpdu ulpdu{pool_.take(), kFlow, static_cast<std::uint16_t>(octets.size()), false};
    std::copy(octets.begin(), octets.end(), ulpdu.buf->bytes() + Ulpdu::kOffset);
    ulpdu.markers = stream.markers;
    ulpdu.crc = stream.crc;
    ulpdu.position = static_cast<std::uint16_t>(position % wire::kMarkerInterval);
    position += static_cast<wire::StreamPosition>(stream.markers ? wire::marked_fpdu_bytes(position, octets.size())
                                                                 : wire::fpdu_bytes(octets.size()));
    ulpdus_.send(std::move(ulpdu));
  }
  run_stages();

  std::vector<Octets> fpdus;
  for (const FpduBeat& beat : sent_.take()) {
    if (beat.first) fpdus.emplace_back();
    fpdus.back().insert(fpdus.back().end(), beat.data, beat.data + 4 * beat.words);
    if (beat.last) BufferRef::adopt(beat.buf);
  }
  return fpdus;
}

std::vector<FoundFpdu> MpaChain::receive(const MpaStream& stream, ByteSpan octets) {
  begin(stream);
  for (std::size_t start = 0; start < octets.size(); start += kSegmentOctets) {
    const ByteSpan segment = octets.subspan(start, kSegmentOctets);
    Buffer* buf = pool_.take().release();
    std::copy(segment.begin(), segment.end(), buf->bytes());
    for (std::size_t at = 0; at < segment.size(); at += datapath_.beat_bytes) {
      const std::size_t bytes = std::min<std::size_t>(datapath_.beat_bytes, segment.size() - at);
      StreamBeat beat{
          buf,     buf->bytes() + at,           stream.position + start + at, kFlow, static_cast<std::uint8_t>(bytes),
          at == 0, at + bytes == segment.size()};
      beat.set({{}, 0, stream.markers, stream.crc});
      segments_.send(beat);
    }
  }
  run_stages();

  std::vector<FoundFpdu> fpdus;
  std::size_t offset = 0;
  for (const FpduBeat& beat : checked_.take()) {
    if (beat.first) fpdus.emplace_back().offset = offset;
    FoundFpdu& fpdu = fpdus.back();
    if (beat.marker_lane != FpduBeat::kNoMarker) {
      fpdu.markers.push_back({offset + 4u * beat.marker_lane, load_be16(beat.marker + 2)});
      offset += wire::kMarkerBytes;
    }
    offset += 4u * beat.words;
    fpdu.octets = offset - fpdu.offset;
    fpdu.words.insert(fpdu.words.end(), beat.data, beat.data + 4 * beat.words);
    if (!beat.last) continue;
    fpdu.crc_ok = beat.crc_ok;
    fpdu.marker_ok = beat.marker_ok;
    BufferRef::adopt(beat.buf);
  }
  return fpdus;
}

// Taken over where the stream starts.
void MpaChain::begin(const MpaStream& stream) {
  if (stream.position % 4 != 0) throw std::invalid_argument("an FPDU does not start at a multiple of 4 octets");
  deframer_.set_position(kFlow, stream.position);
}

}  // namespace rnic::conformance
