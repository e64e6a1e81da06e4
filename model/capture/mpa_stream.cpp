#include "model/capture/mpa_stream.h"

#include <algorithm>

#include "model/common/crc32c.h"

namespace rnic::capture {

void MpaStream::push(ByteSpan octets) {
  if (phase_ == Phase::kStreaming || phase_ == Phase::kBroken) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ = 0;
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
  if (phase_ == Phase::kStartup) read_startup();
}

void MpaStream::read_startup() {
  if (!wire::starts_like_mpa_key(buffer_, startup_kind_)) return leave_mpa();
  const std::optional<std::size_t> size = wire::mpa_frame_bytes(buffer_);
  if (!size) return;
  const std::size_t whole = std::min(*size, wire::kMpaHeaderBytes + wire::kMpaMaxPrivateData + 1);
  // An invalid header is refused without waiting for the private data that it announces.
  error_ = wire::decode_mpa_frame(ByteSpan(buffer_).subspan(0, whole), startup_kind_, wire::kMpaRev2).error;
  if (error_ == wire::MpaFrameError::kTruncated) return;
  if (error_ != wire::MpaFrameError::kNone) {
    phase_ = Phase::kBroken;
    buffer_.clear();
    return;
  }
  const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(*size);
  startup_octets_.assign(buffer_.begin(), end);
  buffer_.erase(buffer_.begin(), end);
  phase_ = Phase::kNegotiating;
}

std::optional<wire::MpaFrame> MpaStream::startup() const {
  if (startup_octets_.empty()) return std::nullopt;
  return wire::decode_mpa_frame(startup_octets_, startup_kind_, wire::kMpaRev2).frame;
}

void MpaStream::enter_rdma(bool markers) {
  phase_ = Phase::kRdma;
  markers_ = markers;
}

void MpaStream::leave_mpa() {
  phase_ = Phase::kStreaming;
  buffer_.clear();
  used_ = 0;
}

std::optional<wire::FpduView> MpaStream::next_fpdu() {
  if (phase_ != Phase::kRdma) return std::nullopt;
  const auto at = static_cast<wire::StreamPosition>(fpdu_octets_);
  const auto fpdu = wire::FpduView::parse(ByteSpan(buffer_).subspan(used_), at, markers_);
  if (fpdu) {
    used_ += fpdu->octets().size();
    fpdu_octets_ += fpdu->octets().size();
  }
  return fpdu;
}

bool crc_ok(const wire::FpduView& fpdu) {
  return crc32c(fpdu.covered()) == load_crc32c(fpdu.octets().data() + fpdu.crc_at());
}

}  // namespace rnic::capture
