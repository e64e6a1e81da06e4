#include "model/cli/sweep_run.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/message.h"
#include "model/cli/program.h"
#include "model/cli/progress.h"
#include "model/cli/sweep_record.h"
#include "model/cli/sweep_summary.h"
#include "model/common/check.h"
#include "model/config/overlay.h"
#include "model/system/run_outputs.h"
#include "model/trace/folder_lock.h"
#include "model/trace/output_file.h"

namespace rnic::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kNumberWidth = 10;  // of a column, unless its title is wider
constexpr const char* kSummary = "sweep.json";
constexpr const char* kTable = "sweep.csv";
constexpr const char* kPoint = "point.json";  // a record, passed from a point's process
constexpr const char* kReport = "report.txt";

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

void remove_point(const fs::path& folder) {
  std::error_code none;
  fs::remove(folder / kPoint, none);
  remove_outputs(folder);
  fs::remove(folder / kReport, none);
  fs::remove(PendingFile((folder / kReport).string()).name(), none);
  fs::remove(folder, none);  // unless there is something else in it
}

// Waits until a child has ended or a signal has arrived. A signal just before that is seen a moment later.
void wait_for_child() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  const timespec moment{0, 200'000'000};
  sigtimedwait(&children, nullptr, &moment);
}

std::string contents_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SweepRun {
 public:
  SweepRun(const Scenario& scenario, const SweepPoints& points, const SweepOptions& options, const RunPoint& run,
           std::ostream& out, std::ostream& err);
  int run();

 private:
  struct Ended {
    int code = kOk;
    ordered_json record;
  };

  bool is_mine(std::size_t point) const { return options_.share.has(point); }
  bool is_whole() const { return options_.share.of == 1; }
  std::string folder(std::size_t point) const;
  std::string file(std::size_t point, const char* name) const;
  std::string kept_folder(std::size_t point, int code) const;
  std::vector<SweepColumn> columns_at(std::size_t point) const;
  void prepare_folder();
  void keep_finished();
  bool is_kept(std::size_t point, ordered_json& record) const;
  std::vector<std::size_t> left() const;
  void start(std::size_t point);
  void collect();
  void ended(std::size_t point, int code, const std::string& end);
  ordered_json take_record(std::size_t point, int code, const std::string& end) const;
  void stop_running();
  [[noreturn]] void be_point(std::size_t point) const;
  void head();
  void rows(bool with_gaps = false);
  void row(std::size_t point, const Ended& end);
  void tell_mistyped(const std::string& folder, const ordered_json& record);
  void show_progress();
  void write(const char* name, const std::string& text);
  void attempt(const std::function<void()>& write);
  int end();

  const Scenario& scenario_;
  const Sweep& sweep_;
  const SweepPoints& points_;
  const SweepOptions& options_;
  const RunPoint& run_;
  std::ostream& out_;
  std::ostream& err_;
  const std::vector<SweepColumn> columns_;
  const bool in_one_column_;         // settings
  std::vector<std::size_t> widths_;  // of the settings, then of the columns
  std::set<std::string> mistyped_;   // paths of columns
  std::optional<FolderLock> folder_;
  std::optional<SweepJournal> journal_;
  std::map<pid_t, std::size_t> running_;
  std::map<std::size_t, Ended> ended_;  // by the first point of the same identity
  std::vector<std::size_t> same_;       // number of this share's points with that identity
  std::size_t mine_ = 0, row_ = 0, earlier_ = 0, done_ = 0, finished_ = 0, failed_ = 0;
  std::size_t foreign_ = 0;  // results in the folder that belong to no point
  bool stopping_ = false;
  int worst_ = kOk;
  SweepSummary summary_;
  SweepProgress progress_;
};

SweepRun::SweepRun(const Scenario& scenario, const SweepPoints& points, const SweepOptions& options,
                   const RunPoint& run, std::ostream& out, std::ostream& err)
    : scenario_(scenario),
      sweep_(scenario.sweep),
      points_(points),
      options_(options),
      run_(run),
      out_(out),
      err_(err),
      columns_(columns_of(scenario, scenario.sweep.columns)),
      in_one_column_(scenario.sweep.plan.mode == SweepMode::kOneAtATime),
      same_(sweep_.points()),
      summary_(scenario, columns_, points.baselines) {
  for (std::size_t i = 0; i < sweep_.points(); ++i) {
    mine_ += is_mine(i);
    same_[points_.first[i]] += is_mine(i);
  }
}

int SweepRun::run() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);  // for wait_for_child
  prepare_folder();
  head();
  rows();
  const std::vector<std::size_t> todo = options_.collect ? std::vector<std::size_t>() : left();
  for (std::size_t next = 0; next < todo.size() || !running_.empty();) {
    show_progress();
    if (interruption() != 0) {
      if (running_.empty()) break;
      stop_running();
      collect();
    } else if (next < todo.size() && running_.size() < options_.jobs) {
      start(todo[next++]);
    } else {
      collect();
    }
  }
  return end();
}

void SweepRun::prepare_folder() {
  std::error_code error;
  fs::create_directories(options_.out_dir, error);
  if (error) throw ConfigError(fmt::format("{}: {}", options_.out_dir, error.message()));
  folder_.emplace(options_.out_dir, FolderLock::Kind::kShared);
  const SweepShare& share = options_.share;
  if (is_whole() && !options_.resume && !options_.collect) remove_sweep(options_.out_dir);
  if (!options_.collect) {
    attempt(
        [&] { journal_.emplace(options_.out_dir, is_whole() ? "" : fmt::format("{}-of-{}", share.number, share.of)); });
  }
  if (options_.resume || options_.collect) keep_finished();
  if (!is_whole()) return;
  remove_outputs(options_.out_dir);
  for (const char* name : {kSummary, kTable}) fs::remove(fs::path(options_.out_dir) / name, error);
}

std::string SweepRun::folder(std::size_t point) const {
  const std::size_t digits = std::to_string(sweep_.points() - 1).size();
  return (fs::path(options_.out_dir) / fmt::format("{:0{}}", point, digits)).string();
}

std::string SweepRun::file(std::size_t point, const char* name) const {
  return (fs::path(folder(point)) / name).string();
}

// Empty if the folder does not remain.
std::string SweepRun::kept_folder(std::size_t point, int code) const {
  const bool is_kept = options_.kept == KeptPoints::kAll || (options_.kept == KeptPoints::kFailed && code != kOk);
  return is_kept ? folder(points_.first[point]) : "";
}

std::vector<SweepColumn> SweepRun::columns_at(std::size_t point) const {
  return sweep_.columns.empty() ? columns_of(at_point(scenario_, point), {}) : sweep_.columns;
}

void SweepRun::keep_finished() {
  SweepJournal::Records records = SweepJournal::read(options_.out_dir);
  foreign_ = records.size();
  for (std::size_t point = 0; point < sweep_.points(); ++point) {
    const auto known = records.find(points_.ids[point]);
    if (!is_mine(point) || points_.first[point] != point || known == records.end() || !is_kept(point, known->second))
      continue;
    const int code = known->second["exit_code"].get<int>();
    --foreign_;
    ended_[point] = {code, std::move(known->second)};
    earlier_ += same_[point];
    if (is_finished(code)) finished_ += same_[point];
  }
  done_ = earlier_;
  if (!options_.collect) out_ << fmt::format("{} of {} points were finished before\n", earlier_, mine_);
}

// True if the record can replace a run of the point: it has its folder, if that is to remain, and these columns. Other
// columns are read from the statistics if these still exist.
bool SweepRun::is_kept(std::size_t point, ordered_json& record) const {
  const int code = record["exit_code"].get<int>();
  if (!is_finished(code) && !options_.collect) return false;
  const std::string in = kept_folder(point, code);
  const bool has_folder =
      !in.empty() && record.contains("folder") && record["folder"] == point && fs::exists(file(point, "stats.json"));
  if (!in.empty() && !has_folder && !options_.collect) return false;
  const std::vector<SweepColumn> columns = columns_at(point);
  const ordered_json& values = record["columns"];
  const bool same = std::equal(columns.begin(), columns.end(), values.begin(), values.end(),
                               [](const SweepColumn& c, const ordered_json& value) { return value[0] == c.path; });
  if (same) return true;
  if (!has_folder) return false;
  record = record_of(points_.ids[point], code, in, contents_of(file(point, kReport)), columns);
  record["folder"] = point;
  return true;
}

std::vector<std::size_t> SweepRun::left() const {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < sweep_.points(); ++i) {
    if (is_mine(i) && points_.first[i] == i && ended_.count(i) == 0) points.push_back(i);
  }
  return points;
}

void SweepRun::start(std::size_t point) {
  std::error_code none;
  fs::remove(file(point, kPoint), none);
  fs::remove(file(point, kReport), none);
  // Even a process that dies at once leaves a report, an empty one.
  fs::create_directories(folder(point), none);
  std::ofstream(PendingFile(file(point, kReport)).name());
  out_.flush();
  err_.flush();
  const pid_t pid = fork();
  if (pid < 0) throw ConfigError(fmt::format("point {}: no process can be created", point));
  if (pid == 0) {
    journal_.reset();  // the parent holds the locks of journal and folder
    folder_.reset();
    be_point(point);
  }
  running_[pid] = point;
}

// No destructor of the parent's objects may run here. A terminal sends Ctrl-C to the children too; they leave it to the
// parent to stop them.
void SweepRun::be_point(std::size_t point) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  int code = kInternal;
  {
    const std::string name = PendingFile(file(point, kReport)).name();
    std::ofstream report(name);
    code = guarded(report, [&] { return run_(point, folder(point), report, report); });
    report.flush();
    if (!report) code = std::max<int>(code, kNotWritten);
    code = std::max(code, guarded(report, [&] {
                      const ordered_json record =
                          record_of(points_.ids[point], code, folder(point), contents_of(name), columns_at(point));
                      write_file(file(point, kPoint), json_text(record));
                      return int{kOk};
                    }));
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
  std::string end;
  if (WIFSIGNALED(status))
    end = fmt::format("its process ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  // It was stopped because of the signal to this process.
  if (interruption() != 0 && (WIFSIGNALED(status) || code >= kSignalled)) code = kSignalled + interruption();
  const std::size_t point = child->second;
  running_.erase(child);
  ended(point, code, end);
}

// The record that its process has left, or one without results.
ordered_json SweepRun::take_record(std::size_t point, int code, const std::string& end) const {
  std::error_code none;
  const std::optional<ordered_json> left = read_record(file(point, kPoint));
  fs::remove(file(point, kPoint), none);
  if (left && (*left)["exit_code"] == code && end.empty()) return *left;
  ordered_json record{{"id", points_.ids[point]}, {"exit_code", code}, {"columns", ordered_json::array()}};
  record["error"] = !end.empty() ? end : "its results could not be written";
  return record;
}

// The report is complete now, however the process ended.
void SweepRun::ended(std::size_t point, int code, const std::string& end) {
  attempt([&] { PendingFile(file(point, kReport)).commit(); });
  ordered_json record = take_record(point, code, end);
  const bool incomplete = code >= kSignalled;
  const bool remains = incomplete || !kept_folder(point, code).empty();
  if (remains) record["folder"] = point;
  if (!incomplete && journal_) attempt([&] { journal_->append(record); });
  if (!remains) remove_point(folder(point));
  failed_ += code != kOk && !incomplete;
  done_ += same_[point];
  if (is_finished(code)) finished_ += same_[point];
  ended_[point] = {code, std::move(record)};
  rows();
}

void SweepRun::stop_running() {
  if (std::exchange(stopping_, true)) return;
  for (const auto& [pid, point] : running_) kill(pid, SIGTERM);
}

void SweepRun::head() {
  std::string text = "point";
  const auto add = [&](const std::string& title) { text += fmt::format("  {:>{}}", title, widths_.back()); };
  if (in_one_column_) {
    widths_.push_back(0);
    for (std::size_t i = 0; i < sweep_.points(); ++i) widths_.back() = std::max(widths_.back(), sweep_.text(i).size());
    add("setting");
  }
  for (const SweepAxis& a : sweep_.axes) {
    if (in_one_column_) break;
    widths_.push_back(a.title.size());
    for (const std::string& label : a.labels) widths_.back() = std::max(widths_.back(), label.size());
    add(a.title);
  }
  for (const SweepColumn& c : columns_) {
    widths_.push_back(std::max(c.title.size(), kNumberWidth));
    add(c.title);
  }
  out_ << text << "  data\n" << std::flush;
}

// Prints the rows that are ready in the order of the points; with gaps, all available rows.
void SweepRun::rows(bool with_gaps) {
  for (; row_ < sweep_.points(); ++row_) {
    if (!is_mine(row_)) continue;
    const auto known = ended_.find(points_.first[row_]);
    if (known != ended_.end()) row(row_, known->second);
    else if (!with_gaps) return;
  }
}

void SweepRun::row(std::size_t point, const Ended& end) {
  const auto& [code, record] = end;
  worst_ = std::max(worst_, code);
  const bool incomplete = code >= kSignalled;
  std::string in = record.contains("folder") ? folder(record["folder"].get<std::size_t>()) : "";
  if (!fs::exists(in)) in.clear();  // it was removed
  summary_.add(point, in, record);
  std::string text = fmt::format("{:>5}", point);
  std::size_t column = 0;
  if (in_one_column_) text += fmt::format("  {:>{}}", sweep_.text(point), widths_[column++]);
  for (std::size_t a = 0; a < sweep_.axes.size() && !in_one_column_; ++a) {
    text += fmt::format("  {:>{}}", sweep_.axes[a].labels[sweep_.indexes(point)[a]], widths_[column++]);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool has = i < record["columns"].size() && !incomplete;
    text += fmt::format("  {:>{}}", number_text(has ? record["columns"][i][1] : ordered_json()), widths_[column++]);
  }
  text += code == kOk ? "  ok" : incomplete ? "  incomplete" : "  FAILED";
  if (record.contains("bottleneck") && !incomplete) text += "  " + record["bottleneck"].value("name", "");
  progress_.clear();
  out_ << text << '\n' << std::flush;
  tell_mistyped(in, record);
  if (code == kOk || incomplete) return;
  const std::string why = record.value("error", "");
  tell(err_, fmt::format("point {} ({}): exit code {}{}{}{}", point, sweep_.text(point), code,
                         in.empty() ? "" : fmt::format("; see {}/report.txt", in), why.empty() ? "" : ": ", why));
}

// A mistyped column is wrong at every point; it is reported once, and the runs are not lost.
void SweepRun::tell_mistyped(const std::string& folder, const ordered_json& record) {
  if (!record.contains("nearest")) return;
  for (const auto& [path, nearest] : record["nearest"].items()) {
    if (!mistyped_.insert(path).second) continue;
    worst_ = std::max<int>(worst_, kUsage);
    err_ << fmt::format("rnicsim: columns: {}stats.json has nothing at '{}'; the nearest is '{}'\n",
                        folder.empty() ? "" : folder + '/', path, nearest.get<std::string>());
  }
}

void SweepRun::show_progress() { progress_.update({mine_, earlier_, done_, running_.size(), failed_}); }

void SweepRun::write(const char* name, const std::string& text) {
  attempt([&] { write_file((fs::path(options_.out_dir) / name).string(), text); });
}

void SweepRun::attempt(const std::function<void()>& write) try { write(); } catch (const OutputError& error) {
  progress_.clear();
  tell(err_, error.what());
  worst_ = std::max<int>(worst_, kNotWritten);
}

int SweepRun::end() {
  progress_.clear();
  rows(true);
  if (is_whole()) {
    out_ << summary_.table_of_means() << summary_.table_of_knees();
    write(kSummary, json_text(summary_.json(finished_ == mine_), 2) + '\n');
    write(kTable, summary_.csv());
    out_ << fmt::format("files: {0}/{1}, {0}/{2}{3}\n", options_.out_dir, kSummary, kTable,
                        options_.kept == KeptPoints::kAll && !options_.collect ? ", and a folder for each point" : "");
  }
  if (interruption() != 0) {
    err_ << fmt::format("rnicsim: {} has stopped the sweep: {} of {} points are finished; --resume goes on\n",
                        interruption_name(), finished_, mine_);
    return std::max(worst_, kSignalled + interruption());
  }
  if (options_.collect && finished_ < mine_) {
    err_ << fmt::format("rnicsim: {} of {} points are finished", finished_, mine_);
    if (foreign_ != 0)
      err_ << fmt::format("; the folder has {} results of another program or other settings", foreign_);
    err_ << '\n';
    return std::max<int>(worst_, kCheckFailed);
  }
  return worst_;
}

}  // namespace

SweepShare parse_share(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string number = text.substr(0, slash), of = slash == std::string::npos ? "" : text.substr(slash + 1);
  const auto fits = [](const std::string& digits) { return is_number(digits) && digits.size() < 7; };
  if (!fits(number) || !fits(of) || std::stoul(number) >= std::stoul(of)) {
    throw ConfigError(fmt::format("run: --share {}: is not k/n with k from 0 to n - 1, such as 3/16", text));
  }
  return {std::stoul(number), std::stoul(of)};
}

KeptPoints parse_kept(const std::string& text) {
  if (text == "all") return KeptPoints::kAll;
  if (text == "failed") return KeptPoints::kFailed;
  if (text == "none") return KeptPoints::kNone;
  throw ConfigError(fmt::format("run: --keep-points {}: is all, failed or none", text));
}

// The earlier sweep may have had more points.
void remove_sweep(const std::string& folder) {
  SweepJournal::remove(folder);
  std::error_code none;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.is_directory(none) && is_number(entry.path().filename().string())) folders.push_back(entry.path());
  }
  for (const fs::path& f : folders) remove_point(f);
  for (const char* name : {kSummary, kTable}) fs::remove(fs::path(folder) / name, none);
}

int run_sweep(const Scenario& scenario, const SweepPoints& points, const SweepOptions& options, const RunPoint& run,
              std::ostream& out, std::ostream& err) {
  return SweepRun(scenario, points, options, run, out, err).run();
}

}  // namespace rnic::cli
