// Raw Ethernet frames to and from an outside process: one frame per call, destination MAC first, no FCS.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/common/bytes.h"
#include "model/external/external_config.h"

namespace rnic::external {

class FramePort {
 public:
  static constexpr std::size_t kMaxFrame = 16384;

  virtual ~FramePort() = default;
  // A descriptor that is readable when a frame, or the peer's connection, is waiting.
  virtual int descriptor() const = 0;
  // The next frame; false if there is none. Never waits.
  virtual bool receive(std::vector<std::uint8_t>& frame) = 0;
  // False if the peer cannot take the frame or has left: the frame is lost, as on a wire.
  virtual bool send(ByteSpan frame) = 0;
  virtual bool peer_gone() const { return false; }
};

// Listens or opens at once. Throws ConfigError with the path and the reason.
std::unique_ptr<FramePort> open_frame_port(const ExternalConfig& config);

}  // namespace rnic::external
