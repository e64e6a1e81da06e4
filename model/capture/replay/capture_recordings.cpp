#include "model/capture/replay/capture_recordings.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "model/capture/association_table.h"
#include "model/capture/capture_reader.h"
#include "model/capture/connection_table.h"
#include "model/capture/replay/association_recorder.h"
#include "model/common/check.h"

namespace rnic::capture {
namespace {

using replay::RecordedStream;
using replay::Recording;
using wire::TcpHeader;

class Recorder final : public ConnectionObserver {
 public:
  Recorder(const Endpoint& initiator, const Endpoint& responder) {
    recording_.name = fmt::format("{} > {}", to_string(initiator), to_string(responder));
    recording_.ports = {initiator.port, responder.port};
  }

  // A SYN limits the size of the other side's segments; timestamps take 12 octets.
  void segment(Side from, const Segment& s) override {
    constexpr std::uint16_t kTimestampBytes = 12;
    RecordedStream& stream = stream_of(from);
    if (s.header.has(TcpHeader::kSyn)) {
      const std::uint16_t mss = s.header.options.mss.value_or(536);
      RecordedStream& peer = stream_of(other(from));
      peer.emss = static_cast<std::uint16_t>(mss - (s.header.options.timestamps ? kTimestampBytes : 0));
      established_ = established_ || from == Side::kResponder;
    }
    if (s.header.has(TcpHeader::kRst)) {
      recording_.refused = recording_.refused || (!established_ && from == Side::kResponder);
    }
    if (s.header.has(TcpHeader::kFin) || s.header.has(TcpHeader::kRst)) {
      stream.closed = std::min(stream.closed, s.at.offset);
    }
  }

  // Octets after a hole arrived when the hole was filled.
  void octets(Side from, ByteSpan octets, const Place& at) override {
    RecordedStream& stream = stream_of(from);
    stream.octets.insert(stream.octets.end(), octets.begin(), octets.end());
    const std::uint64_t before = stream.arrivals.empty() ? 0 : stream.arrivals.back().order;
    stream.arrivals.push_back({stream.octets.size(), std::max(before, at.offset)});
  }

  Recording take() { return std::move(recording_); }

 private:
  RecordedStream& stream_of(Side from) { return recording_.streams[static_cast<std::size_t>(from)]; }

  Recording recording_;
  bool established_ = false;  // the SYN was answered with a SYN
};

// Octets missing at the end of a stream leave no hole, so an incomplete capture is refused.
[[noreturn]] void not_whole(const std::string& capture, const Place& at, const std::string& reason) {
  throw ConfigError(fmt::format("{}: cannot be replayed: it is not whole: frame {}, offset {}: {}", capture, at.frame,
                                at.offset, reason));
}

}  // namespace

std::vector<Recording> read_recordings(const std::string& capture) {
  UndecodedList undecoded;
  std::deque<Recorder> recorders;
  ConnectionTable table(undecoded, [&](const Endpoint& initiator, const Endpoint& responder) {
    return &recorders.emplace_back(initiator, responder);
  });
  std::deque<AssociationRecorder> association_recorders;
  AssociationTable associations(undecoded, [&](const Endpoint& initiator, const Endpoint& responder) {
    return &association_recorders.emplace_back(initiator, responder);
  });
  CaptureReader reader(capture);
  while (const auto frame = reader.next(undecoded)) {
    const FrameResult result = read_frame(*frame, false);
    if (result.fate == FrameFate::kUndecoded) not_whole(capture, frame->at, result.reason);
    if (result.is_cut()) not_whole(capture, frame->at, kept_of(*frame));
    if (result.fate == FrameFate::kSegment) table.segment(result.segment);
    if (result.fate == FrameFate::kSctp) associations.packet(result.packet);
  }
  if (reader.ended_early()) not_whole(capture, undecoded.back().at, undecoded.back().reason);
  std::vector<Recording> recordings;
  for (std::size_t i = 0; i < recorders.size(); ++i) {
    recordings.push_back(recorders[i].take());
    for (const Side side : {Side::kInitiator, Side::kResponder}) {
      if (const auto hole = table.connections()[i]->tcp(side).hole()) {
        throw ConfigError(fmt::format("{}: cannot be replayed: {}: {} octets are missing", capture,
                                      recordings.back().name, hole->octets));
      }
    }
  }
  for (std::size_t i = 0; i < association_recorders.size(); ++i) {
    if (!associations.associations()[i]->ddp()) continue;
    try {
      association_recorders[i].take(recordings);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("{}: cannot be replayed: {}", capture, error.what()));
    }
  }
  if (recordings.empty()) {
    throw ConfigError(
        capture +
        ": cannot be replayed: no TCP connection from its SYN on, and no DDP stream session from its INIT on");
  }
  return recordings;
}

}  // namespace rnic::capture
