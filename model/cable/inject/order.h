// The state of an injection.
#pragma once

#include <string>

#include "model/cable/inject/bit_change.h"
#include "model/cable/inject/injection.h"

namespace rnic::inject {

struct Order {
  const Injection* injection;
  bool done = false;
  bool told = false;      // to the cable's taps
  std::string failure{};  // why its message passed unchanged
  std::string what{};     // it did: "inject0: mo of send 3: 1408 to 1412"; empty: it found the value there

  void changed(const Field& field, const ChangedValue& value);
  void closed();
};

}  // namespace rnic::inject
