#include "model/capture/analysis/analysis_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/capture/analysis/findings.h"

namespace rnic::capture {
namespace {

using nlohmann::ordered_json;

constexpr Side kSides[] = {Side::kInitiator, Side::kResponder};

ordered_json figure_json(FigureKind kind, const Summary& s) {
  return {{"name", info(kind).name},
          {"unit", info(kind).unit},
          {"count", s.count},
          {"min", s.min},
          {"median", s.median},
          {"p99", s.p99},
          {"max", s.max},
          {"slowest_frame", s.slowest_frame}};
}

ordered_json direction_json(const Analysis& analysis, const ConnectionAnalysis& connection, Side from) {
  const DirectionAnalysis& direction = connection.direction(from);
  const DirectionCounts& counts = direction.counts();
  const LossCounts& losses = direction.losses();
  const Findings findings = findings_of(analysis, connection, from);
  ordered_json j = {{"from", to_string(from)},
                    {"segments", counts.segments},
                    {"octets", counts.octets},
                    {"above_mss", counts.above_mss},
                    {"ce_marked", counts.ce_marked},
                    {"copies", counts.copies},
                    {"probes", counts.probes},
                    {"late", losses.late},
                    {"zero_windows", counts.zero_windows},
                    {"octets_missing", losses.octets_missing}};
  j["retransmissions"] = {{"fast", losses.fast},
                          {"recovery", losses.recovery},
                          {"timeout", losses.timeout},
                          {"other", losses.other},
                          {"octets", losses.octets},
                          {"needless", {{"sure", findings.needless_sure}, {"possibly", findings.needless_possibly}}}};
  j["figures"] = ordered_json::array();
  for (const Finding& f : findings.figures) {
    j["figures"].push_back(figure_json(f.kind, f.summary));
    j["figures"].back()["with_path"] = f.with_path;
  }
  j["left_out"] = ordered_json::array();
  for (const LeftOut& l : findings.left_out) j["left_out"].push_back({{"figure", info(l.kind).name}, {"why", l.why}});
  j["notes"] = findings.notes;
  return j;
}

ordered_json connection_json(const Analysis& analysis, const ConnectionAnalysis& connection) {
  const Tap tap = analysis.tap(connection);
  ordered_json j = {{"initiator", connection.name(Side::kInitiator)},
                    {"responder", connection.name(Side::kResponder)},
                    {"has_syn", connection.has_syn()},
                    {"tap", to_string(tap)},
                    {"directions", ordered_json::array()},
                    {"cannot_know", cannot_know(tap)}};
  for (const Side side : kSides) j["directions"].push_back(direction_json(analysis, connection, side));
  return j;
}

ordered_json pauses_json(const PauseTiming& pauses) {
  ordered_json all = ordered_json::array();
  for (const auto& [station, figures] : pauses.stations()) {
    ordered_json j = {{"station", station}, {"figures", ordered_json::array()}};
    for (const FigureKind kind : {FigureKind::kPauseQuanta, FigureKind::kPauseToFrame}) {
      if (figures.has(kind)) j["figures"].push_back(figure_json(kind, figures.summary(kind)));
    }
    all.push_back(j);
  }
  return all;
}

void print_head(std::ostream& out) {
  out << fmt::format("    {:<32}{:<9}{:>9}{:>15}{:>15}{:>15}{:>15}{:>12}\n", "figure", "unit", "count", "min", "median",
                     "p99", "max", "of frame");
}

void print_figure(FigureKind kind, const Summary& s, bool with_path, std::ostream& out) {
  out << fmt::format("    {:<32}{:<9}{:>9}{:>15}{:>15}{:>15}{:>15}{:>12}{}\n", info(kind).name, info(kind).unit,
                     s.count, s.min, s.median, s.p99, s.max, s.slowest_frame, with_path ? "  with the path" : "");
}

std::string counts_text(const DirectionAnalysis& direction, const Findings& findings) {
  const DirectionCounts& counts = direction.counts();
  const LossCounts& losses = direction.losses();
  std::string text = fmt::format("{} segments with {} octets", counts.segments, counts.octets);
  if (const std::uint64_t all = losses.fast + losses.recovery + losses.timeout + losses.other) {
    text += fmt::format("; retransmissions: {} (fast {}, in recovery {}, timeout {}, other {})", all, losses.fast,
                        losses.recovery, losses.timeout, losses.other);
    text += fmt::format(", without need: {} surely, {} possibly", findings.needless_sure, findings.needless_possibly);
  }
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count != 0) text += fmt::format(", {} {}", count, what);
  };
  add(losses.late, "late");
  add(counts.copies, "copies");
  add(counts.probes, "probes");
  add(counts.ce_marked, "marked with CE");
  add(counts.zero_windows, "times a window of 0");
  return text;
}

void print_direction(const Analysis& analysis, const ConnectionAnalysis& connection, Side from, std::ostream& out) {
  const DirectionAnalysis& direction = connection.direction(from);
  const Findings findings = findings_of(analysis, connection, from);
  if (direction.counts().segments == 0 && findings.figures.empty()) return;
  out << fmt::format("  data of {} {}: {}\n", to_string(from), connection.name(from), counts_text(direction, findings));
  if (!findings.figures.empty()) print_head(out);
  for (const Finding& f : findings.figures) print_figure(f.kind, f.summary, f.with_path, out);
  for (const LeftOut& l : findings.left_out) out << fmt::format("    left out: {}: {}\n", info(l.kind).name, l.why);
  for (const std::string& note : findings.notes) out << fmt::format("    {}\n", note);
}

void print_pauses(const PauseTiming& pauses, std::ostream& out) {
  for (const auto& [station, figures] : pauses.stations()) {
    out << fmt::format("pauses that {} asks for, right to within one frame\n", station);
    print_head(out);
    for (const FigureKind kind : {FigureKind::kPauseQuanta, FigureKind::kPauseToFrame}) {
      if (figures.has(kind)) print_figure(kind, figures.summary(kind), false, out);
    }
  }
}

}  // namespace

ordered_json to_json(const Analysis& analysis, const std::string& file) {
  const Integrity& i = analysis.integrity();
  ordered_json j = {{"capture", file}};
  j["integrity"] = {{"packets", i.packets},
                    {"frames", i.frames},
                    {"segments", i.segments},
                    {"not_ethernet", i.other_packets},
                    {"lost_by_cable", i.lost},
                    {"dropped", i.dropped},
                    {"sctp", i.sctp},
                    {"cut", i.cut},
                    {"backwards", i.backwards},
                    {"resolution_ns", i.resolution_ns},
                    {"undecoded", analysis.undecoded().size()},
                    {"warnings", warnings_of(analysis)}};
  const WirePath& path = analysis.options().path;
  j["path"] =
      path.is_known() ? ordered_json{{"delay_ns", path.delay_ns}, {"line_gbps", path.line_gbps}} : ordered_json();
  j["connections"] = ordered_json::array();
  for (const ConnectionAnalysis& c : analysis.connections()) j["connections"].push_back(connection_json(analysis, c));
  j["pauses"] = pauses_json(analysis.pauses());
  return j;
}

void print(const Analysis& analysis, const std::string& file, std::ostream& out) {
  const Integrity& i = analysis.integrity();
  out << fmt::format("{}: {} packets, {} TCP segments, {} dropped for a wrong checksum\n", file, i.packets, i.segments,
                     i.dropped);
  if (i.lost != 0) out << fmt::format("{} packets tell what the cable lost, and are not counted below\n", i.lost);
  for (const std::string& warning : warnings_of(analysis)) out << warning << '\n';
  if (const WirePath& path = analysis.options().path; path.is_known()) {
    out << fmt::format("of each way {} ns of cable and the frame's own time at {} Gb/s are subtracted\n", path.delay_ns,
                       path.line_gbps);
  }
  std::uint64_t number = 0;
  std::vector<std::string> unknown;
  for (const ConnectionAnalysis& connection : analysis.connections()) {
    const Tap tap = analysis.tap(connection);
    for (std::string& what : cannot_know(tap)) {
      if (std::find(unknown.begin(), unknown.end(), what) == unknown.end()) unknown.push_back(std::move(what));
    }
    out << fmt::format("\nconnection {}: {} > {}, captured {}{}\n", ++number, connection.name(Side::kInitiator),
                       connection.name(Side::kResponder), to_string(tap),
                       connection.has_syn() ? "" : "; its SYN is not there: who initiated it and its MSS are unknown");
    for (const Side side : kSides) print_direction(analysis, connection, side, out);
  }
  out << '\n';
  print_pauses(analysis.pauses(), out);
  if (!unknown.empty()) out << "what the capture cannot tell:\n";
  for (const std::string& what : unknown) out << fmt::format("  {}\n", what);
}

}  // namespace rnic::capture
