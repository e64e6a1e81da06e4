#include "model/why/cable_summary.h"

#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "model/why/repairs.h"

namespace rnic::why {
namespace {

// "cable.a_to_b" is from the node that the event is of; nothing for another place.
std::string receiver_of(const std::string& place, const std::string& sender) {
  const std::string begin = "cable." + sender + "_to_";
  return place.rfind(begin, 0) == 0 ? place.substr(begin.size()) : "";
}

// The last word of its key.
std::string short_name(const std::string& setting) {
  constexpr std::string_view kLink = "link.*.";
  return setting.rfind(kLink, 0) == 0 ? setting.substr(kLink.size()) : setting;
}

}  // namespace

std::vector<CableCount> cable_summary(const Rows& rows) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint64_t> frames;
  for (const EventRow& e : rows.of_cable()) {
    if (e.place.rfind("cable.", 0) != 0) continue;  // into a work request
    const std::string setting = by_cable(e.kind, e.words, 0).setting;
    ++frames[{e.node, receiver_of(e.place, e.node), e.kind, setting}];
  }
  std::vector<CableCount> counts;
  for (const auto& [what, number] : frames) {
    const auto& [from, to, kind, setting] = what;
    counts.push_back({from, to, kind, setting, number});
  }
  return counts;
}

std::string text_of(const std::vector<CableCount>& counts) {
  if (counts.empty()) return "cable: delivered every frame as it was sent";
  std::string text = "cable:";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const CableCount& c = counts[i];
    const bool same = i != 0 && counts[i - 1].from == c.from && counts[i - 1].to == c.to;
    if (same) text += ", ";
    else text += fmt::format("{}{} to {}: ", i == 0 ? " " : "; ", c.from, c.to);
    text += fmt::format("{} {} ({})", c.frames, c.kind, short_name(c.setting));
  }
  return text;
}

}  // namespace rnic::why
