// The sizes and paces that every stage of the datapath meets, in its unit test and beside its twin.
#pragma once

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "model/ends/pattern.h"
#include "model/wire/fpdu.h"

namespace rnic::test {

// When neighbours are ready.
struct Traffic {
  const char* name;
  Pattern produce, consume;
  Pattern control{};  // of sinks beside the datapath
};
inline void PrintTo(const Traffic& t, std::ostream* os) { *os << t.name; }

inline const auto kTraffics = testing::Values(
    Traffic{"full_rate", {}, {}}, Traffic{"every_second_cycle", every(2, 1), {}}, Traffic{"idle", every(5, 4), {}},
    Traffic{"bursts", every(40, 24), {}}, Traffic{"back_pressure", {}, every(3, 2), every(40, 39)},
    Traffic{"long_stall", {}, every(1000, 300), every(1300, 300)},
    Traffic{"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)});
inline std::string traffic_name(const testing::TestParamInfo<Traffic>& info) { return info.param.name; }
// For stages that exist for several widths of the datapath.
inline std::string width_and_traffic(const testing::TestParamInfo<std::tuple<unsigned, Traffic>>& info) {
  return std::to_string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

inline constexpr std::size_t kLargestUlpdu = 0xffff;

// Octets of ULPDUs or of their contents: none, one, around a beat, an FPDU around a beat, MULPDU, the largest.
inline std::vector<std::size_t> sizes(std::size_t beat_bytes, std::size_t largest = kLargestUlpdu) {
  const std::size_t whole_beat = beat_bytes - wire::fpdu_bytes(2);  // an FPDU of two beats, with two octets of ULPDU
  return {0,
          1,
          beat_bytes - 1,
          beat_bytes,
          beat_bytes + 1,
          beat_bytes + whole_beat + 1,
          beat_bytes + whole_beat + 2,
          beat_bytes + whole_beat + 3,
          wire::mulpdu(1460, true),
          wire::mulpdu(1460, false),
          largest};
}

// Sizes of consecutive FPDUs from the beginning of a stream with markers, so that one FPDU begins in each possible
// place: any between two markers but the first, as a marker at an FPDU's beginning is its own.
inline std::vector<std::size_t> sizes_of_each_marker_phase() {
  std::vector<std::size_t> all;
  wire::StreamPosition position = 0;
  for (wire::StreamPosition next = 8; next <= wire::kMarkerInterval; next += 4) {
    std::size_t bytes = 18;
    while ((position + wire::marked_fpdu_bytes(position, bytes)) % wire::kMarkerInterval !=
           next % wire::kMarkerInterval) {
      ++bytes;
    }
    position += static_cast<wire::StreamPosition>(wire::marked_fpdu_bytes(position, bytes));
    all.push_back(bytes);
  }
  return all;
}

}  // namespace rnic::test
