// An outgoing segment, one beat at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/common/beat_stage.h"
#include "model/rnic/llp/received_octets.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::llp {

class SegmentBeats {
 public:
  bool done() const { return beats_.done(); }
  FlowId flow() const { return beats_.next().flow; }

  // For placed octets, only the header leaves.
  void start(FlowId flow, const FlowFacts& facts, ReceivedOctets&& octets, std::uint64_t offset, bool ends = false) {
    StreamBeat first;
    first.buf = octets.buf.get();
    first.data = octets.data;
    first.offset = offset;
    first.flow = flow;
    first.set(facts);
    first.placed = octets.header_bytes != 0;
    first.ends = ends;
    beats_.start(first, octets.held());
    buf_ = std::move(octets.buf);
  }
  // A word that represents the peer's FIN or RST.
  void start_end(FlowId flow, const FlowFacts& facts, BufferRef word, StreamEnd end, std::uint64_t offset) {
    std::uint8_t* const data = word->bytes();
    store_be32(data, static_cast<std::uint32_t>(end) << 16);
    start(flow, facts, received_octets(std::move(word), {data, kEndBytes}, 0), offset, true);
  }
  // As many as can leave until the horizon, one per cycle from `free_from` on. The reference travels with the last one.
  void push(Link<StreamBeat>& link, unsigned beat_bytes, Cycle& free_from, Cycle horizon) {
    beats_.push(link, beat_bytes, free_from, horizon);
    if (done()) buf_.release();
  }

 private:
  BufferRef buf_;
  Emission<StreamBeat> beats_;
};

}  // namespace rnic::llp
