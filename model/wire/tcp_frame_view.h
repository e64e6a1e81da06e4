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

  // nullopt: something else, a fragment, or headers that cannot be read. Checksums are not looked at.
  static std::optional<TcpFrameView> parse(ByteSpan frame);
};

}  // namespace rnic::wire
