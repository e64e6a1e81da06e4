// The datapath's beats as waveform variables.
#pragma once

#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/beat.h"
#include "model/trace/link_wave.h"

namespace rnic {

inline std::vector<BeatField<FpduBeat>> fpdu_beat_fields() {
  return {{"flow", 16, [](const FpduBeat& b) { return std::uint64_t{b.flow.v}; }},
          {"words", 6, [](const FpduBeat& b) { return std::uint64_t{b.words}; }},
          {"first", 1, [](const FpduBeat& b) { return std::uint64_t{b.first}; }},
          {"last", 1, [](const FpduBeat& b) { return std::uint64_t{b.last}; }},
          {"crc_ok", 1, [](const FpduBeat& b) { return std::uint64_t{b.crc_ok}; }},
          {"placed", 1, [](const FpduBeat& b) { return std::uint64_t{b.placed()}; }},
          {"ends", 1, [](const FpduBeat& b) { return std::uint64_t{b.ends()}; }},
          {"marker_lane", 8, [](const FpduBeat& b) { return std::uint64_t{b.marker_lane}; }},
          {"word0", 32, [](const FpduBeat& b) { return std::uint64_t{load_be32(b.data)}; }}};
}

inline std::vector<BeatField<StreamBeat>> stream_beat_fields() {
  return {{"flow", 16, [](const StreamBeat& b) { return std::uint64_t{b.flow.v}; }},
          {"offset", 64, [](const StreamBeat& b) { return b.offset; }},
          {"bytes", 8, [](const StreamBeat& b) { return std::uint64_t{b.bytes}; }},
          {"first", 1, [](const StreamBeat& b) { return std::uint64_t{b.first}; }},
          {"last", 1, [](const StreamBeat& b) { return std::uint64_t{b.last}; }},
          {"placed", 1, [](const StreamBeat& b) { return std::uint64_t{b.placed}; }},
          {"ends", 1, [](const StreamBeat& b) { return std::uint64_t{b.ends}; }}};
}

}  // namespace rnic
