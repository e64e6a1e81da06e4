// A program of targets with libFuzzer's main: --target=NAME selects one, and everything else is libFuzzer's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "testbench/fuzz/target.h"

namespace {

const rnic::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string option = "--target=";
  std::string name, known;
  for (int i = 1; i < *argc; ++i) {
    if (std::strncmp((*argv)[i], option.c_str(), option.size()) == 0) name = (*argv)[i] + option.size();
  }
  for (const rnic::fuzz::Target& t : rnic::fuzz::targets()) {
    if (t.name == name) chosen = &t;
    known += std::string(" ") + t.name;
  }
  if (chosen == nullptr) {
    std::fprintf(stderr, "%s: --target= is one of%s\n", (*argv)[0], known.c_str());
    std::exit(2);
  }
  // Errors that the tests' own helpers detect are findings, too.
  testing::InitGoogleTest();
  testing::GTEST_FLAG(break_on_failure) = true;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return 0;
}

// The SystemC library refers to it; libFuzzer has the main.
int sc_main(int, char*[]) { return 0; }

// An exception that leaves a target ends the program here, and libFuzzer keeps the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
  chosen->run({data, size});
  return 0;
}
