// A peer outside the simulation: takes and sends frames, and controls how time advances.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/common/bytes.h"
#include "model/external/external_config.h"
#include "model/external/wire_end.h"

namespace rnic::external {

class ExternalPeer {
 public:
  virtual ~ExternalPeer() = default;
  // Takes a frame that has reached the peer; called in the kernel.
  virtual void deliver(ByteSpan frame) = 0;
  // Runs the kernel to this time together with the peer, whose frames go to `wire`.
  virtual void advance(std::uint64_t until_ps, WireEnd& wire) = 0;
  virtual bool gone() const = 0;           // it was connected and has left
  virtual std::uint64_t lost() const = 0;  // frames that it could not take
};

// Thrown by advance() if a peer violates its protocol or is silent for too long.
struct PeerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Its sockets exist when this returns. Throws ConfigError for an invalid setting.
std::unique_ptr<ExternalPeer> open_external_peer(const ExternalConfig& config);

}  // namespace rnic::external
