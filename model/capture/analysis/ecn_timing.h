// Explicit congestion notification of one side's data (RFC 3168): from a mark to ECE, from ECE to CWR, and by how much
// the octets in flight fall.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "model/capture/analysis/figures.h"
#include "model/capture/analysis/segments.h"

namespace rnic::capture {

class EcnTiming {
 public:
  explicit EcnTiming(Figures& figures) : figures_(figures) {}

  // Octets in flight are compared over a round trip, once it is known.
  void round_trip_is(std::int64_t ns) { round_trip_ns_ = ns; }
  // `highest` is the end of all data so far.
  void data(const DataSegment& data, std::int64_t highest, bool has_ce, bool has_cwr);
  void ack(const AckSegment& ack, bool has_ece);

 private:
  struct Flight {
    std::int64_t ns, octets;
  };
  std::int64_t in_flight(std::int64_t left_ns, std::int64_t highest);
  void remember(const Flight& flight);
  std::int64_t most_before(std::int64_t ns) const;

  Figures& figures_;
  std::optional<std::int64_t> round_trip_ns_;
  std::optional<Stamp> marked_, echoed_;  // not answered yet
  bool echoes_ = false;                   // the last acknowledgement had ECE
  std::int64_t acknowledged_ = 0;         // where the sender is, when its newest segment left
  std::deque<Flight> acks_;               // that the sender had not got by then
  std::deque<Flight> recent_;             // over a round trip
  std::int64_t before_ = 0;               // most in flight in the round trip before the ECE
  struct Reduced {
    std::int64_t until_ns, before, most;
    std::uint64_t frame;
  };
  std::optional<Reduced> reduced_;  // since the last CWR
};

}  // namespace rnic::capture
