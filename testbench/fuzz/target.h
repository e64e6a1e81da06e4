// A fuzz target: what foreign octets are given to, and how it is known that they were survived.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "model/common/bytes.h"

namespace rnic::fuzz {

struct Target {
  const char* name;
  // Returns if the octets were taken or refused as they have to be. What else it throws is a finding, and so is what
  // sanitizers see.
  void (*run)(ByteSpan octets);
};

// All of this program.
const std::vector<Target>& targets();

// What a target noticed itself.
struct Finding : std::logic_error {
  using std::logic_error::logic_error;
};
inline void require(bool condition, const char* what) {
  if (!condition) throw Finding(what);
}

}  // namespace rnic::fuzz
