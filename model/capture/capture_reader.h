// Frames of a pcap or pcapng file, with their offsets in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/capture/undecoded.h"
#include "model/common/bytes.h"

namespace rnic::capture {

struct CapturedFrame {
  std::uint64_t offset = 0;  // of its record or block in the uncompressed file
  ByteSpan bytes;            // the captured octets; valid until the next call of next()
  std::size_t wire_bytes = 0;
  std::uint64_t time_ns = 0;  // as the capture has it; a run's own capture begins with the simulation
};

inline constexpr std::uint16_t kLinkTypeEthernet = 1;

// Reads the records of a file in one format, in order.
class CaptureFormat {
 public:
  virtual ~CaptureFormat() = default;
  // The next frame of an Ethernet interface, or nullopt at the end. `why` explains an end before the file's end.
  virtual std::optional<CapturedFrame> next(std::string& why) = 0;
  // Offset of the last record.
  virtual std::uint64_t place() const = 0;
  // So far.
  virtual std::uint64_t skipped_packets() const { return 0; }
  virtual bool has_others_only() const { return false; }
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
  // Packets of interfaces other than Ethernet, so far.
  std::uint64_t skipped_packets() const { return format_->skipped_packets(); }

 private:
  std::unique_ptr<CaptureFormat> format_;
  std::optional<CapturedFrame> first_;  // read already
  std::string why_;                     // reason for an early end
  bool ended_early_ = false;
};

}  // namespace rnic::capture
