// The number of runs of a benchmark whose figures depend on the machine.
#pragma once

#include <cstdlib>

#include <benchmark/benchmark.h>

namespace rnic::perf {

// Five times; once with RNIC_BENCH_SHORT in the environment, to check only that it runs.
inline void repeated(benchmark::internal::Benchmark* benchmark) {
  benchmark->Repetitions(std::getenv("RNIC_BENCH_SHORT") != nullptr ? 1 : 5);
}

}  // namespace rnic::perf
