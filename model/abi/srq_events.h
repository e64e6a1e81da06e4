// What the firmware and the receive side report to each other about a shared receive queue.
#pragma once

#include <cstdint>

#include "model/common/ids.h"

namespace rnic {

// From now on one event when fewer than `limit` requests are left; 0 disarms. The event carries the serial.
struct SrqArm {
  Srqn srqn;
  std::uint32_t limit = 0;
  std::uint32_t serial = 0;

  static constexpr const char* kMessage = "srq_arm";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("srqn", m.srqn);
    v("limit", 32, m.limit);
    v("serial", 32, m.serial);
  }
};

struct SrqEvent {
  enum class Kind : std::uint8_t {
    kLimit,   // fewer requests than the limit are left; it is disarmed
    kOverrun  // the host announced more requests than the ring holds: the queue is unusable
  };
  Kind kind = Kind::kLimit;
  Srqn srqn;
  std::uint32_t serial = 0;  // of the SrqArm

  static constexpr const char* kMessage = "srq_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 1, m.kind);
    v("srqn", m.srqn);
    v("serial", 32, m.serial);
  }
};

}  // namespace rnic
