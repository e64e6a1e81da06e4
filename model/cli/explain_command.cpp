#include "model/cli/explain_command.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/system/latency_breakdown.h"
#include "model/trace/request_story.h"
#include "model/why/why.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

constexpr std::size_t kMostOfAKind = 5;  // that --why prints

// To the picosecond at any magnitude, so that times in a column are easy to compare.
std::string microseconds(std::uint64_t ps) { return fmt::format("{}.{:06} us", ps / 1'000'000, ps % 1'000'000); }
std::string nanoseconds(std::uint64_t ps) { return fmt::format("{}.{:03} ns", ps / 1000, ps % 1000); }

// An event's details apart from time and place: "qpn 3, 64 octets".
std::string details(const StoryLine& line) {
  std::string text;
  const auto add = [&text](const std::string& piece) { text += (text.empty() ? "" : ", ") + piece; };
  if (line.flow) add(fmt::format("flow {}", *line.flow));
  if (line.qpn) add(fmt::format("qpn {}", *line.qpn));
  if (line.bytes) add(fmt::format("bytes {}", *line.bytes));
  if (line.tag) add(fmt::format("tag {}", *line.tag));
  if (line.address) add(fmt::format("address {:#x}", *line.address));
  if (!line.words.empty()) add(line.words);
  return text;
}

// From breakdown.tsv, which is next to the database if the run was asked for it.
struct Part {
  std::string name;
  std::uint64_t ps = 0;
};
using Parts = std::map<std::string, std::vector<Part>>;

constexpr const char* kBreakdownHead = "request\twork\toperation\ttotal_ps\tparts";  // LatencyBreakdown::write
constexpr std::size_t kOperation = 2, kTotal = 3, kParts = 4;                        // columns

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    pieces.push_back(text.substr(0, end));
  }
  pieces.push_back(text);
  return pieces;
}

std::optional<std::uint64_t> natural(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

// Parses "host.post=1200;doorbell=800", whose sum is the total; nothing for other text.
std::optional<std::vector<Part>> parts_of(std::string_view text, std::uint64_t total_ps) {
  std::vector<Part> parts;
  std::uint64_t sum = 0;
  for (const std::string_view part : split(text, ';')) {
    const std::size_t equals = part.rfind('=');
    const auto ps = equals == std::string_view::npos ? std::nullopt : natural(part.substr(equals + 1));
    if (!ps) return std::nullopt;
    parts.push_back({std::string(part.substr(0, equals)), *ps});
    sum += *ps;
  }
  return sum == total_ps ? std::optional(std::move(parts)) : std::nullopt;
}

// Reads the parts of those requests that are already in the map. ConfigError for a line that no run writes.
void read_parts(const std::filesystem::path& file, Parts& parts) {
  if (std::error_code none; !std::filesystem::exists(file, none)) return;
  std::ifstream in(file);
  std::size_t number = 0;
  const auto fail = [&](const char* reason) {
    throw ConfigError(fmt::format("{}: line {}: {}", file.string(), number, reason));
  };
  for (std::string line; std::getline(in, line);) {
    if (++number == 1) {
      if (line != kBreakdownHead) fail("is not the head of a breakdown");
      continue;
    }
    const std::vector<std::string_view> columns = split(line, '\t');
    const auto total = columns.size() > kTotal ? natural(columns[kTotal]) : std::nullopt;
    if (!total || columns.size() > kParts + 1) fail("must be request, work, operation, total_ps and parts");
    std::vector<Part> of_request;
    if (columns.size() > kParts) {
      auto known = parts_of(columns[kParts], *total);
      if (!known) fail("parts: must be names with numbers that come to total_ps");
      of_request = std::move(*known);
    }
    const std::string_view operation = columns[kOperation];
    const bool is_request = operation != LatencyBreakdown::kOneWayName && operation != LatencyBreakdown::kRoundName;
    const auto its = parts.find(std::string(columns[0]));
    if (is_request && its != parts.end()) its->second = std::move(of_request);
  }
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// The longest parts that are worth mentioning.
std::string mostly(std::vector<Part> parts, std::uint64_t whole) {
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.ps > b.ps; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, parts.size()); ++i) {
    if (percent(parts[i].ps, whole) < 5) break;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", parts[i].name, percent(parts[i].ps, whole));
  }
  return text;
}

void explain(const RequestStory& story, const std::string& text, const std::filesystem::path& breakdown,
             std::ostream& out) {
  const RequestSpan request = story.find(text);
  out << fmt::format("request {}: {} events from {} to {}, {}\n", request.text, request.events,
                     microseconds(request.first_ps), microseconds(request.last_ps),
                     nanoseconds(request.last_ps - request.first_ps));
  const std::vector<StoryLine> lines = story.tell(request);
  std::size_t node = 4, place = 5, kind = 4;
  for (const StoryLine& line : lines) {
    node = std::max(node, line.node.size());
    place = std::max(place, line.place.size());
    kind = std::max(kind, line.kind.size());
  }
  const auto print = [&](const std::string& time, const std::string& since, const StoryLine& line,
                         const std::string& rest) {
    std::string row = fmt::format("{:>18} {:>16}  {:<{}}  {:<{}}  {:<{}}  {}", time, since, line.node, node, line.place,
                                  place, line.kind, kind, rest);
    row.resize(row.find_last_not_of(' ') + 1);
    out << row << '\n';
  };
  print("time", "since before", {0, "node", "place", "kind", {}, {}, {}, {}, {}, {}, {}}, "");
  std::uint64_t before = lines.empty() ? 0 : lines.front().ps;
  for (const StoryLine& line : lines) {
    print(microseconds(line.ps), "+" + nanoseconds(line.ps - before), line, details(line));
    before = line.ps;
  }
  if (const Retransmissions again = story.meanwhile(request); again.frames != 0) {
    out << fmt::format("\nmeanwhile frames of its queue were sent again: {}, from {} to {}\n", again.frames,
                       microseconds(again.first_ps), microseconds(again.last_ps));
  }
  Parts parts{{request.text, {}}};
  read_parts(breakdown, parts);
  if (parts.at(request.text).empty()) return;
  out << "\nwhere the time went (model/system/latency_breakdown.md):\n";
  for (const Part& part : parts.at(request.text)) {
    if (part.ps == 0) continue;
    out << fmt::format("{:>18} {:>7.1f} %  {}\n", nanoseconds(part.ps),
                       percent(part.ps, request.last_ps - request.first_ps), part.name);
  }
}

void list_slowest(const RequestStory& story, unsigned count, const std::filesystem::path& breakdown,
                  std::ostream& out) {
  const std::vector<RequestSpan> requests = story.slowest(count);
  if (requests.empty()) throw ConfigError("explain: the run has no requests");
  Parts parts;
  for (const RequestSpan& r : requests) parts[r.text];
  read_parts(breakdown, parts);
  const bool known = std::any_of(parts.begin(), parts.end(), [](const auto& p) { return !p.second.empty(); });
  out << fmt::format("{:<16} {:>16} {:>18} {:>18} {:>7}{}\n", "request", "took", "from", "to", "events",
                     known ? "  most of it" : "");
  for (const RequestSpan& r : requests) {
    const std::uint64_t took = r.last_ps - r.first_ps;
    const std::string most = mostly(parts.at(r.text), took);
    out << fmt::format("{:<16} {:>16} {:>18} {:>18} {:>7}{}{}\n", r.text, nanoseconds(took), microseconds(r.first_ps),
                       microseconds(r.last_ps), r.events, most.empty() ? "" : "  ", most);
  }
}

}  // namespace

int explain_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  std::string run, request;
  int slowest = 0;
  bool ask_why = false, json = false, everything = false;
  po::options_description options("options"), all;
  auto add = options.add_options();
  add("help,h", "this text");
  add("request", po::value(&request)->value_name("id"), "print each event of this request, e.g. a.3.17");
  add("slowest", po::value(&slowest)->value_name("n"), "print the n requests that took longest");
  add("why", po::bool_switch(&ask_why),
      "print what went wrong or was slow, its first cause and the way from there; with --request of that request "
      "alone");
  add("json", po::bool_switch(&json), "with --why: an object a line, times in ps");
  add("all", po::bool_switch(&everything), "with --why: every symptom, not only the first ones of a kind");
  all.add(options).add_options()("run", po::value(&run));
  const po::variables_map given = parse_options(args, all, po::positional_options_description().add("run", 1));
  if (given.count("help") != 0) {
    out << "usage: rnicsim explain OUT --request ID | --slowest N | --why\n\nOUT is the folder of a run with --db "
           "OUT/run.sqlite, or the database itself. With --breakdown the folder also says where the time went.\n\n"
        << options;
    return kOk;
  }
  if (run.empty()) throw ConfigError("explain: which run? Its folder, or the file of --db");
  if (!ask_why && (given.count("request") != 0) == (given.count("slowest") != 0)) {
    throw ConfigError("explain: one of --request ID, --slowest N and --why");
  }
  if (ask_why && given.count("slowest") != 0)
    throw ConfigError("explain: --why has the slowest requests; leave --slowest out");
  if (!ask_why && (json || everything)) throw ConfigError("explain: --json and --all belong to --why");
  if (given.count("slowest") != 0 && slowest < 1) throw ConfigError("explain: --slowest must be 1 or more");
  const std::filesystem::path path = run;
  std::error_code none;
  const std::filesystem::path database = is_directory(path, none) ? path / "run.sqlite" : path;
  const std::filesystem::path breakdown = database.parent_path() / "breakdown.tsv";
  if (ask_why) {
    const why::Report report = why::explain(database.string(), request);
    if (!json) why::print(report, everything ? report.answers.size() : kMostOfAKind, out);
    else
      for (const auto& object : why::to_json(report)) out << object.dump() << '\n';
    return kOk;
  }
  const RequestStory story(database.string());
  if (slowest != 0) list_slowest(story, static_cast<unsigned>(slowest), breakdown, out);
  else explain(story, request, breakdown, out);
  return kOk;
}

}  // namespace rnic::cli
