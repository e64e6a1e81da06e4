// One direction of a TCP connection: the data of one side, and the acknowledgements of the other.
#pragma once

#include <cstdint>
#include <optional>

#include "model/capture/analysis/ecn_timing.h"
#include "model/capture/analysis/figures.h"
#include "model/capture/analysis/loss_timing.h"
#include "model/capture/analysis/segments.h"
#include "model/capture/analysis/send_order.h"
#include "model/capture/analysis/sent_segments.h"
#include "model/capture/segment.h"

namespace rnic::capture {

struct DirectionCounts {
  std::uint64_t segments = 0, octets = 0;  // with payload
  std::uint64_t above_mss = 0;             // of those: larger than the other side's MSS
  std::uint64_t ce_marked = 0;             // of those
  std::uint64_t probes = 0;                // keep-alive, and of a zero window
  std::uint64_t copies = 0;                // of a packet, by the network or the capture: same identification
  std::uint64_t acks = 0, zero_windows = 0;
  std::uint64_t acks_of_missing = 0;  // of octets that are not in the capture
};

class DirectionAnalysis {
 public:
  DirectionAnalysis() : sent_(figures_), loss_(figures_), ecn_(figures_) {}

  DirectionAnalysis(const DirectionAnalysis&) = delete;
  DirectionAnalysis& operator=(const DirectionAnalysis&) = delete;

  void round_trip_is(std::int64_t ns) {
    loss_.round_trip_is(ns);
    ecn_.round_trip_is(ns);
  }
  // Both sides permit it.
  void uses_sack() { loss_.uses_sack(); }
  void largest_segment_is(std::uint16_t mss) { mss_ = mss; }
  // A segment of the side that sends the data.
  void data(const Segment& segment, const Stamp& stamp);
  // One of the other side.
  void ack(const Segment& segment, const Stamp& stamp);
  bool has_gaps() const { return loss_.has_gaps(); }

  Figures& figures() { return figures_; }
  const Figures& figures() const { return figures_; }
  const DirectionCounts& counts() const { return counts_; }
  const LossCounts& losses() const { return loss_.counts(); }
  std::optional<std::uint16_t> mss() const { return mss_; }

 private:
  bool is_probe(const DataSegment& data, const SentSegment* before) const;
  bool is_copy(const Segment& segment, const SentSegment* before) const;
  void note_window(const Segment& segment, const Stamp& stamp);
  AckSegment read_ack(const Segment& segment, const Stamp& stamp);

  Figures figures_;
  SentSegments sent_;
  LossTiming loss_;
  EcnTiming ecn_;
  StreamPositions positions_;
  DirectionCounts counts_;
  std::optional<std::uint16_t> mss_;
  SendOrderReader order_;
  std::optional<std::uint16_t> window_;  // the receiver's last one, not scaled
  std::optional<Stamp> closed_;          // since when it is 0
};

}  // namespace rnic::capture
