#include "model/cli/sweep_run.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/program.h"
#include "model/common/check.h"
#include "model/config/overlay.h"
#include "model/system/run_outputs.h"
#include "model/trace/output_file.h"

namespace rnic::cli {
namespace {

constexpr std::size_t kNumberWidth = 10;  // of a column, unless its title is wider

std::string number_text(const nlohmann::json& value) {
  if (value.is_null()) return "-";
  const double v = value.get<double>();
  return v == static_cast<double>(static_cast<std::int64_t>(v)) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

constexpr const char* kSummary = "sweep.json";
constexpr const char* kPoint = "point.json";
constexpr const char* kReport = "report.txt";

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

// The run came to an end of its own, and would come to the same again.
bool is_finished(int code) { return code == kOk || code == kCheckFailed || code == kHung; }

// Unless some are given, the goodput of each item.
std::vector<SweepColumn> columns_of(const Scenario& scenario, const std::vector<SweepColumn>& given) {
  if (!given.empty()) return given;
  std::vector<SweepColumn> columns;
  std::size_t n = 0;
  for (const auto& phase : scenario.plan.phases) {
    for (const workload::WorkItem& item : phase) {
      columns.push_back({item.name + " Gb/s", fmt::format("results.{}.goodput_gbps", n)});
      n += item.direction == workload::Direction::kBoth ? 2 : 1;
    }
  }
  return columns;
}

// Until a child has ended or a signal has come; a signal that comes just before is seen a moment later.
void wait_for_child() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  const timespec moment{0, 200'000'000};
  sigtimedwait(&children, nullptr, &moment);
}

class SweepRun {
 public:
  SweepRun(const Scenario& scenario, const SweepOptions& options, const RunPoint& run, std::ostream& out,
           std::ostream& err);
  int run();

 private:
  std::string folder(std::size_t point) const;
  std::string file(std::size_t point, const char* name) const;
  nlohmann::ordered_json origin(std::size_t point) const;
  void remove_earlier() const;
  void keep_finished();
  void start(std::size_t point);
  void collect();
  void ended(std::size_t point, int code);
  void stop_running();
  [[noreturn]] void be_point(std::size_t point) const;
  void head();
  void rows();
  void row(std::size_t point, int code);
  void expect_value(std::size_t point, const std::string& path, const nlohmann::json& stats);
  void write(const std::string& file, const nlohmann::ordered_json& value);
  void attempt(const std::function<void()>& write);
  int end();

  const Scenario& scenario_;
  const Sweep& sweep_;
  const SweepOptions& options_;
  const RunPoint& run_;
  std::ostream& out_;
  std::ostream& err_;
  std::vector<SweepColumn> columns_;
  std::vector<std::size_t> widths_;  // of the axes, then of the columns
  std::set<std::string> mistyped_;   // paths of columns
  std::map<pid_t, std::size_t> running_;
  std::map<std::size_t, int> ended_;  // exit codes of points
  std::size_t rows_ = 0, finished_ = 0;
  bool stopping_ = false;
  int worst_ = kOk;
  nlohmann::ordered_json summary_;
};

SweepRun::SweepRun(const Scenario& scenario, const SweepOptions& options, const RunPoint& run, std::ostream& out,
                   std::ostream& err)
    : scenario_(scenario),
      sweep_(scenario.sweep),
      options_(options),
      run_(run),
      out_(out),
      err_(err),
      columns_(columns_of(scenario, scenario.sweep.columns)) {
  summary_["scenario"] = scenario.name;
  summary_["complete"] = false;
  summary_["points"] = nlohmann::ordered_json::array();
}

int SweepRun::run() {
  std::error_code error;
  std::filesystem::create_directories(options_.out_dir, error);
  if (error) throw ConfigError(fmt::format("{}: {}", options_.out_dir, error.message()));
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);  // for wait_for_child
  if (options_.resume) keep_finished();
  else remove_earlier();
  remove_outputs(options_.out_dir);
  std::filesystem::remove(std::filesystem::path(options_.out_dir) / kSummary, error);
  head();
  rows();
  for (std::size_t point = 0; point < sweep_.points() || !running_.empty();) {
    if (interruption() != 0) {
      if (running_.empty()) break;
      stop_running();
      collect();
    } else if (point < sweep_.points() && ended_.count(point) != 0) {
      ++point;
    } else if (point < sweep_.points() && running_.size() < options_.jobs) {
      start(point++);
    } else {
      collect();
    }
  }
  return end();
}

std::string SweepRun::folder(std::size_t point) const {
  const std::size_t digits = std::to_string(sweep_.points() - 1).size();
  return (std::filesystem::path(options_.out_dir) / fmt::format("{:0{}}", point, digits)).string();
}

std::string SweepRun::file(std::size_t point, const char* name) const {
  return (std::filesystem::path(folder(point)) / name).string();
}

nlohmann::ordered_json SweepRun::origin(std::size_t point) const {
  nlohmann::ordered_json origin = options_.origin;
  origin["images"] = options_.images.at(point);
  origin["settings"] = nlohmann::ordered_json::object();
  const std::vector<std::size_t> at = sweep_.indexes(point);
  for (std::size_t i = 0; i < at.size(); ++i) origin["settings"][sweep_.axes[i].key] = sweep_.axes[i].values[at[i]];
  return origin;
}

// An earlier sweep's points, of which there may have been more.
void SweepRun::remove_earlier() const {
  std::error_code none;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(options_.out_dir, none)) {
    if (entry.is_directory(none) && is_number(entry.path().filename().string())) folders.push_back(entry.path());
  }
  for (const std::filesystem::path& f : folders) {
    std::filesystem::remove(f / kPoint, none);
    remove_outputs(f);
    std::filesystem::remove(f / kReport, none);
    std::filesystem::remove(PendingFile((f / kReport).string()).name(), none);
    std::filesystem::remove(f, none);  // unless there is something else in it
  }
}

void SweepRun::keep_finished() {
  for (std::size_t point = 0; point < sweep_.points(); ++point) {
    if (!std::filesystem::exists(file(point, kPoint)) || !std::filesystem::exists(file(point, "stats.json"))) continue;
    const nlohmann::json kept = read_json_file(file(point, kPoint));
    if (!kept.is_object() || !kept.contains("origin")) continue;
    if (!kept.contains("exit_code") || !kept["exit_code"].is_number_integer()) continue;
    if (kept["origin"] == nlohmann::json(origin(point))) ended_[point] = kept["exit_code"].get<int>();
  }
  out_ << fmt::format("{} of {} points were finished before\n", ended_.size(), sweep_.points());
  finished_ = ended_.size();
}

void SweepRun::start(std::size_t point) {
  std::error_code none;
  std::filesystem::remove(file(point, kPoint), none);
  std::filesystem::remove(file(point, kReport), none);
  out_.flush();
  err_.flush();
  const pid_t pid = fork();
  if (pid < 0) throw ConfigError(fmt::format("point {}: no process can be created", point));
  if (pid == 0) be_point(point);
  running_[pid] = point;
}

// No destructor of what the parent made may run here. A terminal's Ctrl-C goes to the children too: it is the parent
// who tells them.
void SweepRun::be_point(std::size_t point) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  int code = kInternal;
  {
    std::error_code error;
    std::filesystem::create_directories(folder(point), error);
    std::ofstream report(PendingFile(file(point, kReport)).name());
    code = guarded(report, [&] { return run_(point, folder(point), report, report); });
    report.flush();
    if (!report) code = std::max<int>(code, kNotWritten);
  }
  std::_Exit(code);
}

void SweepRun::collect() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, WNOHANG);
  if (pid <= 0) return wait_for_child();
  const auto child = running_.find(pid);
  RNIC_CHECK(child != running_.end());
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : int{kInternal};
  // It was stopped in the name of the signal that came to us.
  if (interruption() != 0 && (WIFSIGNALED(status) || code >= kSignalled)) code = kSignalled + interruption();
  ended(child->second, code);
  running_.erase(child);
}

// Whatever it was that ended, its report is whole now.
void SweepRun::ended(std::size_t point, int code) {
  attempt([&] { PendingFile(file(point, kReport)).commit(); });
  if (is_finished(code)) {
    ++finished_;
    write(file(point, kPoint), {{"exit_code", code}, {"origin", origin(point)}});
  }
  ended_[point] = code;
  rows();
}

void SweepRun::stop_running() {
  if (std::exchange(stopping_, true)) return;
  for (const auto& [pid, point] : running_) kill(pid, SIGTERM);
}

void SweepRun::head() {
  std::string text = "point";
  for (const SweepAxis& a : sweep_.axes) {
    widths_.push_back(a.title.size());
    for (const std::string& label : a.labels) widths_.back() = std::max(widths_.back(), label.size());
    text += fmt::format("  {:>{}}", a.title, widths_.back());
  }
  for (const SweepColumn& c : columns_) {
    widths_.push_back(std::max(c.title.size(), kNumberWidth));
    text += fmt::format("  {:>{}}", c.title, widths_.back());
  }
  out_ << text << "  data\n" << std::flush;
}

void SweepRun::rows() {
  for (auto next = ended_.find(rows_); next != ended_.end(); next = ended_.find(++rows_))
    row(next->first, next->second);
}

void SweepRun::row(std::size_t point, int code) {
  worst_ = std::max(worst_, code);
  const bool incomplete = code >= kSignalled;
  const std::string from = file(point, "stats.json");
  const nlohmann::json stats =
      !incomplete && std::filesystem::exists(from) ? read_json_file(from) : nlohmann::json(nlohmann::json::object());
  nlohmann::ordered_json record;
  record["folder"] = folder(point);
  record["exit_code"] = code;
  if (stats.contains("digest")) record["digest"] = stats["digest"];
  std::string text = fmt::format("{:>5}", point);
  std::size_t column = 0;
  const std::vector<std::size_t> at = sweep_.indexes(point);
  for (std::size_t i = 0; i < at.size(); ++i) {
    record["settings"][sweep_.axes[i].key] = sweep_.axes[i].values[at[i]];
    text += fmt::format("  {:>{}}", sweep_.axes[i].labels[at[i]], widths_[column++]);
  }
  // A point may have items in other directions than the file, and results at other places with them.
  const std::vector<SweepColumn> columns = columns_of(at_point(scenario_, point), sweep_.columns);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const nlohmann::json value = value_at(stats, columns[i].path);
    record["columns"][columns_[i].title] = value;
    text += fmt::format("  {:>{}}", number_text(value), widths_[column++]);
    if (code == kOk) expect_value(point, columns[i].path, stats);
  }
  summary_["points"].push_back(std::move(record));
  out_ << text << (code == kOk ? "  ok\n" : incomplete ? "  incomplete\n" : "  FAILED\n") << std::flush;
  if (code == kOk || incomplete) return;
  err_ << fmt::format("rnicsim: point {} ({}): exit code {}; see {}/report.txt\n", point, sweep_.text(point), code,
                      folder(point));
}

// A column that is mistyped is so at every point; it is told once, and the runs are not lost.
void SweepRun::expect_value(std::size_t point, const std::string& path, const nlohmann::json& stats) {
  const std::string nearest = nearest_path(stats, path);
  if (nearest == path || !mistyped_.insert(path).second) return;
  worst_ = std::max<int>(worst_, kUsage);
  err_ << fmt::format("rnicsim: columns: {}/stats.json has nothing at '{}'; the nearest is '{}'\n", folder(point), path,
                      nearest);
}

void SweepRun::write(const std::string& file, const nlohmann::ordered_json& value) {
  attempt([&] { write_file(file, value.dump(2) + '\n'); });
}

void SweepRun::attempt(const std::function<void()>& write) try { write(); } catch (const OutputError& error) {
  err_ << "rnicsim: " << error.what() << '\n';
  worst_ = std::max<int>(worst_, kNotWritten);
}

int SweepRun::end() {
  while (rows_ < sweep_.points()) {  // those that were not begun leave gaps
    rows();
    ++rows_;
  }
  summary_["complete"] = finished_ == sweep_.points();
  const std::string file = (std::filesystem::path(options_.out_dir) / kSummary).string();
  write(file, summary_);
  out_ << "files: " << file << ", and a folder for each point\n";
  if (interruption() == 0) return worst_;
  err_ << fmt::format("rnicsim: {} has stopped the sweep: {} of {} points are finished; --resume goes on\n",
                      interruption_name(), finished_, sweep_.points());
  return std::max(worst_, kSignalled + interruption());
}

}  // namespace

int run_sweep(const Scenario& scenario, const SweepOptions& options, const RunPoint& run, std::ostream& out,
              std::ostream& err) {
  return SweepRun(scenario, options, run, out, err).run();
}

}  // namespace rnic::cli
