// The settings of the memory for what the peers of a lower layer have not acknowledged.
#pragma once

#include "model/config/field.h"

namespace rnic {

struct TransmitMemoryConfig {
  unsigned octets = 16 << 20;
  unsigned segments = 256 << 10;

  template <class V>
  static void fields(V& v) {
    v("octets", &TransmitMemoryConfig::octets,
      "transmit memory: octets that are kept until they are acknowledged, over all flows; at least an MTU",
      in_range(576, 1 << 30), unit("octets"));
    v("segments", &TransmitMemoryConfig::segments, "transmit memory: records of segments that are not acknowledged",
      in_range(1, 1 << 26), unit("segments"));
  }
};

}  // namespace rnic
