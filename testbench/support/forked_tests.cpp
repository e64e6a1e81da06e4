#include "testbench/support/forked_tests.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rnic::test {
namespace {

constexpr int kSkippedStatus = 77;
constexpr unsigned kClockPerProcessor = 10;  // how much longer a test may take on a busy machine

std::string contents(int file) {
  std::string text;
  char block[4096];
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t n; (n = ::read(file, block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(n));
  return text;
}

// A separate process that runs `work`, which returns an exit status, and prints into `output`.
template <class Work>
pid_t fork_with_output(int output, Work work) {
  std::cout.flush();
  std::fflush(stdout);
  const pid_t process = output < 0 ? -1 : ::fork();
  if (process < 0) throw std::runtime_error("a test's process cannot be started");
  if (process > 0) return process;
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const int status = work();
  std::cout.flush();
  std::fflush(stdout);
  std::exit(status);
}

// The names that --gtest_filter selects, as it takes them. Only a run knows which, so a run lists them:
//   Patterns/CrcCheckCosim.
//     AgreesInEveryBeatAndEveryCycle/idle  # GetParam() = idle
std::vector<std::string> selected_tests() {
  const int listing = ::memfd_create("tests", MFD_CLOEXEC);
  ::waitpid(fork_with_output(listing,
                             [] {
                               testing::GTEST_FLAG(list_tests) = true;
                               return RUN_ALL_TESTS();
                             }),
            nullptr, 0);
  std::istringstream lines(contents(listing));
  ::close(listing);
  std::vector<std::string> names;
  std::string suite;
  for (std::string line; std::getline(lines, line);) {
    const bool is_suite = line.rfind("  ", 0) != 0;
    line = line.substr(0, line.find("  #")).substr(is_suite ? 0 : 2);
    if (is_suite) suite = line;
    else if ((suite + line).find("DISABLED_") == std::string::npos) names.push_back(suite + line);
  }
  return names;
}

// Replaces gtest's own listener, which frames each test: the parent prints the result.
class PrintFailures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.passed()) return;
    if (result.file_name() != nullptr) std::cout << result.file_name() << ':' << result.line_number() << ": ";
    std::cout << result.message() << std::endl;
  }
};

int run_one(const std::string& name, unsigned timeout_s, const std::function<int()>& run_selected) {
  const rlimit limit{timeout_s, timeout_s + 1};  // SIGXCPU, then SIGKILL
  ::setrlimit(RLIMIT_CPU, &limit);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new PrintFailures);
  testing::GTEST_FLAG(filter) = name;
  if (run_selected() != 0) return EXIT_FAILURE;
  return testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? kSkippedStatus : EXIT_SUCCESS;
}

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') out += c;
    else out += '?';
  }
  return out;
}

}  // namespace

bool ForkedTests::run() {
  selected_ = selected_tests();
  for (const std::string& name : selected_) {
    while (running_.size() >= options_.jobs) collect();
    start(name);
  }
  while (!running_.empty()) collect();

  const auto count = [this](Outcome o) {
    return std::count_if(results_.begin(), results_.end(), [o](const Result& r) { return r.outcome == o; });
  };
  std::printf("%zu tests: %td passed, %td failed, %td skipped\n", results_.size(), count(Outcome::kPassed),
              count(Outcome::kFailed), count(Outcome::kSkipped));
  for (const Result& r : results_) {
    if (r.outcome == Outcome::kFailed) std::printf("[  FAILED  ] %s\n", r.name.c_str());
  }
  if (!options_.results.empty()) write_results();
  return !results_.empty() && count(Outcome::kFailed) == 0;
}

void ForkedTests::start(const std::string& name) {
  const int output = ::memfd_create("output", MFD_CLOEXEC);
  const pid_t process = fork_with_output(output, [&] { return run_one(name, options_.timeout_s, run_selected_); });
  running_.push_back({name, process, output, Clock::now()});
}

// Waits until a test ends, and kills tests that take too long.
void ForkedTests::collect() {
  constexpr useconds_t kPollUs = 500;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    const auto test =
        std::find_if(running_.begin(), running_.end(), [ended](const Running& r) { return r.process == ended; });
    if (test != running_.end()) {
      finish(*test, status);
      running_.erase(test);
      return;
    }
    kill_late();
    ::usleep(kPollUs);
  }
}

void ForkedTests::kill_late() const {
  for (const Running& test : running_) {
    if (Clock::now() - test.begin > std::chrono::seconds(kClockPerProcessor * options_.timeout_s))
      ::kill(test.process, SIGKILL);
  }
}

void ForkedTests::finish(const Running& test, int status) {
  const double seconds = std::chrono::duration<double>(Clock::now() - test.begin).count();
  const bool ended = WIFEXITED(status);
  Result result{test.name, contents(test.output), Outcome::kFailed, seconds};
  ::close(test.output);
  if (ended && WEXITSTATUS(status) == EXIT_SUCCESS) result.outcome = Outcome::kPassed;
  if (ended && WEXITSTATUS(status) == kSkippedStatus) result.outcome = Outcome::kSkipped;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    result.output += "killed after " + std::to_string(options_.timeout_s) + " s of processor time\n";
  } else if (seconds > kClockPerProcessor * options_.timeout_s) {
    result.output += "killed after " + std::to_string(kClockPerProcessor * options_.timeout_s) + " s\n";
  } else if (WIFSIGNALED(status)) {
    result.output += std::string("ended by a signal: ") + ::strsignal(WTERMSIG(status)) + "\n";
  }
  const char* const word = result.outcome == Outcome::kPassed   ? "passed"
                           : result.outcome == Outcome::kFailed ? "FAILED"
                                                                : "skipped";
  if (result.outcome == Outcome::kFailed) std::fputs(result.output.c_str(), stdout);
  std::printf("%-8s %6.2f s  %s\n", word, seconds, test.name.c_str());
  results_.push_back(std::move(result));
}

void ForkedTests::write_results() const {
  std::ofstream file(options_.results);
  file << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite tests=\"" << results_.size() << "\">\n";
  for (const Result& r : results_) {
    file << "  <testcase name=\"" << xml_text(options_.prefix + r.name) << "\" time=\"" << r.seconds << "\" status=\""
         << (r.outcome == Outcome::kSkipped ? "notrun" : "run") << '"';
    if (r.outcome == Outcome::kFailed)
      file << ">\n    <failure>" << xml_text(r.output) << "</failure>\n  </testcase>\n";
    else file << "/>\n";
  }
  file << "</testsuite>\n";
  if (!file.flush()) throw std::runtime_error(options_.results + " cannot be written");
}

}  // namespace rnic::test
