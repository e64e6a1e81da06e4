// Frames of a pcap file (draft-ietf-opsawg-pcap) with microseconds or nanoseconds, in either byte order, also with A.
// Kuznetsov's patch, which adds 8 octets before each packet.
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

  // `octets` follow the magic number. Throws ConfigError if the header is truncated or the link type is not Ethernet.
  PcapFile(const std::string& path, CaptureOctets octets, const Magic& magic);

  std::optional<CapturedFrame> next(std::string& why) override;
  std::uint64_t resolution_ns() const override { return units_; }

 private:
  std::uint32_t number(const std::uint8_t* at) const;

  CaptureOctets octets_;
  bool is_big_endian_ = false;
  std::size_t header_bytes_ = 0;     // of a record
  std::uint32_t units_ = 1;          // nanoseconds per unit of a time's second number
  std::size_t fcs_bytes_ = 0;        // at the end of each frame
  std::vector<std::uint8_t> frame_;  // the last one
};

}  // namespace rnic::capture
