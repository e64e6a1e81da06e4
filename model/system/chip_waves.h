// The chip's links in the waveform: valid, ready and credit of each, and the fields of the datapath's beats.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/trace/waves.h"

namespace rnic {

class ClockDomain;
class Rnic;

// The scopes that a waveform of this chip may name: its links, and all that is above them.
std::vector<std::string> wave_scopes(Rnic& chip);

class ChipWaves final {
 public:
  // Observes those links that the waveform's scopes name.
  ChipWaves(Rnic& chip, const ClockDomain& clk, Waves& waves);
  ~ChipWaves();

 private:
  struct Observers;
  const std::unique_ptr<Observers> observers_;
};

}  // namespace rnic
