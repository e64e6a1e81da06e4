// A sweep as a job for a cluster: a folder that all its machines see, with the scenario and the commands of its tasks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rnic::cli {

struct SweepJob {
  std::string name;              // of the scenario
  std::string folder;            // shared; an absolute path
  std::string program;           // rnicsim
  std::string working_folder;    // of the tasks: the submitter's, for relative file names
  std::vector<std::string> run;  // arguments of `rnicsim run`, without the scenario and the folder
  std::size_t tasks = 1;
};

// Arguments of `rnicsim`, for all tasks and for all points at once.
std::vector<std::string> task_arguments(const SweepJob& job);
std::vector<std::string> collect_arguments(const SweepJob& job, const std::string& folder);

// A batch script: each task of the array runs its share of the points. ConfigError for a word with control characters:
// a line break ends a line of the script even in quotes, and the rest would be run.
std::string slurm_script(const SweepJob& job);
// A line for each task.
std::string parallel_joblist(const SweepJob& job);

// As one word of a shell's command line. ConfigError for control characters.
std::string shell_word(const std::string& text);

}  // namespace rnic::cli
