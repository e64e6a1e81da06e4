// Frames of a pcap or pcapng file, with their offsets in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/capture/place.h"
#include "model/capture/undecoded.h"
#include "model/common/bytes.h"

namespace rnic::capture {

struct CapturedFrame {
  Place at;
  ByteSpan bytes;  // the captured octets; valid until the next call of next()
  std::size_t wire_bytes = 0;
};

inline constexpr std::uint16_t kLinkTypeEthernet = 1;

// Reads the records of a file in one format, in order.
class CaptureFormat {
 public:
  virtual ~CaptureFormat() = default;
  // The next frame of an Ethernet interface, or nullopt at the end. `why` explains an end before the file's end.
  virtual std::optional<CapturedFrame> next(std::string& why) = 0;
  // Of the last record, also if it is not whole. Its frame is the last whole packet's.
  const Place& place() const { return place_; }
  // Of the first packet of any interface; 0 while there is none.
  std::uint64_t first_time_ns() const { return first_time_ns_; }
  // Of the coarsest clock of an Ethernet interface so far, at least 1.
  virtual std::uint64_t resolution_ns() const = 0;
  // So far.
  virtual std::uint64_t skipped_packets() const { return 0; }
  virtual bool has_others_only() const { return false; }

 protected:
  // A record or block begins here.
  void begins_at(std::uint64_t offset) { place_.offset = offset; }
  // It is a packet. Wireshark also counts those of interfaces that are not read.
  void count(std::uint64_t time_ns) {
    if (++place_.frame == 1) first_time_ns_ = time_ns;
    place_.time_ns = time_ns;
  }

 private:
  Place place_;
  std::uint64_t first_time_ns_ = 0;
};

class CaptureReader {
 public:
  // Throws ConfigError if the file cannot be read, is not a capture, or has no Ethernet. In a pcapng file with several
  // link types (`--capture-tlps`), only the Ethernet interfaces are read.
  explicit CaptureReader(const std::string& path);

  // The next frame, or nullopt at the end. A truncated or damaged file is reported to `undecoded`.
  std::optional<CapturedFrame> next(UndecodedList& undecoded);
  // next() ended before the end of the file.
  bool ended_early() const { return ended_early_; }
  // Packets of all interfaces, so far.
  std::uint64_t packets() const { return format_->place().frame; }
  std::uint64_t first_time_ns() const { return format_->first_time_ns(); }
  // Of the coarsest clock of an Ethernet interface so far, at least 1.
  std::uint64_t resolution_ns() const { return format_->resolution_ns(); }
  // Packets of interfaces other than Ethernet, so far.
  std::uint64_t skipped_packets() const { return format_->skipped_packets(); }

 private:
  std::unique_ptr<CaptureFormat> format_;
  std::optional<CapturedFrame> first_;  // read already
  std::string why_;                     // reason for an early end
  bool ended_early_ = false;
};

}  // namespace rnic::capture
