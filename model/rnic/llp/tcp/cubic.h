// RFC 9438: a window that is a cubic function of the time since the last loss, in integers: octets and milliseconds.
#pragma once

#include "model/rnic/llp/congestion_control.h"

namespace rnic::tcp {

class Cubic final : public llp::CongestionControl {
 public:
  // W_cubic `ms` after the epoch began (equation 1), in octets.
  static std::uint32_t window_at(const llp::CubicState& c, std::uint32_t mss, std::uint64_t ms);
  static std::uint32_t cube_root(std::uint64_t v);

 protected:
  void avoid(llp::CongestionState& s, const llp::AckedOctets& acked) const override;
  std::uint32_t reduced(llp::CongestionState& s, std::uint32_t flight) const override;

 private:
  static void begin_epoch(llp::CongestionState& s, std::uint64_t now_ns);
};

}  // namespace rnic::tcp
