// Frames of a pcap or pcapng file with their place in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/capture/undecoded.h"
#include "model/common/bytes.h"

namespace rnic::capture {

struct CapturedFrame {
  std::uint64_t offset = 0;  // of its record or block in the file; if that is compressed, in what it was made from
  ByteSpan bytes;            // what the capture kept; valid until the next call of next()
  std::size_t wire_bytes = 0;
  std::uint64_t time_ns = 0;  // as the capture has it; a run's own capture begins with the simulation
};

inline constexpr std::uint16_t kLinkTypeEthernet = 1;

// What a format says of the file's records, one after the other.
class CaptureFormat {
 public:
  virtual ~CaptureFormat() = default;
  // The next frame of an Ethernet interface, or nullopt at the end, which `why` explains if it is not the file's end.
  virtual std::optional<CapturedFrame> next(std::string& why) = 0;
  // Where the last record began.
  virtual std::uint64_t place() const = 0;
  // Until now.
  virtual std::uint64_t skipped_packets() const { return 0; }
  virtual bool has_others_only() const { return false; }
};

class CaptureReader {
 public:
  // Throws ConfigError if the file cannot be read, is no capture, or has no Ethernet. Of a pcapng file with interfaces
  // of several link types (`--capture-tlps`), those of Ethernet are read.
  explicit CaptureReader(const std::string& path);

  // The next frame, or nullopt at the end. A file that is cut short or damaged is reported to `undecoded`.
  std::optional<CapturedFrame> next(UndecodedList& undecoded);
  // next() has come to an end that is not the file's.
  bool ended_early() const { return ended_early_; }
  // Until now: packets of interfaces that are not Ethernet.
  std::uint64_t skipped_packets() const { return format_->skipped_packets(); }

 private:
  std::unique_ptr<CaptureFormat> format_;
  std::optional<CapturedFrame> first_;  // read already
  std::string why_;                     // there is no more
  bool ended_early_ = false;
};

}  // namespace rnic::capture
