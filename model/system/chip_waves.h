// The chip's links in the waveform: valid, ready and credit of each, and the fields of the datapath's beats.
#pragma once

#include <memory>

#include "model/rnic/rnic.h"
#include "model/trace/waves.h"

namespace rnic {

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
