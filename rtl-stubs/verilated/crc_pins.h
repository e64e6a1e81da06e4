// crc_check and crc_insert: a beat leaves as it came, but for its CRC.
#pragma once

#include "model/rnic/rx/crc_check.h"
#include "model/rnic/tx/crc_insert.h"
#include "rtl-stubs/verilated/beat_pins.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

#include "Vcrc_check.h"
#include "Vcrc_insert.h"

namespace rnic::rtl {

template <class V, class Stage>
class CrcPins {
 public:
  using Model = V;
  using Block = Stage;
  using In = FpduBeat;
  using Out = FpduBeat;
  explicit CrcPins(Stage& stage) : stage_(stage) {}

  void in(V& m, const FpduBeat& beat) {
    beat_ = beat;
    pack(beat, m.in_i, m.in_data_i);
  }
  void look_up(V&) const {}
  void advance(const V&) const {}
  template <class F>
  void compare(const V&, F) const {}
  void out(const V& m, FpduBeat& beat) const { unpack(m.out_o, m.out_data_o, beat); }

  FpduBeat launched(const V&) const { return beat_; }
  void taken(const FpduBeat&, const V&) const {}
  void left(const FpduBeat& beat) const {
    if (beat.last) stage_.count(beat);
  }

 private:
  Stage& stage_;
  FpduBeat beat_;
};

using CrcCheckPins = CrcPins<Vcrc_check, CrcCheck>;
using CrcInsertPins = CrcPins<Vcrc_insert, CrcInsert>;

}  // namespace rnic::rtl
