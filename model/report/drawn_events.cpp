#include "model/report/drawn_events.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace rnic::report {
namespace {

constexpr std::size_t kMostParts = 12, kMostOfAKind = 12;

bool arrives(std::string_view kind) {
  constexpr std::array<std::string_view, 6> kArriving{"frame_received", "stream_delivered", "fpdu_received",
                                                      "crc_checked",    "refused",          "dropped"};
  return std::find(kArriving.begin(), kArriving.end(), kind) != kArriving.end();
}

bool is_trouble(const StoryLine& line) {
  return line.place.rfind("cable.", 0) == 0 || line.kind == "retransmitted" || line.kind == "refused" ||
         line.kind == "dropped";
}

// The number of each line's FPDU. A Read's request and its response count their offsets each for itself.
std::vector<std::optional<std::size_t>> parts_of(const std::vector<StoryLine>& lines) {
  std::map<std::tuple<std::string, bool, std::uint64_t>, std::size_t> numbers;
  std::set<std::string> nodes;
  for (const StoryLine& line : lines) nodes.insert(line.node);
  std::vector<std::optional<std::size_t>> parts;
  for (const StoryLine& line : lines) {
    if (!line.offset) {
      parts.emplace_back();
      continue;
    }
    // Between two nodes what arrives was sent by the other one.
    const bool in = arrives(line.kind);
    const auto other = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n != line.node; });
    const bool known = !in || (nodes.size() == 2 && other != nodes.end());
    const std::string& sender = in && known ? *other : line.node;
    parts.emplace_back(numbers.try_emplace({sender, known, *line.offset}, numbers.size()).first->second);
  }
  return parts;
}

std::set<std::size_t> chosen_parts(const std::vector<StoryLine>& lines,
                                   const std::vector<std::optional<std::size_t>>& parts, std::size_t count) {
  std::set<std::size_t> chosen;
  const auto add = [&](std::size_t part) {
    if (chosen.size() < kMostParts) chosen.insert(part);
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (parts[i] && is_trouble(lines[i])) add(*parts[i]);
  }
  if (count > 0) add(count - 1);
  for (std::size_t part = 0; part < count; ++part) add(part);
  return chosen;
}

}  // namespace

DrawnEvents drawn_events(const std::vector<StoryLine>& lines) {
  const auto parts = parts_of(lines);
  DrawnEvents drawn;
  for (const auto& part : parts) drawn.parts = std::max(drawn.parts, part ? *part + 1 : 0);
  const std::set<std::size_t> chosen = chosen_parts(lines, parts, drawn.parts);
  drawn.drawn_parts = chosen.size();

  using Place = std::pair<std::string, std::string>;
  const auto place_of = [](const StoryLine& line) { return Place{line.node + ' ' + line.place, line.kind}; };
  std::map<Place, std::size_t> all, seen;
  for (std::size_t i = 0; i < lines.size(); ++i) all[place_of(lines[i])] += parts[i] ? 0 : 1;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool keep = parts[i] && chosen.count(*parts[i]) != 0;
    if (!parts[i]) {
      const std::size_t n = seen[place_of(lines[i])]++;
      keep = n < kMostOfAKind / 2 || n + kMostOfAKind / 2 >= all[place_of(lines[i])];
    }
    if (!keep) {
      ++left_out;
      continue;
    }
    drawn.events.push_back({&lines[i], parts[i], std::exchange(left_out, 0)});
  }
  return drawn;
}

}  // namespace rnic::report
