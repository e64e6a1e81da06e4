// The program's messages on standard error.
#pragma once

#include <ostream>
#include <string_view>

#include "model/common/cited.h"

namespace rnic::cli {

// Prints one line, and shortens a message that cites too much of its input.
inline void tell(std::ostream& err, std::string_view message) { err << "rnicsim: " << shortened(message) << '\n'; }

}  // namespace rnic::cli
