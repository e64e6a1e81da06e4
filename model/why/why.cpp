#include "model/why/why.h"

#include <algorithm>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "model/why/set_ups.h"
#include "model/why/slow_requests.h"
#include "model/why/stream_ends.h"

namespace rnic::why {
namespace {

std::string microseconds(std::uint64_t ps) { return fmt::format("{:.3f}", static_cast<double>(ps) / 1e6); }

// A run that did not come to its end: what was sent again and again.
std::vector<Answer> stall(const Rows& rows) {
  const std::string end = rows.fact("end");
  if (end == "done" || end == "failed") return {};
  Answer a;
  a.symptom = Symptom::kStalled;
  a.text = "the run ended with '" + end + "'";
  const auto& again = rows.sent_again();
  if (again.empty()) {
    a.cause =
        Cause{End::kNotRecorded, "waits", "no frame was sent again; rnicsim run says what waits for what", {}, {}};
    return {a};
  }
  const Repair repair = repair_of(rows, again.back());
  a.node = again.back().node;
  a.request = rows.text_of(*again.back().request);
  a.from_ps = repair.sent_ps;
  a.to_ps = again.back().ps;
  a.cause = repair.cause;
  a.chain = repair.chain;
  return {a};
}

// What was sent again, by what the first of it shows; and what marks of the cable reduced.
std::vector<Answer> repairs(const Rows& rows) {
  std::vector<Answer> found;
  std::map<std::string, std::size_t> known;  // by cause
  for (const EventRow& again : rows.sent_again()) {
    Repair r = repair_of(rows, again);
    const auto [place, is_new] =
        known.try_emplace(r.cause.text + std::to_string(r.cause.frame.value_or(0)), found.size());
    if (!is_new) {
      found[place->second].to_ps = again.ps;
      continue;
    }
    Answer a;
    a.symptom = Symptom::kResent;
    a.node = again.node;
    a.request = rows.text_of(*again.request);
    a.text = again.words;
    a.from_ps = a.to_ps = again.ps;
    a.cause = std::move(r.cause);
    a.chain = std::move(r.chain);
    found.push_back(std::move(a));
  }
  return found;
}

std::vector<Answer> reductions(const Rows& rows) {
  std::vector<Answer> found;
  for (const EventRow& reduced : rows.events("kind = 'reduced' AND words GLOB 'congestion echo*'")) {
    const auto marks = rows.events(
        fmt::format("kind = 'ce_marked' AND node = {} AND time_ps <= {}", quoted(reduced.node), reduced.ps));
    Answer a;
    a.symptom = Symptom::kReduced;
    a.node = reduced.node;
    a.text = reduced.words;
    a.from_ps = a.to_ps = reduced.ps;
    if (marks.empty()) {
      a.cause = Cause{End::kPeer, "mark", "the mark is of no frame of this run", {}, {}};
    } else {
      const EventRow& mark = marks.back();
      a.cause = by_cable(mark.kind, mark.words, rows.number(mark.node, serial_of(mark.words)).value_or(0));
      a.from_ps = mark.ps;
    }
    found.push_back(std::move(a));
  }
  return found;
}

std::string head_of(const Answer& a) {
  const std::string who = a.request + (a.text.empty() ? "" : ", " + a.text);
  const std::string when = fmt::format("{} to {} us: {} us", microseconds(a.from_ps), microseconds(a.to_ps),
                                       microseconds(a.to_ps - a.from_ps));
  switch (a.symptom) {
    case Symptom::kStalled:
      return "stalled: " + a.text;
    case Symptom::kCheck:
      return fmt::format("check failed: {} us, {} got {}, {}", microseconds(a.from_ps), a.node, a.request, a.text);
    case Symptom::kTerminate:
      return fmt::format("Terminate: {} us, {} sent {}{}", microseconds(a.from_ps), a.node, a.text,
                         a.request.empty() ? "" : ", about " + a.request);
    case Symptom::kStartup:
      return fmt::format("set-up failed: {} us, {}: {}", microseconds(a.from_ps), a.node, a.text);
    case Symptom::kSlow:
      return fmt::format("slowest: {}, {}", who, when);
    case Symptom::kSlowInTurn:
      return fmt::format("slowest once it had its turn: {}, {}", who, when);
    case Symptom::kSetUp:
      return fmt::format("slowest set-up: {}, {}", who, when);
    case Symptom::kResent:
      return fmt::format("sent again: {} ({}) at {} us", a.request, a.text, microseconds(a.to_ps));
    case Symptom::kReduced:
      return fmt::format("congestion window of {} at {} us: {}", a.node, microseconds(a.to_ps), a.text);
  }
  return {};
}

std::string with_frame(const std::string& text, std::optional<std::uint64_t> frame) {
  return frame ? fmt::format("{}: frame {}", text, *frame) : text;
}

void print(const Answer& a, std::ostream& out) {
  out << head_of(a) << '\n';
  if (a.cause) {
    const std::string setting = a.cause->setting.empty() ? "" : " [" + a.cause->setting + "]";
    out << fmt::format("  CAUSE   {}: {}{}\n", to_string(a.cause->end), with_frame(a.cause->text, a.cause->frame),
                       setting);
  }
  if (!a.waits.empty()) {
    std::vector<Wait> waits = a.waits;
    std::stable_sort(waits.begin(), waits.end(), [](const Wait& x, const Wait& y) { return x.ps > y.ps; });
    std::string text;
    for (const Wait& w : waits) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", w.name, microseconds(w.ps));
    out << "  waited  " << text << '\n';
  }
  for (const Step& s : a.chain) {
    out << fmt::format("  {:>10}  {}  {}\n", microseconds(s.ps), s.node, with_frame(s.text, s.frame));
  }
}

}  // namespace

const char* to_string(End end) {
  constexpr const char* kNames[] = {"cable", "injected", "program", "setting", "peer", "start", "not recorded"};
  return kNames[static_cast<std::size_t>(end)];
}

const char* to_string(Symptom symptom) {
  constexpr const char* kNames[] = {"stalled",      "check",      "terminate", "startup", "slow",
                                    "slow_in_turn", "slow_setup", "resent",    "reduced"};
  return kNames[static_cast<std::size_t>(symptom)];
}

std::vector<Answer> answers(const std::string& database, const std::string& request) {
  const Rows rows(database);
  const SlowRequests slow(rows);
  if (!request.empty()) return {slow.of(request)};
  std::vector<Answer> all = stall(rows);
  std::vector<Answer> set_up;
  if (auto slowest = slowest_set_up(rows)) set_up.push_back(*std::move(slowest));
  for (auto&& some : {stream_ends(rows), slow.slowest(), set_up, repairs(rows), reductions(rows)})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

void print(const std::vector<Answer>& answers, std::size_t most, std::ostream& out) {
  if (answers.empty()) out << "nothing failed, and no program posted a request and saw it complete\n";
  std::map<Symptom, std::size_t> printed;
  for (const Answer& a : answers) {
    if (++printed[a.symptom] <= most) print(a, out);
  }
  for (const auto& [symptom, number] : printed) {
    if (number > most) out << fmt::format("and {} more: {} (--all prints them)\n", number - most, to_string(symptom));
  }
}

nlohmann::ordered_json to_json(const Answer& a) {
  nlohmann::ordered_json json;
  json["symptom"] = {{"kind", to_string(a.symptom)},
                     {"node", a.node},
                     {"request", a.request},
                     {"text", a.text},
                     {"from", a.from_ps},
                     {"to", a.to_ps}};
  json["cause"] = nullptr;
  if (a.cause) {
    json["cause"] = {{"end", to_string(a.cause->end)},
                     {"kind", a.cause->kind},
                     {"text", a.cause->text},
                     {"setting", a.cause->setting}};
    json["cause"]["frame"] = a.cause->frame ? nlohmann::ordered_json(*a.cause->frame) : nlohmann::ordered_json();
  }
  json["chain"] = nlohmann::ordered_json::array();
  for (const Step& s : a.chain) {
    json["chain"].push_back({{"ps", s.ps}, {"node", s.node}, {"text", s.text}});
    if (s.frame) json["chain"].back()["frame"] = *s.frame;
  }
  json["waits"] = nlohmann::ordered_json::array();
  for (const Wait& w : a.waits) json["waits"].push_back({{"name", w.name}, {"ps", w.ps}});
  return json;
}

}  // namespace rnic::why
