// The MPA stages of both directions, for one stream at a time: what `rnicsim vectors` runs FPDUs through.
#pragma once

#include <vector>

#include "model/common/bytes.h"
#include "model/ends/ends.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/rx/mpa_deframer.h"
#include "model/rnic/twins.h"
#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"

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
  std::size_t octets = 0;  // in the stream
  Octets words;            // length field, ULPDU, pad and CRC, without markers
  std::vector<Marker> markers;
  bool crc_ok = false, marker_ok = false;

  std::size_t ulpdu_length() const { return load_be16(words.data()); }
  std::size_t header_offset() const;
  std::size_t pad() const;
  ByteSpan ulpdu() const { return ByteSpan(words).subspan(wire::kUlpduLengthBytes, ulpdu_length()); }
  ByteSpan crc_field() const { return ByteSpan(words).subspan(words.size() - wire::kFpduCrcBytes); }
};

// SystemC elaborates once per process, so there can be one chain, and it is made before anything else is simulated.
class MpaChain {
 public:
  // With `twins`, those stages that have a SystemVerilog twin leave the work to it.
  explicit MpaChain(const TwinSource* twins = nullptr);

  // mpa_framer, marker_inserter, crc_insert: the FPDUs of consecutive ULPDUs as they are on the wire.
  std::vector<Octets> send(const MpaStream& stream, const std::vector<Octets>& ulpdus);

  // mpa_deframer, crc_check: the whole FPDUs in the octets, which come in segments of an everyday size.
  std::vector<FoundFpdu> receive(const MpaStream& stream, ByteSpan octets);

 private:
  void begin(const MpaStream& stream);

  ClockDomain clk_;
  DatapathConfig datapath_;
  BufferPool pool_;

  MpaFramer framer_;
  MarkerInserter inserter_;
  CrcInsert crc_insert_;
  MpaDeframer deframer_;
  CrcCheck crc_check_;
  Netlist net_;
  test::Source<Ulpdu> ulpdus_ = test::drive(framer_.in);
  test::Sink<FpduBeat> sent_ = test::collect(crc_insert_.out, LinkConfig::pipeline(CrcInsertConfig{}));
  test::Source<StreamBeat> segments_ = test::drive(deframer_.in);
  test::Sink<FpduBeat> checked_ = test::collect(crc_check_.out, LinkConfig::pipeline(CrcCheckConfig{}));
  const test::Stubs others_ = test::stub(deframer_.consumed);
  std::vector<TwinSource::Handle> twins_;
};

}  // namespace rnic::conformance
