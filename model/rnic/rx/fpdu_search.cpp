#include "model/rnic/rx/fpdu_search.h"

#include "model/common/crc32c.h"
#include "model/rnic/rx/fpdu_runs.h"

namespace rnic {

bool FpduSearch::search(ByteSpan segment, wire::StreamPosition position, Stream stream) {
  segment_ = segment;
  position_ = position;
  stream_ = stream;
  found_.clear();
  if (stream.message) {
    found_.push_back({0, static_cast<std::uint32_t>(segment.size()), true});
    return true;
  }
  const std::optional<std::uint32_t> start = stream.markers ? by_marker() : std::nullopt;
  if (!start) return false;
  walk(*start);
  return true;
}

// By the first marker in the segment whose FPDU starts there too. If that FPDU ends before the marker, the marker is
// wrong.
std::optional<std::uint32_t> FpduSearch::by_marker() const {
  for (std::size_t m = wire::octets_to_marker(position_); m + wire::kMarkerBytes <= segment_.size();
       m += wire::kMarkerInterval) {
    const std::size_t behind_length = wire::load_marker(segment_.data() + m);
    if (behind_length > m) continue;
    std::size_t first = m - behind_length;
    const bool leads = behind_length != 0 && wire::is_marker_position(position(static_cast<std::uint32_t>(first)) - 4);
    if (leads && first < wire::kMarkerBytes) continue;
    if (leads) first -= wire::kMarkerBytes;
    const auto at = static_cast<std::uint32_t>(first);
    const std::uint32_t bytes = fpdu_bytes_at(at);
    if (bytes != 0 && at + bytes <= m) return std::nullopt;
    return at;
  }
  return std::nullopt;
}

// 0: its length field is not in the segment.
std::uint32_t FpduSearch::fpdu_bytes_at(std::uint32_t at) const {
  const wire::StreamPosition start = position(at);
  const std::size_t length_at = at + (stream_.markers ? wire::ulpdu_length_position(start) - start : 0);
  if (length_at + wire::kUlpduLengthBytes > segment_.size()) return 0;
  const std::size_t ulpdu = load_be16(segment_.data() + length_at);
  return static_cast<std::uint32_t>(stream_.markers ? wire::marked_fpdu_bytes(start, ulpdu) : wire::fpdu_bytes(ulpdu));
}

// From one FPDU to the next; nothing after a wrong one is used.
void FpduSearch::walk(std::uint32_t at) {
  while (const std::uint32_t bytes = fpdu_bytes_at(at)) {
    if (bytes > segment_.size() - at) break;
    found_.push_back({at, bytes, false});
    found_.back().intact = intact(found_.back());
    at += bytes;
    if (!found_.back().intact) break;
  }
}

bool FpduSearch::intact(const Found& fpdu) const {
  const std::uint8_t* const octets = segment_.data() + fpdu.at;
  const std::size_t covered = fpdu.bytes - wire::kFpduCrcBytes;
  if (stream_.crc && crc32c({octets, covered}) != load_crc32c(octets + covered)) return false;
  bool markers_ok = true;
  if (stream_.markers) {
    take_apart(
        octets, fpdu.bytes, position(fpdu.at), [](const std::uint8_t*, std::size_t) {},
        [&](const std::uint8_t*, bool ok) { markers_ok &= ok; });
  }
  return markers_ok;
}

}  // namespace rnic
