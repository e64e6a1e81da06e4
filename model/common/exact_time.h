// A time as the command line takes it, without loss.
#pragma once

#include <cstdint>
#include <string>

namespace rnic {

// In the largest unit up to milliseconds in which it is a whole number: "12us", "1500ns".
inline std::string exact_time(std::uint64_t ps) {
  const char* unit = "ps";
  for (const char* larger : {"ns", "us", "ms"}) {
    if (ps % 1000 != 0 || ps == 0) break;
    ps /= 1000;
    unit = larger;
  }
  return std::to_string(ps) + unit;
}

}  // namespace rnic
