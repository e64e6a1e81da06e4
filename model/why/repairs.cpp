#include "model/why/repairs.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::why {
namespace {

std::optional<Cause> fate_of(const Rows& rows, const EventRow& again);

// Why one that arrived as it was sent was sent again: its acknowledgement was lost, or it came too late.
std::optional<Cause> needless(const Rows& rows, const EventRow& again, const FrameRow& first) {
  if (const auto& of = rows.of_router(); of && of->ps <= again.ps && again.words == "path MTU") {
    return Cause{End::kSetting, "path_mtu", "a router has told of a shorter path MTU", of->number, "link.*.mtu"};
  }
  if (const FrameRow* const lost = rows.swallowed(again.node, first.ps, again.ps)) {
    Cause cause = by_cable_of(lost->swallowed, lost->number);
    cause.text = "an acknowledgement: " + cause.text;
    return cause;
  }
  // What was sent before it, and came after it: until then there was no room, or it seemed lost.
  for (const EventRow& late : rows.reordered()) {
    const std::uint64_t serial = serial_of(late.words);
    if (late.node != again.node || late.ps < first.ps || serial > first.serial) continue;
    return by_cable(late.kind, late.words, rows.number(again.node, serial).value_or(0));
  }
  // The same of what was sent before it, and again after it had come.
  for (const EventRow& other : rows.sent_again()) {
    if (other.node != again.node || other.ps < first.ps || other.ps > again.ps) continue;
    const auto& frames = rows.frames(other.node, *other.request, other.offset);
    if (!frames.empty() && frames.front().serial < first.serial) return fate_of(rows, other);
  }
  return std::nullopt;
}

// What became of the first transmission. Each step of the recursion is about an earlier frame.
std::optional<Cause> fate_of(const Rows& rows, const EventRow& again) {
  const auto& frames = rows.frames(again.node, *again.request, again.offset);
  if (frames.empty()) return std::nullopt;
  const FrameRow& first = frames.front();
  if (!first.swallowed.empty()) return by_cable_of(first.swallowed, first.number);
  const EventRow* const event = rows.cable(again.node, first.serial);
  return event != nullptr ? by_cable(event->kind, event->words, first.number) : needless(rows, again, first);
}

}  // namespace

Cause by_cable(const std::string& kind, const std::string& words, std::uint64_t frame) {
  const std::size_t comma = words.find(", ");
  const std::string rest = comma == std::string::npos ? words : words.substr(comma + 2);
  const bool injected = kind == "injected";
  const std::string setting = injected ? "inject" : "link.*." + rest.substr(0, rest.find(':'));
  return {injected ? End::kInjected : End::kCable, kind, kind + ", " + rest, frame, setting};
}

Cause by_cable_of(const std::string& swallowed, std::uint64_t frame) {
  const std::size_t colon = swallowed.find(": ");
  return by_cable(swallowed.substr(0, colon), swallowed.substr(colon + 2), frame);
}

Repair repair_of(const Rows& rows, const EventRow& again) {
  Repair r;
  r.again = again;
  const auto& frames = rows.frames(again.node, *again.request, again.offset);
  const std::string what = fmt::format("{}, octets from {} on", rows.text_of(*again.request), again.offset.value_or(0));
  if (frames.empty()) {
    r.cause = {End::kNotRecorded, "not_recorded", "the first transmission is in no row", {}, {}};
    return r;
  }
  const FrameRow& first = frames.front();
  r.sent_ps = first.ps;
  r.chain.push_back(
      {first.ps, again.node, fmt::format("{} in frame {}:{}", what, again.node, first.serial), first.number});
  const auto fate = fate_of(rows, again);
  r.cause =
      fate ? *fate
           : Cause{
                 End::kNotRecorded, "not_recorded", "nothing in the run shows why it was sent again", first.number, {}};
  const auto resent =
      std::find_if(frames.begin() + 1, frames.end(), [&](const FrameRow& f) { return f.ps >= again.ps; });
  r.chain.push_back({again.ps, again.node, fmt::format("{} sent again ({})", what, again.words),
                     resent != frames.end() ? std::optional(resent->number) : std::nullopt});
  std::stable_sort(r.chain.begin(), r.chain.end(), [](const Step& x, const Step& y) { return x.ps < y.ps; });
  return r;
}

}  // namespace rnic::why
