// The capture of the cable, and the count of its frames.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "model/cable/ethernet_link.h"
#include "model/common/ring.h"
#include "model/trace/pcapng.h"

namespace rnic {

// The two directions' clocks run ahead of each other, so frames come out of order; each waits until no earlier one can
// follow.
class WireCapture final : public FrameTap {
 public:
  // Seen from the station at end 0. Without a file it only counts. ConfigError if the file cannot be created.
  WireCapture(const std::string& station, const std::string& file);

  void frame(unsigned direction, const Frame& frame, std::uint64_t ps) override;
  // No earlier frame will follow.
  void advance(std::uint64_t now_ps);
  void close();

  std::uint64_t frames() const { return frames_; }

 private:
  struct Waiting {
    std::uint64_t ps = 0;
    Frame frame;
  };
  std::unique_ptr<PcapngWriter> writer_;
  unsigned interface_ = 0;
  std::uint64_t frames_ = 0;
  std::array<Ring<Waiting>, 2> waiting_;
};

}  // namespace rnic
