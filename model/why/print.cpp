#include <algorithm>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "model/why/why.h"

namespace rnic::why {
namespace {

using nlohmann::ordered_json;

std::string microseconds(std::uint64_t ps) { return fmt::format("{:.3f}", static_cast<double>(ps) / 1e6); }

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
    case Symptom::kLostConnection:
      return fmt::format("connection lost: {} us, {}: {}", microseconds(a.from_ps), a.node, a.text);
    case Symptom::kThroughput:
      return a.text;
    case Symptom::kReduced:
      return fmt::format("congestion window of {} at {} us: {}", a.node, microseconds(a.to_ps), a.text);
  }
  return {};
}

std::string with_frame(const std::string& text, std::optional<std::uint64_t> frame) {
  return frame ? fmt::format("{}: frame {}", text, *frame) : text;
}

std::string text_of(const Cause& cause) {
  const std::string setting = cause.setting.empty() ? "" : " [" + cause.setting + "]";
  return fmt::format("{}: {}{}", to_string(cause.end), with_frame(cause.text, cause.frame), setting);
}

void print(const Answer& a, std::ostream& out) {
  out << head_of(a) << '\n';
  if (a.cause) out << "  CAUSE   " << text_of(*a.cause) << '\n';
  for (const Cause& also : a.also) out << "  also    " << text_of(also) << '\n';
  if (!a.waits.empty()) {
    std::vector<Wait> waits = a.waits;
    std::stable_sort(waits.begin(), waits.end(), [](const Wait& x, const Wait& y) { return x.ps > y.ps; });
    std::string text;
    for (const Wait& w : waits) {
      if (w.ps < 500) break;  // it would be 0.000
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", w.name, microseconds(w.ps));
    }
    out << "  waited  " << text << '\n';
  }
  for (const Step& s : a.chain) {
    out << fmt::format("  {:>10}  {}  {}\n", microseconds(s.ps), s.node, with_frame(s.text, s.frame));
  }
}

ordered_json json_of(const Cause& cause) {
  ordered_json json{
      {"end", to_string(cause.end)}, {"kind", cause.kind}, {"text", cause.text}, {"setting", cause.setting}};
  json["frame"] = cause.frame ? ordered_json(*cause.frame) : ordered_json();
  return json;
}

ordered_json json_of(const Step& step) {
  ordered_json json{{"ps", step.ps}, {"node", step.node}, {"text", step.text}};
  if (step.frame) json["frame"] = *step.frame;
  for (const auto& [name, value] : step.state) json["state"][name] = value;
  return json;
}

ordered_json json_of(const Answer& a) {
  ordered_json json;
  json["symptom"] = {{"kind", to_string(a.symptom)},
                     {"node", a.node},
                     {"request", a.request},
                     {"text", a.text},
                     {"from", a.from_ps},
                     {"to", a.to_ps}};
  json["cause"] = a.cause ? json_of(*a.cause) : ordered_json();
  for (const char* list : {"chain", "waits", "also"}) json[list] = ordered_json::array();
  for (const Step& step : a.chain) json["chain"].push_back(json_of(step));
  for (const Wait& wait : a.waits) json["waits"].push_back({{"name", wait.name}, {"ps", wait.ps}});
  for (const Cause& cause : a.also) json["also"].push_back(json_of(cause));
  json["not_recorded"] = a.not_recorded;
  return json;
}

ordered_json json_of(const std::vector<CableCount>& counts) {
  ordered_json json{{"cable", ordered_json::array()}};
  for (const CableCount& c : counts) {
    json["cable"].push_back(
        {{"from", c.from}, {"to", c.to}, {"kind", c.kind}, {"setting", c.setting}, {"frames", c.frames}});
  }
  return json;
}

}  // namespace

const char* to_string(End end) {
  constexpr const char* kNames[] = {"cable", "injected", "program", "setting", "peer", "start", "not recorded"};
  return kNames[static_cast<std::size_t>(end)];
}

const char* to_string(Symptom symptom) {
  constexpr const char* kNames[] = {"stalled",    "check",  "terminate", "startup",         "slow",      "slow_in_turn",
                                    "slow_setup", "resent", "reduced",   "connection_lost", "throughput"};
  return kNames[static_cast<std::size_t>(symptom)];
}

void print(const Report& report, std::size_t most, std::ostream& out) {
  if (report.answers.empty()) out << "nothing failed, and no program posted a request and saw it complete\n";
  std::map<Symptom, std::size_t> printed;
  const auto print_all = [&](bool of_throughput) {
    for (const Answer& a : report.answers) {
      if ((a.symptom == Symptom::kThroughput) == of_throughput && ++printed[a.symptom] <= most) print(a, out);
    }
  };
  print_all(false);
  if (report.cable) out << text_of(*report.cable) << '\n';
  print_all(true);
  for (const auto& [symptom, number] : printed) {
    if (number > most) out << fmt::format("and {} more: {} (--all prints them)\n", number - most, to_string(symptom));
  }
}

std::vector<ordered_json> to_json(const Report& report) {
  std::vector<ordered_json> objects;
  for (const Answer& a : report.answers) objects.push_back(json_of(a));
  if (report.cable) objects.push_back(json_of(*report.cable));
  return objects;
}

}  // namespace rnic::why
