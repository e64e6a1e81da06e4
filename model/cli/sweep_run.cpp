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

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/cli/command.h"
#include "model/cli/program.h"
#include "model/common/check.h"
#include "model/config/overlay.h"

namespace rnic::cli {
namespace {

constexpr std::size_t kNumberWidth = 10;  // of a column, unless its title is wider

std::string number_text(const nlohmann::json& value) {
  if (value.is_null()) return "-";
  const double v = value.get<double>();
  return v == static_cast<double>(static_cast<std::int64_t>(v)) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

class SweepRun {
 public:
  SweepRun(const Scenario& scenario, const std::string& out_dir, const RunPoint& run, std::ostream& out,
           std::ostream& err);
  int run(unsigned jobs);

 private:
  std::string folder(std::size_t point) const;
  void start(std::size_t point);
  void collect();
  [[noreturn]] void be_point(std::size_t point) const;
  void head();
  void row(std::size_t point, int code);
  void expect_value(std::size_t point, const std::string& path, const nlohmann::json& stats);
  void write_summary() const;

  const Scenario& scenario_;
  const Sweep& sweep_;
  const std::string out_dir_;
  const RunPoint& run_;
  std::ostream& out_;
  std::ostream& err_;
  std::vector<SweepColumn> columns_;
  std::vector<std::size_t> widths_;  // of the axes, then of the columns
  std::set<std::string> mistyped_;   // paths of columns
  std::map<pid_t, std::size_t> running_;
  std::map<std::size_t, int> ended_;  // exit codes of points whose row is still to come
  std::size_t rows_ = 0;
  int worst_ = kOk;
  nlohmann::ordered_json summary_;
};

SweepRun::SweepRun(const Scenario& scenario, const std::string& out_dir, const RunPoint& run, std::ostream& out,
                   std::ostream& err)
    : scenario_(scenario),
      sweep_(scenario.sweep),
      out_dir_(out_dir),
      run_(run),
      out_(out),
      err_(err),
      columns_(scenario.sweep.columns) {
  summary_["scenario"] = scenario.name;
  summary_["points"] = nlohmann::ordered_json::array();
}

int SweepRun::run(unsigned jobs) {
  std::error_code error;
  std::filesystem::create_directories(out_dir_, error);
  if (error) throw ConfigError(fmt::format("{}: {}", out_dir_, error.message()));
  head();
  for (std::size_t point = 0; point < sweep_.points() || !running_.empty();) {
    if (point < sweep_.points() && running_.size() < jobs) start(point++);
    else collect();
  }
  write_summary();
  return worst_;
}

std::string SweepRun::folder(std::size_t point) const {
  const std::size_t digits = std::to_string(sweep_.points() - 1).size();
  return (std::filesystem::path(out_dir_) / fmt::format("{:0{}}", point, digits)).string();
}

void SweepRun::start(std::size_t point) {
  out_.flush();
  err_.flush();
  const pid_t pid = fork();
  if (pid < 0) throw ConfigError(fmt::format("point {}: no process can be made for it", point));
  if (pid == 0) be_point(point);
  running_[pid] = point;
}

// No destructor of what the parent made may run here.
void SweepRun::be_point(std::size_t point) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = kInternal;
  {
    std::error_code error;
    std::filesystem::create_directories(folder(point), error);
    std::ofstream report(std::filesystem::path(folder(point)) / "report.txt");
    code = guarded(report, [&] { return run_(point, folder(point), report, report); });
    report.flush();
    if (!report) code = std::max<int>(code, kUsage);
  }
  std::_Exit(code);
}

void SweepRun::collect() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, 0);
  if (pid < 0 && errno == EINTR) return;
  const auto child = running_.find(pid);
  RNIC_CHECK(child != running_.end());
  ended_[child->second] = WIFEXITED(status) ? WEXITSTATUS(status) : int{kInternal};
  running_.erase(child);
  for (auto next = ended_.find(rows_); next != ended_.end(); next = ended_.find(++rows_))
    row(next->first, next->second);
}

void SweepRun::head() {
  if (columns_.empty()) {
    std::size_t n = 0;
    for (const auto& phase : scenario_.plan.phases) {
      for (const workload::WorkItem& item : phase) {
        columns_.push_back({item.name + " Gb/s", fmt::format("results.{}.goodput_gbps", n)});
        n += item.direction == workload::Direction::kBoth ? 2 : 1;
      }
    }
  }
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

void SweepRun::row(std::size_t point, int code) {
  worst_ = std::max(worst_, code);
  const std::string file = folder(point) + "/stats.json";
  const nlohmann::json stats =
      std::filesystem::exists(file) ? read_json_file(file) : nlohmann::json(nlohmann::json::object());
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
  for (const SweepColumn& c : columns_) {
    const nlohmann::json value = value_at(stats, c.path);
    record["columns"][c.title] = value;
    text += fmt::format("  {:>{}}", number_text(value), widths_[column++]);
    if (code == kOk) expect_value(point, c.path, stats);
  }
  summary_["points"].push_back(std::move(record));
  out_ << text << (code == kOk ? "  ok\n" : "  FAILED\n") << std::flush;
  if (code == kOk) return;
  err_ << fmt::format("rnicsim: point {} ({}): exit code {}; see {}/report.txt\n", point, sweep_.text(point), code,
                      folder(point));
}

// A column that is mistyped is so at every point; it is told once, and the runs are not lost.
void SweepRun::expect_value(std::size_t point, const std::string& path, const nlohmann::json& stats) {
  const std::string nearest = nearest_path(stats, path);
  if (nearest == path || !mistyped_.insert(path).second) return;
  worst_ = std::max<int>(worst_, kUsage);
  err_ << fmt::format("rnicsim: columns: {}/stats.json has nothing at '{}'; the nearest is '{}'\n", folder(point), path, nearest);
}

void SweepRun::write_summary() const {
  const std::string file = (std::filesystem::path(out_dir_) / "sweep.json").string();
  std::ofstream out(file);
  out << summary_.dump(2) << '\n';
  out.flush();
  if (!out) throw ConfigError(file + " cannot be written");
  out_ << "files: " << file << ", and a folder for each point\n";
}

}  // namespace

int run_sweep(const Scenario& scenario, const std::string& out_dir, unsigned jobs, const RunPoint& run,
              std::ostream& out, std::ostream& err) {
  return SweepRun(scenario, out_dir, run, out, err).run(jobs);
}

}  // namespace rnic::cli
