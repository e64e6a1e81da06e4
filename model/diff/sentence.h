// The first difference of two runs in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/diff/events.h"
#include "model/diff/merge.h"

namespace rnic::diff {

// "42.722 us", with as many digits as it needs.
std::string microseconds(std::uint64_t ps);

// `a` and `b` are the difference's rows, where a run has one.
std::string sentence(const Difference& difference, const std::optional<Told>& a, const std::optional<Told>& b,
                     const Pair& runs);

}  // namespace rnic::diff
