// The transmit side of MPA, framer to CRC, between a scripted source and a sink.
#pragma once

#include <algorithm>

#include "model/rnic/tx/crc_insert.h"
#include "model/rnic/tx/marker_inserter.h"
#include "model/rnic/tx/mpa_framer.h"
#include "testbench/support/mpa_reference.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {

// A ULPDU in a fresh buffer whose other octets are dirty.
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

// An FPDU that came out as beats.
struct SentFpdu {
  FlowId flow;
  Bytes wire;
  bool crc_on = false, completes_wqe = false;
  std::size_t beats = 0;
};

// Puts FPDUs together and releases their buffers. All beats but the last must be full, and only the last may complete.
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
  DatapathConfig datapath;
  BufferPool pool{16384};
  ContextStore contexts;
  Link<Ulpdu> link_in;
  Link<FpduBeat> link_framed, link_marked, link_out;
  Source<Ulpdu> source;
  MpaFramer framer;
  MarkerInserter inserter;
  CrcInsert crc;
  Sink<FpduBeat> sink;

  explicit MpaTxChain(ClockDomain& clk, unsigned beat_bytes = 64, const std::string& name = "tx")
      : datapath{beat_bytes},
        contexts(clk, {1, 8, 1, 1}),
        link_in(name + "_in", clk, {4, 1, 1}),
        link_framed(name + "_framed", clk, LinkConfig::pipeline(MpaFramerConfig{})),
        link_marked(name + "_marked", clk, LinkConfig::pipeline(MarkerInserterConfig{})),
        link_out(name + "_out", clk, LinkConfig::pipeline(CrcInsertConfig{})),
        source((name + "_source").c_str(), clk),
        framer((name + "_framer").c_str(), clk, datapath, contexts),
        inserter((name + "_inserter").c_str(), clk, datapath, contexts, pool),
        crc((name + "_crc").c_str(), clk),
        sink((name + "_sink").c_str(), clk) {
    source.out(link_in);
    framer.in(link_in);
    framer.out(link_framed);
    inserter.in(link_framed);
    inserter.out(link_marked);
    crc.in(link_marked);
    crc.out(link_out);
    sink.in(link_out);
  }
  void set_flow(FlowId flow, bool markers, bool crc_on, std::uint32_t epoch = 0) {
    FlowContext c;
    c.rdma = true;
    c.tx_markers = c.rx_markers = markers;
    c.crc = crc_on;
    c.epoch = epoch;
    contexts.write(flow, c);
  }
  void send(FlowId flow, const Bytes& ulpdu, bool completes_wqe = false) {
    source.script({make_ulpdu(pool, ulpdu, flow, completes_wqe)});
  }
  std::vector<SentFpdu> sent() const { return collect_fpdus(sink.beats(), datapath.beat_bytes); }
};

}  // namespace rnic::test
