// The MPA stages of both directions, for one stream at a time: what `rnicsim vectors` runs FPDUs through.
#pragma once

#include <memory>
#include <vector>

#include "model/common/bytes.h"
#include "model/conformance/predictor.h"
#include "model/wire/fpdu.h"

namespace rnic::conformance {

using Octets = std::vector<std::uint8_t>;

// One direction of a connection, from an FPDU's start on; `position` is octets since SeqStart, a multiple of 4.
struct MpaStream {
  bool markers = false;
  bool crc = true;
  wire::StreamPosition position = 0;
};

// An FPDU that the receiving stages found.
struct FoundFpdu {
  struct Marker {
    std::size_t offset;  // in the stream
    std::uint16_t pointer;
  };
  std::size_t offset = 0;  // of its first octet in the stream, a marker's if it starts with one
  Octets words;            // length field, ULPDU, pad and CRC, without markers
  std::vector<Marker> markers;
  bool crc_ok = false, marker_ok = false;

  std::size_t octets() const { return words.size() + markers.size() * wire::kMarkerBytes; }  // in the stream
  std::size_t ulpdu_length() const { return load_be16(words.data()); }
  std::size_t header_offset() const;
  std::size_t pad() const;
  ByteSpan ulpdu() const { return ByteSpan(words).subspan(wire::kUlpduLengthBytes, ulpdu_length()); }
  ByteSpan crc_field() const { return ByteSpan(words).subspan(words.size() - wire::kFpduCrcBytes); }
};

class MpaChain {
 public:
  explicit MpaChain(const PredictorSource& source);

  // mpa_transmit: the FPDUs of consecutive ULPDUs as they are on the wire.
  std::vector<Octets> send(const MpaStream& stream, const std::vector<Octets>& ulpdus);

  // mpa_receive: the whole FPDUs in the octets, which come in segments of an everyday size.
  std::vector<FoundFpdu> receive(const MpaStream& stream, ByteSpan octets);

 private:
  const std::unique_ptr<Predictor> transmit_, receive_;
};

}  // namespace rnic::conformance
