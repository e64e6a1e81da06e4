// What the C interface says of itself.
#pragma once

#include <string>

namespace rnic::golden {

// All that there is, as JSON: rnic_description(). Made once, on a kernel of its own.
const std::string& description();

}  // namespace rnic::golden
