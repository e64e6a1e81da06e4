// How losses of one side's data show, and what brings it again: gaps at the tap, the news of them in SACK or duplicate
// ACKs, fast retransmission (RFC 6675, RFC 5681 section 3.2), timeouts (RFC 6298), and what was sent without need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/capture/analysis/coverage.h"
#include "model/capture/analysis/figures.h"
#include "model/capture/analysis/segments.h"
#include "model/capture/analysis/sent_segments.h"

namespace rnic::capture {

struct LossCounts {
  std::uint64_t fast = 0, recovery = 0, timeout = 0, other = 0;  // retransmissions, by what they follow
  std::uint64_t late = 0;                                        // originals that others overtook
  std::uint64_t again = 0;                                       // retransmissions of octets that had passed the tap
  std::uint64_t needless = 0;                                    // of those: it is certain that the receiver had them
  std::uint64_t octets = 0;                                      // of retransmissions
  std::uint64_t octets_missing = 0;                              // acknowledged, but not in the capture
};

class LossTiming {
 public:
  explicit LossTiming(Figures& figures) : figures_(figures) {}

  // Known once the handshake has been seen.
  void round_trip_is(std::int64_t ns) { round_trip_ns_ = ns; }
  void uses_sack() { uses_sack_ = true; }
  // `before` is the same segment when it was sent last, nullptr if it has not been seen or is acknowledged. False if
  // the segment brings octets that had passed the tap.
  bool data(const DataSegment& data, const SentSegment* before);
  // Returns how many octets this acknowledges that are not in the capture.
  std::int64_t ack(const AckSegment& ack);
  // The receiver had the octet at this position before it came again.
  void prove_needless(std::int64_t begin, std::int64_t end);

  std::int64_t acknowledged() const { return acknowledged_; }
  std::int64_t highest() const { return seen_.highest(); }
  bool has_gaps() const { return seen_.has_gaps(); }
  const LossCounts& counts() const { return counts_; }

 private:
  enum class Cause { kFast, kRecovery, kTimeout, kOther };
  bool is_late(const Gap& gap, const DataSegment& data);
  void again(const DataSegment& data, const SentSegment* before);
  void retransmission(const DataSegment& data, const Gap* at_tap, const SentSegment* before);
  Cause cause_of(const DataSegment& data, const Gap* reported, const SentSegment* before) const;
  void fast(const DataSegment& data, const Gap* at_tap, Gap& reported);
  void timeout(const DataSegment& data, const Gap* at_tap, const SentSegment* before);
  void note_loss(FigureKind kind, const DataSegment& data, const Gap* at_tap, const Gap* reported);
  Gap* reported_gap(std::int64_t octet);
  bool is_third(const Gap& reported, const Stamp& before) const;
  void take_sack(const AckSegment& ack);
  void take_duplicate(const AckSegment& ack);

  Figures& figures_;
  Coverage seen_{1}, reported_{3};                  // at the tap, and by the receiver; of the latter three news count
  std::map<std::int64_t, Gap> past_;                // gaps that were reported and are acknowledged; the newest ones
  std::map<std::int64_t, std::uint64_t> unproven_;  // retransmissions of octets that had passed, by the first one
  std::int64_t acknowledged_ = 0;
  std::int64_t recovery_end_ = 0;  // what is sent again below it follows from an earlier retransmission
  std::optional<std::int64_t> round_trip_ns_;
  std::optional<Stamp> last_advance_;  // of an acknowledgement
  struct {
    std::int64_t begin = -1, ns = 0;
  } last_rto_;
  bool uses_sack_ = false;
  LossCounts counts_;
};

}  // namespace rnic::capture
