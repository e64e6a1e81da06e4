// The firmware's operations for the lower layers, and their events, by short names.
#pragma once

#include "model/rnic/messages/llp_firmware.h"

namespace rnic::test {

struct TcpEvents {
  static constexpr auto kAccepted = LlpEvent::kind_of<fw::TcpAccepted>();
  static constexpr auto kConnected = LlpEvent::kind_of<fw::TcpConnected>();
  static constexpr auto kOpenFailed = LlpEvent::kind_of<fw::TcpOpenFailed>();
  static constexpr auto kStreamData = LlpEvent::kind_of<fw::TcpStreamData>();
  static constexpr auto kPeerClosed = LlpEvent::kind_of<fw::TcpPeerClosed>();
  static constexpr auto kReset = LlpEvent::kind_of<fw::TcpReset>();
  static constexpr auto kClosed = LlpEvent::kind_of<fw::TcpClosed>();
};
struct SctpEvents {
  static constexpr auto kConnected = LlpEvent::kind_of<fw::SctpConnected>();
  static constexpr auto kOpenFailed = LlpEvent::kind_of<fw::SctpOpenFailed>();
  static constexpr auto kControl = LlpEvent::kind_of<fw::SctpControl>();
  static constexpr auto kAcked = LlpEvent::kind_of<fw::SctpAcked>();
  static constexpr auto kPeerClosed = LlpEvent::kind_of<fw::SctpPeerClosed>();
  static constexpr auto kStray = LlpEvent::kind_of<fw::SctpStray>();
  static constexpr auto kLost = LlpEvent::kind_of<fw::SctpLost>();
  static constexpr auto kMulpduChanged = LlpEvent::kind_of<fw::SctpMulpduChanged>();
};

}  // namespace rnic::test
