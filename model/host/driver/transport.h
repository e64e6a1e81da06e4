// The transport of a connection's DDP streams.
#pragma once

#include <cstdint>

namespace rnic::host {

enum class Transport : std::uint8_t {
  kTcp,  // MPA over TCP (RFC 5044)
  kSctp  // a stream pair of an SCTP association (RFC 5043)
};

}  // namespace rnic::host
