// How much a flow may have in flight: slow start, congestion avoidance and the answer to loss (RFC 5681). An algorithm
// says how the window grows and how far it falls; it holds no flow's state, so one object serves all of a chip.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "model/common/cycle.h"
#include "model/config/field.h"

namespace rnic::tcp {

enum class CongestionAlgorithm : std::uint8_t { kNewReno };
inline constexpr std::array kCongestionAlgorithms{Named{CongestionAlgorithm::kNewReno, "newreno"}};

// Of one flow; octets.
struct CongestionState {
  std::uint32_t mss = 0;
  std::uint32_t window = 0;
  std::uint32_t ssthresh = 0xffffffff;
  std::uint32_t counted = 0;  // acknowledged since congestion avoidance last added to the window
};

// An ACK of new octets.
struct AckedOctets {
  std::uint32_t bytes = 0;
  std::uint32_t flight = 0;  // before this ACK
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  // `segments` of initial window; beyond three of them RFC 6928's bound of 14600 octets is raised in proportion.
  void open(CongestionState& s, std::uint32_t mss, std::uint32_t segments) const;
  static std::uint32_t cwnd(const CongestionState& s) { return s.window; }
  // Outside of fast recovery. A window that is not even half used does not grow (RFC 7661 section 4.3).
  void on_ack(CongestionState& s, const AckedOctets& acked) const;
  // Fast recovery begins; `flight` as in RFC 5681 equation (4).
  void on_loss(CongestionState& s, std::uint32_t flight) const;
  // `repeated`: the same segment timed out before, and the threshold stays (RFC 5681 section 3.1).
  void on_timeout(CongestionState& s, std::uint32_t flight, bool repeated) const;
  // Nothing was sent for an RTO (RFC 5681 section 4.1).
  void on_idle(CongestionState& s, std::uint32_t segments) const;

 protected:
  // Congestion avoidance, of a window that is in use.
  virtual void avoid(CongestionState& s, const AckedOctets& acked) const = 0;
  // The slow start threshold after a loss, before its bound of two segments.
  virtual std::uint32_t reduced(CongestionState& s, std::uint32_t flight) const = 0;

 private:
  static std::uint32_t initial_window(std::uint32_t mss, std::uint32_t segments);
};

std::unique_ptr<CongestionControl> make_congestion_control(CongestionAlgorithm algorithm);

}  // namespace rnic::tcp
