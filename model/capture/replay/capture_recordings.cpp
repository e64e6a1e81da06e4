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
    stream.arrivals.push_back({stream.octets.size(), std::max(stream.newest(), at.offset)});
  }

  Recording take() { return std::move(recording_); }

 private:
  RecordedStream& stream_of(Side from) { return recording_.streams[static_cast<std::size_t>(from)]; }

  Recording recording_;
  bool established_ = false;  // the SYN was answered with a SYN
};

class CaptureRecorder {
 public:
  // Returns where the capture ends for a replay, and why; empty if it is whole.
  std::string read(const std::string& capture);
  // The first connection or session with octets missing; empty if there is none.
  std::string hole() const;
  std::vector<Recording> take();

 private:
  std::string take_frame(const CapturedFrame& frame);

  UndecodedList undecoded_;
  std::deque<Recorder> connections_;
  std::deque<AssociationRecorder> sessions_;
  ConnectionTable table_{undecoded_, [this](const Endpoint& initiator, const Endpoint& responder) {
                           return &connections_.emplace_back(initiator, responder);
                         }};
  AssociationTable associations_{undecoded_, [this](const Endpoint& initiator, const Endpoint& responder) {
                                   return &sessions_.emplace_back(initiator, responder);
                                 }};
};

std::string place_and(const Place& at, const std::string& reason) {
  return fmt::format("frame {}, offset {}: {}", at.frame, at.offset, reason);
}

// Octets missing at the end of a stream leave no hole, so nothing counts behind a frame that is not whole.
std::string CaptureRecorder::read(const std::string& capture) {
  CaptureReader reader(capture);
  while (const auto frame = reader.next(undecoded_)) {
    if (const std::string why = take_frame(*frame); !why.empty()) return place_and(frame->at, why);
  }
  return reader.ended_early() ? place_and(undecoded_.back().at, undecoded_.back().reason) : "";
}

std::string CaptureRecorder::take_frame(const CapturedFrame& frame) {
  FrameResult result = read_frame(frame, false);
  if (result.fate == FrameFate::kUndecoded) return std::move(result.reason);
  if (result.is_cut()) return kept_of(frame);
  if (result.fate == FrameFate::kSegment) table_.segment(result.segment);
  if (result.fate == FrameFate::kSctp) associations_.packet(result.packet);
  return {};
}

std::string CaptureRecorder::hole() const {
  for (const auto& connection : table_.connections()) {
    for (const Side side : {Side::kInitiator, Side::kResponder}) {
      if (const auto hole = connection->tcp(side).hole()) {
        return fmt::format("{} > {}: {} octets are missing", to_string(connection->initiator()),
                           to_string(connection->responder()), hole->octets);
      }
    }
  }
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (!associations_.associations()[i]->ddp()) continue;
    if (std::string hole = sessions_[i].hole(); !hole.empty()) return hole;
  }
  return {};
}

std::vector<Recording> CaptureRecorder::take() {
  std::vector<Recording> recordings;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    recordings.push_back(connections_[i].take());
    for (const Side side : {Side::kInitiator, Side::kResponder}) {
      if (table_.connections()[i]->tcp(side).hole()) recordings.back().end_with(side);
    }
  }
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (associations_.associations()[i]->ddp()) sessions_[i].take(recordings);
  }
  if (recordings.empty()) {
    throw ConfigError("no TCP connection from its SYN on, and no DDP stream session from its INIT on");
  }
  return recordings;
}

}  // namespace

CaptureRecordings read_recordings(const std::string& capture, bool partial) {
  CaptureRecorder recorder;
  std::string ends_at = recorder.read(capture);
  try {
    if (!ends_at.empty() && !partial) throw ConfigError("it is not whole: " + ends_at);
    if (ends_at.empty()) ends_at = recorder.hole();
    if (!ends_at.empty() && !partial) throw ConfigError(ends_at);
    CaptureRecordings recordings{recorder.take(), ends_at};
    for (Recording& recording : recordings.list) recording.partial = !ends_at.empty();
    return recordings;
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: cannot be replayed: {}", capture, error.what()));
  }
}

}  // namespace rnic::capture
