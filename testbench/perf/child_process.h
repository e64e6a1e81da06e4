// SystemC elaborates once per process, so every measurement has its own process.
#pragma once

#include <ctime>
#include <functional>
#include <vector>

namespace rnic::perf {

// Runs f in a child process and returns its figures; throws std::runtime_error when the child fails.
std::vector<double> in_child(const std::function<std::vector<double>()>& f);

// Processor time of this process, in seconds.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Resident memory of this process, in octets.
double resident_bytes();

}  // namespace rnic::perf
