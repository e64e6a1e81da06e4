// The slowest set-up of a connection on the cable, from its SYN to the MPA Reply (rules R8 and R18 of why.md).
#pragma once

#include <optional>

#include "model/why/rows.h"

namespace rnic::why {

// nullopt: the run has set up none, or frames are of another transport than TCP.
std::optional<Answer> slowest_set_up(const Rows& rows);

}  // namespace rnic::why
