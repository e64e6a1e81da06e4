// What the program says on standard error.
#pragma once

#include <ostream>
#include <string_view>

#include "model/common/cited.h"

namespace rnic::cli {

// A line, however much of what it was given the message cites.
inline void tell(std::ostream& err, std::string_view message) { err << "rnicsim: " << shortened(message) << '\n'; }

}  // namespace rnic::cli
