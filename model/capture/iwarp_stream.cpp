#include "model/capture/iwarp_stream.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/crc32c.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"

namespace rnic::capture {

void IwarpStream::push(ByteSpan octets, std::uint64_t offset) {
  if (phase_ == Phase::kStreaming || phase_ == Phase::kBroken) return;
  if (buffer_.empty()) buffer_offset_ = offset;
  newest_offset_ = offset;
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
  if (phase_ == Phase::kStartup) read_startup();
  if (phase_ == Phase::kRdma) read_fpdus();
}

void IwarpStream::read_startup() {
  if (!wire::starts_like_mpa_key(buffer_, startup_kind_)) {
    leave_mpa();
    return;
  }
  const std::optional<std::size_t> size = wire::mpa_frame_bytes(buffer_);
  if (!size) return;
  const std::size_t whole = std::min(*size, wire::kMpaHeaderBytes + wire::kMpaMaxPrivateData + 1);
  // A header that cannot be used is not worth waiting for what it announces.
  const auto early = wire::decode_mpa_frame(ByteSpan(buffer_).subspan(0, whole), startup_kind_, wire::kMpaRev2);
  if (early.error == wire::MpaFrameError::kTruncated) return;
  if (early.error != wire::MpaFrameError::kNone) {
    tell(fmt::format("startup frame refused: {}", to_string(early.error)));
    phase_ = Phase::kBroken;
    buffer_.clear();
    return;
  }
  const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(*size);
  startup_octets_.assign(buffer_.begin(), end);
  startup_ = wire::decode_mpa_frame(startup_octets_, startup_kind_, wire::kMpaRev2).frame;
  buffer_.erase(buffer_.begin(), end);
  buffer_offset_ = newest_offset_;
  phase_ = Phase::kNegotiating;
}

void IwarpStream::enter_rdma(bool markers, bool crc) {
  phase_ = Phase::kRdma;
  markers_ = markers;
  crc_ = crc;
  read_fpdus();
}

void IwarpStream::leave_mpa() {
  phase_ = Phase::kStreaming;
  buffer_.clear();
}

// The size of the FPDU that starts the stream, once its length field is there.
std::optional<std::size_t> IwarpStream::fpdu_size(ByteSpan stream) const {
  const std::size_t lead = markers_ && wire::is_marker_position(position_) ? wire::kMarkerBytes : 0;
  if (stream.size() < lead + wire::kUlpduLengthBytes) return std::nullopt;
  const std::size_t length = load_be16(stream.data() + lead);
  return markers_ ? wire::marked_fpdu_bytes(position_, length) : wire::fpdu_bytes(length);
}

void IwarpStream::read_fpdus() {
  std::size_t at = 0;
  for (;;) {
    const ByteSpan rest = ByteSpan(buffer_).subspan(at);
    const std::optional<std::size_t> size = fpdu_size(rest);
    if (!size || rest.size() < *size) break;
    read_fpdu(rest.subspan(0, *size));
    at += *size;
    position_ += static_cast<wire::StreamPosition>(*size);
    buffer_offset_ = newest_offset_;  // what was there before did not make a whole: the rest came with the newest frame
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
}

void IwarpStream::read_fpdu(ByteSpan fpdu) {
  check_crc(fpdu);
  take_ulpdu(fpdu);
  count(ulpdu_);
}

// The CRC is always the last word, and covers all before it, markers too (RFC 5044 section 4.4).
void IwarpStream::check_crc(ByteSpan fpdu) {
  if (!crc_) {
    ++counts_.crc.absent;
    return;
  }
  const std::size_t covered = fpdu.size() - wire::kFpduCrcBytes;
  if (crc32c(fpdu.subspan(0, covered)) == load_crc32c(fpdu.data() + covered)) {
    ++counts_.crc.good;
  } else {
    ++counts_.crc.bad;
    tell("FPDU with a wrong CRC");
  }
}

// Copies the ULPDU out, without markers.
void IwarpStream::take_ulpdu(ByteSpan fpdu) {
  const wire::StreamPosition length_position = markers_ ? wire::ulpdu_length_position(position_) : position_;
  ulpdu_.clear();
  for (std::size_t at = 0; at < fpdu.size();) {
    const wire::StreamPosition here = position_ + static_cast<wire::StreamPosition>(at);
    if (markers_ && wire::is_marker_position(here)) {
      const unsigned found = wire::load_marker(fpdu.data() + at), expected = wire::fpduptr(here, length_position);
      if (found != expected) tell(fmt::format("marker with FPDUPTR {} where {} is right", found, expected));
      at += wire::kMarkerBytes;
      continue;
    }
    const std::size_t run = markers_ ? std::min(wire::octets_to_marker(here), fpdu.size() - at) : fpdu.size();
    const ByteSpan piece = fpdu.subspan(at, run);
    ulpdu_.insert(ulpdu_.end(), piece.begin(), piece.end());
    at += run;
  }
  const std::size_t length = load_be16(ulpdu_.data());
  ulpdu_.erase(ulpdu_.begin(), ulpdu_.begin() + wire::kUlpduLengthBytes);
  ulpdu_.resize(length);  // pad and CRC
}

void IwarpStream::count(ByteSpan ulpdu) {
  if (ulpdu.empty() || ulpdu.size() < wire::ddp_header_bytes(ulpdu[0])) {
    tell(fmt::format("ULPDU of {} octets is no DDP segment", ulpdu.size()));
    return;
  }
  const wire::Opcode op = wire::RdmapControl::opcode(ulpdu[1]);
  const ByteSpan payload = ulpdu.subspan(wire::ddp_header_bytes(ulpdu[0]));
  ++counts_.by_opcode[static_cast<unsigned>(op)];
  if (wire::is_tagged(op) || wire::is_send(op)) counts_.payload_bytes += payload.size();
  if (op != wire::Opcode::kTerminate) return;
  if (const auto terminate = wire::TerminateHeader::parse(payload)) {
    counts_.terminates.push_back(terminate->cause);
  } else {
    tell("Terminate without its control word");
  }
}

void IwarpStream::finish() {
  if (buffer_.empty()) return;
  if (phase_ == Phase::kNegotiating) {
    tell(fmt::format("{} octets after the startup frame, but the other side's is not in the capture", buffer_.size()));
  } else {
    tell(fmt::format("the last {} octets are no whole {}", buffer_.size(),
                     phase_ == Phase::kStartup ? "startup frame" : "FPDU"));
  }
}

void IwarpStream::tell(const std::string& what) { undecoded_.push_back({buffer_offset_, name_ + ": " + what}); }

}  // namespace rnic::capture
