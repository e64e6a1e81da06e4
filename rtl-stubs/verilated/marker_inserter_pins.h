// marker_inserter: the octets of a stream with markers leave in a separate buffer.
#pragma once

#include "model/rnic/tx/marker_inserter.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/pins.h"

namespace rnic::rtl {

template <class Model>
class MarkerInserterPinsOf : public Pins<Model, MarkerInserter> {
 public:
  MarkerInserterPinsOf(MarkerInserter& stage, BufferPool& pool) : stage_(stage), pool_(pool) {}

  template <class V>
  void links(Model& m, V& v) {
    v.pipe(stage_.out, m.out_ready_i, m.out_launch_o, m.out_valid_o, m.out_o, m.out_data_o);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i, m.in_data_i);
  }

  BeatPlace launched(const Model& m) {
    const BeatPlace place{buf_, next_};
    next_ += port_octets(m.in_data_i);
    return place;
  }
  void taken(const FpduBeat& beat, const Model&) {
    if (beat.first) {
      with_markers_ = beat.wants_markers();
      buf_ = with_markers_ ? pool_.take_like(beat.buf).release() : beat.buf;
      next_ = with_markers_ ? buf_->bytes() + kFrameHeadroom : beat.data;
      position_ = beat.start();
      octets_ = 0;
    }
    octets_ += 4u * beat.words;
    if (!beat.last || !with_markers_) return;
    stage_.count(wire::fpdu_markers(position_, octets_));
    BufferRef::adopt(beat.buf);  // and freed: the octets are in the block
  }

 private:
  MarkerInserter& stage_;
  BufferPool& pool_;
  bool with_markers_ = false;
  Buffer* buf_ = nullptr;
  std::uint8_t* next_ = nullptr;
  wire::StreamPosition position_ = 0;  // of the FPDU's start
  std::size_t octets_ = 0;             // of it, without markers
};

}  // namespace rnic::rtl
