// Frames of a pcap or pcapng file with their place in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/capture/ethernet_only.h"
#include "model/capture/undecoded.h"
#include "model/common/bytes.h"

struct pcap;

namespace rnic::capture {

struct CapturedFrame {
  std::uint64_t offset = 0;  // of its record in the file (pcapng: of the block after the previous frame's)
  ByteSpan bytes;            // what the capture kept; valid until the next call of next()
  std::size_t wire_bytes = 0;
  std::uint64_t time_ns = 0;  // as the capture has it; a run's own capture begins with the simulation
};

class CaptureReader {
 public:
  // Throws ConfigError if the file cannot be read, is no capture, or has no Ethernet. Of a pcapng file with interfaces
  // of several link types (`--capture-tlps`), those of Ethernet are read.
  explicit CaptureReader(const std::string& path);
  ~CaptureReader();

  // The next frame, or nullopt at the end. A file that ends or turns to nonsense in the middle is told to `undecoded`.
  std::optional<CapturedFrame> next(UndecodedList& undecoded);
  // Until now: packets of interfaces that are not Ethernet.
  std::uint64_t skipped_packets() const;

 private:
  std::uint64_t position() const;

  struct Close {
    void operator()(pcap* handle) const;
  };
  std::unique_ptr<EthernetOnly> ethernet_;
  std::unique_ptr<pcap, Close> handle_;  // reads the former
};

}  // namespace rnic::capture
