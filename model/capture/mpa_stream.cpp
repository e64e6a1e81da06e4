#include "model/capture/mpa_stream.h"

#include <algorithm>
#include <array>

#include "model/capture/ddp_segment.h"
#include "model/common/crc32c.h"
#include "model/wire/ddp.h"

namespace rnic::capture {

void MpaStream::push(ByteSpan octets) {
  if (phase_ == Phase::kStreaming || phase_ == Phase::kBroken) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ = 0;
  octets = octets.subspan(swallow(octets.size()));
  if (is_lost_ && begins_fpdu(octets)) is_lost_ = false;
  if (is_lost_) return lose(octets.size());
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

// Returns how many of the next octets belong to an FPDU that was returned without them.
std::size_t MpaStream::swallow(std::size_t octets) {
  const std::size_t count = std::min(to_swallow_, octets);
  to_swallow_ -= count;
  fpdu_octets_ += count;
  return count;
}

void MpaStream::lose(std::size_t octets) {
  fpdu_octets_ += rest() + octets;
  used_ = buffer_.size();
  is_lost_ = true;
}

std::optional<wire::FpduView> MpaStream::skip(std::size_t octets) {
  if (phase_ == Phase::kStartup) octets -= skip_startup(octets);
  if (octets == 0 || phase_ == Phase::kStreaming || phase_ == Phase::kBroken) return std::nullopt;
  return skip_fpdus(octets);
}

// Private data may be missing, but nothing that is negotiated: of an enhanced frame the first four octets are IRD and
// ORD (RFC 6581). Returns how many of the octets belong to the startup frame.
std::size_t MpaStream::skip_startup(std::size_t octets) {
  const std::optional<std::size_t> size = wire::mpa_frame_bytes(buffer_);
  if (!size || buffer_.size() < std::min(*size, wire::kMpaHeaderBytes + wire::MpaEnhanced::kBytes)) {
    error_ = wire::MpaFrameError::kTruncated;
    phase_ = Phase::kBroken;
    buffer_.clear();
    return octets;
  }
  const std::size_t count = std::min(*size - buffer_.size(), octets);
  buffer_.resize(buffer_.size() + count);
  read_startup();
  return count;
}

std::optional<wire::FpduView> MpaStream::skip_fpdus(std::size_t octets) {
  octets -= swallow(octets);
  if (octets == 0) return std::nullopt;
  const auto at = static_cast<wire::StreamPosition>(fpdu_octets_);
  const auto fpdu = phase_ == Phase::kRdma && !is_lost_
                        ? wire::FpduView::parse_begun(ByteSpan(buffer_).subspan(used_), at, markers_)
                        : std::nullopt;
  if (!fpdu) {
    lose(octets);
    return std::nullopt;
  }
  used_ += fpdu->octets().size();
  fpdu_octets_ += fpdu->octets().size();
  to_swallow_ = fpdu->bytes() - fpdu->octets().size();
  octets -= swallow(octets);
  if (octets != 0) lose(octets);
  return fpdu;
}

// Senders begin segments with FPDUs, but need not (RFC 5044 section 5): the headers, and markers, must be plausible.
bool MpaStream::begins_fpdu(ByteSpan octets) const {
  const auto fpdu = wire::FpduView::parse_begun(octets, static_cast<wire::StreamPosition>(fpdu_octets_), markers_);
  if (!fpdu) return false;
  std::array<std::uint8_t, wire::DdpUntaggedHeader::kBytes> header{};
  for (std::size_t i = 0; i < std::min(header.size(), fpdu->ulpdu_bytes()); ++i) {
    if (fpdu->place(wire::kUlpduLengthBytes + i) >= fpdu->octets().size()) return false;
    header[i] = fpdu->ulpdu_octet(i);
  }
  const auto segment = SegmentView::parse(ByteSpan(header).subspan(0, fpdu->ulpdu_bytes()));
  bool plausible = segment && segment->header.is_plausible();
  fpdu->for_each_marker([&](unsigned found, unsigned expected) { plausible = plausible && found == expected; });
  return plausible;
}

bool crc_ok(const wire::FpduView& fpdu) {
  return crc32c(fpdu.covered()) == load_crc32c(fpdu.octets().data() + fpdu.crc_at());
}

}  // namespace rnic::capture
