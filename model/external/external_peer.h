// A peer outside of the simulation: takes frames, sends frames, and has a say in how time goes on.
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
  // A frame that has reached the peer; called in the kernel.
  virtual void deliver(ByteSpan frame) = 0;
  // Runs the kernel to this time, with the peer beside it, whose frames go to `wire`.
  virtual void advance(std::uint64_t until_ps, WireEnd& wire) = 0;
  virtual bool gone() const = 0;           // it was there, and has left
  virtual std::uint64_t lost() const = 0;  // frames that it could not take
};

// Thrown by advance() when a peer breaks its protocol or says nothing for too long.
struct PeerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Its sockets are there when this returns. Throws ConfigError for a setting that does not fit.
std::unique_ptr<ExternalPeer> open_external_peer(const ExternalConfig& config);

}  // namespace rnic::external
