// `rnicsim analyze`: reaction times of all TCP connections of a capture, and whether the capture can tell them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/analysis/connection_analysis.h"
#include "model/capture/analysis/pause_timing.h"
#include "model/capture/connection_table.h"
#include "model/capture/undecoded.h"

namespace rnic::capture {

// Where the user says that the capture was made: beside the side of a connection that sends most octets, or the other.
enum class TapOption : std::uint8_t { kFromHandshake, kSender, kReceiver, kMiddle, kEachEnd };

struct AnalysisOptions {
  bool trust_checksums = false;
  TapOption tap = TapOption::kFromHandshake;
  WirePath path;                   // with kEachEnd, if it is known
  std::vector<std::string> notes;  // what is known of the capture besides
};

struct Integrity {
  std::uint64_t packets = 0, frames = 0, segments = 0;
  std::uint64_t other_packets = 0;  // of interfaces that are not Ethernet
  std::uint64_t lost = 0;           // packets that tell what the cable lost
  std::uint64_t dropped = 0;        // with a wrong checksum
  std::uint64_t sctp = 0, cut = 0, first_cut = 0;
  std::uint64_t backwards = 0;  // stamps before that of the packet before
  std::uint64_t resolution_ns = 1;
  bool ended_early = false;
};

class Analysis {
 public:
  explicit Analysis(const AnalysisOptions& options) : options_(options) {}

  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  // Throws ConfigError if the file is not a capture.
  void read(const std::string& file);

  const AnalysisOptions& options() const { return options_; }
  const Integrity& integrity() const { return integrity_; }
  // In the order of their first segments.
  const std::deque<ConnectionAnalysis>& connections() const { return connections_; }
  Tap tap(const ConnectionAnalysis& connection) const;
  const PauseTiming& pauses() const { return pauses_; }
  // In the order of the file.
  const UndecodedList& undecoded() const { return undecoded_; }

 private:
  void take(const CapturedFrame& frame);

  const AnalysisOptions options_;
  Integrity integrity_;
  UndecodedList undecoded_;
  std::deque<ConnectionAnalysis> connections_;
  ConnectionTable table_{undecoded_,
                         [this](const Endpoint& initiator, const Endpoint& responder) {
                           return &connections_.emplace_back(initiator, responder, options_.path);
                         },
                         Strangers::kFollow};
  PauseTiming pauses_;
  std::optional<std::uint64_t> last_ns_;
};

}  // namespace rnic::capture
