// What could not be decoded, and why. Only packets with a wrong checksum are dropped silently, as TCP/IP does.
#pragma once

#include <string>
#include <vector>

#include "model/capture/place.h"

namespace rnic::capture {

struct Undecoded {
  Place at;  // of the frame; where reading ended, the offset of the rest and the last frame before it
  std::string reason;
};
using UndecodedList = std::vector<Undecoded>;

}  // namespace rnic::capture
