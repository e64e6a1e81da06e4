// An FPDU on a stream with markers, taken apart (RFC 5044 section 4.3).
#pragma once

#include <algorithm>

#include "model/wire/fpdu.h"

namespace rnic {

// Calls run(octets, count) for what lies between markers and marker(octets, whether its FPDUPTR is right) for each
// marker, in the order of the wire. `start` is the stream position of the FPDU's first octet.
template <class Run, class Marker>
void take_apart(const std::uint8_t* fpdu, std::size_t bytes, wire::StreamPosition start, Run run, Marker marker) {
  const wire::StreamPosition length_at = wire::ulpdu_length_position(start);
  for (std::size_t i = 0; i < bytes;) {
    const wire::StreamPosition position = start + static_cast<wire::StreamPosition>(i);
    if (wire::is_marker_position(position)) {
      marker(fpdu + i, wire::load_marker(fpdu + i) == wire::fpduptr(position, length_at));
      i += wire::kMarkerBytes;
    } else {
      const std::size_t count = std::min(bytes - i, wire::octets_to_marker(position));
      run(fpdu + i, count);
      i += count;
    }
  }
}

}  // namespace rnic
