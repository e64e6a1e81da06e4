#pragma once

#include "rtl-stubs/verilated/beat_pins.h"
#include "rtl-stubs/verilated/pin_adapter.h"

#include "Vcrc_check.h"  // after pin_adapter.h, which prepares Verilator's headers for SystemC

namespace rnic::rtl {

struct CrcCheckPins {
  using Model = Vcrc_check;
  using In = FpduBeat;
  using Out = FpduBeat;
  static void in(Model& m, const In* beat) {
    m.fpdu_valid_i = beat != nullptr;
    if (beat != nullptr) pack(*beat, m.fpdu_i);
  }
  static void credit(Model& m, bool credit) { m.fpdu_ready_i = credit; }
  static bool ready(const Model& m) { return m.fpdu_ready_o; }
  static bool launch(const Model& m) { return m.fpdu_launch_o; }
  static bool valid(const Model& m) { return m.fpdu_valid_o; }
  static void out(const Model& m, Out& beat) { unpack(m.fpdu_o, beat); }
};

using CrcCheckRtl = PinAdapter<CrcCheckPins>;

}  // namespace rnic::rtl
