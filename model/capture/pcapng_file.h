// Frames of the Ethernet interfaces of a pcapng file, from all its sections. Each section has its own byte order and
// interfaces. Comments name sections of draft-ietf-opsawg-pcapng.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/capture_octets.h"
#include "model/capture/capture_reader.h"

namespace rnic::capture {

class PcapngFile final : public CaptureFormat {
 public:
  static bool knows(const std::array<std::uint8_t, 4>& magic);

  // `octets` follow the type of the first block.
  explicit PcapngFile(CaptureOctets octets) : octets_(std::move(octets)) {}

  std::optional<CapturedFrame> next(std::string& why) override;
  std::uint64_t resolution_ns() const override { return resolution_ns_; }
  std::uint64_t skipped_packets() const override { return skipped_packets_; }
  bool has_others_only() const override { return has_others_ && !has_ethernet_; }

 private:
  struct Interface {
    bool is_ethernet = false;
    std::uint32_t snapshot_bytes = 0;            // 0: no limit
    std::uint64_t units = 1'000'000, begin = 0;  // of times: units per second, and an offset in seconds
    bool is_binary = false;                      // `units` is an exponent of 2
    std::size_t fcs_bytes = 0;
  };
  enum class Block { kEnd, kPacket, kOther };
  Block read_block(std::string& why);
  bool read_section(std::string& why);
  void add_interface();
  std::optional<CapturedFrame> packet(std::string& why);
  std::optional<CapturedFrame> frame(const Interface& in, std::size_t at, std::uint64_t kept, std::uint64_t wire_bytes,
                                     std::uint64_t time_ns, std::string& why);
  static std::uint64_t resolution_ns(const Interface& in);
  static std::uint64_t nanoseconds(const Interface& in, std::uint64_t time);
  std::uint16_t number16(std::size_t at) const;
  std::uint32_t number(std::size_t at) const;
  std::uint64_t time_at(std::size_t high) const { return std::uint64_t{number(high)} << 32 | number(high + 4); }

  CaptureOctets octets_;
  bool begins_ = true;  // the type of the first block has already been read
  bool is_big_endian_ = false, has_ethernet_ = false, has_others_ = false;
  std::uint64_t skipped_packets_ = 0, resolution_ns_ = 1;
  std::uint32_t type_ = 0;
  std::vector<std::uint8_t> body_;  // of the last block
  std::vector<Interface> interfaces_;
};

}  // namespace rnic::capture
