#include "model/capture/analysis/request_timing.h"

#include <utility>

namespace rnic::capture {

using wire::Opcode;

bool StartupFrame::ends_in(ByteSpan octets) {
  if (is_over_) return false;
  begin_.insert(begin_.end(), octets.begin(), octets.end());
  if (!wire::starts_like_mpa_key(begin_, kind_)) {
    is_over_ = true;
    return false;
  }
  const std::optional<std::size_t> bytes = wire::mpa_frame_bytes(begin_);
  is_over_ = bytes && begin_.size() >= *bytes;
  return is_over_;
}

void RequestTiming::request(const SegmentHeader& header, const Stamp& stamp) {
  const bool is_atomic = header.opcode == Opcode::kAtomicRequest;
  if ((is_atomic || header.opcode == Opcode::kReadRequest) && header.last) requests_.push_back({is_atomic, stamp});
}

void RequestTiming::response(const SegmentHeader& header, const Stamp& stamp) {
  const bool is_atomic = header.opcode == Opcode::kAtomicResponse;
  if (!is_atomic && header.opcode != Opcode::kReadResponse) return;
  if (requests_.empty() || requests_.front().is_atomic != is_atomic) return;
  const std::int64_t ns = reaction_ns(requests_.front().stamp, stamp);
  if (is_atomic) {
    figures_.add(FigureKind::kAtomicToResponse, ns, stamp.frame);
  } else {
    if (!std::exchange(has_begun_, true)) figures_.add(FigureKind::kReadToFirstResponse, ns, stamp.frame);
    if (header.last) figures_.add(FigureKind::kReadToLastResponse, ns, stamp.frame);
  }
  if (!header.last) return;
  has_begun_ = false;
  requests_.pop_front();
}

}  // namespace rnic::capture
