// What mpa_deframer's RTL remembers of a flow.
#pragma once

#include "model/rnic/rx/mpa_deframer.h"

namespace rnic::rtl {

// The stage's table, and what the stage reads again from where the FPDU's octets lie.
struct MpaPlace : MpaDeframer::Place {
  std::uint16_t marker_octets = 0;  // among those seen
  std::uint8_t last_octet = 0;      // that was seen: it may be the first one of the length field
  bool marker_ok = false;           // of the FPDU's markers so far
  bool straddles = false;           // it began in an earlier segment
};

}  // namespace rnic::rtl
