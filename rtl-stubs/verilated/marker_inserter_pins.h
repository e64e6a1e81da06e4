// marker_inserter: the octets of a stream with markers leave in a separate buffer. The table of the flows' positions is
// the stage's.
#pragma once

#include "model/rnic/tx/marker_inserter.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/pins.h"

#include "Vmarker_inserter.h"

namespace rnic::rtl {

class MarkerInserterPins : public Pins<Vmarker_inserter, MarkerInserter> {
 public:
  MarkerInserterPins(MarkerInserter& stage, const ContextStore& contexts, BufferPool& pool)
      : stage_(stage), contexts_(contexts), pool_(pool) {}

  template <class V>
  void links(Model& m, V& v) {
    v.pipe(stage_.out, m.out_ready_i, m.out_launch_o, m.out_valid_o, m.out_o, m.out_data_o);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i, m.in_data_i);
  }

  void offered(const FpduBeat& beat, Model& m) {
    flow_ = beat.flow;
    m.tx_markers_i = contexts_.flow(flow_).tx_markers;
    m.position_i = stage_.position(flow_);
  }
  template <class F>
  void compare(const Model& m, F&& f) const {
    if (m.position_write_o) f("position", stage_.position(flow_), m.position_o);
  }

  BeatPlace launched(const Model& m) {
    const BeatPlace place{buf_, next_};
    next_ += sizeof m.in_data_i;
    return place;
  }
  void taken(const FpduBeat& beat, const Model& m) {
    if (beat.first) {
      with_markers_ = m.tx_markers_i;
      buf_ = with_markers_ ? pool_.take(beat.buf->owner()).release() : beat.buf;
      next_ = with_markers_ ? buf_->bytes() + kFrameHeadroom : beat.data;
      behind_ = m.position_i;
    }
    behind_ += 4u * beat.words;
    if (!beat.last) return;
    stage_.set_position(beat.flow, m.position_o);
    stage_.count((m.position_o - behind_) / wire::kMarkerBytes);
    if (with_markers_) BufferRef::adopt(beat.buf);  // and freed: the octets are in the block
  }

 private:
  MarkerInserter& stage_;
  const ContextStore& contexts_;
  BufferPool& pool_;
  FlowId flow_;  // of the offered beat
  bool with_markers_ = false;
  Buffer* buf_ = nullptr;
  std::uint8_t* next_ = nullptr;
  std::uint32_t behind_ = 0;  // the FPDU's end position without markers
};

}  // namespace rnic::rtl
