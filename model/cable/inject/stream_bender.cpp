#include "model/cable/inject/stream_bender.h"

#include <algorithm>

#include "model/cable/inject/bit_change.h"
#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/wire/ddp.h"

namespace rnic::inject {

void StreamBender::pass(std::uint64_t at, MutableByteSpan octets) {
  overwrite(at, octets);
  const std::uint64_t end = at + octets.size();
  if (end <= next_) return;
  RNIC_CHECK_MSG(at <= next_, "a sender's stream has a gap");
  fresh_ = next_;
  const ByteSpan fresh = octets.subspan(next_ - at);
  pending_.insert(pending_.end(), fresh.begin(), fresh.end());
  next_ = end;
  if (startup_bytes_ != 0 || read_startup()) {
    while (read_fpdu()) {
    }
  }
  overwrite(at, octets);
}

void StreamBender::overwrite(std::uint64_t at, MutableByteSpan octets) const {
  for (auto c = changed_.lower_bound(at); c != changed_.end() && c->first < at + octets.size(); ++c) {
    octets[c->first - at] = c->second;
  }
}

bool StreamBender::read_startup() {
  const auto size = wire::mpa_frame_bytes(pending_);
  if (!size || pending_.size() < *size) return false;
  for (Order* const order : orders_) {
    if (order->injection->message == MessageKind(startup_)) apply(*order, nullptr);
  }
  startup_bytes_ = *size;
  const auto field = fields_of(startup_);
  const auto markers = std::find_if(field.begin(), field.end(), [](const Field& f) { return f.name == "markers"; });
  asks_for_markers_ = (pending_[markers->bit / 8] & 0x80 >> markers->bit % 8) != 0;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(*size));
  begin_ = startup_bytes_;
  return true;
}

bool StreamBender::read_fpdu() {
  const auto fpdu = wire::FpduView::parse(pending_, position(), markers_);
  if (!fpdu) return false;
  const MessageKind kind = wire::RdmapControl::opcode(fpdu->ulpdu_octet(1));
  RNIC_CHECK(kind.index() < MessageKind::kCount);
  const bool last = wire::DdpControl::last(fpdu->ulpdu_octet(0));
  std::uint64_t& message = messages_[kind.index()];
  std::uint64_t& segment = segments_[kind.index()];
  for (Order* const order : orders_) {
    const Injection& i = *order->injection;
    if (i.message == kind && i.number == message && i.segment == segment) apply(*order, &*fpdu);
  }
  if (last) ++message;
  segment = last ? 0 : segment + 1;
  const std::size_t size = fpdu->octets().size();
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(size));
  begin_ += size;
  return true;
}

std::size_t StreamBender::place(const Field& field, std::size_t octet, const wire::FpduView* fpdu) const {
  switch (field.where) {
    case Field::Where::kMessage:
      return fpdu == nullptr ? octet : fpdu->place(wire::kUlpduLengthBytes + octet);
    case Field::Where::kLength:
      return fpdu->place(octet);
    case Field::Where::kMarker:
      break;
    case Field::Where::kCrc:
      return fpdu->crc_at() + octet;
  }
  return wire::octets_to_marker(position()) + octet;
}

void StreamBender::apply(Order& order, const wire::FpduView* fpdu) {
  const Injection& injection = *order.injection;
  const Change& change = injection.change;
  const auto fail = [&](const char* why) { order.failure = why; };
  const std::size_t message_bytes = fpdu == nullptr ? *wire::mpa_frame_bytes(pending_) : fpdu->ulpdu_bytes();
  if (begin_ < fresh_) return fail("the FPDU lies in several TCP segments, and the first one was already forwarded");
  const Field field = field_of(change);
  const bool inside = (field.bit + field.bits + 7) / 8 <= message_bytes;
  if (change.close_after) {
    if (fpdu == nullptr || *change.close_after >= message_bytes) return fail("the ULPDU has fewer octets");
    order.closed();
    end_ = begin_ + fpdu->place(wire::kUlpduLengthBytes + *change.close_after);
    return;
  }
  if (field.where == Field::Where::kMessage && !inside) return fail("the message has fewer octets");
  if (field.where == Field::Where::kMarker) {
    const bool marked = markers_ && wire::octets_to_marker(position()) < fpdu->octets().size();
    if (!marked) return fail("the FPDU has no marker");
  }
  write(order, field, fpdu);
}

void StreamBender::write(Order& order, const Field& field, const wire::FpduView* fpdu) {
  const std::vector<std::uint8_t> before = pending_;
  const std::size_t crc_at = fpdu == nullptr ? 0 : fpdu->crc_at();
  const auto crc = [&] { return crc32c(ByteSpan(pending_).subspan(0, crc_at)); };
  const bool sealed = fpdu != nullptr && field.where != Field::Where::kCrc && load_crc32c(&pending_[crc_at]) == crc();

  order.changed(field, change_bits(order.injection->change, field, [&](std::size_t octet) -> std::uint8_t& {
                  return pending_[place(field, octet, fpdu)];
                }));
  if (sealed) store_crc32c(&pending_[crc_at], crc());
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] != before[i]) changed_[begin_ + i] = pending_[i];
  }
}

}  // namespace rnic::inject
