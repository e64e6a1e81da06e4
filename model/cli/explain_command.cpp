#include "model/cli/explain_command.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/trace/request_story.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

// To the picosecond, whatever its size: times of one column compare by eye.
std::string microseconds(std::uint64_t ps) { return fmt::format("{}.{:06} us", ps / 1'000'000, ps % 1'000'000); }
std::string nanoseconds(std::uint64_t ps) { return fmt::format("{}.{:03} ns", ps / 1000, ps % 1000); }

// What an event has beside its time and its place: "qpn 3, 64 octets".
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

void explain(const RequestStory& story, const std::string& text, std::ostream& out) {
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
  print("time", "since before", {0, "node", "place", "kind", {}, {}, {}, {}, {}, {}}, "");
  std::uint64_t before = lines.empty() ? 0 : lines.front().ps;
  for (const StoryLine& line : lines) {
    print(microseconds(line.ps), "+" + nanoseconds(line.ps - before), line, details(line));
    before = line.ps;
  }
}

void list_slowest(const RequestStory& story, unsigned count, std::ostream& out) {
  const std::vector<RequestSpan> requests = story.slowest(count);
  if (requests.empty()) throw ConfigError("explain: the run has no requests");
  out << fmt::format("{:<16} {:>16} {:>18} {:>18} {:>7}\n", "request", "took", "from", "to", "events");
  for (const RequestSpan& r : requests) {
    out << fmt::format("{:<16} {:>16} {:>18} {:>18} {:>7}\n", r.text, nanoseconds(r.last_ps - r.first_ps),
                       microseconds(r.first_ps), microseconds(r.last_ps), r.events);
  }
}

}  // namespace

int explain_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  std::string run, request;
  int slowest = 0;
  po::options_description options("options"), all;
  auto add = options.add_options();
  add("help,h", "this text");
  add("request", po::value(&request)->value_name("id"), "print each event of this request, e.g. a.3.17");
  add("slowest", po::value(&slowest)->value_name("n"), "print the n requests that took longest");
  all.add(options).add_options()("run", po::value(&run));
  const po::variables_map given = parse_options(args, all, po::positional_options_description().add("run", 1));
  if (given.count("help") != 0) {
    out << "usage: rnicsim explain OUT --request ID | --slowest N\n\nOUT is the folder of a run with --db "
           "OUT/run.sqlite, or the database itself.\n\n"
        << options;
    return kOk;
  }
  if (run.empty()) throw ConfigError("explain: which run? Its folder, or the file of --db");
  if ((given.count("request") != 0) == (given.count("slowest") != 0)) {
    throw ConfigError("explain: one of --request ID and --slowest N");
  }
  if (given.count("slowest") != 0 && slowest < 1) throw ConfigError("explain: --slowest must be 1 or more");
  const std::filesystem::path path = run;
  std::error_code none;
  const RequestStory story((is_directory(path, none) ? path / "run.sqlite" : path).string());
  if (slowest != 0) list_slowest(story, static_cast<unsigned>(slowest), out);
  else explain(story, request, out);
  return kOk;
}

}  // namespace rnic::cli
