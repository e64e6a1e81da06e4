// Counts events. Counting costs an addition; names, units and reports belong to the registry.
#pragma once

#include <cstdint>

namespace rnic {

class Counter {
 public:
  Counter& operator++() {
    ++value_;
    return *this;
  }
  Counter& operator+=(std::uint64_t n) {
    value_ += n;
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace rnic
