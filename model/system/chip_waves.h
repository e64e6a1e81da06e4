// A node in the waveform: valid, ready and credit of each link of its chip, the fields of its messages, and the state
// that stages describe as probes.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/trace/link_wave.h"
#include "model/trace/probe_wave.h"

namespace rnic {

class ClockDomain;
class Node;
struct Described;

// The scopes that a waveform of this node may name: links, owners of probes, and everything above them.
std::vector<std::string> wave_scopes(Node& node, const Described& parts);

// Queue pairs and flows with smaller numbers have probes; others only if their scope is named.
inline constexpr unsigned kProbedNumbers = 16;

// Links and probes are observed from shortly before the window's start until its end, and stages do not run ahead
// meanwhile: a wave is drawn in order. The rest of the run costs as much as without a waveform.
class ChipWaves final {
 public:
  // Those links and probes that the waveform's scopes name. `nodes`: of the whole run, for the names of owners.
  ChipWaves(Node& node, const Described& parts, Waves& waves, const WaveWindow& window, std::vector<std::string> nodes);

  // The kernel has reached this time; to be called at least every 10 us.
  void follow(std::uint64_t now_ps);
  // The waveform has everything that happened until now.
  void settle();
  // Draws the chip's clock up to this time: it rises at the beginning of a cycle.
  void draw_clock(std::uint64_t until_ps);

 private:
  enum class State { kBefore, kSettling, kWatching, kOver };
  bool join();
  void leave();

  Waves& waves_;
  ClockDomain& clk_;
  const WaveOwners owners_;
  const WaveId clock_;
  Cycle clock_drawn_;  // edges of earlier cycles
  const std::uint64_t from_ps_, to_ps_, margin_ps_;
  const bool runs_ahead_;  // outside of the window
  State state_ = State::kBefore;
  std::deque<LinkWave> links_;
  ProbeWave chip_probes_, host_probes_;
};

}  // namespace rnic
