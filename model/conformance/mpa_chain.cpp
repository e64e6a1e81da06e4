#include "model/conformance/mpa_chain.h"

#include <algorithm>
#include <stdexcept>

#include "model/golden/abi/rnic_golden_messages.h"

namespace rnic::conformance {
namespace {

constexpr std::uint32_t kFlow = 0;
constexpr std::size_t kSegmentOctets = 1460;
constexpr std::size_t kMostOctets = wire::marked_fpdu_bytes(0, 0xffff);
constexpr std::size_t kMostMarks = kMostOctets / wire::kMarkerInterval + 1;

// The pointer of a message that is pushed: its octets are read only.
std::uint8_t* of(ByteSpan octets) { return const_cast<std::uint8_t*>(octets.data()); }

// Room for an FPDU that is taken.
struct TakenFpdu {
  Octets octets = Octets(kMostOctets);
  std::vector<rnic_mark> marks = std::vector<rnic_mark>(kMostMarks);
  rnic_fpdu message{};

  bool take(Predictor& from, std::uint32_t port) {
    message.size = sizeof message;
    message.octets = octets.data();
    message.octets_room = static_cast<std::uint32_t>(octets.size());
    message.marks = marks.data();
    message.marks_room = static_cast<std::uint32_t>(marks.size());
    return from.take(port, &message);
  }
  Octets words() const { return {message.octets, message.octets + message.octets_n}; }
};

void check_position(const MpaStream& stream) {
  if (stream.position % 4 != 0) throw std::invalid_argument("an FPDU does not start at a multiple of 4 octets");
}

FoundFpdu found(const TakenFpdu& taken, std::size_t offset) {
  FoundFpdu fpdu;
  fpdu.offset = offset;
  fpdu.words = taken.words();
  fpdu.crc_ok = taken.message.crc_ok;
  fpdu.marker_ok = taken.message.marker_ok;
  for (std::size_t k = 0; k < taken.message.marks_n; ++k) {
    const rnic_mark& mark = taken.marks[k];
    fpdu.markers.push_back({offset + 4 * mark.word + k * wire::kMarkerBytes, load_be16(mark.octets + 2)});
  }
  return fpdu;
}

}  // namespace

std::size_t FoundFpdu::header_offset() const {
  const bool leading_marker = !markers.empty() && markers.front().offset == offset;
  return offset + (leading_marker ? wire::kMarkerBytes : 0);
}

std::size_t FoundFpdu::pad() const {
  return words.size() - wire::kUlpduLengthBytes - ulpdu_length() - wire::kFpduCrcBytes;
}

MpaChain::MpaChain(const PredictorSource& source)
    : transmit_(source.open("mpa_transmit")), receive_(source.open("mpa_receive")) {}

std::vector<Octets> MpaChain::send(const MpaStream& stream, const std::vector<Octets>& ulpdus) {
  check_position(stream);
  wire::StreamPosition position = stream.position;
  for (const Octets& octets : ulpdus) {
    if (octets.size() > 0xffff) throw std::length_error("a ULPDU has more than 65535 octets");
    rnic_ulpdu ulpdu{};
    ulpdu.size = sizeof ulpdu;
    ulpdu.octets = of(octets);
    ulpdu.octets_n = static_cast<std::uint32_t>(octets.size());
    ulpdu.flow = kFlow;
    ulpdu.markers = stream.markers;
    ulpdu.crc = stream.crc;
    ulpdu.position = static_cast<std::uint16_t>(position % wire::kMarkerInterval);
    position += static_cast<wire::StreamPosition>(stream.markers ? wire::marked_fpdu_bytes(position, octets.size())
                                                                 : wire::fpdu_bytes(octets.size()));
    transmit_->push(RNIC_MPA_TRANSMIT_IN, &ulpdu);
  }
  std::vector<Octets> fpdus;
  for (TakenFpdu fpdu; fpdu.take(*transmit_, RNIC_MPA_TRANSMIT_OUT);) fpdus.push_back(fpdu.words());
  return fpdus;
}

std::vector<FoundFpdu> MpaChain::receive(const MpaStream& stream, ByteSpan octets) {
  check_position(stream);
  const rnic_stream_place start{sizeof start, {}, stream.position};  // taken over there
  receive_->row("stream", kFlow, &start);
  for (std::size_t at = 0; at < octets.size(); at += kSegmentOctets) {
    const ByteSpan part = octets.subspan(at, kSegmentOctets);
    rnic_segment segment{};
    segment.size = sizeof segment;
    segment.octets = of(part);
    segment.octets_n = static_cast<std::uint32_t>(part.size());
    segment.offset = stream.position + at;
    segment.flow = kFlow;
    segment.markers = stream.markers;
    segment.crc = stream.crc;
    receive_->push(RNIC_MPA_RECEIVE_IN, &segment);
  }
  std::vector<FoundFpdu> fpdus;
  std::size_t offset = 0;
  for (TakenFpdu fpdu; fpdu.take(*receive_, RNIC_MPA_RECEIVE_OUT);) {
    fpdus.push_back(found(fpdu, offset));
    offset += fpdus.back().octets();
  }
  rnic_rx_consumed consumed{};  // which nobody here waits for
  for (consumed.size = sizeof consumed; receive_->take(RNIC_MPA_RECEIVE_CONSUMED, &consumed);) {
  }
  return fpdus;
}

}  // namespace rnic::conformance
