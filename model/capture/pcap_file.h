// Frames of a pcap file (draft-ietf-opsawg-pcap): of microseconds or nanoseconds, in either order of octets, and in the
// form of A. Kuznetsov's patch, which has 8 octets more before each packet.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/capture/capture_octets.h"
#include "model/capture/capture_reader.h"

namespace rnic::capture {

class PcapFile final : public CaptureFormat {
 public:
  using Magic = std::array<std::uint8_t, 4>;
  static bool knows(const Magic& magic);

  // The octets after the magic number. Throws ConfigError if the header is cut short or its link type is not Ethernet.
  PcapFile(const std::string& path, CaptureOctets octets, const Magic& magic);

  std::optional<CapturedFrame> next(std::string& why) override;
  std::uint64_t place() const override { return place_; }

 private:
  std::uint32_t number(const std::uint8_t* at) const;

  CaptureOctets octets_;
  bool is_big_endian_ = false;
  std::size_t header_bytes_ = 0;  // of a record
  std::uint32_t units_ = 1;       // nanoseconds of the second number of a time
  std::size_t fcs_bytes_ = 0;     // at the end of each frame
  std::uint64_t place_ = 0;
  std::vector<std::uint8_t> frame_;  // the last one
};

}  // namespace rnic::capture
