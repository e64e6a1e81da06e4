// pass_through: a beat leaves as it came.
#pragma once

#include "model/rnic/rx/pass_through.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vpass_through.h"

namespace rnic::rtl {

class PassThroughPins : public Pins<Vpass_through, PassThrough> {
 public:
  explicit PassThroughPins(PassThrough& stage) : stage_(stage) {}

  template <class V>
  void links(Model& m, V& v) {
    v.pipe(stage_.out, m.out_ready_i, m.out_launch_o, m.out_valid_o, m.out_o, m.out_data_o);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i, m.in_data_i);
  }

  void offered(const FpduBeat& beat, Model&) { offered_ = {beat.buf, beat.data}; }
  BeatPlace launched(const Model&) const { return offered_; }
  void left(const FpduBeat& beat) const {
    if (beat.last) stage_.count(beat);
  }

 private:
  PassThrough& stage_;
  BeatPlace offered_;
};

}  // namespace rnic::rtl
