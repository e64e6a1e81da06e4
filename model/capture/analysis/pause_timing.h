// PAUSE (IEEE 802.3 annex 31B) and priority flow control (802.1Q clause 36): how long a station asks for, and when the
// next frame from another one comes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/capture/analysis/figures.h"
#include "model/capture/capture_reader.h"
#include "model/wire/ethernet.h"

namespace rnic::capture {

class PauseTiming {
 public:
  void frame(const CapturedFrame& frame);
  // By the address of the station that asks for a pause.
  const std::map<std::string, Figures>& stations() const { return stations_; }

 private:
  void pause(const wire::EthernetView& ethernet, const CapturedFrame& frame);

  std::map<std::string, Figures> stations_;
  struct Pending {
    std::string station;
    wire::MacAddress address;
    std::uint64_t ns;
  };
  std::map<std::string, Pending> pending_;  // that no frame has followed yet
};

}  // namespace rnic::capture
