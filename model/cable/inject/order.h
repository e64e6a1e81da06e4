// The state of an injection.
#pragma once

#include <string>

#include "model/cable/inject/injection.h"

namespace rnic::inject {

struct Order {
  const Injection* injection;
  bool done = false;
  std::string failure{};  // why its message passed unchanged
};

}  // namespace rnic::inject
