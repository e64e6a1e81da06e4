#include "model/diff/sentence.h"

#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/diff/words.h"

namespace rnic::diff {
namespace {

std::string owner_text(const Told& told) {
  if (told.request.empty()) return "no request";
  return told.offset ? fmt::format("{} from octet {} on", told.request, *told.offset) : told.request;
}

std::string short_text(const Told& told) {
  const std::string text = fmt::format("{} of {}", told.kind, owner_text(told));
  return told.bytes ? fmt::format("{} ({} octets)", text, *told.bytes) : text;
}

std::string event_text(const Told& told) {
  std::string text = fmt::format("{} at {} of {} ({}", told.kind, told.place, told.node, owner_text(told));
  if (told.bytes) text += fmt::format(", {} octets", *told.bytes);
  if (!told.receive.empty()) text += ", into " + told.receive;
  if (!told.words.empty()) text += ", " + told.words;
  return text + ')';
}

// "frame 100, loss", as the words of what a cable does begin (model/system/event_words.cpp).
struct OnCable {
  std::uint64_t serial = 0;  // 0: a router has sent it
  std::string_view rest;     // by which setting, and what
};
std::optional<OnCable> on_cable(const Told& told) {
  constexpr std::string_view kFrame = "frame ";
  std::string_view words = told.words;
  if (told.place.rfind("cable.", 0) != 0 || words.substr(0, kFrame.size()) != kFrame) return std::nullopt;
  words.remove_prefix(kFrame.size());
  OnCable its;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), its.serial);
  if (error != std::errc{}) return std::nullopt;
  its.rest = words.substr(static_cast<std::size_t>(end - words.data()));
  if (its.rest.substr(0, 2) == ", ") its.rest.remove_prefix(2);
  return its;
}

std::string verb(std::string_view kind) {
  constexpr std::pair<std::string_view, const char*> kVerbs[] = {{"queue_dropped", "dropped at the cable's queue"},
                                                                 {"reordered", "delayed"},
                                                                 {"ce_marked", "marked"},
                                                                 {"injected", "changed"}};
  for (const auto& [of, verb] : kVerbs) {
    if (kind == of) return verb;
  }
  return std::string(kind);
}

std::string cable_text(const Told& told, const OnCable& it, const char* others_name, Events& run, Events& other) {
  const auto frame = run.frame(told.node, it.serial), others = other.frame(told.node, it.serial);
  const std::string number = frame ? std::to_string(frame->number) : fmt::format("{}:{}", told.node, it.serial);
  const std::string text =
      fmt::format("{} frame {} ({}, {}), {}", verb(told.kind), number, owner_text(told), it.rest, others_name);
  const bool delivered = others && !others->swallowed;
  return delivered ? fmt::format("{} delivered it as frame {}", text, others->number) : text + " did not";
}

std::string only_text(const Told& told, const char* name, const char* others_name, Events& run, Events& other) {
  const auto cable = on_cable(told);
  return cable ? fmt::format("{} {}", name, cable_text(told, *cable, others_name, run, other))
               : fmt::format("only {} has {}", name, event_text(told));
}

std::string content_text(const Told& a, const Told& b) {
  std::vector<std::string> in_a, in_b;
  const auto add = [&](const std::string& x, const std::string& y) {
    if (x == y) return;
    in_a.push_back(x.empty() ? "nothing" : x);
    in_b.push_back(y.empty() ? "nothing" : y);
  };
  const auto octets = [](const Told& t) { return t.bytes ? fmt::format("{} octets", *t.bytes) : ""; };
  add(octets(a), octets(b));
  add(a.receive, b.receive);
  add(std::string(without_time(a.words)), std::string(without_time(b.words)));
  return fmt::format("{} at {} of {} ({}): A {}, B {}", a.kind, a.place, a.node, owner_text(a), fmt::join(in_a, ", "),
                     fmt::join(in_b, ", "));
}

std::string time_text(const Told& a, const Told& b) {
  const bool later = b.ps > a.ps;
  return fmt::format("{} at {} of {} ({}) comes {} {} in B", a.kind, a.place, a.node, owner_text(a),
                     microseconds(later ? b.ps - a.ps : a.ps - b.ps), later ? "later" : "earlier");
}

}  // namespace

std::string microseconds(std::uint64_t ps) {
  const std::uint64_t below = ps % 1'000'000;
  return below % 1000 == 0 ? fmt::format("{}.{:03} us", ps / 1'000'000, below / 1000)
                           : fmt::format("{}.{:06} us", ps / 1'000'000, below);
}

std::string sentence(const Difference& difference, const std::optional<Told>& a, const std::optional<Told>& b,
                     const Pair& runs) {
  switch (difference.kind) {
    case Difference::Kind::kOnly:
      return a ? only_text(*a, "A", "B", runs.a, runs.b) : only_text(*b, "B", "A", runs.b, runs.a);
    case Difference::Kind::kContent:
      return content_text(*a, *b);
    case Difference::Kind::kOrder:
      return fmt::format("at {} of {} A goes on with {}, B with {}", a->place, a->node, short_text(*a), short_text(*b));
    case Difference::Kind::kTime:
      return time_text(*a, *b);
  }
  return "";
}

}  // namespace rnic::diff
