// The SystemC library's own main() prints a banner first; this one takes precedence.
#include <cstdlib>
#include <iostream>
#include <systemc>

#include "model/cli/built_in.h"
#include "model/cli/program.h"

int sc_main(int argc, char* argv[]) {
  return rnic::cli::run_program({argv + 1, argv + argc}, std::cout, std::cerr, rnic::cli::built_in());
}

int main(int argc, char* argv[]) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
