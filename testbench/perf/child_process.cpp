#include "testbench/perf/child_process.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace rnic::perf {

std::vector<double> in_child(const std::function<std::vector<double>()>& f) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    close(ends[0]);
    try {
      const std::vector<double> figures = f();
      const auto bytes = static_cast<ssize_t>(figures.size() * sizeof(double));
      _exit(write(ends[1], figures.data(), static_cast<std::size_t>(bytes)) == bytes ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench: %s\n", error.what());
      _exit(1);
    }
  }
  close(ends[1]);
  std::vector<double> figures;
  for (double figure; read(ends[0], &figure, sizeof figure) == sizeof figure;) figures.push_back(figure);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("a measurement failed");
  return figures;
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace rnic::perf
