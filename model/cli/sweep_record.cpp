#include "model/cli/sweep_record.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "model/cli/command.h"
#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/report/output_files.h"

namespace rnic::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kPrefix = "points.";
constexpr const char* kSuffix = ".jsonl";
constexpr const char* kSaid = "rnicsim: ";  // before an error message
constexpr std::size_t kLongestError = 1000;

// Copied unchanged.
constexpr const char* kOfRun[] = {"end", "digest", "cpu_s", "checks", "bottleneck"};
constexpr const char* kOfItem[] = {"name",         "op",         "count",     "bytes",   "duration_ps",
                                   "goodput_gbps", "limit_gbps", "rate_mops", "data_ok", "error"};
constexpr const char* kOfLatency[] = {"p50", "p99"};

template <std::size_t N>
void copy(const ordered_json& from, const char* const (&keys)[N], ordered_json& to) {
  for (const char* key : keys) {
    if (from.contains(key)) to[key] = from[key];
  }
}

// The limiter of a result's phase.
std::string limiter(const ordered_json& stats, const ordered_json& result) {
  if (!stats.contains("phases") || !result.contains("phase")) return "";
  for (const ordered_json& phase : stats["phases"]) {
    if (phase["phase"] == result["phase"]) return phase["bottleneck"]["name"].get<std::string>();
  }
  return "";
}

ordered_json item(const ordered_json& stats, const ordered_json& result) {
  ordered_json j;
  copy(result, kOfItem, j);
  if (std::string by = limiter(stats, result); !by.empty()) j["limited_by"] = std::move(by);
  for (const char* key : kOfLatency) {
    j[fmt::format("{}_ns", key)] = value_at(result, fmt::format("latency_ns.{}", key));
  }
  return j;
}

// The program's own error messages, and the failed checks.
std::string reason(const ordered_json& stats, const std::string& report) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(kSaid, 0) == 0) add(line.substr(std::strlen(kSaid)));
  }
  if (stats.contains("checks")) {
    for (const ordered_json& check : stats["checks"]) {
      if (!check["passed"].get<bool>()) add(check["name"].get<std::string>() + ": " + check["text"].get<std::string>());
    }
  }
  return cited(text, kLongestError);
}

ordered_json stats_of(const std::string& folder) {
  const std::string file = (fs::path(folder) / "stats.json").string();
  return fs::exists(file) ? std::move(report::read_stats(file).value) : ordered_json(ordered_json::object());
}

// The shape of record_of()'s result with the sweep's additions.
const JsonShape& record_shape() {
  static const JsonShape shape(fmt::format(R"({{
        "id!": "text", "exit_code!": "0..{}", "end": "text", "digest": "text", "cpu_s": "number", "checks": [{}],
        "bottleneck": {}, "columns!": [["text", "number?"]], "nearest": {{"*": "text"}}, "results": [{}],
        "error": "text", "folder": "count"}})",
                                           kSignalled - 1, report::kCheckShape, report::kBottleneckShape,
                                           report::kKeptResultShape)
                                   .c_str());
  return shape;
}

// A finished run has results, if only an empty list.
ordered_json checked(ReadBack read) {
  if (is_finished(read.value["exit_code"].get<int>()) && !read.value.contains("results")) {
    read.fail({}, "needs 'results'");
  }
  return std::move(read.value);
}

std::vector<fs::path> journals(const std::string& folder) {
  std::error_code none;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    const std::string suffix = kSuffix;
    const bool ends = name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
    if (ends && name.rfind(kPrefix, 0) == 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Locks the file if the file system has locks. Returns -1, with errno, if it cannot be opened.
int open_journal(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return descriptor;
  close(descriptor);
  throw ConfigError(file + ": another process is running these points");
}

}  // namespace

std::string json_text(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

bool is_finished(int code) { return code == kOk || code == kCheckFailed || code == kHung; }

ordered_json record_of(const std::string& id, int exit_code, const std::string& folder, const std::string& report,
                       const std::vector<SweepColumn>& columns) {
  const ordered_json stats = stats_of(folder);
  ordered_json record{{"id", id}, {"exit_code", exit_code}};
  copy(stats, kOfRun, record);
  ordered_json values = ordered_json::array(), nearest = ordered_json::object(), results = ordered_json::array();
  for (const SweepColumn& c : columns) {
    values.push_back({c.path, value_at(stats, c.path)});
    if (exit_code != kOk) continue;
    if (std::string path = nearest_path(stats, c.path); path != c.path) nearest[c.path] = std::move(path);
  }
  if (stats.contains("results")) {
    for (const ordered_json& result : stats["results"]) results.push_back(item(stats, result));
  }
  record["columns"] = std::move(values);
  if (!nearest.empty()) record["nearest"] = std::move(nearest);
  record["results"] = std::move(results);
  if (exit_code != kOk) record["error"] = reason(stats, report);
  return record;
}

std::optional<ordered_json> read_record(const std::string& file) try {
  return checked(ReadBack(file, record_shape()));
} catch (const ConfigError&) {
  return std::nullopt;
}

SweepJournal::SweepJournal(const std::string& folder, const std::string& share)
    : file_((fs::path(folder) / (kPrefix + share + (share.empty() ? kSuffix + 1 : kSuffix))).string()) {
  descriptor_ = open_journal(file_);
  if (descriptor_ < 0) throw OutputError(fmt::format("{}: cannot be created: {}", file_, std::strerror(errno)));
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  char last = '\n';
  if (end > 0 && pread(descriptor_, &last, 1, end - 1) == 1 && last != '\n') append({});  // ends a cut-off line
}

SweepJournal::~SweepJournal() {
  if (descriptor_ >= 0) close(descriptor_);
}

void SweepJournal::append(const ordered_json& record) {
  const std::string line = (record.is_null() ? "" : json_text(record)) + '\n';
  const off_t begin = lseek(descriptor_, 0, SEEK_END);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = write(descriptor_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const std::string why = std::strerror(errno);
      const bool is_cut = ftruncate(descriptor_, begin) == 0;
      throw OutputError(
          fmt::format("{}: cannot be written: {}{}", file_, why, is_cut ? "" : "; its last line is cut off"));
    }
    done += static_cast<std::size_t>(n);
  }
}

SweepJournal::Records SweepJournal::read(const std::string& folder) {
  Records records;
  for (const fs::path& file : journals(folder)) {
    std::ifstream in(file);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      std::optional<ReadBack> read = ReadBack::line(file.string(), ++number, std::move(line), record_shape());
      if (!read) continue;
      ordered_json record = checked(std::move(*read));
      ordered_json& known = records[record["id"].get<std::string>()];
      const bool is_better = is_finished(record["exit_code"].get<int>());
      if (known.is_null() || is_better || !is_finished(known["exit_code"].get<int>())) known = std::move(record);
    }
  }
  return records;
}

void SweepJournal::remove(const std::string& folder) {
  for (const fs::path& file : journals(folder)) {
    const int descriptor = open_journal(file.string());
    std::error_code none;
    fs::remove(file, none);
    if (descriptor >= 0) close(descriptor);
  }
}

}  // namespace rnic::cli
