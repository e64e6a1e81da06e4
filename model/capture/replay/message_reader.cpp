#include "model/capture/replay/message_reader.h"

#include <utility>

#include <fmt/format.h>

#include "model/wire/rdmap.h"

namespace rnic::replay {

using wire::Opcode;
using Phase = capture::MpaStream::Phase;

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
  if (!error_.empty()) return;
  mpa_.push(octets);
  if (mpa_.phase() != Phase::kRdma && !read_startup()) return;
  while (error_.empty()) {
    const auto fpdu = mpa_.next_fpdu();
    if (!fpdu) return;
    read_fpdu(*fpdu);
  }
}

bool MessageReader::read_startup() {
  if (mpa_.phase() == Phase::kStreaming) error_ = "the stream does not begin with an MPA startup frame";
  if (mpa_.phase() == Phase::kBroken) error_ = fmt::format("startup frame: {}", to_string(mpa_.error()));
  if (mpa_.phase() != Phase::kNegotiating) return false;
  mpa_.enter_rdma(false);
  end_ = startup_bytes();
  return true;
}

void MessageReader::read_fpdu(const wire::FpduView& fpdu) {
  const ByteSpan ulpdu = fpdu.octets().subspan(wire::kUlpduLengthBytes, fpdu.ulpdu_bytes());
  const auto segment = capture::SegmentView::parse(ulpdu);
  if (!segment) {
    error_ = fmt::format("ULPDU of {} octets is no DDP segment", ulpdu.size());
    return;
  }
  if (crc_ && !capture::crc_ok(fpdu)) {
    error_ = fmt::format("FPDU with a wrong CRC at octet {} of the stream", end_);
    return;
  }
  const std::size_t begin = std::exchange(end_, mpa_.position());
  const std::size_t payload_at = begin + wire::kUlpduLengthBytes + ulpdu.size() - segment->payload.size();
  take({segment->header, begin, end_, payload_at, segment->payload.size()});
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
