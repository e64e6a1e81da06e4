// The main() of tests that elaborate SystemC, which is possible once per process: each selected test runs in its own
// process, forked from this one. A test's output appears in one piece when the test ends.
//
//   cosim_test --gtest_filter='*Framer*'   the tests whose names match, as many at a time as there are processors
//   --jobs=N                               N at a time, at least one
//   --timeout=S                            a test that takes more than S seconds of processor time, or 10 S of real
//                                          time, is killed and has failed
//   --results=FILE --prefix=P              a JUnit report, with P before the tests' names
//   --one-process                          the one selected test runs here, as a debugger needs it
//
// Exit status 0; 1 if a test failed or none was selected.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string>
#include <systemc>
#include <thread>

#include <gmock/gmock.h>

#include "testbench/support/forked_tests.h"

namespace {

// Takes "--name=value" out of the arguments that gtest left.
std::string take(int& argc, char** argv, const std::string& name, const std::string& otherwise) {
  const std::string key = "--" + name + "=";
  std::string value = otherwise;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).rfind(key, 0) == 0) value = argv[i] + key.size();
    else argv[kept++] = argv[i];
  }
  argc = kept;
  return value;
}

unsigned take_number(int& argc, char** argv, const std::string& name, unsigned otherwise) {
  const std::string text = take(argc, argv, name, std::to_string(otherwise));
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  std::cerr << argv[0] << ": --" << name << " takes a number, not \"" << text << "\"\n";
  std::exit(EXIT_FAILURE);
}

bool take_flag(int& argc, char** argv, const std::string& name) {
  if (argc < 2 || argv[argc - 1] != "--" + name) return false;
  --argc;
  return true;
}

}  // namespace

int sc_main(int, char*[]) { return RUN_ALL_TESTS(); }

// Takes precedence over the SystemC library's main(), so that no kernel of a test exists when its process is forked.
int main(int argc, char* argv[]) {
  using rnic::test::ForkedTests;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  testing::InitGoogleMock(&argc, argv);
  ForkedTests::Options options;
  options.jobs = std::max(1u, take_number(argc, argv, "jobs", std::thread::hardware_concurrency()));
  options.timeout_s = take_number(argc, argv, "timeout", 600);
  options.results = take(argc, argv, "results", "");
  options.prefix = take(argc, argv, "prefix", "");
  const bool one_process = take_flag(argc, argv, "one-process");
  if (argc > 1) {
    std::cerr << argv[0] << ": there is no option " << argv[1] << '\n';
    return EXIT_FAILURE;
  }
  const auto run_selected = [argc, argv] { return sc_core::sc_elab_and_sim(argc, argv); };
  if (one_process) return run_selected();
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  // Static, as the leak checker overlooks this stack in a process that has run SystemC's threads on their own stacks.
  static ForkedTests tests(std::move(options), run_selected);
  return tests.run() ? EXIT_SUCCESS : EXIT_FAILURE;
}
