// The transmit side of MPA, framer to CRC, between a scripted source and a sink.
#pragma once

#include <algorithm>
#include <array>

#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// A ULPDU in a fresh buffer whose other octets hold garbage.
inline Ulpdu make_ulpdu(BufferPool& pool, const Bytes& bytes, FlowId flow, bool completes_wqe = false) {
  Ulpdu u;
  u.buf = pool.take();
  std::memset(u.buf->bytes(), 0xa5, u.buf->capacity());
  std::copy(bytes.begin(), bytes.end(), u.buf->bytes() + Ulpdu::kOffset);
  u.flow = flow;
  u.bytes = static_cast<std::uint16_t>(bytes.size());
  u.completes_wqe = completes_wqe;
  return u;
}

// One direction of a stream, as its ULPDUs state it.
struct SentStream {
  bool markers = false, crc = true;
  wire::StreamPosition position = 0;  // of the next FPDU

  void place(Ulpdu& ulpdu) {
    ulpdu.markers = markers;
    ulpdu.crc = crc;
    ulpdu.position = static_cast<std::uint16_t>(position % wire::kMarkerInterval);
    position += static_cast<wire::StreamPosition>(markers ? wire::marked_fpdu_bytes(position, ulpdu.bytes)
                                                          : wire::fpdu_bytes(ulpdu.bytes));
  }
};

// An FPDU that came out as beats.
struct SentFpdu {
  FlowId flow;
  Bytes wire;
  bool crc_on = false, completes_wqe = false;
  std::size_t beats = 0;
};

// Reassembles FPDUs and releases their buffers. All beats but the last must be full, and only the last may complete.
inline std::vector<SentFpdu> collect_fpdus(const std::vector<FpduBeat>& beats, unsigned beat_bytes) {
  std::vector<SentFpdu> fpdus;
  for (const FpduBeat& b : beats) {
    EXPECT_EQ(b.first, fpdus.empty() || (&b)[-1].last);
    if (b.first) fpdus.push_back({b.flow, {}, b.crc_on, false, 0});
    SentFpdu& fpdu = fpdus.back();
    EXPECT_EQ(b.flow, fpdu.flow);
    EXPECT_EQ(b.marker_lane, FpduBeat::kNoMarker);
    EXPECT_TRUE(b.last || (b.words == beat_bytes / 4 && !b.completes_wqe));
    fpdu.wire.insert(fpdu.wire.end(), b.data, b.data + 4 * b.words);
    fpdu.completes_wqe = b.completes_wqe;
    ++fpdu.beats;
    if (b.last) BufferRef::adopt(b.buf);
  }
  return fpdus;
}

struct MpaTxChain {
  // From a ULPDU to the first beat of its FPDU: the inserter holds it in its accumulator for a cycle.
  static constexpr Cycle kThrough = kToEnd + MpaFramerConfig{}.pipeline_cycles + 1 +
                                    MarkerInserterConfig{}.pipeline_cycles + CrcInsertConfig{}.pipeline_cycles;
  DatapathConfig datapath;
  BufferPool pool{16384};
  std::array<SentStream, 8> streams;  // by flow
  MpaFramer framer;
  MarkerInserter inserter;
  CrcInsert crc;
  Netlist net;
  Source<Ulpdu> source = drive(framer.in);
  Sink<FpduBeat> sink = collect(crc.out, LinkConfig::pipeline(CrcInsertConfig{}));

  explicit MpaTxChain(ClockDomain& clk, unsigned beat_bytes = 64, const std::string& name = "tx")
      : datapath{beat_bytes},
        framer((name + "_framer").c_str(), clk, datapath),
        inserter((name + "_inserter").c_str(), clk, datapath, pool),
        crc((name + "_crc").c_str(), clk),
        net(name, clk) {
    net.connect(framer.out, inserter.in, "framed", LinkConfig::pipeline(MpaFramerConfig{}));
    net.connect(inserter.out, crc.in, "marked", LinkConfig::pipeline(MarkerInserterConfig{}));
  }
  void set_flow(FlowId flow, bool markers, bool crc_on) { streams[flow.v] = {markers, crc_on, 0}; }
  Ulpdu next(FlowId flow, const Bytes& octets, bool completes_wqe = false) {
    Ulpdu ulpdu = make_ulpdu(pool, octets, flow, completes_wqe);
    streams[flow.v].place(ulpdu);
    return ulpdu;
  }
  void send(FlowId flow, const Bytes& ulpdu, bool completes_wqe = false) {
    source.send(next(flow, ulpdu, completes_wqe));
  }
  std::vector<SentFpdu> sent() const { return collect_fpdus(sink.messages(), datapath.beat_bytes); }
};

}  // namespace rnic::test
