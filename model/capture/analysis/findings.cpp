#include "model/capture/analysis/findings.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::capture {
namespace {

Tap beside(Side side) { return side == Side::kInitiator ? Tap::kInitiator : Tap::kResponder; }

bool has_path(FigureKind kind, Tap tap, Side from, bool is_path_known) {
  const Reacts reacts = info(kind).reacts;
  if (reacts == Reacts::kNone) return false;
  if (reacts == Reacts::kPath) return true;
  if (tap == Tap::kEachEnd) return !is_path_known;
  return tap != beside(reacts == Reacts::kSender ? from : other(from));
}

// Empty: the capture can tell the figure.
std::string why_not(FigureKind kind, const ConnectionAnalysis& connection, Side from, Tap tap, bool is_path_known) {
  const DirectionAnalysis& direction = connection.direction(from);
  if (kind == FigureKind::kSegmentsPerAck || kind == FigureKind::kOutOfOrderDepth) {
    if (const std::uint64_t above = direction.counts().above_mss) {
      return fmt::format("{} segments are above the MSS of {} octets: captured where offload joins them", above,
                         *direction.mss());
    }
  }
  if (kind != FigureKind::kReduction) return {};
  if (tap == beside(from) || (tap == Tap::kEachEnd && is_path_known)) return {};
  return "how many octets are in flight is known beside the sender only";
}

void take_figures(const Analysis& analysis, const ConnectionAnalysis& connection, Side from, Findings& findings) {
  const bool is_path_known = analysis.options().path.is_known();
  const Tap tap = analysis.tap(connection);
  const Figures& figures = connection.direction(from).figures();
  for (std::size_t i = 0; i < kFigures; ++i) {
    const auto kind = static_cast<FigureKind>(i);
    if (!figures.has(kind)) continue;
    std::string why = why_not(kind, connection, from, tap, is_path_known);
    if (why.empty())
      findings.figures.push_back({kind, figures.summary(kind), has_path(kind, tap, from, is_path_known)});
    else findings.left_out.push_back({kind, std::move(why)});
  }
  const bool is_marked = connection.direction(from).counts().ce_marked != 0;
  if (is_marked && !connection.has_handshake()) {
    findings.left_out.push_back({FigureKind::kReduction, "the handshake, which tells the round trip, is not there"});
  }
}

void take_notes(const Analysis& analysis, const ConnectionAnalysis& connection, Side from, Findings& findings) {
  const DirectionAnalysis& direction = connection.direction(from);
  std::vector<std::string>& notes = findings.notes;
  if (const std::uint64_t octets = direction.losses().octets_missing) {
    notes.push_back(
        fmt::format("{} octets were acknowledged but are not in the capture: {} acknowledgements are left out of "
                    "ack_delay, ack_wait and segments_per_ack",
                    octets, direction.counts().acks_of_missing));
  }
  if (direction.counts().segments != 0 && direction.counts().acks == 0) {
    notes.emplace_back("the other direction is not in the capture: only gaps and their ends are measured");
  }
  if (const std::uint64_t open = connection.open_requests(from)) {
    notes.push_back(fmt::format("{} Reads or atomics have no whole response in the capture", open));
  }
  if (const std::uint64_t negative = direction.figures().negative()) {
    notes.push_back(fmt::format("{} differences were below 0, and are left out", negative));
  }
  if (analysis.integrity().cut != 0) {
    notes.emplace_back("payload is missing: Reads and atomics only as far as their headers were kept");
  }
}

}  // namespace

Findings findings_of(const Analysis& analysis, const ConnectionAnalysis& connection, Side from) {
  Findings findings;
  take_figures(analysis, connection, from, findings);
  take_notes(analysis, connection, from, findings);
  const LossCounts& losses = connection.direction(from).losses();
  const Tap tap = analysis.tap(connection);
  const bool is_seen_by_receiver = tap == Tap::kEachEnd || tap == beside(other(from));
  findings.needless_sure = is_seen_by_receiver ? losses.again : losses.needless;
  findings.needless_possibly = losses.again - findings.needless_sure;
  return findings;
}

const char* to_string(Tap tap) {
  switch (tap) {
    case Tap::kUnknown:
      return "at an unknown place";
    case Tap::kInitiator:
      return "beside the initiator";
    case Tap::kResponder:
      return "beside the responder";
    case Tap::kMiddle:
      return "between both sides";
    case Tap::kEachEnd:
      return "at each end, frames as they arrive";
  }
  return "";
}

std::vector<std::string> cannot_know(Tap tap) {
  std::vector<std::string> all = {"the sender's congestion window and timer, and when a program saw its message",
                                  "a loss after which nothing was sent, if the tap did not see what was lost: its "
                                  "retransmission looks like new data"};
  if (tap == Tap::kEachEnd) return all;
  all.emplace_back("what is lost beyond the tap, until it is reported or repeated");
  all.emplace_back("whether what is marked \"with the path\" was late itself or had a long way");
  return all;
}

std::vector<std::string> warnings_of(const Analysis& analysis) {
  const Integrity& i = analysis.integrity();
  std::vector<std::string> all = analysis.options().notes;
  if (i.resolution_ns > 1) {
    all.push_back(fmt::format("times are in steps of {} ns: each figure is right to within one step", i.resolution_ns));
  }
  if (i.backwards != 0) all.push_back(fmt::format("{} packets are stamped before the packet before them", i.backwards));
  if (i.cut != 0) {
    all.push_back(
        fmt::format("{} packets are cut, from frame {} on: their checksums are not checked", i.cut, i.first_cut));
  }
  if (i.sctp != 0) all.push_back(fmt::format("{} SCTP packets are not analysed, only TCP is", i.sctp));
  if (!analysis.undecoded().empty()) {
    const Undecoded& first = analysis.undecoded().front();
    all.push_back(fmt::format("{} places could not be decoded (rnicsim decode lists them), the first at frame {}: {}",
                              analysis.undecoded().size(), first.at.frame, first.reason));
  }
  return all;
}

}  // namespace rnic::capture
