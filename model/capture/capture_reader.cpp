#include "model/capture/capture_reader.h"

#include <array>
#include <utility>

#include "model/capture/capture_octets.h"
#include "model/capture/pcap_file.h"
#include "model/capture/pcapng_file.h"
#include "model/common/check.h"

namespace rnic::capture {

// Reads the first frame at once, so that a file without Ethernet is an error and not an empty capture.
CaptureReader::CaptureReader(const std::string& path) {
  CaptureOctets octets(path);
  std::array<std::uint8_t, 4> magic{};
  const std::size_t size = octets.read(magic);
  if (size == magic.size() && PcapFile::knows(magic))
    format_ = std::make_unique<PcapFile>(path, std::move(octets), magic);
  else if (size == magic.size() && PcapngFile::knows(magic)) format_ = std::make_unique<PcapngFile>(std::move(octets));
  else {
    const std::string damage = octets.damage();
    throw ConfigError(path + ": not a capture: " +
                      (damage.empty() ? "neither pcap nor pcapng, as it is or compressed by gzip" : damage));
  }
  first_ = format_->next(why_);
  if (!first_ && format_->has_others_only()) throw ConfigError(path + ": no interface of the capture is Ethernet");
}

std::optional<CapturedFrame> CaptureReader::next(UndecodedList& undecoded) {
  if (first_) return std::exchange(first_, std::nullopt);
  std::optional<CapturedFrame> frame;
  if (why_.empty()) frame = format_->next(why_);
  if (!frame && !why_.empty() && !std::exchange(ended_early_, true)) {
    undecoded.push_back({format_->place(), "the rest of the file: " + why_});
  }
  return frame;
}

}  // namespace rnic::capture
