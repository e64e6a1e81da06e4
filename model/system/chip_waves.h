// The chip's links in the waveform: valid, ready and credit of each, and the fields of its messages.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/trace/link_wave.h"

namespace rnic {

class ClockDomain;
class Rnic;

// The scopes that a waveform of this chip may name: its links, and all that is above them.
std::vector<std::string> wave_scopes(const Rnic& chip);

// Links are observed from shortly before the window's begin until its end, and stages do not run ahead meanwhile: a
// wave is drawn in order. The rest of the run costs what it costs without a waveform.
class ChipWaves final {
 public:
  // Those links that the waveform's scopes name.
  ChipWaves(const Rnic& chip, ClockDomain& clk, Waves& waves, const WaveWindow& window);

  // The kernel has reached this time; to be called at least every 10 us.
  void follow(std::uint64_t now_ps);

 private:
  enum class State { kBefore, kSettling, kWatching, kOver };
  bool join();

  ClockDomain& clk_;
  const std::uint64_t from_ps_, to_ps_, margin_ps_;
  const bool runs_ahead_;  // outside of the window
  State state_ = State::kBefore;
  std::deque<LinkWave> links_;
};

}  // namespace rnic
