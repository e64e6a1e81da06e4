// A fuzz target: takes foreign octets, and defines the allowed outcomes.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "model/common/bytes.h"

namespace rnic::fuzz {

struct Target {
  const char* name;
  // Returns if the octets were accepted or correctly refused. Any other exception is a finding, as is a sanitizer's
  // report.
  void (*run)(ByteSpan octets);
};

// All targets of this program.
const std::vector<Target>& targets();

// An error that a target itself detected.
struct Finding : std::logic_error {
  using std::logic_error::logic_error;
};
inline void require(bool condition, const char* what) {
  if (!condition) throw Finding(what);
}

}  // namespace rnic::fuzz
