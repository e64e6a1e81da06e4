#include "model/cable/inject/chunk_bender.h"

#include <algorithm>

#include "model/cable/inject/bit_change.h"
#include "model/common/check.h"
#include "model/wire/ddp.h"
#include "model/wire/ddp_session.h"
#include "model/wire/sctp.h"
#include "model/wire/tcp.h"

namespace rnic::inject {
namespace {

constexpr std::uint8_t kWhole = wire::SctpData::kBegin | wire::SctpData::kEnd;
constexpr std::size_t kControlBytes = 2;  // DDP's octet and RDMAP's

// Calls `use` for the DATA chunks of a packet that are complete messages, with their user data.
template <class F>
void each_message(ByteSpan packet, F&& use) {
  wire::SctpChunks chunks(packet.subspan(wire::SctpHeader::kBytes));
  while (const auto chunk = chunks.next()) {
    if (chunk->type != wire::SctpChunkType::kData || (chunk->flags & kWhole) != kWhole) continue;
    if (const auto data = wire::SctpData::parse(chunk->value)) use(*data, wire::SctpData::user_data(chunk->value));
  }
}

}  // namespace

std::optional<std::uint16_t> ChunkBender::session_of(ByteSpan packet) {
  std::optional<std::uint16_t> stream;
  each_message(packet, [&](const wire::SctpData& data, ByteSpan) {
    if (!stream && data.ppid == wire::kPpidDdpSession) stream = data.stream;
  });
  return stream;
}

bool ChunkBender::pass(std::uint16_t stream, MutableByteSpan packet) {
  bool bent = false;
  each_message(packet, [&](const wire::SctpData& data, ByteSpan user_data) {
    if (data.stream != stream || data.ppid != wire::kPpidDdpSegment) return;
    if (user_data.size() < wire::kDdpSsnBytes + kControlBytes) return;
    const auto at = static_cast<std::size_t>(user_data.data() - packet.data()) + wire::kDdpSsnBytes;
    bent = pass_segment(data.tsn, {packet.data() + at, user_data.size() - wire::kDdpSsnBytes}) || bent;
  });
  return bent;
}

bool ChunkBender::pass_segment(std::uint32_t tsn, MutableByteSpan segment) {
  if (!newest_ || wire::seq_diff(tsn, *newest_) > 0) {
    newest_ = tsn;
    const MessageKind kind = wire::RdmapControl::opcode(segment[1]);
    RNIC_CHECK(kind.index() < MessageKind::kCount);
    const bool last = wire::DdpControl::last(segment[0]);
    std::uint64_t& message = messages_[kind.index()];
    std::uint64_t& number = segments_[kind.index()];
    const ByteSpan octets = segment;
    const std::vector<std::uint8_t> before(octets.begin(), octets.end());
    for (Order* const order : orders_) {
      const Injection& i = *order->injection;
      if (i.message == kind && i.number == message && i.segment == number) apply(*order, segment);
    }
    if (last) ++message;
    number = last ? 0 : number + 1;
    if (!std::equal(before.begin(), before.end(), octets.begin())) changed_[tsn].assign(octets.begin(), octets.end());
  }
  const auto known = changed_.find(tsn);
  if (known == changed_.end() || known->second.size() != segment.size()) return false;
  std::copy(known->second.begin(), known->second.end(), segment.data());
  return true;
}

void ChunkBender::apply(Order& order, MutableByteSpan segment) {
  const Change& change = order.injection->change;
  const Field field = field_of(change);
  if (field.where != Field::Where::kMessage || change.close_after) {
    order.failure = "it is of an FPDU, and SCTP has none";
    return;
  }
  if ((field.bit + field.bits + 7) / 8 > segment.size()) {
    order.failure = "the message has fewer octets";
    return;
  }
  order.changed(field, change_bits(change, field, [&](std::size_t octet) -> std::uint8_t& { return segment[octet]; }));
}

}  // namespace rnic::inject
