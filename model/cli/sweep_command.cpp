#include "model/cli/sweep_command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/cli/run_command.h"
#include "model/cli/sweep_columns.h"
#include "model/cli/sweep_job.h"
#include "model/cli/sweep_points.h"
#include "model/cli/sweep_run.h"
#include "model/common/check.h"
#include "model/config/json_file.h"
#include "model/system/scenario_assignment.h"
#include "model/trace/folder_lock.h"
#include "model/trace/output_file.h"

namespace rnic::cli {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

constexpr std::size_t kMostTasks = 256;  // by default; a Slurm array has at most a thousand
constexpr const char* kJob = "submit.json";
constexpr const char* kUsageText =
    "usage: rnicsim sweep submit SCENARIO (--slurm | --parallel) --out DIR [options]\n"
    "       rnicsim sweep collect DIR\n\n";

// Runs a program like the shell, with the file `input` as standard input unless empty. Returns its exit status.
int run_tool(const std::vector<std::string>& command, const std::string& input) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  constexpr int kNotFound = 127;
  const pid_t pid = fork();
  if (pid < 0) throw ConfigError(command[0] + ": no process can be created");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int file = input.empty() ? -1 : open(input.c_str(), O_RDONLY);
    if (!input.empty() && (file < 0 || dup2(file, STDIN_FILENO) < 0)) _exit(kNotFound);
    execvp(arguments[0], arguments.data());
    _exit(kNotFound);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return kSignalled + WTERMSIG(status);
  if (WEXITSTATUS(status) == kNotFound) throw ConfigError(command[0] + ": cannot be run; is it installed?");
  return WEXITSTATUS(status);
}

void write_job(const SweepJob& job) {
  const nlohmann::ordered_json contents{{"run", job.run}, {"tasks", job.tasks}, {"program", job.program}};
  write_file(job.folder + '/' + kJob, contents.dump(2) + '\n');
}

int collect(const std::string& folder, std::ostream& out, std::ostream& err, const TwinSource* twins) {
  const std::string file = (fs::path(folder) / kJob).string();
  if (std::error_code none; !fs::exists(file, none))
    throw ConfigError(file + ": is not there; rnicsim sweep submit writes it");
  static const JsonShape shape(R"({"run!": ["text"], "tasks": "count", "program": "text"})");
  SweepJob job;
  job.run = ReadBack(file, shape).value["run"].get<std::vector<std::string>>();
  return run_command(collect_arguments(job, folder), out, err, twins);
}

class Submission {
 public:
  int run(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins);

 private:
  bool read(const std::vector<std::string>& args, std::ostream& out);
  void check_points();
  void write_scenario();
  // Nothing is written before everything is known.
  int to_slurm(std::ostream& out, std::ostream& err);
  int to_parallel(std::ostream& out, std::ostream& err, const TwinSource* twins);

  ConfigOptions config_;
  std::string out_dir_, rtl_, lockstep_, kept_;
  std::vector<std::string> passed_;
  bool slurm_ = false, resume_ = false, dry_ = false;
  SweepJob job_;
};

// False if it has only printed a text for people.
bool Submission::read(const std::vector<std::string>& args, std::ostream& out) {
  po::options_description options("options");
  po::positional_options_description positional;
  auto add = options.add_options();
  add("help,h", "this text");
  add("slurm", "as a job array of Slurm, by sbatch");
  add("parallel", "by GNU parallel; ends when all points have, and collects");
  add("out,o", po::value(&out_dir_)->value_name("dir"), "folder that all machines see");
  add("array-size", po::value(&job_.tasks)->value_name("n")->default_value(0, "256, or the points"),
      "tasks, each with its share of the points");
  add("resume", "keep the points that the folder has results of");
  add("keep-points", po::value(&kept_)->value_name("which")->default_value("all"),
      "the points whose folders remain: all, failed or none");
  add("pass", po::value(&passed_)->value_name("option"),
      "handed on to sbatch or parallel, as --pass=--partition=long; may be repeated");
  add("dry-run", "write the files, and submit nothing");
  add("rtl", po::value(&rtl_)->value_name("stages"), "as for rnicsim run");
  add("lockstep", po::value(&lockstep_)->value_name("stages"), "as for rnicsim run");
  config_.add_to(options, positional, "as for rnicsim run; may be repeated");
  const po::variables_map given = parse_options(args, options, positional);
  if (given.count("help") != 0) {
    out << kUsageText << options;
    return false;
  }
  if (config_.scenario.empty()) throw ConfigError("sweep submit: which scenario?");
  if (out_dir_.empty()) throw ConfigError("sweep submit: --out DIR is needed, a folder that all machines see");
  if (given.count("slurm") + given.count("parallel") != 1) {
    throw ConfigError("sweep submit: give one of --slurm and --parallel");
  }
  parse_kept(kept_);
  slurm_ = given.count("slurm") != 0;
  resume_ = given.count("resume") != 0;
  dry_ = given.count("dry-run") != 0;
  return true;
}

// Otherwise all tasks would find the same mistake.
void Submission::check_points() {
  Overlay assigned;
  for (const std::string& assignment : config_.set) assigned.set(assignment);
  const Scenario scenario = read_scenario(config_.scenario, scenario_values(assigned));
  if (scenario.sweep.empty()) throw ConfigError(config_.scenario + ": has no sweep");
  const Overlay command_line = settings_of_all(assigned);
  read_points(scenario, command_line, {});
  check_columns(scenario, command_line);
  job_.name = scenario.name;
  const std::size_t points = scenario.sweep.points();
  job_.tasks = std::min(points, job_.tasks == 0 ? kMostTasks : job_.tasks);
}

void Submission::write_scenario() {
  std::ifstream in(config_.scenario, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::error_code error;
  fs::create_directories(out_dir_, error);
  if (error) throw ConfigError(fmt::format("{}: {}", out_dir_, error.message()));
  const FolderLock folder(out_dir_, FolderLock::Kind::kShared);
  if (!resume_) remove_sweep(out_dir_);
  write_file(job_.folder + "/scenario.json", text);
  write_job(job_);
}

int Submission::to_slurm(std::ostream& out, std::ostream& err) {
  const std::string text = slurm_script(job_), script = job_.folder + "/job.sh";
  write_scenario();
  write_file(script, text);
  std::vector<std::string> command{"sbatch"};
  command.insert(command.end(), passed_.begin(), passed_.end());
  command.push_back(script);
  out << fmt::format("files: {}, scenario.json and {} beside it\n", script, kJob);
  out << fmt::format("rnicsim sweep collect {} puts the results together\n", shell_word(out_dir_)) << std::flush;
  if (dry_) return kOk;
  const int status = run_tool(command, "");
  if (status != 0) err << fmt::format("rnicsim: sbatch: exit status {}\n", status);
  return status;
}

int Submission::to_parallel(std::ostream& out, std::ostream& err, const TwinSource* twins) {
  const std::string text = parallel_joblist(job_), list = job_.folder + "/joblist";
  write_scenario();
  write_file(list, text);
  std::vector<std::string> command{"parallel", "--joblog", job_.folder + "/joblog"};
  command.insert(command.end(), passed_.begin(), passed_.end());
  out << fmt::format("files: {}, scenario.json and {} beside it\n", list, kJob) << std::flush;
  if (dry_) return kOk;
  run_tool(command, list);  // its exit status counts tasks; the records have the points' outcomes
  return collect(out_dir_, out, err, twins);
}

int Submission::run(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                    const TwinSource* twins) {
  if (!read(args, out)) return kOk;
  check_points();
  job_.folder = fs::absolute(out_dir_).lexically_normal().string();
  if (job_.folder.size() > 1 && job_.folder.back() == '/') job_.folder.pop_back();
  job_.program = fs::read_symlink("/proc/self/exe").string();
  job_.working_folder = fs::current_path().string();
  job_.run = {"--keep-points", kept_};
  const auto add = [this](const char* option, const std::string& value) {
    if (!value.empty()) job_.run.insert(job_.run.end(), {option, value});
  };
  add("--rtl", rtl_);
  add("--lockstep", lockstep_);
  for (const std::string& assignment : config_.set) add("--set", assignment);
  return slurm_ ? to_slurm(out, err) : to_parallel(out, err, twins);
}

}  // namespace

int sweep_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins) {
  const std::string verb = args.empty() ? "" : args[0];
  if (verb == "submit") return Submission().run({args.begin() + 1, args.end()}, out, err, twins);
  if (verb == "collect" && args.size() == 2 && args[1].rfind("-", 0) != 0) return collect(args[1], out, err, twins);
  out << kUsageText << "rnicsim sweep submit --help lists the options\n";
  return verb == "--help" || verb == "-h" ? kOk : kUsage;
}

}  // namespace rnic::cli
