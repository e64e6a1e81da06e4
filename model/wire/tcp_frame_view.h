// A TCP segment in an IPv4 packet in an Ethernet frame.
#pragma once

#include <optional>

#include "model/common/bytes.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic::wire {

struct TcpFrameView {
  Ipv4View ip;
  TcpView tcp;

  // nullopt: something else, a fragment, or malformed headers. Checksums are not verified.
  static std::optional<TcpFrameView> parse(ByteSpan frame);
};

}  // namespace rnic::wire
