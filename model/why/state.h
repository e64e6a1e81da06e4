// Numbers that an event's words tell.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rnic::why {

// Of `window`: octets in flight and both windows. Of `reduced`: the congestion window before and after. Nothing of
// other words. In octets.
std::vector<std::pair<std::string, std::uint64_t>> state_of(const std::string& words);

}  // namespace rnic::why
