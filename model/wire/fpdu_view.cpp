#include "model/wire/fpdu_view.h"

#include <algorithm>

#include "model/common/check.h"

namespace rnic::wire {

std::optional<FpduView> FpduView::parse(ByteSpan stream, StreamPosition position, bool markers) {
  const std::size_t lead = markers && is_marker_position(position) ? kMarkerBytes : 0;
  if (stream.size() < lead + kUlpduLengthBytes) return std::nullopt;
  const std::size_t length = load_be16(stream.data() + lead);
  const std::size_t size = markers ? marked_fpdu_bytes(position, length) : fpdu_bytes(length);
  if (stream.size() < size) return std::nullopt;
  return FpduView(stream.subspan(0, size), position, markers, length);
}

void FpduView::copy_ulpdu(MutableByteSpan out) const {
  RNIC_CHECK(out.size() >= ulpdu_bytes_);
  for (std::size_t done = 0; done < ulpdu_bytes_;) {
    const std::size_t at = place(kUlpduLengthBytes + done);
    const std::size_t to_marker = octets_to_marker(position_ + static_cast<StreamPosition>(at));
    const std::size_t run = std::min(markers_ ? to_marker : ulpdu_bytes_, ulpdu_bytes_ - done);
    std::copy_n(octets_.data() + at, run, out.data() + done);
    done += run;
  }
}

}  // namespace rnic::wire
