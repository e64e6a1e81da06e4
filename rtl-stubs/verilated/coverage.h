// The tests' coverage of the RTL, in a build that counts it (the preset rtl-coverage; scripts/coverage.sh).
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "rtl-stubs/verilated/verilated_with_systemc.h"

#ifdef RNIC_RTL_COVERAGE
#include <verilated_cov.h>
#endif

namespace rnic::rtl {

// One file for each block of each process, in the folder that RNIC_RTL_COVERAGE_DIR names; none if it is not set.
inline void save_coverage([[maybe_unused]] VerilatedContext& context) {
#ifdef RNIC_RTL_COVERAGE
  static std::atomic<unsigned> blocks{0};
  const char* const folder = std::getenv("RNIC_RTL_COVERAGE_DIR");
  if (folder == nullptr) return;
  const std::string name = std::to_string(getpid()) + "-" + std::to_string(blocks++) + ".dat";
  context.coveragep()->write((std::string(folder) + "/" + name).c_str());
#endif
}

}  // namespace rnic::rtl
