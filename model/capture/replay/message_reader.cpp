#include "model/capture/replay/message_reader.h"

#include <fmt/format.h>

#include "model/common/crc32c.h"
#include "model/wire/ddp.h"
#include "model/wire/fpdu.h"

namespace rnic::replay {

using wire::Opcode;

namespace {

std::optional<SegmentHeader> header_of(ByteSpan ulpdu) {
  if (ulpdu.size() < 2) return std::nullopt;
  SegmentHeader h;
  h.opcode = wire::RdmapControl::opcode(ulpdu[1]);
  h.last = wire::DdpControl::last(ulpdu[0]);
  if (const auto tagged = wire::DdpTaggedView::parse(ulpdu)) {
    h.tagged = true;
    h.stag = tagged->header.stag;
    h.to = tagged->header.to;
    return h;
  }
  const auto untagged = wire::DdpUntaggedView::parse(ulpdu);
  if (!untagged) return std::nullopt;
  h.stag = untagged->header.invalidate_stag;
  h.qn = untagged->header.qn;
  h.msn = untagged->header.msn;
  h.mo = untagged->header.mo;
  return h;
}

}  // namespace

std::string describe(const Message& message) {
  const SegmentHeader& h = message.header;
  std::string text = fmt::format("{}{}", to_string(h.opcode), h.last ? "" : " (unfinished)");
  if (h.opcode == Opcode::kReadRequest) {
    if (const auto r = wire::ReadRequest::parse(message.payload)) {
      return text + fmt::format(", MSN {}, of {} octets from STag {:#010x}, TO {:#x} to STag {:#010x}, TO {:#x}", h.msn,
                                r->size, r->src_stag, r->src_to, r->sink_stag, r->sink_to);
    }
  }
  text += fmt::format(" of {} octets", message.payload.size());
  if (h.tagged) return text + fmt::format(" to STag {:#010x}, TO {:#x}", h.stag, h.to);
  text += fmt::format(", MSN {}", h.msn);
  return wire::invalidates(h.opcode) ? text + fmt::format(", invalidates {:#010x}", h.stag) : text;
}

std::string hex_text(ByteSpan octets) {
  std::string text;
  for (const std::uint8_t o : octets) text += fmt::format("{:02x}", o);
  return text.empty() ? "none" : text;
}

void MessageReader::push(ByteSpan octets) {
  octets_.insert(octets_.end(), octets.begin(), octets.end());
  if (!error_.empty() || (!started() && !read_startup())) return;
  while (error_.empty() && read_fpdu()) {
  }
}

bool MessageReader::read_startup() {
  if (!wire::starts_like_mpa_key(octets_, kind_)) error_ = "the stream does not begin with an MPA startup frame";
  const auto size = wire::mpa_frame_bytes(octets_);
  if (!error_.empty() || !size || octets_.size() < *size) return false;
  const auto decoded = wire::decode_mpa_frame(ByteSpan(octets_).subspan(0, *size), kind_, wire::kMpaRev2);
  if (decoded.error != wire::MpaFrameError::kNone) {
    error_ = fmt::format("startup frame: {}", to_string(decoded.error));
    return false;
  }
  at_ = startup_bytes_ = *size;
  return true;
}

wire::MpaFrame MessageReader::startup() const {
  return wire::decode_mpa_frame(ByteSpan(octets_).subspan(0, startup_bytes_), kind_, wire::kMpaRev2).frame;
}

bool MessageReader::read_fpdu() {
  const ByteSpan stream = ByteSpan(octets_).subspan(at_);
  if (stream.size() < wire::kUlpduLengthBytes) return false;
  const std::size_t length = load_be16(stream.data()), size = wire::fpdu_bytes(length);
  if (stream.size() < size) return false;
  const ByteSpan ulpdu = stream.subspan(wire::kUlpduLengthBytes, length);
  const auto header = header_of(ulpdu);
  if (!header) {
    error_ = fmt::format("ULPDU of {} octets is no DDP segment", length);
    return false;
  }
  const std::size_t covered = size - wire::kFpduCrcBytes;
  if (crc_ && crc32c(stream.subspan(0, covered)) != load_crc32c(stream.data() + covered)) {
    error_ = fmt::format("FPDU with a wrong CRC at octet {} of the stream", at_);
    return false;
  }
  const std::size_t header_bytes = wire::ddp_header_bytes(ulpdu[0]);
  take({*header, at_, at_ + size, at_ + wire::kUlpduLengthBytes + header_bytes, length - header_bytes});
  at_ += size;
  return true;
}

void MessageReader::take(const DdpSegment& segment) {
  segments_.push_back(segment);
  auto& open = open_[static_cast<std::size_t>(segment.header.opcode)];
  if (!open) {
    open = messages_.size();
    messages_.push_back({segment.header, {}, segment.begin, 0});
  }
  Message& message = messages_[*open];
  const ByteSpan octets = payload(segment);
  message.payload.insert(message.payload.end(), octets.begin(), octets.end());
  message.header.last = segment.header.last;
  message.end = segment.end;
  if (!segment.header.last) return;
  open.reset();
  ++whole_messages_;
}

}  // namespace rnic::replay
