// The state that mpa_deframer's RTL keeps for a flow.
#pragma once

#include "model/rnic/rx/mpa_deframer.h"

namespace rnic::rtl {

// The stage's entry, and values that the stage reads again from the FPDU's octets.
struct MpaPlace : MpaDeframer::Place {
  std::uint16_t marker_octets = 0;  // among those seen
  std::uint8_t last_octet = 0;      // last one seen: it may be the first one of the length field
  bool marker_ok = false;           // of the FPDU's markers so far
  bool straddles = false;           // the FPDU began in an earlier segment

  static constexpr const char* kMessage = "mpa_place";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("next", 64, m.next);
    v("seen", 17, m.seen);
    v("size", 17, m.size);
    v("marker_octets", 10, m.marker_octets);
    v("last_octet", 8, m.last_octet);
    v("marker_ok", 1, m.marker_ok);
    v("straddles", 1, m.straddles);
  }
};

}  // namespace rnic::rtl
