#include "model/capture/analysis/analysis.h"

#include <algorithm>
#include <utility>

namespace rnic::capture {

void Analysis::take(const CapturedFrame& frame) {
  ++integrity_.frames;
  FrameResult result = read_frame(frame, options_.trust_checksums);
  if (result.is_cut() && ++integrity_.cut == 1) integrity_.first_cut = frame.at.frame;
  if (result.fate == FrameFate::kLostByCable) {
    ++integrity_.lost;
    return;
  }
  integrity_.backwards += last_ns_ && frame.at.time_ns < *last_ns_;
  last_ns_ = frame.at.time_ns;
  pauses_.frame(frame);
  if (result.fate == FrameFate::kSegment) {
    if (table_.segment(result.segment)) ++integrity_.segments;
    else ++integrity_.dropped;
  } else if (result.fate == FrameFate::kSctp) {
    ++integrity_.sctp;
  } else if (result.fate == FrameFate::kWrongIpChecksum) {
    ++integrity_.dropped;
  } else if (result.fate == FrameFate::kUndecoded) {
    undecoded_.push_back({frame.at, std::move(result.reason)});
  }
}

void Analysis::read(const std::string& file) {
  CaptureReader reader(file);
  while (const auto frame = reader.next(undecoded_)) take(*frame);
  integrity_.packets = reader.packets();
  integrity_.other_packets = reader.skipped_packets();
  integrity_.resolution_ns = reader.resolution_ns();
  integrity_.ended_early = reader.ended_early();
  table_.finish();
  std::stable_sort(undecoded_.begin(), undecoded_.end(),
                   [](const Undecoded& a, const Undecoded& b) { return a.at.offset < b.at.offset; });
}

Tap Analysis::tap(const ConnectionAnalysis& connection) const {
  const auto octets = [&](Side from) { return connection.direction(from).counts().octets; };
  const bool initiator_sends = octets(Side::kInitiator) >= octets(Side::kResponder);
  switch (options_.tap) {
    case TapOption::kSender:
      return initiator_sends ? Tap::kInitiator : Tap::kResponder;
    case TapOption::kReceiver:
      return initiator_sends ? Tap::kResponder : Tap::kInitiator;
    case TapOption::kMiddle:
      return Tap::kMiddle;
    case TapOption::kEachEnd:
      return Tap::kEachEnd;
    case TapOption::kFromHandshake:
      return connection.nearest();
  }
  return Tap::kUnknown;
}

}  // namespace rnic::capture
