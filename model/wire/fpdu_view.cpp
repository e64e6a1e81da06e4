#include "model/wire/fpdu_view.h"

#include <algorithm>

#include "model/common/check.h"

namespace rnic::wire {

std::optional<FpduView> FpduView::parse_begun(ByteSpan stream, StreamPosition position, bool markers) {
  const std::size_t lead = markers && is_marker_position(position) ? kMarkerBytes : 0;
  if (stream.size() < lead + kUlpduLengthBytes) return std::nullopt;
  const std::size_t length = load_be16(stream.data() + lead);
  const FpduView whole(stream, position, markers, length);
  return FpduView(stream.subspan(0, whole.bytes()), position, markers, length);
}

std::optional<FpduView> FpduView::parse(ByteSpan stream, StreamPosition position, bool markers) {
  const auto fpdu = parse_begun(stream, position, markers);
  return fpdu && fpdu->octets_.size() == fpdu->bytes() ? fpdu : std::nullopt;
}

std::size_t FpduView::copy_ulpdu(MutableByteSpan out) const {
  RNIC_CHECK(out.size() >= std::min(ulpdu_bytes_, octets_.size()));
  std::size_t done = 0;
  while (done < ulpdu_bytes_) {
    const std::size_t at = place(kUlpduLengthBytes + done);
    if (at >= octets_.size()) break;
    const std::size_t to_marker = octets_to_marker(position_ + static_cast<StreamPosition>(at));
    const std::size_t run = std::min({markers_ ? to_marker : ulpdu_bytes_, ulpdu_bytes_ - done, octets_.size() - at});
    std::copy_n(octets_.data() + at, run, out.data() + done);
    done += run;
  }
  return done;
}

}  // namespace rnic::wire
