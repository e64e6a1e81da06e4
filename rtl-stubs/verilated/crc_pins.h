// crc_check and crc_insert: a beat leaves as it came, except for its CRC.
#pragma once

#include <utility>

#include "model/common/ring.h"
#include "model/rnic/rx/crc_check.h"
#include "model/rnic/tx/crc_insert.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/pins.h"

namespace rnic::rtl {

template <class V, class Stage>
class CrcPins : public Pins<V, Stage> {
 public:
  explicit CrcPins(Stage& stage) : stage_(stage) {}

  template <class Visitor>
  void links(V& m, Visitor& v) {
    v.pipe(stage_.out, m.out_ready_i, m.out_launch_o, m.out_valid_o, m.out_o, m.out_data_o);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i, m.in_data_i);
  }

  void offered(const FpduBeat& beat, V&) { offered_ = {beat.buf, beat.data}; }
  // Ours launch a beat in the cycle in which they take it. One that does so later launches the oldest of those taken.
  BeatPlace launched(const V& m) {
    if (!inside_.empty()) return inside_.pop();
    if (!m.in_valid_i || !m.in_ready_o) return {};
    launched_ = true;
    return offered_;
  }
  void taken(const FpduBeat&, const V&) {
    if (!std::exchange(launched_, false)) inside_.push(offered_);
  }
  void left(const FpduBeat& beat) const {
    if (beat.last) stage_.count(beat);
  }

 private:
  Stage& stage_;
  BeatPlace offered_;
  bool launched_ = false;   // the beat that is taken in this cycle
  Ring<BeatPlace> inside_;  // beats taken and not yet launched
};

}  // namespace rnic::rtl
