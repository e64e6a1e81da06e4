#include "model/capture/iwarp_stream.h"

#include <fmt/format.h>

namespace rnic::capture {

void IwarpStream::push(ByteSpan octets, const Place& at) {
  const Phase before = phase();
  if (before == Phase::kStreaming || before == Phase::kBroken) return;
  if (mpa_.rest() == 0) rest_ = at;
  newest_ = at;
  mpa_.push(octets);
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
  const std::uint16_t markers = check_markers(fpdu);
  ulpdu_.resize(fpdu.ulpdu_bytes());
  fpdu.copy_ulpdu(ulpdu_);
  if (const std::string wrong = counts_.take(ulpdu_); !wrong.empty()) tell(wrong);
  if (observe_) show(crc, markers_ ? std::optional(markers) : std::nullopt);
}

void IwarpStream::show(CrcResult crc, std::optional<std::uint16_t> markers) const {
  SeenFpdu seen{rest_, newest_, std::nullopt, ulpdu_.size(), crc, markers};
  if (const auto segment = SegmentView::parse(ulpdu_)) {
    seen.header = segment->header;
    seen.payload_bytes = segment->payload.size();
  }
  observe_(seen);
}

std::uint16_t IwarpStream::check_markers(const wire::FpduView& fpdu) {
  std::uint16_t count = 0;
  fpdu.for_each_marker([&](unsigned found, unsigned expected) {
    ++count;
    if (found != expected) tell(fmt::format("marker with FPDUPTR {} where {} is right", found, expected));
  });
  return count;
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
