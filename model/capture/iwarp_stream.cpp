#include "model/capture/iwarp_stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::capture {

void IwarpStream::push(ByteSpan octets, const Place& at) {
  const Phase before = phase();
  if (before == Phase::kStreaming || before == Phase::kBroken) return;
  if (mpa_.rest() == 0) rest_ = at;
  newest_ = at;
  mpa_.push(octets);
  show_begun();
  if (phase() == Phase::kBroken) tell(fmt::format("startup frame refused: {}", to_string(mpa_.error())));
  if (before == Phase::kStartup && phase() == Phase::kNegotiating) rest_ = newest_;
  read_fpdus();
}

void IwarpStream::enter_rdma(bool markers, bool crc) {
  mpa_.enter_rdma(markers);
  markers_ = markers;
  crc_ = crc;
  read_fpdus();
}

void IwarpStream::read_fpdus() {
  while (const auto fpdu = mpa_.next_fpdu()) {
    read_fpdu(*fpdu);
    rest_ = newest_;  // older octets made no complete FPDU, so the rest came with the newest frame
  }
}

void IwarpStream::read_fpdu(const wire::FpduView& fpdu) {
  const CrcResult crc = check_crc(fpdu);
  check_markers(fpdu);
  ulpdu_.resize(fpdu.ulpdu_bytes());
  fpdu.copy_ulpdu(ulpdu_);
  if (const std::string wrong = counts_.take(ulpdu_); !wrong.empty()) tell(wrong);
  if (observe_) observe_(seen(fpdu, crc));
}

void IwarpStream::read_cut(const wire::FpduView& fpdu) {
  ++counts_.cut;
  check_markers(fpdu);
  ulpdu_.resize(std::min(fpdu.ulpdu_bytes(), fpdu.octets().size()));
  ulpdu_.resize(fpdu.copy_ulpdu(ulpdu_));
  counts_.take(ulpdu_, fpdu.ulpdu_bytes() - ulpdu_.size());
  if (observe_) begun_ = seen(fpdu, crc_ ? CrcResult::kMissing : CrcResult::kOff);
}

// Once the last octet would be there.
void IwarpStream::show_begun() {
  if (!begun_ || mpa_.is_within()) return;
  begun_->last = newest_;
  observe_(*begun_);
  begun_.reset();
}

void IwarpStream::skip(std::size_t octets) {
  const Phase before = phase();
  if (before == Phase::kStreaming || before == Phase::kBroken) return;
  if (const auto fpdu = mpa_.skip(octets)) read_cut(*fpdu);
  show_begun();
  if (phase() == Phase::kBroken) tell("the capture did not keep the startup frame");
  if (mpa_.is_lost() && !lost_) lost_ = newest_;
  rest_ = newest_;
}

SeenFpdu IwarpStream::seen(const wire::FpduView& fpdu, CrcResult crc) const {
  SeenFpdu seen{rest_, newest_, std::nullopt, fpdu.ulpdu_bytes(), crc, std::nullopt};
  if (markers_) seen.markers = static_cast<std::uint16_t>(fpdu.markers());
  if (const auto segment = SegmentView::parse(ulpdu_)) {
    seen.header = segment->header;
    seen.payload_bytes -= ulpdu_.size() - segment->payload.size();
  }
  return seen;
}

void IwarpStream::check_markers(const wire::FpduView& fpdu) {
  fpdu.for_each_marker([this](unsigned found, unsigned expected) {
    if (found != expected) tell(fmt::format("marker with FPDUPTR {} where {} is right", found, expected));
  });
}

CrcResult IwarpStream::check_crc(const wire::FpduView& fpdu) {
  if (!crc_) {
    ++counts_.crc.absent;
    return CrcResult::kOff;
  }
  if (crc_ok(fpdu)) {
    ++counts_.crc.good;
    return CrcResult::kRight;
  }
  ++counts_.crc.bad;
  tell("FPDU with a wrong CRC");
  return CrcResult::kWrong;
}

void IwarpStream::finish() {
  if (lost_)
    undecoded_.push_back({*lost_, name_ + ": from here on FPDUs are left out whose header the capture did not keep"});
  const std::size_t rest = mpa_.rest();
  if (rest == 0) return;
  if (phase() == Phase::kNegotiating) {
    tell(fmt::format("{} octets after the startup frame, but the other side's is not in the capture", rest));
  } else {
    tell(
        fmt::format("the last {} octets are no whole {}", rest, phase() == Phase::kStartup ? "startup frame" : "FPDU"));
  }
}

void IwarpStream::tell(const std::string& what) { undecoded_.push_back({rest_, name_ + ": " + what}); }

}  // namespace rnic::capture
