// What has become of an injection.
#pragma once

#include <string>

#include "model/cable/inject/injection.h"

namespace rnic::inject {

struct Order {
  const Injection* injection;
  bool done = false;
  std::string failure{};  // why its message could not be changed, and passed as it was
};

}  // namespace rnic::inject
