#include "model/report/run_events.h"

#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/report/drawn_events.h"
#include "model/trace/request_story.h"
#include "model/trace/sqlite.h"

namespace rnic::report {
namespace {

using nlohmann::ordered_json;

constexpr unsigned kSlowest = 5;
constexpr std::size_t kMostCommands = 2000;  // churn has more, and the page has a line for each

ordered_json event_json(const DrawnEvent& event) {
  const StoryLine& line = *event.line;
  ordered_json j{{"time_ps", line.ps}, {"node", line.node}, {"where", line.place}, {"kind", line.kind}};
  if (line.bytes) j["bytes"] = *line.bytes;
  if (event.part) j["part"] = *event.part;
  if (event.left_out != 0) j["left_out"] = event.left_out;
  std::string text = line.words;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (line.offset) add(fmt::format("octets from {} on", *line.offset));
  if (line.tag) add(fmt::format("tag {}", *line.tag));
  if (line.address) add(fmt::format("address {:#x}", *line.address));
  if (!text.empty()) j["text"] = text;
  return j;
}

ordered_json request_json(const RequestSpan& request, const std::string& why, const std::vector<StoryLine>& lines) {
  const DrawnEvents drawn = drawn_events(lines);
  ordered_json events = ordered_json::array();
  for (const DrawnEvent& event : drawn.events) events.push_back(event_json(event));
  return {{"id", request.text},
          {"why", why},
          {"all", lines.size()},
          {"parts", drawn.parts},
          {"drawn_parts", drawn.drawn_parts},
          {"events", events}};
}

}  // namespace

ordered_json request_events(const std::string& database, const std::vector<std::string>& chosen,
                            const std::vector<ChosenRequest>& examples) {
  const RequestStory story(database);
  ordered_json list = ordered_json::array();
  std::set<std::uint64_t> known;
  const auto add = [&](const RequestSpan& request, const std::string& why) {
    if (!known.insert(request.number).second) return;
    list.push_back(request_json(request, why, story.tell(request)));
  };
  for (const std::string& id : chosen) add(story.find(id), "");
  for (const ChosenRequest& example : examples) {
    try {
      add(story.find(example.id), example.why);
    } catch (const ConfigError&) {  // the run began to write its database later
    }
  }
  unsigned place = 0;
  for (const RequestSpan& request : story.slowest(kSlowest)) {
    ++place;
    add(request, place == 1 ? "the slowest" : fmt::format("number {} of the slowest", place));
  }
  return list;
}

ordered_json firmware_commands(const std::string& file) try {
  const Sqlite database(file, SQLITE_OPEN_READONLY);
  SqliteStatement row = database.prepare(
      "SELECT time_ps, node, coalesce(words, '') FROM events WHERE kind = 'command' ORDER BY time_ps, id LIMIT ?");
  row.bind(1, kMostCommands);
  ordered_json list = ordered_json::array();
  while (row.step()) {
    const std::string words = row.text(2);  // "create_qp, 105 cycles"
    const std::size_t comma = words.find(", ");
    const std::uint64_t cycles = comma == std::string::npos ? 0 : std::strtoull(&words[comma + 2], nullptr, 10);
    list.push_back(
        {{"time_ps", row.number(0)}, {"node", row.text(1)}, {"text", words.substr(0, comma)}, {"cycles", cycles}});
  }
  return list;
} catch (const SqliteError& error) {
  throw ConfigError(file + ": " + error.what());
}

}  // namespace rnic::report
