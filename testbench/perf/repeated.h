// How often a benchmark whose figures depend on the machine is run.
#pragma once

#include <cstdlib>

#include <benchmark/benchmark.h>

namespace rnic::perf {

// Five times; once with RNIC_BENCH_SHORT in the environment, where somebody asks whether it runs at all.
inline void repeated(benchmark::internal::Benchmark* benchmark) {
  benchmark->Repetitions(std::getenv("RNIC_BENCH_SHORT") != nullptr ? 1 : 5);
}

}  // namespace rnic::perf
