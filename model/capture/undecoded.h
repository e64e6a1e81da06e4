// What could not be decoded, and why. Only packets with a wrong checksum are dropped silently, as TCP/IP does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rnic::capture {

struct Undecoded {
  std::uint64_t offset = 0;  // in the file: of the frame's record, or where reading ended
  std::string reason;
};
using UndecodedList = std::vector<Undecoded>;

}  // namespace rnic::capture
