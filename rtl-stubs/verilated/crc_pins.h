// crc_check and crc_insert: a beat leaves as it came, but for its CRC.
#pragma once

#include "rtl-stubs/verilated/beat_pins.h"
#include "rtl-stubs/verilated/pin_adapter.h"

#include "Vcrc_check.h"  // after pin_adapter.h, which prepares Verilator's headers for SystemC
#include "Vcrc_insert.h"

namespace rnic::rtl {

template <class V>
class CrcPins {
 public:
  using Model = V;
  using In = FpduBeat;
  using Out = FpduBeat;
  void in(V& m, const FpduBeat& beat) {
    beat_ = beat;
    pack(beat, m.in_i, m.in_data_i);
  }
  static void look_up(V&) {}
  const FpduBeat& launched(const V&) const { return beat_; }
  static void taken(const FpduBeat&, const V&) {}
  static void out(const V& m, FpduBeat& beat) { unpack(m.out_o, m.out_data_o, beat); }

 private:
  FpduBeat beat_;
};

using CrcCheckRtl = PinAdapter<CrcPins<Vcrc_check>>;
using CrcInsertRtl = PinAdapter<CrcPins<Vcrc_insert>>;

}  // namespace rnic::rtl
