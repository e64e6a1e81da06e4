#include "model/cli/sweep_job.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic::cli {
namespace {

std::string command(const SweepJob& job, const std::string& share) {
  std::string text = shell_word(job.program);
  for (const std::string& argument : task_arguments(job)) text += ' ' + shell_word(argument);
  return fmt::format("{} --share {}/{}", text, share, job.tasks);
}

// Slurm expands a % in a file name.
std::string log_pattern(const std::string& folder) {
  std::string pattern;
  for (const char c : folder) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern;
}

}  // namespace

std::vector<std::string> task_arguments(const SweepJob& job) {
  std::vector<std::string> arguments{"run",     job.folder + "/scenario.json", "--out", job.folder, "--jobs", "1",
                                     "--resume"};
  arguments.insert(arguments.end(), job.run.begin(), job.run.end());
  return arguments;
}

std::vector<std::string> collect_arguments(const SweepJob& job, const std::string& folder) {
  std::vector<std::string> arguments{folder + "/scenario.json", "--out", folder, "--collect"};
  arguments.insert(arguments.end(), job.run.begin(), job.run.end());
  return arguments;
}

// With exec, a signal to the task reaches the program.
std::string slurm_script(const SweepJob& job) {
  std::string name = job.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  std::string text = "#!/bin/sh\n";
  text += fmt::format("#SBATCH --job-name=rnicsim-{}\n", name);
  text += fmt::format("#SBATCH --array=0-{}\n", job.tasks - 1);
  text += "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text += fmt::format("#SBATCH --output={}\n", shell_word(log_pattern(job.folder) + "/task-%a.log"));
  text += fmt::format("#SBATCH --chdir={}\n", shell_word(job.working_folder));
  return text + "exec " + command(job, "\"$SLURM_ARRAY_TASK_ID\"") + '\n';
}

std::string parallel_joblist(const SweepJob& job) {
  std::string text;
  for (std::size_t i = 0; i < job.tasks; ++i) {
    const std::string log = shell_word(fmt::format("{}/task-{}.log", job.folder, i));
    text +=
        fmt::format("cd {} && {} >>{} 2>&1\n", shell_word(job.working_folder), command(job, std::to_string(i)), log);
  }
  return text;
}

std::string shell_word(const std::string& text) {
  const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    const std::string cited_text =
        cited(nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    throw ConfigError(fmt::format("{}: has a control character, which a job must not have", cited_text));
  }
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("_-./=:,+%@").find(c) != std::string::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace rnic::cli
