// marker_inserter: the octets of a stream with markers leave in a buffer of their own. The table of the flows'
// positions is the adapter's.
#pragma once

#include <vector>

#include "model/rnic/context/context.h"
#include "rtl-stubs/verilated/beat_pins.h"
#include "rtl-stubs/verilated/pin_adapter.h"

#include "Vmarker_inserter.h"  // after pin_adapter.h, which prepares Verilator's headers for SystemC

namespace rnic::rtl {

class MarkerInserterPins {
 public:
  using Model = Vmarker_inserter;
  using In = FpduBeat;
  using Out = FpduBeat;
  MarkerInserterPins(const ContextStore& contexts, BufferPool& pool)
      : contexts_(contexts), pool_(pool), positions_(contexts.flows()) {}

  void in(Model& m, const FpduBeat& beat) {
    pack(beat, m.in_i, m.in_data_i);
    const FlowContext& flow = contexts_.flow(beat.flow);
    const Position& p = positions_[beat.flow.v];
    m.tx_markers_i = flow.tx_markers;
    m.position_i = p.epoch == flow.epoch ? p.next : 0;
  }
  static void look_up(Model&) {}
  FpduBeat launched(const Model& m) {
    FpduBeat beat;
    beat.buf = buf_;
    beat.data = next_;
    next_ += sizeof m.in_data_i;
    return beat;
  }
  void taken(const FpduBeat& beat, const Model& m) {
    const FlowContext& flow = contexts_.flow(beat.flow);
    if (beat.first) {
      buf_ = flow.tx_markers ? pool_.take().release() : beat.buf;
      next_ = flow.tx_markers ? buf_->bytes() + kFrameHeadroom : beat.data;
    }
    if (m.position_write_o) positions_[beat.flow.v] = {flow.epoch, m.position_o};
    if (beat.last && flow.tx_markers) BufferRef::adopt(beat.buf);  // and gone: the octets are in the block
  }
  static void out(const Model& m, FpduBeat& beat) { unpack(m.out_o, m.out_data_o, beat); }

 private:
  struct Position {
    std::uint32_t epoch = 0;
    std::uint32_t next = 0;
  };
  const ContextStore& contexts_;
  BufferPool& pool_;
  std::vector<Position> positions_;  // by flow
  Buffer* buf_ = nullptr;
  std::uint8_t* next_ = nullptr;
};

using MarkerInserterRtl = PinAdapter<MarkerInserterPins>;

}  // namespace rnic::rtl
