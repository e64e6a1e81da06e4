#include "model/why/repairs.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace rnic::why {
namespace {

// Why one that arrived as it was sent was sent again: its acknowledgement was lost, or it came too late.
std::optional<Cause> needless(const Rows& rows, const EventRow& again, const FrameRow& first) {
  if (const auto of = rows.of_router(again.ps); of && again.words == "path MTU") {
    return Cause{End::kSetting, "path_mtu", "a router has told of a shorter path MTU", of->number, "link.*.mtu"};
  }
  for (const FrameRow& lost : rows.swallowed(again.node, first.ps, again.ps)) {
    Cause cause = by_cable_of(lost.swallowed, lost.number);
    cause.text = "an acknowledgement: " + cause.text;
    return cause;
  }
  // What was sent before it, and came after it: until then there was no room, or it seemed lost.
  for (const EventRow& late :
       rows.events(fmt::format("kind = 'reordered' AND node = {} AND time_ps >= {}", quoted(again.node), first.ps))) {
    const std::uint64_t serial = serial_of(late.words);
    if (serial <= first.serial) return by_cable(late.kind, late.words, rows.number(again.node, serial).value_or(0));
  }
  // The same of what was sent again after it had come.
  for (const EventRow& other : rows.events(
           fmt::format("kind = 'retransmitted' AND request IS NOT NULL AND node = {} AND time_ps BETWEEN {} AND {}",
                       quoted(again.node), first.ps, again.ps))) {
    const auto& frames = rows.frames(other.node, *other.request, other.offset);
    if (!frames.empty() && frames.front().serial < first.serial) return repair_of(rows, other).cause;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t serial_of(const std::string& words) { return std::strtoull(words.c_str() + sizeof "frame", nullptr, 10); }

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
  if (!first.swallowed.empty()) {
    r.cause = by_cable_of(first.swallowed, first.number);
  } else {
    const auto events = rows.cable(again.node, first.serial);
    if (!events.empty()) r.cause = by_cable(events.front().kind, events.front().words, first.number);
    else if (auto other = needless(rows, again, first)) r.cause = *std::move(other);
    else
      r.cause = {End::kNotRecorded, "not_recorded", "nothing in the run shows why it was sent again", first.number, {}};
  }
  const auto resent =
      std::find_if(frames.begin() + 1, frames.end(), [&](const FrameRow& f) { return f.ps >= again.ps; });
  r.chain.push_back({again.ps, again.node, fmt::format("{} sent again ({})", what, again.words),
                     resent != frames.end() ? std::optional(resent->number) : std::nullopt});
  std::stable_sort(r.chain.begin(), r.chain.end(), [](const Step& x, const Step& y) { return x.ps < y.ps; });
  return r;
}

}  // namespace rnic::why
