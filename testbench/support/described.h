// A stage's accounts, by the names they have in files.
#pragma once

#include <stdexcept>
#include <string>

#include "model/common/description.h"

namespace rnic::test {

// std::out_of_range: the stage has no such account.
inline Account& account_of(Stage& stage, const std::string& name, Cycle at = 0) {
  Described parts;
  stage.describe(Description(parts).of(stage));
  for (const Described::AccountOf& a : parts.accounts) {
    if (a.spec.name == name) return a.account(at);
  }
  throw std::out_of_range("no account " + name);
}

}  // namespace rnic::test
