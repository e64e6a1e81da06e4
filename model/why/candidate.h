// A cause of a slow request, and how much of its time it explains.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/why/answer.h"

namespace rnic::why {

struct Candidate {
  std::uint64_t ps = 0;
  Cause cause;
  std::vector<Step> chain;
};

// The end of a rule that has found a setting.
inline Candidate by_setting(std::uint64_t ps, const std::string& kind, const std::string& text,
                            const std::string& setting) {
  return {ps, {End::kSetting, kind, text, {}, setting}, {}};
}

// In a request's whole time, less than a tenth is no cause.
inline bool matters(std::uint64_t ps, std::uint64_t whole_ps) { return ps != 0 && 10 * ps >= whole_ps; }

}  // namespace rnic::why
